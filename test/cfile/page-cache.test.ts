import { describe, expect, test } from 'vitest'
import { PageCache, type ReadIntent } from '../../src/cfile/page-cache.ts'
import { Prng } from '../../src/util/prng.ts'

const SEED = 0xcac4e
const KIB = 1024

function has(cache: PageCache, block: number, intent: ReadIntent = 'scan'): boolean {
  return cache.get(1, 1, block, 0, intent) !== undefined
}

function fill(cache: PageCache, firstBlock: number, count: number, bytes = 10 * KIB): void {
  for (let i = 0; i < count; i++) cache.put(1, 1, firstBlock + i, 0, { i }, bytes)
}

describe('PageCache', () => {
  test('gives back what was put, by owner, file, block and offset', () => {
    const cache = new PageCache(1024 * KIB)
    const values = [
      [1, 7, 3, 0],
      [2, 7, 3, 0],
      [1, 8, 3, 0],
      [1, 7, 4, 0],
      [1, 7, 3, 8],
    ].map(([owner, file, block, offset]) => {
      const value = {}
      cache.put(owner, file, block, offset, value, 100)
      return { owner, file, block, offset, value }
    })

    for (const { owner, file, block, offset, value } of values) {
      expect(cache.get(owner, file, block, offset)).toBe(value)
    }
    expect(cache.get(1, 7, 3, 16)).toBeUndefined()
    cache.checkInvariants()
  })

  test('gives every owner a number of its own', () => {
    const cache = new PageCache(KIB)

    expect(cache.nextOwner()).not.toBe(cache.nextOwner())
  })

  test('lets go of what was used longest ago', () => {
    const cache = new PageCache(100 * KIB)
    fill(cache, 1, 20)

    expect(has(cache, 20)).toBe(true)
    expect(has(cache, 12)).toBe(true)
    expect(has(cache, 10)).toBe(false)
    expect(cache.heldBytes).toBeLessThanOrEqual(100 * KIB)
    cache.checkInvariants()
  })

  test('keeps what points use while a scan of any length passes', () => {
    const cache = new PageCache(100 * KIB)
    fill(cache, 1, 4)
    for (let block = 1; block <= 4; block++) has(cache, block, 'point')

    for (let block = 100; block < 400; block++) {
      if (!has(cache, block)) fill(cache, block, 1)
      has(cache, block)
    }

    expect([1, 2, 3, 4].map((block) => has(cache, block))).toEqual([true, true, true, true])
  })

  test('lets new points in when all it protects is old', () => {
    const cache = new PageCache(100 * KIB)
    for (let block = 1; block <= 50; block++) {
      fill(cache, block, 1)
      has(cache, block, 'point')
    }

    expect(has(cache, 50)).toBe(true)
    expect(has(cache, 1)).toBe(false)
    cache.checkInvariants()
  })

  test('does not keep a value that is large beside it, nor what was there before', () => {
    const cache = new PageCache(100 * KIB)
    fill(cache, 1, 1)
    fill(cache, 1, 1, 26 * KIB)

    expect(has(cache, 1)).toBe(false)
    expect(cache.heldBytes).toBe(0)
  })

  test('forgets a file, and an owner', () => {
    const cache = new PageCache(1024 * KIB)
    for (const owner of [1, 2]) {
      for (const file of [1, 2]) cache.put(owner, file, 1, 0, {}, 100)
    }
    cache.dropFile(1, 1)

    expect(cache.get(1, 1, 1, 0)).toBeUndefined()
    expect(cache.get(1, 2, 1, 0)).toBeDefined()
    cache.dropOwner(1)
    expect(cache.get(1, 2, 1, 0)).toBeUndefined()
    expect(cache.get(2, 1, 1, 0)).toBeDefined()
    cache.dropOwner(2)
    expect(cache.heldBytes).toBe(0)
    cache.dropOwner(3)
    cache.dropFile(3, 1)
    cache.checkInvariants()
  })

  test('holds its invariants through any use, and never gives anything but the last put', () => {
    const prng = new Prng(SEED)
    const cache = new PageCache(64 * KIB)
    const last = new Map<string, object>()
    let hits = 0
    for (let step = 0; step < 20_000; step++) {
      const place = [prng.below(2), prng.below(3), prng.between(1, 4), prng.below(3) * 8] as const
      const name = place.join()
      const roll = prng.below(100)
      if (roll < 45) {
        const value = {}
        cache.put(...place, value, prng.below(3000))
        last.set(name, value)
      } else if (roll < 98) {
        const found = cache.get(...place, prng.pick(['scan', 'point'] as const))
        if (found !== undefined) hits++
        if (found !== undefined && found !== last.get(name)) {
          expect.fail(`seed ${SEED}, step ${step}: another value`)
        }
      } else {
        cache.dropFile(place[0], place[1])
        for (const key of [...last.keys()]) {
          if (key.startsWith(`${place[0]},${place[1]},`)) last.delete(key)
        }
      }
      if (step % 100 === 0) cache.checkInvariants()
    }
    expect(hits).toBeGreaterThan(5000)
  })
})
