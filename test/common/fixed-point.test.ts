import { describe, expect, test } from 'vitest'
import { CELL_ERRORS } from '../../src/common/cell-error.ts'
import {
  numberScan,
  readFixed,
  readInt32,
  readInt64,
  readPlainFixed,
  scanNumber,
} from '../../src/common/fixed-point.ts'
import { scratchNumber } from '../../src/common/scalar-scratch.ts'
import { Prng } from '../../src/util/prng.ts'
import {
  framed,
  randomDigits,
  randomInteger,
  scratchInt64,
  scratchInt128,
} from '../support/scalars.ts'

const GRAMMAR = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/** The text times 10^scale as the definition says, with unbounded integers. */
function plainScaled(text: string, scale: number): { whole: bigint; isExact: boolean } {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text)!
  const digits = BigInt(whole + fraction)
  const power = Number(exponent) - fraction.length + scale
  const scaled = power >= 0 ? digits * 10n ** BigInt(power) : digits / 10n ** BigInt(-power)
  const isExact = power >= 0 || digits % 10n ** BigInt(-power) === 0n
  return { whole: sign === '-' ? -scaled : scaled, isExact }
}

/** A number of the grammar, short or long, with zeros in every place. */
function randomNumber(prng: Prng): string {
  const whole = prng.chance(0.3)
    ? '0'
    : `${prng.between(1, 9)}${randomDigits(prng, prng.below(22))}`
  const fraction = prng.chance(0.5) ? `.${randomDigits(prng, prng.between(1, 12))}` : ''
  const sign = prng.pick(['', '+', '-'])
  const exponent = prng.chance(0.4) ? `${prng.pick(['e', 'E'])}${sign}${prng.below(25)}` : ''
  return (prng.chance(0.4) ? '-' : '') + whole + fraction + exponent
}

function scan(text: string): boolean {
  const { bytes, start, end } = framed(text)
  return scanNumber(bytes, start, end)
}

function fixed(text: string, scale: number, digitsMax: number): number {
  const { bytes, start, end } = framed(text)
  return readFixed(bytes, start, end, scale, digitsMax)
}

function int64(text: string): number | bigint {
  const { bytes, start, end } = framed(text)
  const error = readInt64(bytes, start, end)
  return error === CELL_ERRORS.NONE ? scratchInt64() : error
}

describe('scanNumber', () => {
  test('takes the numbers of JSON and nothing else', () => {
    const right = ['0', '-0', '10', '1.0', '1.50e3', '1E+2', '1e-2', '-0.0e0', '0e5']
    const wrong = ['', '-', '+1', '01', '-01', '.5', '5.', '1.e3', '1e', '1e+', '1e1.5', ' 1', '1 ']
    const alsoWrong = [
      '0x1',
      '1_0',
      'NaN',
      'Infinity',
      '--1',
      '1-',
      '1.2.3',
      '1e2e3',
      '٣',
      '00',
      '1,5',
    ]

    expect(right.filter((text) => !scan(text))).toEqual([])
    expect([...wrong, ...alsoWrong].filter(scan)).toEqual([])
  })

  test('agrees with the grammar on random texts of its characters', () => {
    const prng = new Prng(11)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      let text = prng.chance(0.5) ? randomNumber(prng) : ''
      const changes = prng.below(4)
      for (let i = 0; i < changes; i++) {
        const at = prng.below(text.length + 1)
        text = text.slice(0, at) + prng.pick([...'0019.eE+-']) + text.slice(at + prng.below(2))
      }
      if (scan(text) !== GRAMMAR.test(text)) wrong.push(`seed 11 round ${round}: ${text}`)
    }

    expect(wrong).toEqual([])
  })

  test('leaves digits without zeros at either end', () => {
    const found = (text: string) => {
      scan(text)
      return [numberScan.digitCount, numberScan.exponent, numberScan.isNegative]
    }

    expect(found('1200')).toEqual([2, 2, false])
    expect(found('0.0012')).toEqual([2, -4, false])
    expect(found('-10.010')).toEqual([4, -2, true])
    expect(found('0.000e9')).toEqual([0, 0, false])
    expect(found('100.00e-2')).toEqual([1, 0, false])
  })
})

describe('readFixed', () => {
  test('equals unbounded integers, for any number and scale', () => {
    const prng = new Prng(12)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const text = randomNumber(prng)
      const scale = prng.below(20)
      const digitsMax = prng.between(1, 38)
      const { whole, isExact } = plainScaled(text, scale)
      const isTooLong = `${whole < 0n ? -whole : whole}`.length > digitsMax && whole !== 0n
      const expected = isTooLong ? 'outOfRange' : isExact ? String(whole) : 'tooPrecise'

      const error = fixed(text, scale, digitsMax)
      const found =
        error === CELL_ERRORS.OUT_OF_RANGE
          ? 'outOfRange'
          : error === CELL_ERRORS.TOO_PRECISE
            ? 'tooPrecise'
            : String(scratchInt128())
      if (found !== expected) wrong.push(`seed 12 round ${round}: ${text} ${scale} ${digitsMax}`)
    }

    expect(wrong).toEqual([])
  })

  test('refuses huge exponents without making the number', () => {
    expect(fixed('1e999999999', 0, 38)).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(fixed('1e999999999999999999999999', 0, 38)).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(fixed('1e-999999999999999999999999', 38, 38)).toBe(CELL_ERRORS.TOO_PRECISE)
    expect(fixed('0e999999999999999999999999', 0, 38)).toBe(CELL_ERRORS.NONE)
    expect(scratchInt128()).toBe(0n)
  })

  test('cancels many zeros against an exponent', () => {
    const zeros = '0'.repeat(100_000)

    expect(fixed(`12${zeros}e-100000`, 0, 2)).toBe(CELL_ERRORS.NONE)
    expect(scratchInt128()).toBe(12n)
    expect(fixed(`0.${zeros}12e100002`, 0, 2)).toBe(CELL_ERRORS.NONE)
    expect(scratchInt128()).toBe(12n)
  })

  test('holds 38 digits of either sign', () => {
    const nines = '9'.repeat(38)

    expect(fixed(`-${nines}`, 0, 38)).toBe(CELL_ERRORS.NONE)
    expect(scratchInt128()).toBe(-(10n ** 38n - 1n))
    expect(fixed(`0.${nines}`, 38, 38)).toBe(CELL_ERRORS.NONE)
    expect(scratchInt128()).toBe(10n ** 38n - 1n)
    expect(fixed(`1${'0'.repeat(38)}`, 0, 38)).toBe(CELL_ERRORS.OUT_OF_RANGE)
  })
})

