import { describe, expect, test } from 'vitest'
import {
  bitWidth,
  findBits,
  packBits,
  packedWords,
  pickBits,
  unpackBits,
} from '../../../src/cfile/encoding/bit-packing.ts'
import { Prng } from '../../../src/util/prng.ts'

describe('packBits', () => {
  test('keeps numbers of every width, whatever their count and base', () => {
    for (let width = 1; width <= 32; width++) {
      for (const count of [1, 2, 31, 32, 33, 63, 65, 1000]) {
        const prng = new Prng(width * 10_000 + count)
        const base = prng.uint32() | 0
        const numbers = Int32Array.from(
          { length: count },
          () => base + (prng.uint32() >>> (32 - width)),
        )
        const words = new Uint32Array(packedWords(count, width) + 1)
        words.fill(0xaaaa_aaaa)
        packBits(numbers, count, base, width, words, 0)
        const out = new Int32Array(count)
        unpackBits(words.subarray(0, -1), count, base, width, out)

        expect([...out], `width ${width}, ${count} numbers`).toEqual([...numbers])
        expect(words[words.length - 1]).toBe(0xaaaa_aaaa)
      }
    }
  })

  test('lays rows of numbers one above the other', () => {
    const numbers = Int32Array.from({ length: 64 }, (_, i) => i & 7)
    const words = new Uint32Array(packedWords(64, 3))
    packBits(numbers, 64, 0, 3, words, 0)

    // Rows of two: word 0 has the even numbers, word 1 the odd ones.
    expect(words[0] & 0o7777).toBe(0o6420)
    expect(words[1] & 0o7777).toBe(0o7531)
  })
})

describe('pickBits', () => {
  test('gives any of the numbers, in any order and more than once', () => {
    for (let width = 1; width <= 32; width++) {
      for (const count of [1, 2, 31, 32, 33, 65, 1000, 4096]) {
        const prng = new Prng(width * 10_000 + count)
        const numbers = Int32Array.from({ length: count }, () => prng.uint32() >>> (32 - width))
        const words = new Uint32Array(packedWords(count, width))
        packBits(numbers, count, 0, width, words, 0)
        const indexes = Uint32Array.from({ length: 50 }, () => prng.below(count))
        indexes.set([0, count - 1])
        const out = new Int32Array(51).fill(7)
        pickBits(words, count, width, indexes, 50, out)

        const expected = [...indexes].map((index) => numbers[index])
        expect([...out], `width ${width}, ${count} numbers`).toEqual([...expected, 7])
      }
    }
  })
})

describe('findBits', () => {
  test('finds the numbers of a range, its ends included', () => {
    for (let width = 1; width <= 31; width++) {
      for (const count of [1, 2, 31, 33, 65, 1000, 4096]) {
        const prng = new Prng(width * 10_000 + count)
        const numbers = Int32Array.from({ length: count }, () => prng.uint32() >>> (32 - width))
        const words = new Uint32Array(packedWords(count, width))
        packBits(numbers, count, 0, width, words, 0)
        const ends = [numbers[0], prng.pick([0, numbers[count - 1], prng.uint32() >>> 1])]
        const from = Math.min(...ends)
        const to = Math.max(...ends)
        const out = new Uint32Array(count)
        const found = findBits(words, count, width, from, to, out)

        const expected = [...numbers.keys()].filter((i) => numbers[i] >= from && numbers[i] <= to)
        expect([...out.subarray(0, found)], `width ${width}, ${count} numbers`).toEqual(expected)
      }
    }
  })
})

describe('bitWidth', () => {
  test('counts the bits of an unsigned number', () => {
    expect([0, 1, 2, 255, 256, 2 ** 31, 2 ** 32 - 1].map(bitWidth)).toEqual([0, 1, 2, 8, 9, 32, 32])
  })
})
