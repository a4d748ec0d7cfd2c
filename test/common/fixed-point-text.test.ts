import { describe, expect, test } from 'vitest'
import {
  appendFixed,
  appendFixed64,
  appendFixed128,
  appendInt64,
  appendInteger,
} from '../../src/common/fixed-point-text.ts'
import { Prng } from '../../src/util/prng.ts'
import { printed, randomInteger, wordsOf } from '../support/scalars.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface DecimalVectors {
  readonly decimal: {
    readonly maxUnscaled: readonly { precision: number; max: string }[]
    readonly toString: readonly { unscaled: string; scale: number; text: string }[]
  }
}

/** Unscaled digits with the point put in, by the definition. */
function plainText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const point = digits.length - scale
  const fraction = scale === 0 ? '' : `.${digits.slice(point)}`
  return (unscaled < 0n ? '-' : '') + digits.slice(0, point) + fraction
}

function text64(value: bigint, scale: number): string {
  const [low, high] = wordsOf(value, 2)
  return printed((arena) => appendFixed64(arena, low, high, scale))
}

function text128(value: bigint, scale: number): string {
  const words = Uint32Array.from([0xffff_ffff, ...wordsOf(value, 4), 0xffff_ffff])
  return printed((arena) => appendFixed128(arena, words, 1, scale))
}

describe('appendFixed128', () => {
  test('prints the decimals of the vectors, and so do the narrower ones', () => {
    const { toString: cases } = readVectors<DecimalVectors>('values').decimal
    for (const { unscaled, scale, text } of cases) {
      const value = BigInt(unscaled)

      expect(text128(value, scale), text).toBe(text)
      if (BigInt.asIntN(64, value) === value) expect(text64(value, scale), text).toBe(text)
      if (Number.isSafeInteger(Number(value))) {
        expect(
          printed((arena) => appendFixed(arena, Number(value), scale)),
          text,
        ).toBe(text)
      }
    }
    reportVectors('decimal', cases.length)
  })

  test('equals the definition for random integers of every width', () => {
    const prng = new Prng(21)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const value = randomInteger(prng, 127)
      const scale = prng.below(39)
      if (text128(value, scale) !== plainText(value, scale)) {
        wrong.push(`seed 21 round ${round}: ${value} ${scale}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('equals the definition around powers of two, ten and a billion', () => {
    const tens = Array.from({ length: 39 }, (_, power) => 10n ** BigInt(power))
    const twos = Array.from({ length: 127 }, (_, power) => 2n ** BigInt(power))
    for (const edge of [...tens, ...twos]) {
      for (const value of [edge - 1n, edge, edge + 1n, -edge, -edge - 1n, -edge + 1n]) {
        if (BigInt.asIntN(128, value) !== value) continue
        expect(text128(value, 0)).toBe(String(value))
      }
    }
    expect(text128(-(2n ** 127n), 38)).toBe(plainText(-(2n ** 127n), 38))
  })
})

describe('appendFixed64', () => {
  test('equals the definition for random integers of every width', () => {
    const prng = new Prng(22)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const value = randomInteger(prng, 64)
      const scale = prng.below(19)
      if (text64(value, scale) !== plainText(value, scale)) {
        wrong.push(`seed 22 round ${round}: ${value} ${scale}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('takes words as signed or unsigned lanes give them', () => {
    expect(printed((arena) => appendFixed64(arena, -1, -1, 0))).toBe('-1')
    expect(printed((arena) => appendFixed64(arena, 0xffff_ffff, 0xffff_ffff, 0))).toBe('-1')
    expect(printed((arena) => appendFixed64(arena, -1, 0, 0))).toBe('4294967295')
    expect(printed((arena) => appendFixed64(arena, 0, -1, 0))).toBe('-4294967296')
  })
})

describe('appendInt64', () => {
  test('prints the ends of the range and what a double would round', () => {
    for (const value of [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n]) {
      const [low, high] = wordsOf(value, 2)

      expect(printed((arena) => appendInt64(arena, low, high))).toBe(String(value))
    }
  })
})

describe('appendInteger', () => {
  test('prints safe integers as they are, and −0 as 0', () => {
    const prng = new Prng(23)
    const edges = [0, -0, 9, 10, 99, 100, 999_999_999, 1e9, 1e9 + 1, 2 ** 53, -(2 ** 53), 1e15]
    const random = Array.from({ length: 5000 }, () => Number(randomInteger(prng, 53)))
    for (const value of [...edges, ...random]) {
      expect(printed((arena) => appendInteger(arena, value))).toBe(String(value))
    }
  })
})
