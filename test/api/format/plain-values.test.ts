import { describe, expect, test } from 'vitest'
import {
  plainDate,
  plainDecimal,
  plainFixed,
  plainInteger,
  plainTimestamp,
  roundsOnceToFloat,
} from '../../../src/api/format/plain-values.ts'
import { CELL_ERRORS } from '../../../src/common/cell-error.ts'
import { readDate } from '../../../src/common/date.ts'
import { readFixed, readInt64 } from '../../../src/common/fixed-point.ts'
import { readDouble, readFloat } from '../../../src/common/float.ts'
import { scratchNumber } from '../../../src/common/scalar-scratch.ts'
import { readTimestamp } from '../../../src/common/unixtime-micros.ts'
import { Prng } from '../../../src/util/prng.ts'
import { framed, randomDigits, scratchInt64, scratchInt128 } from '../../support/scalars.ts'

type Reader = (bytes: Uint8Array, view: DataView, start: number, end: number) => number

function read(reader: Reader, text: string): number {
  const { bytes, start, end } = framed(text)
  return reader(bytes, new DataView(bytes.buffer), start, end)
}

/** What an exact reader makes of a text, or undefined. */
function exactly<T>(
  text: string,
  reader: (bytes: Uint8Array, start: number, end: number) => number,
  value: () => T,
): T | undefined {
  const { bytes, start, end } = framed(text)
  return reader(bytes, start, end) === CELL_ERRORS.NONE ? value() : undefined
}

/** A number, or what is nearly one. */
function numberText(prng: Prng): string {
  const sign = prng.chance(0.3) ? '-' : ''
  const whole = prng.chance(0.3) ? '0' : randomDigits(prng, prng.between(0, 12))
  const fraction = prng.chance(0.6) ? `.${randomDigits(prng, prng.between(0, 20))}` : ''
  const text = `${sign}${whole}${fraction}${prng.chance(0.05) ? 'e2' : ''}`
  if (!prng.chance(0.1)) return text
  const at = prng.below(text.length + 1)
  return text.slice(0, at) + prng.pick(['', '-', '.', '+', ' ', ':', '/', 'a']) + text.slice(at + 1)
}

describe('plainInteger', () => {
  test('reads integers of one to fifteen digits', () => {
    for (const text of ['0', '7', '-1', '1234', '12345', '999999999999999', '-123456789012345']) {
      expect(read(plainInteger, text)).toBe(Number(text))
    }
  })

  test('leaves everything else to others', () => {
    for (const text of [
      '',
      '-',
      '01',
      '-00',
      '1.0',
      '1e3',
      '+1',
      ' 1',
      '1234567890123456',
      '12a4',
    ]) {
      expect(read(plainInteger, text), text).toBeNaN()
    }
  })

  test('reads what the exact reader reads, or nothing', () => {
    const prng = new Prng(31)
    const wrong: string[] = []
    for (let round = 0; round < 20_000; round++) {
      const text = numberText(prng)
      const value = read(plainInteger, text)
      if (Number.isNaN(value)) continue
      if (exactly(text, readInt64, scratchInt64) !== BigInt(value)) wrong.push(text)
    }

    expect(wrong, 'seed 31').toEqual([])
  })
})

describe('plainDecimal', () => {
  test('reads decimals of up to nineteen digits', () => {
    const texts = ['0.5', '-0.0', '1.25', '12345.678', '0.1234567890123456', '77.16519187670201']
    for (const text of [...texts, '-9.0071992547409931', '123456789.123456789']) {
      expect(read(plainDecimal, text), text).toBe(Number(text))
    }
  })

  test('reads what the exact reader reads, or nothing', () => {
    const prng = new Prng(32)
    const wrong: string[] = []
    let count = 0
    for (let round = 0; round < 30_000; round++) {
      const text = numberText(prng)
      const value = read(plainDecimal, text)
      if (Number.isNaN(value)) continue
      count++
      if (
        !Object.is(
          exactly(text, readDouble, () => scratchNumber[0]),
          value,
        )
      )
        wrong.push(text)
    }

    expect(wrong, 'seed 32').toEqual([])
    expect(count).toBeGreaterThan(10_000)
  })

  test('reads nearly every double as ECMAScript prints it', () => {
    const prng = new Prng(33)
    const wrong: string[] = []
    let missed = 0
    for (let round = 0; round < 5000; round++) {
      const double = prng.unit() * prng.pick([1, 100, 1e6])
      const value = read(plainDecimal, String(double))
      if (Number.isNaN(value)) missed++
      else if (value !== double) wrong.push(String(double))
    }

    expect(wrong, 'seed 33').toEqual([])
    expect(missed).toBeLessThan(150)
  })
})

