import { describe, expect, test } from 'vitest'
import { ExactSums, SUM_WORDS } from '../../../src/common/aggregate/exact-sums.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { ColumnVector } from '../../../src/common/column-vector.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { StatusError } from '../../../src/common/status.ts'
import { Prng } from '../../../src/util/prng.ts'

const MANY = 3
const WAYS = ['numbers', 'pairs', 'quads', 'integers', 'merged'] as const

function sumsOf(groupCount: number): ExactSums {
  const sums = new ExactSums()
  sums.reserve(groupCount)
  return sums
}

function totals(sums: ExactSums, groupCount: number): bigint[] {
  const reader = sums.totals(groupCount)
  return Array.from({ length: groupCount }, (_, group) => {
    reader.read(group)
    return reader.value
  })
}

function lanesOf(physical: typeof PHYSICAL.int64 | typeof PHYSICAL.int128, values: bigint[]) {
  const builder = new ColumnBuilder(physical, values.length)
  for (const value of values) builder.appendCell(value)
  return builder.view().lanes as Uint32Array
}

/** Adds values that all ways can take, in one of them. */
function add(sums: ExactSums, way: (typeof WAYS)[number], groups: Uint32Array, values: bigint[]) {
  const rows = Uint32Array.from(values, (_, i) => i)
  const count = values.length
  if (way === 'numbers') {
    const bound = Math.max(...values.map((value) => Math.abs(Number(value))))
    sums.addNumbers(groups, Float64Array.from(values, Number), count, bound)
  } else if (way === 'pairs') {
    sums.addPairs(groups, lanesOf(PHYSICAL.int64, values), rows, count)
  } else if (way === 'quads') {
    sums.addQuads(groups, lanesOf(PHYSICAL.int128, values), rows, count)
  } else if (way === 'integers') {
    sums.addIntegers(groups, values, count)
  } else {
    const other = sumsOf(count)
    other.addIntegers(rows, values, count)
    sums.merge(other.partial(count), groups, count)
  }
}

describe('ExactSums', () => {
  test('is exact to the last digit in whatever ways numbers are added', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const prng = new Prng(seed)
      const sums = sumsOf(MANY)
      const expected = [0n, 0n, 0n]
      for (let batch = prng.between(1, 20); batch > 0; batch--) {
        const size = prng.pick([2n ** 20n, 2n ** 45n, 2n ** 52n, 2n ** 53n])
        const values = Array.from({ length: prng.between(1, 40) }, () => {
          const sign = prng.chance(0.5) ? 1n : -1n
          return sign * (prng.chance(0.5) ? size : BigInt(prng.below(1000)))
        })
        const groups = Uint32Array.from(values, () => prng.below(MANY))
        values.forEach((value, i) => {
          expected[groups[i]] += value
        })
        add(sums, prng.pick(WAYS), groups, values)
        if (prng.chance(0.2)) totals(sums, MANY)
      }

      expect(totals(sums, MANY), `seed ${seed}`).toEqual(expected)
    }
  })

  test('passes no bit on wrongly in two million additions of all ones', () => {
    const count = 4096
    const rows = Uint32Array.from({ length: count }, (_, i) => i)
    const value = 2n ** 96n - 1n
    const lanes = lanesOf(
      PHYSICAL.int128,
      Array.from({ length: count }, () => value),
    )
    const sums = sumsOf(1)

    for (let batch = 0; batch < 600; batch++) sums.addQuads(null, lanes, rows, count)

    expect(totals(sums, 1)).toEqual([value * 4096n * 600n])
  })

  test('is exact when many groups and few take turns', () => {
    const sums = sumsOf(16)
    const one = Uint32Array.of(0)
    sums.addNumbers(one, Float64Array.of(2 ** 52), 1, 2 ** 52)
    sums.addNumbers(new Uint32Array(16), new Float64Array(16).fill(2 ** 48 - 1), 16, 2 ** 48)
    sums.addNumbers(one, Float64Array.of(2 ** 52 - 1), 1, 2 ** 52)

    expect(totals(sums, 1)).toEqual([3n * 2n ** 52n - 17n])
  })

  test('is exact where one group is all there is', () => {
    const values = Float64Array.of(2 ** 52, 2 ** 52, -1, 2 ** 53)
    const sums = sumsOf(1)

    sums.addNumbers(null, values, 4, 2 ** 53)
    sums.addNumbers(null, Float64Array.of(3, 4), 2, 4)

    expect(totals(sums, 1)).toEqual([2n ** 54n + 6n])
  })

  test.each([
    ['INT64', PHYSICAL.int64, [2n ** 63n - 1n, -(2n ** 63n)]],
    ['INT128', PHYSICAL.int128, [2n ** 63n, -(2n ** 127n)]],
    ['bytes', PHYSICAL.binary, [2n ** 127n, -(2n ** 127n) - 1n]],
  ])('is sent as %s when that is what it takes', (_, physical, values) => {
    const sums = sumsOf(2)
    const halves = values.map((value) => value / 2n)
    const groups = Uint32Array.of(0, 1)
    sums.addIntegers(groups, halves, 2)
    sums.addIntegers(
      groups,
      values.map((value, i) => value - halves[i]),
      2,
    )

    const columns = sums.partial(2)
    const merged = sumsOf(2)
    merged.merge(columns, groups, 2)

    expect(columns.map((column) => column.physical)).toEqual([physical])
    expect(totals(merged, 2)).toEqual(values)
  })

  test('tells how many words its sums take', () => {
    const sums = sumsOf(1)
    sums.addIntegers(null, [-(2n ** 63n)], 1)
    const reader = sums.totals(1)
    reader.read(0)

    expect([1, 2, 4, SUM_WORDS].map((words) => reader.fits(words))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  test('refuses partial columns that are none', () => {
    const text = new ColumnBuilder(PHYSICAL.binary, 1)
    text.appendCell(Uint8Array.of(1, 2, 3))
    const wrong: ColumnVector[][] = [[], [text.view()]]

    for (const columns of wrong) {
      const merge = () => sumsOf(1).merge(columns, Uint32Array.of(0), 1)
      expect(merge).toThrow(StatusError)
    }
  })
})
