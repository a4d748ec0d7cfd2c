import { describe, expect, test } from 'vitest'
import { aggregateResults } from '../../../src/common/aggregate/aggregate-results.ts'
import { AggregateTable } from '../../../src/common/aggregate/aggregate-table.ts'
import { ExactExtremes } from '../../../src/common/aggregate/exact-extremes.ts'
import { ExactSums } from '../../../src/common/aggregate/exact-sums.ts'
import { RowCounts } from '../../../src/common/aggregate/row-counts.ts'
import { planAggregates } from '../../../src/common/aggregate-plan.ts'
import type { Aggregate, AggregateOp } from '../../../src/common/aggregate-spec.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { StatusError } from '../../../src/common/status.ts'
import { aSchema } from '../../support/a-schema.ts'

const SCHEMA = aSchema('i INT64 KEY', 'd DECIMAL(20,3) KEY', 'n INT8 NULL')
const [i, d, n] = SCHEMA.columns
const END = 10n ** 38n

/** What comes out when an exact state has added these integers. */
function resultOf(aggregate: Aggregate, ...added: bigint[]): Cell | null {
  const plan = planAggregates(SCHEMA, { groupBy: [], aggregates: [aggregate] })
  const table = new AggregateTable(plan, 2 ** 20)
  for (const state of table.states) {
    if (state instanceof RowCounts) state.addCount(0, added.length)
    if (state instanceof ExactSums) state.addIntegers(null, added, added.length)
    if (state instanceof ExactExtremes) state.addIntegers(null, added, null, added.length)
  }
  return aggregateResults(plan, table).columns[0].cell(0)
}

function ofColumn(op: AggregateOp, { id }: { readonly id: number }): Aggregate {
  return { op, input: { kind: 'column', columnId: id } }
}

function messageOf(work: () => unknown): string {
  try {
    return String(work())
  } catch (error) {
    return error instanceof StatusError ? `${error.code}: ${error.message}` : 'other'
  }
}

describe('aggregateResults', () => {
  test('gives sums of integers as INT64 up to its ends, and an error beyond', () => {
    const sum = ofColumn('SUM', i)

    expect(resultOf(sum, 2n ** 63n - 2n, 1n)).toBe(2n ** 63n - 1n)
    expect(resultOf(sum, -(2n ** 63n) + 1n, -1n)).toBe(-(2n ** 63n))
    const tooLarge = 'INVALID_ARGUMENT: aggregates[0]: sum is out of range for INT64'
    expect(messageOf(() => resultOf(sum, 2n ** 63n - 1n, 1n))).toBe(tooLarge)
    expect(messageOf(() => resultOf(sum, -(2n ** 63n), -1n))).toBe(tooLarge)
  })

  test('gives a sum that leaves its type on the way and comes back', () => {
    expect(resultOf(ofColumn('SUM', i), 2n ** 63n - 1n, 2n ** 62n, -(2n ** 62n))).toBe(
      2n ** 63n - 1n,
    )
    expect(resultOf(ofColumn('SUM', d), END - 1n, END - 1n, 1n - END)).toBe(END - 1n)
  })

  test('gives sums of decimals of up to 38 digits, and an error beyond', () => {
    const sum = ofColumn('SUM', d)

    expect(resultOf(sum, END - 2n, 1n)).toBe(END - 1n)
    expect(resultOf(sum, 2n - END, -1n)).toBe(1n - END)
    const tooLarge = 'INVALID_ARGUMENT: aggregates[0]: sum is out of range for DECIMAL of 38 digits'
    for (const sign of [1n, -1n]) {
      expect(messageOf(() => resultOf(sum, sign * (END - 1n), sign))).toBe(tooLarge)
      expect(messageOf(() => resultOf(sum, sign * (END - 1n), sign * END))).toBe(tooLarge)
    }
  })

  test('gives averages as the nearest double of the exact quotient', () => {
    const average = ofColumn('AVG', d)

    expect(resultOf(average, 1n, 2n, 2n)).toBe(0.005 / 3)
    expect(resultOf(average, 10n ** 19n + 1n, -(10n ** 19n))).toBe(0.0005)
    expect(resultOf(ofColumn('AVG', i), 2n ** 53n, 2n ** 53n + 2n)).toBe(2 ** 53)
    expect(resultOf(ofColumn('AVG', i), 2n ** 53n + 3n, 2n ** 53n + 2n)).toBe(2 ** 53 + 2)
  })

  test('gives extremes of computed integers as INT64, and an error beyond', () => {
    const expression = { kind: 'column', type: { kind: 'integer' }, columnId: i.id } as const
    const max: Aggregate = { op: 'MAX', input: { kind: 'expression', expression } }

    expect(resultOf(max, -3n, -(2n ** 63n))).toBe(-3n)
    expect(messageOf(() => resultOf(max, 2n ** 63n))).toContain('value is out of range for INT64')
  })

  test('gives null of no rows, and counts 0', () => {
    const ops = ['SUM', 'AVG', 'MIN', 'MAX'] as const

    expect(ops.map((op) => resultOf(ofColumn(op, n)))).toEqual([null, null, null, null])
    expect(resultOf(ofColumn('COUNT', n))).toBe(0n)
    expect(resultOf(ofColumn('COUNT_DISTINCT', n))).toBe(0n)
  })
})