describe('plainFixed', () => {
  test('reads what the exact reader reads, or nothing', () => {
    const prng = new Prng(34)
    const wrong: string[] = []
    let count = 0
    for (let round = 0; round < 30_000; round++) {
      const text = numberText(prng)
      const scale = prng.below(8)
      const value = read((...slice) => plainFixed(...slice, scale), text)
      if (Number.isNaN(value)) continue
      count++
      const exact = exactly(text, (...slice) => readFixed(...slice, scale, 38), scratchInt128)
      if (Object.is(value, -0) || exact !== BigInt(value)) wrong.push(`${text} scale ${scale}`)
    }

    expect(wrong, 'seed 34').toEqual([])
    expect(count).toBeGreaterThan(5000)
  })
})

describe('roundsOnceToFloat', () => {
  test('is true only where rounding the double gives the float nearest to the decimal', () => {
    const prng = new Prng(35)
    const wrong: string[] = []
    for (let round = 0; round < 20_000; round++) {
      const text = numberText(prng)
      const value = read(plainDecimal, text)
      if (!roundsOnceToFloat(value)) continue
      const exact = exactly(text, readFloat, () => scratchNumber[0])
      if (!Object.is(exact, Math.fround(value))) wrong.push(text)
    }

    expect(wrong, 'seed 35').toEqual([])
  })

  test('is false halfway between two floats, for what is no normal float, and for NaN', () => {
    const halfway = 1 + 2 ** -24
    for (const value of [halfway, 1e-40, 1e39, Number.NaN, Infinity]) {
      expect(roundsOnceToFloat(value)).toBe(false)
    }
    expect(roundsOnceToFloat(0.1)).toBe(true)
    expect(roundsOnceToFloat(0)).toBe(true)
  })
})

/** A day, or what is nearly one. */
function dayText(prng: Prng): string {
  const year = prng.pick(['0000', '0001', '1582', '1600', '1900', '1969', '1970', '2024', '2100'])
  const pad = (value: number) => String(value).padStart(2, '0')
  const text = `${year}-${pad(prng.below(14))}-${pad(prng.between(0, 32))}`
  if (!prng.chance(0.1)) return text
  const at = prng.below(10)
  return text.slice(0, at) + prng.pick(['-', ':', '0', 'a', '/']) + text.slice(at + 1)
}

describe('plainDate', () => {
  test('reads what the exact reader reads, or nothing, whatever was read before', () => {
    const prng = new Prng(36)
    const wrong: string[] = []
    let count = 0
    for (let round = 0; round < 20_000; round++) {
      const text = dayText(prng)
      const value = read((bytes, view, start) => plainDate(bytes, view, start), text)
      if (Number.isNaN(value)) continue
      count++
      if (exactly(text, readDate, () => scratchNumber[0]) !== value) wrong.push(text)
    }

    expect(wrong, 'seed 36').toEqual([])
    expect(count).toBeGreaterThan(5000)
  })
})

describe('plainTimestamp', () => {
  test('reads zero to six digits of a second', () => {
    expect(read(plainTimestamp, '1970-01-01T00:00:00Z')).toBe(0)
    expect(read(plainTimestamp, '2026-01-31T23:59:59.000001Z')).toBe(1_769_903_999_000_001)
    expect(read(plainTimestamp, '2026-01-31T23:59:59.5Z')).toBe(1_769_903_999_500_000)
  })

  test('reads what the exact reader reads, or nothing', () => {
    const prng = new Prng(37)
    const wrong: string[] = []
    let count = 0
    for (let round = 0; round < 30_000; round++) {
      const pad = (value: number) => String(value).padStart(2, '0')
      const time = `${pad(prng.below(25))}:${pad(prng.below(61))}:${pad(prng.below(61))}`
      const fraction = prng.chance(0.5) ? '' : `.${randomDigits(prng, prng.below(8))}`
      const separator = prng.pick(['T', 'T', 'T', 't', ' '])
      const offset = prng.pick(['Z', 'Z', 'z', '+01:00', ''])
      const text = `${dayText(prng)}${separator}${time}${fraction}${offset}`
      const value = read(plainTimestamp, text)
      if (Number.isNaN(value)) continue
      count++
      const exact = exactly(text, (...slice) => readTimestamp(...slice, false), scratchInt64)
      if (exact !== BigInt(value)) wrong.push(text)
    }

    expect(wrong, 'seed 37').toEqual([])
    expect(count).toBeGreaterThan(1000)
  })
})
