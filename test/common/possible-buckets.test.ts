import { describe, expect, test } from 'vitest'
import { HASH_COMBINATION_COUNT_MAX } from '../../src/common/limits.ts'
import { possibleBuckets } from '../../src/common/possible-buckets.ts'
import { RowPartitioner } from '../../src/common/row-partitioner.ts'
import { aSchema } from '../support/a-schema.ts'
import { partitioned } from '../support/partition-input.ts'
import { aScan, type PlainPredicate } from '../support/plain-scan.ts'

const SCHEMA = aSchema('a INT32 KEY', 'b STRING KEY', 'v INT8')
const DIMENSION = { columnIds: [10, 11], bucketCount: 64, seed: 5 }

function buckets(...preds: PlainPredicate[]): number[] | null {
  const { predicates } = aScan(SCHEMA, preds)
  const byColumn = new Map(predicates.map((it) => [it.columnId, it]))
  const hit = possibleBuckets(SCHEMA, DIMENSION, byColumn)
  return hit === null ? null : [...hit.keys()].filter((bucket) => hit[bucket] === 1)
}

/** The buckets of rows, found by the partitioner. */
function bucketsOf(rows: readonly (readonly [number, string])[]): number[] {
  const hash = [{ columns: ['a', 'b'], buckets: 64, seed: 5 }]
  const { partitionSchema, partitions } = partitioned(SCHEMA, { hash })
  const partitioner = new RowPartitioner(SCHEMA, partitionSchema, partitions)
  const found = rows.map(([a, b]) => partitioner.partitionKey([a, Buffer.from(b)]).hashBuckets[0])
  return [...new Set(found)].sort((x, y) => x - y)
}

describe('possibleBuckets', () => {
  test('are those of every combination of values', () => {
    const texts = ['', 'x', 'y\0', 'zebra']
    const numbers = [1, -7, 100]
    const rows = numbers.flatMap((a) => texts.map((b) => [a, b] as const))

    expect(buckets(['a', 'in', numbers], ['b', 'in', texts])).toEqual(bucketsOf(rows))
    expect(buckets(['a', '=', -7], ['b', 'in', texts])).toEqual(bucketsOf(rows.slice(4, 8)))
    expect(buckets(['a', '=', 100], ['b', '=', 'y\0'])).toEqual(bucketsOf([[100, 'y\0']]))
  })

  test('are all as long as a column of the dimension is open', () => {
    expect(buckets()).toBe(null)
    expect(buckets(['a', '=', 1])).toBe(null)
    expect(buckets(['a', '=', 1], ['b', 'notnull'])).toBe(null)
    expect(buckets(['a', 'range', 1, 3], ['b', '=', 'x'])).toBe(null)
    expect(buckets(['v', '=', 1])).toBe(null)
  })

  test('are all when the values hit every bucket', () => {
    const many = Array.from({ length: 2000 }, (_, i) => i)

    expect(buckets(['a', 'in', many], ['b', '=', 'x'])).toBe(null)
  })

  test('are all when there are more combinations than are tried', () => {
    // Values that all lie in one bucket, whatever comes second: of one column the hash decides
    // alone.
    const dimension = { columnIds: [10], bucketCount: 2, seed: 0 }
    const inFirst: number[] = []
    const predicatesOf = (values: readonly number[]) => {
      const { predicates } = aScan(SCHEMA, [['a', 'in', values]])
      return new Map(predicates.map((it) => [it.columnId, it]))
    }
    for (let value = 0; inFirst.length < 20; value++) {
      const hit = possibleBuckets(SCHEMA, dimension, predicatesOf([value]))
      if (hit?.[0] === 1) inFirst.push(value)
    }
    expect(possibleBuckets(SCHEMA, dimension, predicatesOf(inFirst))).toEqual(Uint8Array.of(1, 0))

    const column = predicatesOf(inFirst).get(10)!
    const values = Array.from({ length: HASH_COMBINATION_COUNT_MAX + 1 }, () => inFirst[0])
    const endless = new Map([[10, { ...column, values }]])
    expect(possibleBuckets(SCHEMA, dimension, endless)).toBe(null)
  })
})
