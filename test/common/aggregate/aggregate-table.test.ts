import { describe, expect, test } from 'vitest'
import { AggregateTable } from '../../../src/common/aggregate/aggregate-table.ts'
import { DistinctCounts } from '../../../src/common/aggregate/distinct-counts.ts'
import { FIRST_ROWS } from '../../../src/common/aggregate/first-rows.ts'
import { planAggregates } from '../../../src/common/aggregate-plan.ts'
import type { AggregateOp, AggregateSpec } from '../../../src/common/aggregate-spec.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { AGGREGATE_GROUP_COUNT_MAX } from '../../../src/common/limits.ts'
import { RowBlock } from '../../../src/common/row-block.ts'
import { StatusError } from '../../../src/common/status.ts'
import { aSchema } from '../../support/a-schema.ts'

const SCHEMA = aSchema('k INT64 KEY', 'v INT64 NULL', 't STRING')
const [k, v, t] = SCHEMA.columns

function specOf(groupBy: readonly { id: number }[], ...ops: AggregateOp[]): AggregateSpec {
  return {
    groupBy: groupBy.map(({ id }) => ({ columnId: id, bucketMicros: null })),
    aggregates: ops.map((op) => ({ op, input: { kind: 'column', columnId: v.id } })),
  }
}

function tableOf(spec: AggregateSpec, bytesMax = 2 ** 30): AggregateTable {
  return new AggregateTable(planAggregates(SCHEMA, spec), bytesMax)
}

/** Makes groups of INT64 keys from `first` on. */
function addGroups(table: AggregateTable, first: number, count: number): void {
  const builder = new ColumnBuilder(PHYSICAL.int64, count)
  for (let i = 0; i < count; i++) builder.appendCell(BigInt(first + i))
  const ids = new Uint32Array(count)
  table.groups.values[0].assign(builder.view(), FIRST_ROWS.upTo(count), count, ids)
  table.groups.number([ids], count)
  table.reserve()
  table.checkBytes()
}

function codeOf(work: () => unknown): string {
  try {
    work()
    return 'none'
  } catch (error) {
    return error instanceof StatusError ? `${error.code} ${error.details.limit ?? ''}` : 'other'
  }
}

describe('AggregateTable', () => {
  test('keeps each state once, and counts rows for whatever is never null', () => {
    const sum = { op: 'SUM', input: { kind: 'column', columnId: k.id } } as const
    const { states, outputs } = planAggregates(SCHEMA, {
      groupBy: [],
      aggregates: [
        sum,
        { ...sum, op: 'AVG' },
        { ...sum, op: 'COUNT' },
        { op: 'COUNT', input: { kind: 'rows' } },
        { op: 'COUNT', input: { kind: 'column', columnId: v.id } },
      ],
    })

    expect(states.map(({ kind }) => kind)).toEqual(['exactSum', 'count', 'count'])
    expect(outputs.map(({ state, count }) => [state, count])).toEqual([
      [0, 1],
      [0, 1],
      [1, -1],
      [1, -1],
      [2, -1],
    ])
  })

  test('takes as many groups as the limit says, and names it beyond', () => {
    const table = tableOf(specOf([k], 'SUM'))
    addGroups(table, 0, AGGREGATE_GROUP_COUNT_MAX)

    expect(table.groups.count).toBe(AGGREGATE_GROUP_COUNT_MAX)
    const one = () => addGroups(table, AGGREGATE_GROUP_COUNT_MAX, 1)
    expect(codeOf(one)).toBe(`INVALID_ARGUMENT ${AGGREGATE_GROUP_COUNT_MAX}`)
  })

  test('counts the groups of all partial results together', () => {
    const half = AGGREGATE_GROUP_COUNT_MAX / 2 + 1
    const parts = [0, half].map((first) => {
      const table = tableOf(specOf([k], 'COUNT'))
      addGroups(table, first, half)
      return table.partial()
    })
    const merged = tableOf(specOf([k], 'COUNT'))
    merged.merge(parts[0])
    merged.merge(parts[0])

    expect(merged.groups.count).toBe(half)
    expect(codeOf(() => merged.merge(parts[1]))).toContain('INVALID_ARGUMENT')
  })

  test('takes as many bytes as it was made for, and names them beyond', () => {
    const table = tableOf(specOf([k], 'SUM', 'MIN'), 1_000_000)

    expect(codeOf(() => addGroups(table, 0, 30_000))).toBe('INVALID_ARGUMENT 1000000')
  })

  test('refuses partial results that are none of its plan', () => {
    const spec = specOf([k, t], 'SUM', 'COUNT_DISTINCT')
    const [groups, values, pairs] = tableOf(spec).partial()
    const noKeys = tableOf(specOf([], 'SUM')).partial()
    const pair = (group: number, value: number) => {
      const columns = [group, value].map((number) => {
        const builder = new ColumnBuilder(PHYSICAL.int32, 1)
        builder.appendCell(number)
        return builder.view()
      })
      return new RowBlock(1, [0, 1], columns, null)
    }
    const wrong: RowBlock[][] = [
      [],
      [groups],
      [groups, values],
      [groups, values, pairs, pairs],
      [groups, pairs, values],
      [values, values, pairs],
      [groups, values, pair(0, 0)],
      [groups, values, pair(-1, 0)],
      noKeys,
    ]

    for (const blocks of wrong) {
      expect(codeOf(() => tableOf(spec).merge(blocks))).toBe('CORRUPTION ')
    }
    expect(codeOf(() => tableOf(spec).merge([groups, values, pairs]))).toBe('none')
    const twice = new RowBlock(0, noKeys[0].columnIds, noKeys[0].columns.map(empty), null)
    expect(codeOf(() => tableOf(specOf([], 'SUM')).merge([twice]))).toBe('CORRUPTION ')
  })

  test('sends different values without pairs when there are no keys', () => {
    const table = tableOf(specOf([], 'COUNT_DISTINCT'))
    const [state] = table.states

    expect(state).toBeInstanceOf(DistinctCounts)
    expect(table.partial()).toHaveLength(2)
    expect(tableOf(specOf([k], 'COUNT_DISTINCT')).partial()).toHaveLength(3)
  })
})

function empty({ physical }: RowBlock['columns'][number]) {
  return new ColumnBuilder(physical, 1).view()
}
