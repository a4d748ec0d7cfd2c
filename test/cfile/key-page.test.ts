import { describe, expect, test } from 'vitest'
import { encodeKeyPage, KeyPage, keyPageBytesAt } from '../../src/cfile/key-page.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { compareWhole, toHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'

function arenaOf(keys: readonly Uint8Array[]): KeyArena {
  const arena = new KeyArena()
  for (const key of keys) {
    arena.append(key, 0, key.length)
    arena.endKey()
  }
  return arena
}

function pageOf(keys: readonly Uint8Array[]): KeyPage {
  return KeyPage.open(encodeKeyPage(arenaOf(keys), 0, keys.length), 'page')
}

function texts(...keys: string[]): Uint8Array[] {
  return keys.map(utf8Encode)
}

function find(page: KeyPage, key: Uint8Array): number {
  return page.find(key, 0, key.length)
}

function lowerBound(page: KeyPage, key: Uint8Array): number {
  return page.lowerBound(key, 0, key.length)
}

function randomKeys(prng: Prng): Uint8Array[] {
  const length = prng.pick([1, 3, 8, 40, 400])
  const alphabet = prng.pick([2, 4, 256])
  const count = prng.pick([1, 2, 16, 17, 100, 1024])
  const keys = new Map<string, Uint8Array>()
  for (let i = 0; i < count; i++) {
    const bytes = prng.chance(0.5) ? length : prng.below(length + 1)
    const key = Uint8Array.from({ length: bytes }, () => prng.below(alphabet))
    keys.set(toHex(key), key)
  }
  return [...keys.values()].sort(compareWhole)
}

describe('KeyPage', () => {
  test('finds each of its keys and none that is beside one', () => {
    const page = pageOf(texts('', 'a', 'ab', 'abc', 'abd', 'b', 'ba'))

    expect(
      ['', 'a', 'ab', 'abc', 'abd', 'b', 'ba'].map((key) => find(page, utf8Encode(key))),
    ).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(
      ['\0', 'aa', 'abb', 'abcc', 'abe', 'bb', 'c'].map((key) => find(page, utf8Encode(key))),
    ).toEqual([-1, -1, -1, -1, -1, -1, -1])
  })

  test('tells the first key that is not below a probe', () => {
    const page = pageOf(texts('b', 'bc', 'd'))

    expect(
      ['', 'a', 'b', 'ba', 'bc', 'bd', 'd', 'da'].map((key) => lowerBound(page, utf8Encode(key))),
    ).toEqual([0, 0, 0, 1, 1, 2, 2, 3])
  })

  test('finds, bounds and hands out random keys as a sorted list does', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const prng = new Prng(seed)
      const keys = randomKeys(prng)
      const page = pageOf(keys)
      const probes = [...keys, ...randomKeys(prng).slice(0, 200)]
      for (const probe of probes) {
        const expected = keys.findIndex((key) => compareWhole(key, probe) >= 0)
        const bound = expected < 0 ? keys.length : expected
        const isThere = expected >= 0 && compareWhole(keys[expected], probe) === 0
        expect(lowerBound(page, probe), `seed ${seed}`).toBe(bound)
        expect(find(page, probe), `seed ${seed}`).toBe(isThere ? bound : -1)
      }
      const start = prng.below(keys.length + 1)
      const end = prng.between(start, keys.length)
      const arena = arenaOf(texts('before'))
      page.appendTo(arena, start, end)
      const appended = Array.from({ length: arena.count - 1 }, (_, i) => toHex(arena.key(i + 1)))
      expect(appended, `seed ${seed}`).toEqual(keys.slice(start, end).map(toHex))
    }
  })

  test('is cut out of the keys of a larger arena', () => {
    const keys = texts('a', 'b', 'c', 'd')

    const page = KeyPage.open(encodeKeyPage(arenaOf(keys), 1, 3), 'page')

    expect(page.rowCount).toBe(2)
    expect(find(page, utf8Encode('a'))).toBe(-1)
    expect(find(page, utf8Encode('b'))).toBe(0)
    expect(find(page, utf8Encode('c'))).toBe(1)
  })

  test('tells a flipped bit wherever it is', () => {
    const bytes = encodeKeyPage(arenaOf(texts('apple', 'apricot', 'banana')), 0, 3)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice()
      flipped[bit >>> 3] ^= 1 << (bit & 7)
      expect(() => KeyPage.open(flipped, 'file 7, block 1'), `bit ${bit}`).toThrow(
        /^file 7, block 1: /,
      )
    }
  })

  test('tells where the next page begins, and that none does', () => {
    const first = encodeKeyPage(arenaOf(texts('a')), 0, 1)
    const both = new Uint8Array(first.length * 2)
    both.set(first)
    both.set(first, first.length)

    expect(keyPageBytesAt(both, 0)).toBe(first.length)
    expect(keyPageBytesAt(both, first.length)).toBe(first.length)
    expect(keyPageBytesAt(both, first.length * 2)).toBe(0)
    expect(keyPageBytesAt(both.subarray(0, first.length * 2 - 1), first.length)).toBe(0)
  })

  test('refuses keys that do not ascend', () => {
    expect(() => encodeKeyPage(arenaOf(texts('b', 'a')), 0, 2)).toThrow('ascend')
    expect(() => encodeKeyPage(arenaOf(texts('a', 'a')), 0, 2)).toThrow('ascend')
    expect(() => encodeKeyPage(arenaOf(texts('ab', 'a')), 0, 2)).toThrow('ascend')
  })

  test('takes two or three bytes a key where keys are consecutive integers', () => {
    const keys = Array.from({ length: 1024 }, (_, i) => {
      const key = new Uint8Array(8)
      new DataView(key.buffer).setBigUint64(0, 2n ** 63n + BigInt(i) * 3n)
      return key
    })

    const bytes = encodeKeyPage(arenaOf(keys), 0, keys.length)

    expect(bytes.length / keys.length).toBeLessThan(2.8)
  })
})
