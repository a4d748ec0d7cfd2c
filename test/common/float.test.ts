import { describe, expect, test } from 'vitest'
import { CELL_ERRORS } from '../../src/common/cell-error.ts'
import {
  appendDouble,
  appendFloat,
  FLOAT_MAX,
  readDouble,
  readFloat,
} from '../../src/common/float.ts'
import { scratchNumber } from '../../src/common/scalar-scratch.ts'
import { Prng } from '../../src/util/prng.ts'
import {
  floatOfBits,
  halfwayAbove,
  nearestFloat,
  shortestFloatText,
} from '../support/exact-float.ts'
import { framed, printed, randomDigits } from '../support/scalars.ts'

const INFINITE_BITS = 0x7f80_0000

function floatText(value: number): string {
  return printed((arena) => appendFloat(arena, value))
}

function doubleText(value: number): string {
  return printed((arena) => appendDouble(arena, value))
}

function float(text: string): number | string {
  const { bytes, start, end } = framed(text)
  const error = readFloat(bytes, start, end)
  return error === CELL_ERRORS.NONE ? scratchNumber[0] : `error ${error}`
}

function double(text: string): number | string {
  const { bytes, start, end } = framed(text)
  const error = readDouble(bytes, start, end)
  return error === CELL_ERRORS.NONE ? scratchNumber[0] : `error ${error}`
}

/**
 * Bits of finite FLOATs above 0: anything, near powers of two, few bits, few decimals, the
 * smallest.
 */
function randomFloatBits(prng: Prng): number {
  switch (prng.below(5)) {
    case 0:
      return prng.between(1, INFINITE_BITS - 1)
    case 1:
      return Math.max((prng.below(255) << 23) + prng.between(-2, 2), 1)
    case 2:
      return ((prng.below(255) << 23) | (prng.below(64) << 17)) + 1
    case 3:
      return bitsOf(Math.fround(prng.below(100_000) / 10 ** prng.below(8)) + 2 ** -40)
    default:
      return prng.between(1, 5000)
  }
}

const scratch = new DataView(new ArrayBuffer(8))

function bitsOf(value: number): number {
  scratch.setFloat32(0, value)
  return scratch.getUint32(0)
}

function randomDouble(prng: Prng): number {
  scratch.setUint32(0, prng.uint32())
  scratch.setUint32(4, prng.uint32())
  return scratch.getFloat64(0)
}

