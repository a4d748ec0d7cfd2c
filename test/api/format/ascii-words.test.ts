import { describe, expect, test } from 'vitest'
import {
  countNewlines,
  fourDigits,
  hasQuoteOrHigh,
  isFourDigits,
  plainBytes,
} from '../../../src/api/format/ascii-words.ts'
import { Prng } from '../../../src/util/prng.ts'

const BACKSLASH = 0x5c
const BYTES_AT_EDGES = [
  0x00, 0x09, 0x0a, 0x0b, 0x8a, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x2b, 0x2c, 0x2d, 0x2f, 0x30, 0x39,
  0x3a, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xb0, 0xfa, 0xff,
]

function wordOf(bytes: readonly number[]): number {
  return new DataView(Uint8Array.from(bytes).buffer).getInt32(0, true)
}

/** All words of four bytes at edges, and random ones. */
function someWords(): number[][] {
  const prng = new Prng(11)
  const words: number[][] = []
  for (const a of BYTES_AT_EDGES) {
    for (const b of BYTES_AT_EDGES) words.push([a, b, prng.pick(BYTES_AT_EDGES), prng.below(256)])
  }
  for (let i = 0; i < 20_000; i++) {
    words.push(Array.from({ length: 4 }, () => prng.pick([prng.below(256), 0x30 + prng.below(12)])))
  }
  return words
}

describe('isFourDigits', () => {
  test('tells four digits from everything else', () => {
    const wrong: number[][] = []
    for (const bytes of someWords()) {
      const isEach = bytes.every((byte) => byte >= 0x30 && byte <= 0x39)
      if (isFourDigits(wordOf(bytes)) !== isEach) wrong.push(bytes)
    }

    expect(wrong).toEqual([])
  })
})

describe('fourDigits', () => {
  test('reads 0000 … 9999', () => {
    const wrong: number[] = []
    for (let value = 0; value < 10_000; value++) {
      const digits = [...String(value).padStart(4, '0')].map((digit) => digit.charCodeAt(0))

      if (!isFourDigits(wordOf(digits)) || fourDigits(wordOf(digits)) !== value) wrong.push(value)
    }

    expect(wrong).toEqual([])
  })
})

describe('plainBytes', () => {
  test('finds the first quote, control character, byte above ASCII or other byte', () => {
    const wrong: number[][] = []
    for (const bytes of someWords()) {
      const isStop = (byte: number) => {
        return byte < 0x20 || byte >= 0x80 || byte === 0x22 || byte === BACKSLASH
      }
      const first = bytes.findIndex(isStop)
      const found = plainBytes(wordOf(bytes), 0x5c5c_5c5c)
      if (found !== (first === -1 ? 4 : first)) wrong.push(bytes)
    }

    expect(wrong).toEqual([])
  })
})

describe('hasQuoteOrHigh', () => {
  test('tells words with a quote or a byte above ASCII from all others', () => {
    const wrong: number[][] = []
    for (const bytes of someWords()) {
      const isOne = bytes.some((byte) => byte === 0x22 || byte >= 0x80)
      if (hasQuoteOrHigh(wordOf(bytes)) !== isOne) wrong.push(bytes)
    }

    expect(wrong).toEqual([])
  })
})

describe('countNewlines', () => {
  test('counts line feeds', () => {
    const wrong: number[][] = []
    for (const bytes of someWords()) {
      const count = bytes.filter((byte) => byte === 0x0a).length
      if (countNewlines(wordOf(bytes)) !== count) wrong.push(bytes)
    }

    expect(wrong).toEqual([])
  })
})
