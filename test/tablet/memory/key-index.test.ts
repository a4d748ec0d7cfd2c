import { describe, expect, test } from 'vitest'
import { ABSENT, KeyIndex } from '../../../src/tablet/memory/key-index.ts'
import { MemRowStore } from '../../../src/tablet/memory/mem-row-store.ts'
import type { KeyArena } from '../../../src/util/arena.ts'
import { Prng } from '../../../src/util/prng.ts'
import { blockOf, hashesOf, keysOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k INT32 KEY')

function keysFrom(first: number, count: number): [MemRowStore, KeyArena] {
  const rows = new MemRowStore(schema)
  const numbers = Array.from({ length: count }, (_, i) => ({ k: first + i }))
  const block = blockOf(schema, numbers)
  const keys = keysOf(schema, block)
  rows.append(keys, block, Uint32Array.from(numbers.keys()), 0, count, 1)
  return [rows, keys]
}

describe('KeyIndex', () => {
  test.each([
    ['spread', (hash: number) => hash],
    ['few', (hash: number) => hash % 5],
    ['one', () => 0xffff_ffff],
    ['neighbours', (_: number, i: number) => i],
    ['at the end of the table', (_: number, i: number) => 0xffff_fff0 + (i % 16)],
  ])('finds every key and no other when hashes are %s', (_, hashOf) => {
    const count = 700
    const [rows, keys] = keysFrom(0, count)
    const hashes = hashesOf(keys).map(hashOf)
    const index = new KeyIndex()
    const out = new Int32Array(count)
    const prng = new Prng(5)

    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + prng.between(1, 90))
      index.reserve(to - from)
      for (let i = from; i < to; i++) index.add(hashes[i], i)
      index.checkInvariants(to)
      index.findSlots(rows, keys, hashes, count, out)
      expect([...out]).toEqual([...out.keys()].map((i) => (i < to ? i : ABSENT)))
      from = to
    }
  })

  test('tells keys that share a hash with one that is there', () => {
    const [rows, keys] = keysFrom(0, 2)
    const index = new KeyIndex()
    index.reserve(1)
    index.add(9, 0)

    expect(index.findSlot(rows, keys, 0, 9)).toBe(0)
    expect(index.findSlot(rows, keys, 1, 9)).toBe(ABSENT)
  })

  test('holds at most 22 bytes a key, and little when it is empty', () => {
    const index = new KeyIndex()
    expect(index.heldBytes).toBe(512)

    index.reserve(100_000)

    expect(index.heldBytes).toBeLessThanOrEqual(100_000 * 22)
  })
})
