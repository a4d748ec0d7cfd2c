import { describe, expect, test } from 'vitest'
import {
  equalityPredicate,
  inListPredicate,
  predicateMatchesCell,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { murmur2Hash64 } from '../../src/common/murmur2.ts'
import type {
  HashDimension,
  Partition,
  PartitionSchema,
} from '../../src/common/partition-schema.ts'
import { pruneInLists } from '../../src/common/prune-in-lists.ts'
import { optimizeScanSpec } from '../../src/common/scan-spec.ts'
import type { Schema } from '../../src/common/schema.ts'
import { EMPTY_BYTES, toHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

type InLists = Readonly<Record<string, readonly number[]>>

interface PruneCase {
  readonly test: string
  readonly hash: readonly {
    readonly columns: readonly string[]
    readonly buckets: number
    readonly seed: number
  }[]
  readonly range: readonly string[]
  readonly inLists: InLists
  readonly expectPerPartition: readonly InLists[]
}

const { inlist_pruning_per_tablet: vectors } = readVectors<{
  readonly inlist_pruning_per_tablet: { readonly cases: readonly PruneCase[] }
}>('scan-spec')

const SCHEMA = aSchema('a INT8 KEY', 'b INT8 KEY', 'c INT8 KEY')

function idOf(schema: Schema, name: string): number {
  return schema.byName(name)?.id ?? -1
}

/** Ranges cut at the splits, `['', s0), [s0, s1), …`. */
function rangesOf(splits: readonly string[]): PartitionSchema['ranges'] {
  const ends = [...splits, '']
  return ends.map((upperKey, i) => {
    return { lowerKey: i === 0 ? '' : splits[i - 1], upperKey, hashSchema: null }
  })
}

/** Every combination of buckets with every range, buckets first. */
function partitionsOf(schema: PartitionSchema): Partition[] {
  let buckets: number[][] = [[]]
  for (const { bucketCount } of schema.hashSchema) {
    buckets = buckets.flatMap((head) => {
      return Array.from({ length: bucketCount }, (_, bucket) => [...head, bucket])
    })
  }
  return buckets.flatMap((hashBuckets) => {
    return schema.ranges.map(({ lowerKey, upperKey }) => ({
      hashBuckets,
      rangeKeyStart: lowerKey,
      rangeKeyEnd: upperKey,
      partitionKeyStart: '',
      partitionKeyEnd: '',
    }))
  })
}

describe('pruneInLists', () => {
  test('keeps what the vectors say in each partition', () => {
    for (const it of vectors.cases) {
      const hashSchema = it.hash.map(({ columns, buckets, seed }): HashDimension => {
        return { columnIds: columns.map((name) => idOf(SCHEMA, name)), bucketCount: buckets, seed }
      })
      const rangeColumnIds = it.range.map((name) => idOf(SCHEMA, name))
      const splits = [3, 6].map((cell) => toHex(encodeKeyCells([SCHEMA.columns[0]], [cell])))
      const ranges = rangesOf(it.range.length === 0 ? [] : splits)
      const partitionSchema = { hashSchema, rangeColumnIds, ranges }
      const lists = (inLists: InLists) => {
        return Object.entries(inLists).map(([name, values]) => {
          return inListPredicate(SCHEMA.mustById(idOf(SCHEMA, name)), values)
        })
      }
      const spec = {
        predicates: lists(it.inLists),
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
      }

      const pruned = partitionsOf(partitionSchema).map((partition) => {
        return pruneInLists(SCHEMA, partitionSchema, partition, spec)
      })

      const kept = pruned.map(({ predicates }) => predicates)
      expect(kept, it.test).toEqual(it.expectPerPartition.map(lists))
      const isEmpty = pruned.map((one) => optimizeScanSpec(SCHEMA, one).isEmpty)
      const emptied = it.expectPerPartition.map((one) => {
        return Object.values(one).some((values) => values.length === 0)
      })
      expect(isEmpty, it.test).toEqual(emptied)
    }

    reportVectors('inlist_pruning_per_tablet', vectors.cases.length)
  })

  test('uses the hash dimensions of the range that the partition lies in', () => {
    const schema = aSchema('k INT32 KEY')
    const [key] = schema.columns
    const partitionSchema: PartitionSchema = {
      hashSchema: [{ columnIds: [key.id], bucketCount: 2, seed: 0 }],
      rangeColumnIds: [key.id],
      ranges: [{ lowerKey: '', upperKey: '', hashSchema: [] }],
    }
    const [partition] = partitionsOf({ ...partitionSchema, hashSchema: [] })
    const predicates = [inListPredicate(key, [1, 2, 3, 4, 5])]
    const spec = { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }

    expect(pruneInLists(schema, partitionSchema, partition, spec)).toEqual(spec)
  })

  test('leaves other predicates as they are', () => {
    const schema = aSchema('k INT32 KEY', 'j INT32 KEY')
    const [k, j] = schema.columns
    const partitionSchema: PartitionSchema = {
      hashSchema: [{ columnIds: [k.id], bucketCount: 2, seed: 0 }],
      rangeColumnIds: [],
      ranges: [{ lowerKey: '', upperKey: '', hashSchema: null }],
    }
    const predicates = [equalityPredicate(k, 1), rangePredicate(j, 1, 5)]
    const spec = { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }

    for (const partition of partitionsOf(partitionSchema)) {
      expect(pruneInLists(schema, partitionSchema, partition, spec)).toEqual(spec)
    }
  })

  test('drops exactly the values that hash to another bucket or lie in another range', () => {
    const schema = aSchema('k STRING KEY', 'v INT8')
    const [key] = schema.columns
    for (let seed = 1; seed <= 50; seed++) {
      const prng = new Prng(seed)
      const text = () => utf8Encode('ab\0é'.slice(0, prng.below(4)) + String(prng.below(20)))
      const dimension = {
        columnIds: [key.id],
        bucketCount: prng.between(2, 5),
        seed: prng.below(9),
      }
      const splits = [text(), text()].map(toHex).sort()
      const partitionSchema: PartitionSchema = {
        hashSchema: [dimension],
        rangeColumnIds: [key.id],
        ranges: rangesOf([...new Set(splits)]),
      }
      const values = Array.from({ length: 30 }, text)
      const predicates = [inListPredicate(key, values)]
      const spec = { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }

      for (const partition of partitionsOf(partitionSchema)) {
        const [kept] = pruneInLists(schema, partitionSchema, partition, spec).predicates
        for (const cell of values) {
          const where = `seed ${seed} ${JSON.stringify(partition)} ${toHex(cell)}`
          expect(predicateMatchesCell(key, kept, cell), where).toBe(isHome(cell, partition))
        }
      }

      function isHome(cell: Cell, { hashBuckets, rangeKeyStart, rangeKeyEnd }: Partition): boolean {
        const bytes = cell as Uint8Array
        const bucket = murmur2Hash64(bytes, dimension.seed) % BigInt(dimension.bucketCount)
        const hex = toHex(bytes)
        return (
          bucket === BigInt(hashBuckets[0]) &&
          hex >= rangeKeyStart &&
          (rangeKeyEnd === '' || hex < rangeKeyEnd)
        )
      }
    }
  })
})
