import { describe, expect, test } from 'vitest'
import {
  type ColumnPredicate,
  equalityPredicate,
  inListPredicate,
  isNotNullPredicate,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import { encodeKeyCells, successorKey } from '../../src/common/encoded-key.ts'
import { prunePartitions, scanKeyRanges } from '../../src/common/partition-pruner.ts'
import type { ScanSpec } from '../../src/common/scan-spec.ts'
import type { Schema } from '../../src/common/schema.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import {
  aCell,
  boundOf,
  type Partitioned,
  type PlainBound,
  type PlainCell,
  type PlainDimension,
  partitioned,
} from '../support/partition-input.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

type Cells = readonly PlainCell[] | null
type Predicate =
  | readonly [string, 'notnull']
  | readonly [string, '=', PlainCell]
  | readonly [string, 'in', readonly PlainCell[]]
  | readonly [string, 'range', PlainCell | null, PlainCell | null]
interface Group<Case> {
  readonly schema: readonly (readonly [string, string])[]
  readonly range?: readonly string[]
  readonly hash?: readonly PlainDimension[]
  readonly cases: readonly (Case & { readonly tablets: number; readonly ranges: number })[]
}
type KeyRangeGroup = Group<{ lower: Cells; upper: Cells }> & {
  readonly splits: readonly (readonly PlainCell[])[]
}
type PredicateGroup = Group<{ preds: readonly Predicate[] }>
interface Vectors {
  readonly prune_pk_range: KeyRangeGroup
  readonly prune_partial_pk_range: KeyRangeGroup
  readonly prune_int_partial_pk_range: KeyRangeGroup
  readonly prune_range_predicates: PredicateGroup & { readonly splits: readonly PlainBound[] }
  readonly prune_hash: PredicateGroup
  readonly prune_inlist_hash: PredicateGroup
  readonly prune_inlist_custom_ranges: PredicateGroup & {
    readonly tableHash: readonly PlainDimension[]
    readonly customRanges: readonly {
      lower: string
      upper: string
      hash: readonly PlainDimension[]
    }[]
  }
}

const vectors = readVectors<Vectors>('pruning')

function schemaOf({ schema }: Pick<Group<unknown>, 'schema'>): Schema {
  return aSchema(...schema.map(([name, type]) => `${name} ${type} KEY`), 'v INT32')
}

function predicateOf(schema: Schema, [name, op, ...operands]: Predicate): ColumnPredicate {
  const column = schema.byName(name)!
  const cell = (value: PlainCell | null) => (value === null ? null : aCell(value))
  const [first, second] = operands as [PlainCell | null, PlainCell | null]
  if (op === 'notnull') return isNotNullPredicate(column)
  if (op === 'in') return inListPredicate(column, (operands[0] as PlainCell[]).map(aCell))
  if (op === '=') return equalityPredicate(column, aCell(first!))
  return rangePredicate(column, cell(first), cell(second))
}

function keyOf(schema: Schema, cells: Cells): Uint8Array {
  return cells === null ? EMPTY_BYTES : encodeKeyCells(schema.keyColumns, cells.map(aCell))
}

function aSpec(
  schema: Schema,
  preds: readonly Predicate[],
  lower: Cells = null,
  upper: Cells = null,
) {
  return {
    predicates: preds.map((predicate) => predicateOf(schema, predicate)),
    lowerKey: keyOf(schema, lower),
    upperKey: keyOf(schema, upper),
  }
}

function left({ schema, partitionSchema, partitions }: Partitioned, spec: ScanSpec): number[] {
  return prunePartitions(schema, partitionSchema, partitions, spec)
}

/** What the vectors count: tablets left, and intervals of partition keys that the pruner holds. */
function counts(table: Partitioned, spec: ScanSpec) {
  const ranges = scanKeyRanges(table.schema, table.partitionSchema, spec).length
  return { tablets: left(table, spec).length, ranges }
}

function checkPredicateGroup(name: string, group: PredicateGroup, table: Partitioned): void {
  for (const { preds, tablets, ranges } of group.cases) {
    const spec = aSpec(table.schema, preds)

    expect(counts(table, spec), JSON.stringify(preds)).toEqual({ tablets, ranges })
  }
  reportVectors(name, group.cases.length)
}

