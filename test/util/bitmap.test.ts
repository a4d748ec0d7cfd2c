import { describe, expect, test } from 'vitest'
import { bitmapBytes, copyBits, countZeros, getBit } from '../../src/util/bitmap.ts'
import { Prng } from '../../src/util/prng.ts'

function randomBits(prng: Prng, count: number): Uint8Array {
  return Uint8Array.from({ length: bitmapBytes(count) }, () => prng.below(256))
}

describe('copyBits', () => {
  test('copies any run of bits to any place, and counts its zeros', () => {
    for (let seed = 0; seed < 500; seed++) {
      const prng = new Prng(seed)
      const source = prng.chance(0.2) ? null : randomBits(prng, 100)
      const start = prng.below(60)
      const end = prng.between(start, 100)
      const targetStart = prng.below(40)
      const target = new Uint8Array(bitmapBytes(targetStart + end - start))

      const zeros = copyBits(source, start, end, target, targetStart)

      const expected = Array.from({ length: target.length * 8 }, (_, bit) => {
        const from = bit - targetStart + start
        return from >= start && from < end && (source === null || getBit(source, from))
      })
      const got = expected.map((_, bit) => getBit(target, bit))
      expect(got, `seed ${seed}`).toEqual(expected)
      expect(zeros, `seed ${seed}`).toBe(end - start - expected.filter(Boolean).length)
    }
  })
})

describe('countZeros', () => {
  test('counts those of any run of bits', () => {
    for (let seed = 0; seed < 300; seed++) {
      const prng = new Prng(seed)
      const bits = randomBits(prng, 100)
      const start = prng.below(60)
      const end = prng.between(start, 100)

      let zeros = 0
      for (let bit = start; bit < end; bit++) if (!getBit(bits, bit)) zeros++
      expect(countZeros(bits, start, end), `seed ${seed}`).toBe(zeros)
    }
  })
})
