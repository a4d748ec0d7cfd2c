import { describe, expect, test } from 'vitest'
import { compareDecimal, floorScaled, scannedDigits } from '../../src/common/exact-decimal.ts'
import { scanNumber } from '../../src/common/fixed-point.ts'
import { Prng } from '../../src/util/prng.ts'
import { framed, randomDigits } from '../support/scalars.ts'

/** Scans a text and returns the bytes that the scan points into. */
function scanned(text: string): Uint8Array {
  const { bytes, start, end } = framed(text)
  if (!scanNumber(bytes, start, end)) throw new Error(`no number: ${text}`)
  return bytes
}

function floorOf(text: string, scale: number, digitsMax = 40): string {
  const found = floorScaled(scanned(text), scale, digitsMax)
  return found === undefined ? 'too long' : `${found.floor}${found.isExact ? '' : ' and more'}`
}

describe('compareDecimal', () => {
  test('tells a decimal from the double nearest to it', () => {
    expect(compareDecimal('1', -1, 0.1)).toBeLessThan(0)
    expect(compareDecimal('3', -1, 0.3)).toBeGreaterThan(0)
    expect(compareDecimal('5', -1, 0.5)).toBe(0)
    expect(compareDecimal('1', 22, 1e22)).toBe(0)
    expect(compareDecimal('1', 23, 1e23)).toBeGreaterThan(0)
    expect(compareDecimal('5', -324, 5e-324)).toBeGreaterThan(0)
    expect(compareDecimal('9', 308, Number.MAX_VALUE)).toBeGreaterThan(0)
  })

  test('equals a comparison of fractions', () => {
    const prng = new Prng(61)
    const wrong: string[] = []
    for (let round = 0; round < 2000; round++) {
      const numerator = BigInt(prng.below(2 ** 30) + 1)
      const power = prng.below(40)
      const value = Number(numerator) / 2 ** power
      const exact = numerator * 5n ** BigInt(power)
      const nudged = exact * 1000n + BigInt(prng.between(-1, 1))
      const digits = String(nudged).replace(/0+$/, '')
      const exponent = String(nudged).length - digits.length - power - 3
      const expected = nudged === exact * 1000n ? 0 : nudged < exact * 1000n ? -1 : 1
      if (Math.sign(compareDecimal(digits, exponent, value)) !== expected) {
        wrong.push(`seed 61 round ${round}: ${digits}e${exponent} and ${value}`)
      }
    }

    expect(wrong).toEqual([])
  })
})

describe('scannedDigits', () => {
  test('leaves out the point and the zeros at both ends', () => {
    expect(scannedDigits(scanned('-0.0120340e7'))).toBe('12034')
    expect(scannedDigits(scanned('1200.5'))).toBe('12005')
    expect(scannedDigits(scanned('0.00'))).toBe('')
  })
})

describe('floorScaled', () => {
  test('rounds down on both sides of zero', () => {
    expect(floorOf('1.5', 0)).toBe('1 and more')
    expect(floorOf('-1.5', 0)).toBe('-2 and more')
    expect(floorOf('-1.50', 1)).toBe('-15')
    expect(floorOf('0.001', 2)).toBe('0 and more')
    expect(floorOf('-1e-400', 2)).toBe('-1 and more')
    expect(floorOf('-0', 2)).toBe('0')
    expect(floorOf('12e3', 2)).toBe('1200000')
  })

  test('counts digits before making a number of them', () => {
    expect(floorOf('1e999999999', 0)).toBe('too long')
    expect(floorOf(`1${'0'.repeat(39)}`, 0)).toBe(`1${'0'.repeat(39)}`)
    expect(floorOf(`1${'0'.repeat(40)}`, 0)).toBe('too long')
    expect(floorOf('0e999999999', 0)).toBe('0')
  })

  test('equals division of integers', () => {
    const prng = new Prng(62)
    for (let round = 0; round < 2000; round++) {
      const fraction = randomDigits(prng, prng.between(1, 9))
      const magnitude = BigInt(`${prng.below(1e9)}${fraction}`)
      const value = prng.chance(0.5) ? -magnitude : magnitude
      const text = `${value < 0n ? '-' : ''}${String(magnitude).padStart(fraction.length + 1, '0')}`
      const point = text.length - fraction.length
      const scale = prng.below(12)
      const scaled = value * 10n ** BigInt(scale)
      const unit = 10n ** BigInt(fraction.length)
      const isExact = scaled % unit === 0n
      const floor = scaled / unit - (scaled < 0n && !isExact ? 1n : 0n)

      expect(
        floorOf(`${text.slice(0, point)}.${text.slice(point)}`, scale),
        `seed 62 round ${round}`,
      ).toBe(isExact ? String(floor) : `${floor} and more`)
    }
  })
})
