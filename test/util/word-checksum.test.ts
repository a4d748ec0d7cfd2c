import { describe, expect, test } from 'vitest'
import { Prng } from '../../src/util/prng.ts'
import { wordChecksum } from '../../src/util/word-checksum.ts'

function randomBytes(prng: Prng, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => prng.below(256))
}

describe('wordChecksum', () => {
  test('sees every single bit that is turned', () => {
    const bytes = randomBytes(new Prng(1), 64)
    const whole = wordChecksum(bytes, 0, 64, 7)
    for (let bit = 0; bit < 512; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7)
      expect(wordChecksum(bytes, 0, 64, 7), `bit ${bit}`).not.toBe(whole)
      bytes[bit >> 3] ^= 1 << (bit & 7)
    }
  })

  test('sees words that change places, are missing, or come twice', () => {
    const prng = new Prng(2)
    const bytes = randomBytes(prng, 4096)
    const seen = new Set([wordChecksum(bytes, 0, 4096, 0)])
    for (let start = 0; start < 4088; start += 8) {
      const swapped = bytes.slice()
      swapped.copyWithin(start, start + 8, start + 16)
      swapped.set(bytes.subarray(start, start + 8), start + 8)
      seen.add(wordChecksum(swapped, 0, 4096, 0))
      seen.add(wordChecksum(bytes, 0, start, 0))
    }
    expect(seen.size).toBe(1 + 511 * 2)
  })

  test('tells apart zeros of all lengths and what came before', () => {
    const zeros = new Uint8Array(8192)
    const seen = new Set<number>()
    for (let end = 0; end <= 8192; end += 8) seen.add(wordChecksum(zeros, 0, end, 0))
    for (let before = 1; before <= 100; before++) seen.add(wordChecksum(zeros, 0, 64, before))
    expect(seen.size).toBe(1025 + 100)
  })

  test('depends on the bytes alone, not on where they lie', () => {
    const bytes = randomBytes(new Prng(3), 256)
    const moved = new Uint8Array(512)
    moved.set(bytes, 80)
    expect(wordChecksum(moved, 80, 336, 5)).toBe(wordChecksum(bytes, 0, 256, 5))
  })
})