describe('readPlainFixed', () => {
  test('is either the exact value or NaN, and never −0', () => {
    const prng = new Prng(13)
    const wrong: string[] = []
    let plainCount = 0
    for (let round = 0; round < 8000; round++) {
      const text = randomNumber(prng)
      const scale = prng.below(8)
      const { bytes, start, end } = framed(text)
      const plain = readPlainFixed(bytes, start, end, scale)
      if (Number.isNaN(plain)) continue
      plainCount++
      const { whole, isExact } = plainScaled(text, scale)
      if (!isExact || BigInt(plain) !== whole || Object.is(plain, -0)) {
        wrong.push(`seed 13 round ${round}: ${text} ${scale}`)
      }
    }

    expect(wrong).toEqual([])
    expect(plainCount).toBeGreaterThan(2000)
  })

  test('knows ordinary numbers without help', () => {
    const plain = (text: string, scale: number) => {
      const { bytes, start, end } = framed(text)
      return readPlainFixed(bytes, start, end, scale)
    }

    expect(plain('0', 0)).toBe(0)
    expect(plain('-0', 0)).toBe(0)
    expect(plain('-12.5', 2)).toBe(-1250)
    expect(plain('999999999999999', 0)).toBe(999_999_999_999_999)
    expect(plain('1234567890123456', 0)).toBeNaN()
    expect(plain('007', 0)).toBeNaN()
    expect(plain('1.', 2)).toBeNaN()
    expect(plain('', 2)).toBeNaN()
  })
})

describe('readInt64', () => {
  test('is exact over the whole range', () => {
    const edges = [0n, 1n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]
    const powers = Array.from({ length: 63 }, (_, bit) => 2n ** BigInt(bit))
    for (const value of [
      ...edges,
      ...powers.flatMap((power) => [power - 1n, -power, -power - 1n]),
    ]) {
      expect(int64(String(value)), String(value)).toBe(value)
      expect(int64(`${value}.000`), `${value}.000`).toBe(value)
    }
    expect(int64('9007199254740993.0')).toBe(9_007_199_254_740_993n)
    expect(int64('1e3')).toBe(1000n)
    expect(int64('-0')).toBe(0n)
    expect(int64('12345678901234567e2')).toBe(1_234_567_890_123_456_700n)
  })

  test('equals unbounded integers on both sides of its range', () => {
    const prng = new Prng(14)
    for (let round = 0; round < 3000; round++) {
      const value = randomInteger(prng, 66)
      const fits = BigInt.asIntN(64, value) === value

      expect(int64(String(value)), `seed 14 round ${round}`).toBe(
        fits ? value : CELL_ERRORS.OUT_OF_RANGE,
      )
    }
  })

  test('says why a text is no int64', () => {
    expect(int64('9223372036854775808')).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int64('-9223372036854775809')).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int64('9999999999999999999')).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int64('1e19')).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int64('1e999999999')).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int64('1.5')).toBe(CELL_ERRORS.NOT_INTEGER)
    expect(int64('1e-400')).toBe(CELL_ERRORS.NOT_INTEGER)
    expect(int64('12x')).toBe(CELL_ERRORS.MALFORMED)
    expect(int64('')).toBe(CELL_ERRORS.MALFORMED)
  })
})

describe('readInt32', () => {
  const int32 = (text: string, low: number, high: number) => {
    const { bytes, start, end } = framed(text)
    const error = readInt32(bytes, start, end, low, high)
    return error === CELL_ERRORS.NONE ? { value: scratchNumber[0] } : error
  }

  test('holds its bounds and refuses what lies beyond them', () => {
    for (const bits of [8, 16, 32]) {
      const low = -(2 ** (bits - 1))
      const high = 2 ** (bits - 1) - 1

      expect(int32(String(low), low, high)).toEqual({ value: low })
      expect(int32(String(high), low, high)).toEqual({ value: high })
      expect(int32(String(low - 1), low, high)).toBe(CELL_ERRORS.OUT_OF_RANGE)
      expect(int32(String(high + 1), low, high)).toBe(CELL_ERRORS.OUT_OF_RANGE)
    }
  })

  test('takes integers however they are written', () => {
    expect(int32('1.0', -128, 127)).toEqual({ value: 1 })
    expect(int32('1.2e1', -128, 127)).toEqual({ value: 12 })
    expect(int32('-1200e-2', -128, 127)).toEqual({ value: -12 })
    expect(int32('4294967297', -128, 127)).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int32('4294967297e0', -128, 127)).toBe(CELL_ERRORS.OUT_OF_RANGE)
    expect(int32('1.5', -128, 127)).toBe(CELL_ERRORS.NOT_INTEGER)
    expect(int32('"1"', -128, 127)).toBe(CELL_ERRORS.MALFORMED)
  })
})
