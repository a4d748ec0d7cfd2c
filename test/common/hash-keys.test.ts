import { describe, expect, test } from 'vitest'
import { hashKeys } from '../../src/common/hash-keys.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { Prng } from '../../src/util/prng.ts'

/** HalfSipHash with 32 bits of output as its definition says, its rounds as parameters. */
function plainHash(
  bytes: readonly number[],
  key: readonly [number, number],
  wordRounds: number,
  lastRounds: number,
): number {
  const v = [key[0], key[1], 0x6c796765 ^ key[0], 0x74656462 ^ key[1]]
  const turn = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits))
  const mix = (a: number, b: number, bits: number) => {
    v[a] = (v[a] + v[b]) | 0
    v[b] = turn(v[b], bits) ^ v[a]
  }
  const round = () => {
    mix(0, 1, 5)
    v[0] = turn(v[0], 16)
    mix(2, 3, 8)
    mix(0, 3, 7)
    mix(2, 1, 13)
    v[2] = turn(v[2], 16)
  }
  const padded = [...bytes]
  while (padded.length % 4 !== 3) padded.push(0)
  padded.push(bytes.length & 0xff)
  for (let i = 0; i < padded.length; i += 4) {
    const word = padded.slice(i, i + 4).reduce((sum, byte, j) => sum | (byte << (j * 8)), 0)
    v[3] ^= word
    for (let r = 0; r < wordRounds; r++) round()
    v[0] ^= word
  }
  v[2] ^= 0xff
  for (let r = 0; r < lastRounds; r++) round()
  return (v[1] ^ v[3]) >>> 0
}

function arenaOf(...keys: readonly (readonly number[])[]): KeyArena {
  const arena = new KeyArena()
  for (const key of keys) {
    arena.append(Uint8Array.from(key), 0, key.length)
    arena.endKey()
  }
  return arena
}

function hashesOf(keys: KeyArena, seed: number): Uint32Array {
  const hashes = new Uint32Array(keys.count)
  hashKeys(keys, 0, seed, hashes)
  return hashes
}

/**
 * How far a count of `mean` expected hits of many rare ones may stray: over six standard
 * deviations.
 */
function isNear(count: number, mean: number): boolean {
  return Math.abs(count - mean) < 6.5 * Math.sqrt(mean)
}

describe('plainHash', () => {
  test('gives the published HalfSipHash-2-4 of bytes 0, 1, 2 … under key 0 … 7', () => {
    const key = [0x03020100, 0x07060504] as const

    const hashes = [[], [0], [0, 1]].map((bytes) => plainHash(bytes, key, 2, 4))

    expect(hashes).toEqual([0x5b9f35a9, 0xb85a4727, 0x03a662fa])
  })
})

describe('hashKeys', () => {
  test('is HalfSipHash-1-3 of each key, whatever its length', () => {
    const prng = new Prng(3)
    const keys = Array.from({ length: 300 }, (_, i) => {
      return Array.from({ length: i }, () => prng.below(256))
    })
    const seed = 0x12345 * 2 ** 32 + 0x9abcdef0

    const hashes = hashesOf(arenaOf(...keys), seed)

    const expected = keys.map((key) => plainHash(key, [0x9abcdef0, 0x12345], 1, 3))
    expect([...hashes]).toEqual(expected)
  })

  test('hashes from the first key asked for on, each to the place of its key', () => {
    const keys = arenaOf([1], [2, 2], [3, 3, 3])
    const all = hashesOf(keys, 7)
    const some = new Uint32Array(3)

    hashKeys(keys, 1, 7, some)

    expect([...some]).toEqual([0, all[1], all[2]])
  })

  test('gives other hashes under another seed, in either half of it', () => {
    const keys = arenaOf([1, 2, 3, 4])

    const hashes = [0, 1, 2 ** 31, 2 ** 32, 2 ** 52].map((seed) => hashesOf(keys, seed)[0])

    expect(new Set(hashes).size).toBe(hashes.length)
  })

  // Hash tables mask the low bits and Bloom filters use both halves: any 12 bits must spread
  // evenly.
  test('spreads counting keys over low, middle and high bits as chance does', () => {
    const count = 1 << 18
    const keys = new KeyArena(count, count * 8)
    keys.reserve(count * 8)
    const view = new DataView(keys.bytes.buffer)
    for (let i = 0; i < count; i++) {
      view.setInt32(keys.length, 0x80000000 | 0)
      view.setUint32(keys.length + 4, i)
      keys.length += 8
      keys.endKey()
    }

    const hashes = hashesOf(keys, 99)

    for (const shift of [0, 10, 20]) {
      const buckets = new Uint32Array(1 << 12)
      for (const hash of hashes) buckets[(hash >>> shift) & 0xfff]++
      const mean = count / buckets.length
      expect(
        [...buckets].every((bucket) => isNear(bucket, mean)),
        `shift ${shift}`,
      ).toBe(true)
    }
  })

  test('flips about half of the bits when any one bit of a short key is flipped', () => {
    const prng = new Prng(5)
    for (const length of [1, 4, 5, 8, 12]) {
      for (let bit = 0; bit < length * 8; bit++) {
        let flips = 0
        const pairs = 200
        for (let i = 0; i < pairs; i++) {
          const key = Array.from({ length }, () => prng.below(256))
          const other = [...key]
          other[bit >>> 3] ^= 1 << (bit & 7)
          const [a, b] = hashesOf(arenaOf(key, other), 1)
          for (let rest = a ^ b; rest !== 0; rest &= rest - 1) flips++
        }

        expect(Math.abs(flips / pairs - 16), `length ${length} bit ${bit}`).toBeLessThan(2)
      }
    }
  })
})