describe('prunePartitions', () => {
  test.each(['prune_pk_range', 'prune_partial_pk_range', 'prune_int_partial_pk_range'] as const)(
    'leaves as many tablets and key ranges as the vectors of %s',
    (name) => {
      const { cases, range = [], splits, ...group } = vectors[name]
      const schema = schemaOf(group)
      const bounds = splits.map((cells) => boundOf(range, cells))
      const table = partitioned(schema, { range, splits: bounds })
      for (const { lower, upper, tablets, ranges } of cases) {
        const message = `${JSON.stringify(lower)} ${JSON.stringify(upper)}`

        expect(counts(table, aSpec(schema, [], lower, upper)), message).toEqual({ tablets, ranges })
      }
      reportVectors(name, cases.length)
    },
  )

  test('leaves as many as the vectors of prune_range_predicates', () => {
    const group = vectors.prune_range_predicates
    const { range, splits } = group
    checkPredicateGroup(
      'prune_range_predicates',
      group,
      partitioned(schemaOf(group), { range, splits }),
    )
  })

  test.each(['prune_hash', 'prune_inlist_hash'] as const)(
    'leaves as many as the vectors of %s',
    (name) => {
      const group = vectors[name]
      checkPredicateGroup(name, group, partitioned(schemaOf(group), { hash: group.hash }))
    },
  )

  test('leaves as many as the vectors of prune_inlist_custom_ranges', () => {
    const group = vectors.prune_inlist_custom_ranges
    const ranges = group.customRanges.map(({ lower, upper, hash }) => {
      return { lower: { A: lower }, upper: { A: upper }, hash }
    })
    const table = partitioned(schemaOf(group), {
      hash: group.tableHash,
      range: group.range,
      ranges,
    })
    checkPredicateGroup('prune_inlist_custom_ranges', group, table)
  })

  // Time series: HASH (host, metric), RANGE (time).
  describe('of a time series', () => {
    const schema = aSchema(
      'host STRING KEY',
      'metric STRING KEY',
      'time UNIXTIME_MICROS KEY',
      'v DOUBLE',
    )
    const table = partitioned(schema, {
      hash: [{ columns: ['host', 'metric'], buckets: 2 }],
      range: ['time'],
      splits: [{ time: 10n }],
    })

    test.each<readonly [string, readonly Predicate[], number, number]>([
      ['host only', [['host', '=', 'a']], 4, 1],
      ['metric only', [['metric', '=', 'a']], 4, 1],
      [
        'host and metric',
        [
          ['host', '=', 'a'],
          ['metric', '=', 'a'],
        ],
        2,
        1,
      ],
      ['time above the split', [['time', 'range', 10n, null]], 2, 2],
      ['time below the split', [['time', 'range', null, 10n]], 2, 2],
      ['time on both sides', [['time', 'range', 5n, 15n]], 4, 2],
      [
        'all three',
        [
          ['host', '=', 'a'],
          ['metric', '=', 'a'],
          ['time', '=', 9n],
        ],
        1,
        1,
      ],
      ['a time that nothing has', [['time', 'range', 7n, 7n]], 0, 0],
    ])('by %s', (_, preds, tablets, ranges) => {
      expect(counts(table, aSpec(schema, preds))).toEqual({ tablets, ranges })
    })
  })

  // KUDU-2173: a key bound that is the range's own end needs the range only if something lies behind it.
  test('needs no tablet for a key bound that only touches its start', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 10 }] })
    const below = (cells: Cells) => left(table, aSpec(schema, [], null, cells))

    expect(below([10, -128])).toEqual([0])
    expect(below([10, -127])).toEqual([0, 1])
    expect(below([9, 127])).toEqual([0])
    expect(left(table, aSpec(schema, [['a', 'range', null, 10]]))).toEqual([0])
  })

  test('goes on behind a key: its successor as a lower bound needs its own tablet still', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 10 }] })
    const key = encodeKeyCells(schema.keyColumns, [9, 127])
    const spec = { ...aSpec(schema, []), lowerKey: successorKey(key) }

    expect(left(table, spec)).toEqual([1])
    expect(left(table, { ...spec, lowerKey: key })).toEqual([0, 1])
    expect(left(table, { ...aSpec(schema, []), upperKey: successorKey(key) })).toEqual([0])
  })

  test('takes a bound that is not a key for none', () => {
    const schema = aSchema('a STRING KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 'm' }] })

    expect(left(table, { ...aSpec(schema, []), lowerKey: aCell('zz') as Uint8Array })).toEqual([
      0, 1,
    ])
    expect(left(table, { ...aSpec(schema, []), upperKey: aCell('a') as Uint8Array })).toEqual([
      0, 1,
    ])
  })

  test('finds hash buckets in key bounds that leave one value of a column', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 8 }] })

    const byBounds = left(table, aSpec(schema, [], [5, -128], [6, -128]))

    expect(byBounds).toHaveLength(1)
    expect(byBounds).toEqual(left(table, aSpec(schema, [['a', '=', 5]])))
  })

  // Kudu reads the whole span of a list on a range column.
  test('leaves out the ranges between the values of a list on the first range column', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const splits = [10, 20, 30, 40].map((a) => ({ a }))
    const table = partitioned(schema, { range: ['a', 'b'], splits })

    expect(left(table, aSpec(schema, [['a', 'in', [5, 7, 29, 45]]]))).toEqual([0, 2, 4])
    expect(left(table, aSpec(schema, [['a', 'in', [20, 40]]]))).toEqual([2, 4])
    expect(left(table, aSpec(schema, [['a', 'in', [5, 25]]], [6, 0], null))).toEqual([2])
  })

  test('needs no tablet where the ranges leave a gap', () => {
    const schema = aSchema('a INT8 KEY')
    const ranges = [{ lower: { a: 0 }, upper: { a: 10 } }]
    const table = partitioned(schema, { range: ['a'], ranges })

    expect(left(table, aSpec(schema, [['a', '=', 10]]))).toEqual([])
    expect(left(table, aSpec(schema, [['a', 'range', null, 0]]))).toEqual([])
    expect(left(table, aSpec(schema, []))).toEqual([0])
  })

  test('needs no tablet for predicates that contradict each other', () => {
    const schema = aSchema('a INT8 KEY', 'v INT8')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 2 }] })
    const spec = aSpec(schema, [
      ['v', '=', 1],
      ['v', '=', 2],
    ])

    expect(left(table, spec)).toEqual([])
  })

  test('finishes fast on lists over ten columns of one dimension', () => {
    const names = Array.from({ length: 10 }, (_, i) => `k${i}`)
    const schema = aSchema(...names.map((name) => `${name} INT32 KEY`))
    const table = partitioned(schema, { hash: [{ columns: names, buckets: 50 }] })
    const values = Array.from({ length: 100 }, (_, i) => i)
    const preds = names.map((name): Predicate => [name, 'in', values])

    expect(left(table, aSpec(schema, preds))).toHaveLength(50)
  })
})
