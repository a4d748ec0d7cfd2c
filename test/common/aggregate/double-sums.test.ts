import { describe, expect, test } from 'vitest'
import { DoubleSums } from '../../../src/common/aggregate/double-sums.ts'

function sumOf(...parts: number[][]): number {
  const merged = new DoubleSums()
  merged.reserve(1)
  for (const part of parts) {
    const sums = new DoubleSums()
    sums.reserve(1)
    sums.addNumbers(null, Float64Array.from(part), part.length)
    merged.merge(sums.partial(1), Uint32Array.of(0), 1)
  }
  return merged.total(0)
}

describe('DoubleSums', () => {
  test('keeps what plain adding rounds away', () => {
    expect(sumOf([1e16, 1, 1, -1e16])).toBe(2)
    expect(sumOf([1e16, 1], [1], [-1e16])).toBe(2)
    expect(sumOf(Array.from({ length: 1_000_000 }, () => 0.1))).toBe(100_000)
  })

  test('adds by group as it does to one', () => {
    const sums = new DoubleSums()
    sums.reserve(2)

    const values = Float64Array.of(1e16, 5, 1, 6, -1e16, 0.5)
    sums.addNumbers(Uint32Array.of(0, 1, 0, 1, 0, 1), values, 6)

    expect([sums.total(0), sums.total(1)]).toEqual([1, 11.5])
  })

  test('is infinite or NaN as plain adding is', () => {
    expect(sumOf([Infinity, 1])).toBe(Infinity)
    expect(sumOf([1], [-Infinity], [1])).toBe(-Infinity)
    expect(sumOf([Infinity], [-Infinity])).toBeNaN()
    expect(sumOf([1, Number.NaN], [1])).toBeNaN()
    expect(sumOf([Number.MAX_VALUE, Number.MAX_VALUE])).toBe(Infinity)
  })

  test('is 0 of no rows', () => {
    expect(sumOf()).toBe(0)
  })
})
