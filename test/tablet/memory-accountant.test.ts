import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { MemoryAccountant } from '../../src/tablet/memory-accountant.ts'

describe('MemoryAccountant', () => {
  test('adds up what its owners told last', () => {
    const accountant = new MemoryAccountant(1000)
    const a = {}
    const b = {}
    accountant.hold(a, 'a', 100)
    accountant.hold(b, 'b', 50)
    accountant.hold(a, 'a', 30)

    expect(accountant.heldBytes).toBe(80)
    expect(accountant.heldBy(a)).toBe(30)
    accountant.checkInvariants()
  })

  test('is over its limit from the first byte above it', () => {
    const accountant = new MemoryAccountant(1000)
    accountant.hold({}, 'nobody', 0)
    const owner = {}
    accountant.hold(owner, 'owner', 1000)

    expect(accountant.isOverHard()).toBe(false)
    expect(accountant.isOverHard(1)).toBe(true)
    accountant.hold(owner, 'owner', 999)
    expect(accountant.isOverHard(1)).toBe(false)
  })

  test('is short of memory above six tenths of its limit', () => {
    const accountant = new MemoryAccountant(1000)
    const owner = {}
    accountant.hold(owner, 'owner', 600)
    expect(accountant.isOverSoft()).toBe(false)
    accountant.hold(owner, 'owner', 601)

    expect(accountant.isOverSoft()).toBe(true)
    expect(accountant.isOverHard()).toBe(false)
  })

  test('gives back what an owner held that was dropped, once', () => {
    const accountant = new MemoryAccountant(1000)
    const owner = {}
    accountant.hold(owner, 'owner', 400)
    accountant.drop('owner')
    accountant.drop('owner')

    expect(accountant.heldBytes).toBe(0)
    accountant.checkInvariants()
  })

  test('counts an owner that came back under its name once', () => {
    const accountant = new MemoryAccountant(1000)
    const before = {}
    const after = {}
    accountant.hold(before, 'tablet', 700)
    accountant.hold(after, 'tablet', 300)

    expect(accountant.heldBytes).toBe(300)
    expect(accountant.heldBy(before)).toBe(0)
    accountant.checkInvariants()
  })

  test('gives back what a vanished owner held when it is over its limit', async () => {
    const accountant = new MemoryAccountant(1000)
    const stays = {}
    accountant.hold(stays, 'stays', 100)
    holdForNobody(accountant, 2000)
    const wasOver = accountant.isOverHard()

    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()

    expect(wasOver).toBe(true)
    expect(accountant.isOverHard()).toBe(false)
    expect(accountant.heldBytes).toBe(100)
    expect(accountant.heldBy(stays)).toBe(100)
    accountant.checkInvariants()
  })
})

function holdForNobody(accountant: MemoryAccountant, bytes: number): void {
  accountant.hold({}, 'vanished', bytes)
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
