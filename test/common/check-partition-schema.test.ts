import { describe, expect, test } from 'vitest'
import { checkPartitionSchema } from '../../src/common/check-partition-schema.ts'
import type { PartitionSchema, RangePartition } from '../../src/common/partition-schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { aSchema } from '../support/a-schema.ts'
import { partitioned } from '../support/partition-input.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Vectors {
  readonly malformed_partition_schema: { readonly cases: readonly { ops: readonly string[] }[] }
}

// Columns 10 (a), 11 (b), 12 (v).
const SCHEMA = aSchema('a INT8 KEY', 'b STRING KEY', 'v INT8')
const { partitionSchema: GOOD } = partitioned(SCHEMA, {
  hash: [{ columns: ['b'], buckets: 2 }],
  range: ['a'],
  ranges: [
    { lower: { a: 0 }, upper: { a: 5 } },
    { lower: { a: 5 }, upper: null, hash: [] },
  ],
})

function withHash(columnIds: number[], bucketCount = 2, seed = 0): PartitionSchema {
  return { ...GOOD, hashSchema: [{ columnIds, bucketCount, seed }] }
}

function withRanges(...bounds: readonly (readonly [string, string])[]): PartitionSchema {
  const ranges = bounds.map(([lowerKey, upperKey]) => ({ lowerKey, upperKey, hashSchema: null }))
  return { ...GOOD, ranges }
}

function check(partitionSchema: PartitionSchema): () => void {
  return () => checkPartitionSchema(SCHEMA, partitionSchema)
}

describe('checkPartitionSchema', () => {
  test('takes what buildPartitionSchema makes', () => {
    expect(check(GOOD)).not.toThrow()
    expect(check({ ...GOOD, ranges: [] })).not.toThrow()
  })

  const columnRule = 'a column is not of the key'
  test.each<readonly [string, string, PartitionSchema]>([
    ['a hash column that is not there', columnRule, withHash([99])],
    ['a hash column not of the key', columnRule, withHash([12])],
    ['a hash column named twice', 'a column is named twice', withHash([10, 10])],
    ['hash columns out of order', 'columns of a hash dimension are not', withHash([11, 10])],
    ['a dimension without columns', 'a hash dimension has no columns', withHash([])],
    ['a range column that is not there', columnRule, { ...GOOD, rangeColumnIds: [99] }],
    ['a range column named twice', 'a column is named', { ...GOOD, rangeColumnIds: [10, 10] }],
    ['a lower bound that is not hexadecimal', 'a lower bound is not', withRanges(['8g', ''])],
    ['a lower bound in capitals', 'a lower bound is not', withRanges(['8A', ''])],
    ['a lower bound of half a byte', 'a lower bound is not', withRanges(['8', ''])],
    ['a lower bound that is no key', 'a lower bound is not', withRanges(['8000', ''])],
    ['an upper bound that is no key', 'an upper bound is not', withRanges(['80', '8100'])],
    ['an empty range', 'a range is empty', withRanges(['80', '80'])],
    ['ranges that overlap', 'ranges overlap', withRanges(['80', '85'], ['84', '86'])],
    ['ranges out of order', 'ranges overlap', withRanges(['84', '86'], ['80', '82'])],
    ['a range above an unbounded one', 'ranges overlap', withRanges(['80', ''], ['84', '86'])],
    ['bounds without range columns', 'ranges without range', { ...GOOD, rangeColumnIds: [] }],
    [
      'no range without range columns',
      'ranges without range',
      { ...withRanges(), rangeColumnIds: [] },
    ],
  ])('refuses %s', (_, message, partitionSchema) => {
    expect(check(partitionSchema)).toThrow(`partition schema is malformed: ${message}`)
    expect(check(partitionSchema)).toThrow(StatusError)
  })

  test('refuses what a hash dimension may not have, also in a range', () => {
    const own = [{ columnIds: [10], bucketCount: 2, seed: 0.5 }]

    expect(check(withHash([10], 1))).toThrow('num_buckets is 1')
    expect(check(withHash([10], 4096))).toThrow('num_buckets is 4096, limit is 1024')
    expect(check({ ...GOOD, ranges: [{ ...GOOD.ranges[0], hashSchema: own }] })).toThrow(
      'hash seed is 0.5',
    )
  })

  // Kudu's ranges come as pairs of rows, each marked as a lower or an upper bound; ours are one
  // object with both bounds, so a third bound has no place to be, and the others are bounds that
  // are not keys.
  test('refuses ranges malformed like those of the vectors', () => {
    const { cases } = readVectors<Vectors>('partitions').malformed_partition_schema
    const broken = [{ upperKey: '85' }, { lowerKey: '80' }] as unknown as RangePartition[]

    for (const range of broken) {
      expect(check({ ...GOOD, ranges: [{ ...range, hashSchema: null }] })).toThrow(
        'is not a range key',
      )
    }
    reportVectors('malformed_partition_schema', cases.length - 1)
  })
})