describe('appendFloat', () => {
  test('gives the fewest digits that read back, and of those the nearest', () => {
    const prng = new Prng(51)
    const wrong: string[] = []
    for (let round = 0; round < 2500; round++) {
      const bits = randomFloatBits(prng)
      const value = floatOfBits(bits)
      const expected = shortestFloatText(value)
      if (floatText(value) !== expected || floatText(-value) !== `-${expected}`) {
        wrong.push(`seed 51 round ${round}: bits ${bits}, ${floatText(value)}, not ${expected}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('does so for every power of two and of ten and their neighbours', () => {
    const wrong: string[] = []
    const check = (bits: number) => {
      if (bits < 1 || bits >= INFINITE_BITS) return
      const value = floatOfBits(bits)
      if (floatText(value) !== shortestFloatText(value)) wrong.push(`bits ${bits}`)
    }
    for (let exponent = 0; exponent < 255; exponent++) {
      for (let step = -2; step <= 2; step++) check((exponent << 23) + step)
    }
    for (let bit = 0; bit < 23; bit++) check(1 << bit)
    for (let power = -46; power <= 38; power++) {
      const bits = bitsOf(Number(`1e${power}`))
      for (let step = -3; step <= 3; step++) check(bits + step)
    }

    expect(wrong).toEqual([])
  })

  test('is read back by one rounding and by two', () => {
    const prng = new Prng(52)
    const wrong: string[] = []
    for (let round = 0; round < 4000; round++) {
      const value = floatOfBits(randomFloatBits(prng))
      const text = floatText(value)
      if (float(text) !== value || Math.fround(Number(text)) !== value) {
        wrong.push(`seed 52 round ${round}: ${value} ${text}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('lays numbers out as ECMAScript does', () => {
    const texts = [
      '0.1',
      '3.4028235e+38',
      '1e-45',
      '1.17549435e-38',
      '16777216',
      '1073741800',
      '1e+21',
    ]
    const more = ['100000000000000000000', '0.000001', '1e-7', '1.5e-7', '0.33333334', '123.456']
    for (const text of [...texts, ...more]) {
      const value = Math.fround(Number(text))

      expect(floatText(value)).toBe(shortestFloatText(value))
      expect(floatText(value)).toBe(text === '1.17549435e-38' ? '1.1754944e-38' : text)
    }
    expect(floatText(0)).toBe('0')
    expect(floatText(-0)).toBe('-0')
    expect(floatText(Number.NaN)).toBe('NaN')
    expect(floatText(Number.POSITIVE_INFINITY)).toBe('Infinity')
    expect(floatText(Number.NEGATIVE_INFINITY)).toBe('-Infinity')
  })
})

describe('readFloat', () => {
  test('rounds once, at random', () => {
    const prng = new Prng(53)
    const wrong: string[] = []
    for (let round = 0; round < 1500; round++) {
      const digits = `${prng.between(1, 9)}${randomDigits(prng, prng.below(20))}`
      const exponent = prng.between(-60, 38)
      const expected = nearestFloat(BigInt(digits), exponent)
      const found = float(`${digits}e${exponent}`)
      const isRight =
        expected === Number.POSITIVE_INFINITY ? found === 'error 3' : found === expected
      if (!isRight) wrong.push(`seed 53 round ${round}: ${digits}e${exponent} gave ${found}`)
    }

    expect(wrong).toEqual([])
  })

  test('looks past what a double holds where two FLOATs are equally near', () => {
    const prng = new Prng(54)
    const wrong: string[] = []
    for (let round = 0; round < 500; round++) {
      const bits = prng.chance(0.1) ? prng.below(3) : prng.below(INFINITE_BITS - 1)
      const { digits, exponent } = halfwayAbove(bits)
      const zeros = prng.between(1, 40)
      const scaled = digits * 10n ** BigInt(zeros)
      for (const change of [-1n, 0n, 1n]) {
        const text = `${scaled + change}e${exponent - zeros}`
        const expected = nearestFloat(scaled + change, exponent - zeros)
        if (float(text) !== expected || float(`-${text}`) !== -expected) {
          wrong.push(`seed 54 round ${round}: bits ${bits} ${change}`)
        }
      }
    }

    expect(wrong).toEqual([])
  })

  test('is out of range from half a step above the greatest FLOAT', () => {
    const { digits, exponent } = halfwayAbove(INFINITE_BITS - 1)
    expect(exponent).toBe(-1)
    const halfway = digits / 10n

    expect(float(String(halfway - 1n))).toBe(FLOAT_MAX)
    expect(float(`${halfway - 1n}.${'9'.repeat(400)}`)).toBe(FLOAT_MAX)
    expect(float(String(halfway))).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(float(`-${halfway}.000`)).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(float('1e39')).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(float('1e400')).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
  })

  test('rounds what is too small to zero, keeping its sign', () => {
    expect(float('1e-46')).toBe(0)
    expect(Object.is(float('-1e-46'), -0)).toBe(true)
    expect(Object.is(float('-0'), -0)).toBe(true)
    expect(float('1e-400')).toBe(0)
    expect(float('7.1e-46')).toBe(floatOfBits(1))
  })
})

describe('readDouble', () => {
  test('equals what the platform reads, for digits and exponents of any length', () => {
    const prng = new Prng(55)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const whole = `${prng.between(1, 9)}${randomDigits(prng, prng.below(20))}`
      const fraction = prng.chance(0.5) ? `.${randomDigits(prng, prng.between(1, 12))}` : ''
      const exponent = prng.chance(0.6) ? `e${prng.between(-45, 45)}` : ''
      const text = `${prng.pick(['', '-'])}${prng.pick([whole, '0'])}${fraction}${exponent}`
      if (!Object.is(double(text), Number(text))) wrong.push(`seed 55 round ${round}: ${text}`)
    }

    expect(wrong).toEqual([])
  })

  test('equals what the platform reads next to ties of sixteen to nineteen digits', () => {
    const prng = new Prng(56)
    const wrong: string[] = []
    for (let round = 0; round < 1500; round++) {
      // An odd multiple of half a step, in the range where that is an integer of few digits.
      const power = prng.between(53, 62)
      const odd = 2 ** 52 + prng.below(2 ** 32) * 2 ** 20
      const tie = (BigInt(odd) * 2n + 1n) << BigInt(power - 53)
      for (const change of [-1n, 0n, 1n]) {
        const text = String(tie + change)
        if (double(text) !== Number(text)) wrong.push(`seed 56 round ${round}: ${text}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('is out of range where the platform says infinity', () => {
    expect(double('1.7976931348623157e308')).toBe(Number.MAX_VALUE)
    expect(double('1e309')).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(double('-1e999999999')).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(double('1e-999999999')).toBe(0)
    expect(double('5e-324')).toBe(5e-324)
    expect(double('01')).toBe(`error ${CELL_ERRORS.MALFORMED}`)
  })
})

describe('appendDouble', () => {
  test('prints as ECMAScript does, and −0 as -0', () => {
    const prng = new Prng(57)
    const wrong: string[] = []
    const check = (value: number, from: string) => {
      if (doubleText(value) !== String(value)) wrong.push(`${from}: ${value}, ${doubleText(value)}`)
    }
    for (let round = 0; round < 4000; round++) {
      check(randomDouble(prng), `seed 57 round ${round}`)
      check(prng.below(1e9) / 10 ** prng.below(12), `seed 57 round ${round}`)
      check(-prng.unit() * 10 ** prng.between(-8, 22), `seed 57 round ${round}`)
      check(Math.round(prng.unit() * 1e9) / 10 ** prng.below(7), `seed 57 round ${round}`)
    }
    for (const value of [
      0,
      1e15,
      1e15 - 1,
      1e21,
      1e-6,
      1e-7,
      123.45,
      0.1 + 0.2,
      999_999_999.999999,
    ]) {
      check(value, 'edge')
    }

    expect(wrong).toEqual([])
    expect(doubleText(-0)).toBe('-0')
    expect(doubleText(Number.NaN)).toBe('NaN')
    expect(doubleText(Number.NEGATIVE_INFINITY)).toBe('-Infinity')
  })
})
