import { describe, expect, test } from 'vitest'
import { encodeKeyCells, successorKey } from '../../src/common/encoded-key.ts'
import { prunePartitions, scanKeyRanges } from '../../src/common/partition-pruner.ts'
import type { ScanSpec } from '../../src/common/scan-spec.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { type Partitioned, partitioned } from '../support/partition-input.ts'
import { aScan, type PlainKey, type PlainPredicate } from '../support/plain-scan.ts'

function left({ schema, partitionSchema, partitions }: Partitioned, spec: ScanSpec): number[] {
  return prunePartitions(schema, partitionSchema, partitions, spec)
}

describe('prunePartitions', () => {
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

    test.each<readonly [string, readonly PlainPredicate[], number, number]>([
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
      const spec = aScan(schema, preds)

      expect(left(table, spec)).toHaveLength(tablets)
      expect(scanKeyRanges(schema, table.partitionSchema, spec)).toHaveLength(ranges)
    })
  })

  // KUDU-2173: a key bound that is the range's own end needs the range only if something lies
  // behind it.
  test('needs no tablet for a key bound that only touches its start', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 10 }] })
    const below = (cells: PlainKey) => left(table, aScan(schema, [], null, cells))

    expect(below([10, -128])).toEqual([0])
    expect(below([10, -127])).toEqual([0, 1])
    expect(below([9, 127])).toEqual([0])
    expect(left(table, aScan(schema, [['a', 'range', null, 10]]))).toEqual([0])
  })

  test('goes on behind a key: its successor as a lower bound needs its own tablet still', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 10 }] })
    const key = encodeKeyCells(schema.keyColumns, [9, 127])
    const spec = { ...aScan(schema, []), lowerKey: successorKey(key) }

    expect(left(table, spec)).toEqual([1])
    expect(left(table, { ...spec, lowerKey: key })).toEqual([0, 1])
    expect(left(table, { ...aScan(schema, []), upperKey: successorKey(key) })).toEqual([0])
  })

  test('takes a bound that is not a key for none', () => {
    const schema = aSchema('a STRING KEY', 'b INT8 KEY')
    const table = partitioned(schema, { range: ['a'], splits: [{ a: 'm' }] })

    expect(left(table, { ...aScan(schema, []), lowerKey: utf8Encode('zz') })).toEqual([0, 1])
    expect(left(table, { ...aScan(schema, []), upperKey: utf8Encode('a') })).toEqual([0, 1])
  })

  test('finds hash buckets in key bounds that leave one value of a column', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 8 }] })

    const byBounds = left(table, aScan(schema, [], [5, -128], [6, -128]))

    expect(byBounds).toHaveLength(1)
    expect(byBounds).toEqual(left(table, aScan(schema, [['a', '=', 5]])))
  })

  // Kudu reads the whole span of a list on a range column.
  test('leaves out the ranges between the values of a list on the first range column', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const splits = [10, 20, 30, 40].map((a) => ({ a }))
    const table = partitioned(schema, { range: ['a', 'b'], splits })

    expect(left(table, aScan(schema, [['a', 'in', [5, 7, 29, 45]]]))).toEqual([0, 2, 4])
    expect(left(table, aScan(schema, [['a', 'in', [20, 40]]]))).toEqual([2, 4])
    expect(left(table, aScan(schema, [['a', 'in', [5, 25]]], [6, 0], null))).toEqual([2])
  })

  test('needs no tablet where the ranges leave a gap', () => {
    const schema = aSchema('a INT8 KEY')
    const ranges = [{ lower: { a: 0 }, upper: { a: 10 } }]
    const table = partitioned(schema, { range: ['a'], ranges })

    expect(left(table, aScan(schema, [['a', '=', 10]]))).toEqual([])
    expect(left(table, aScan(schema, [['a', 'range', null, 0]]))).toEqual([])
    expect(left(table, aScan(schema, []))).toEqual([0])
  })

  test('needs no tablet for predicates that contradict each other', () => {
    const schema = aSchema('a INT8 KEY', 'v INT8')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 2 }] })
    const spec = aScan(schema, [
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
    const preds = names.map((name): PlainPredicate => [name, 'in', values])

    expect(left(table, aScan(schema, preds))).toHaveLength(50)
  })
})
