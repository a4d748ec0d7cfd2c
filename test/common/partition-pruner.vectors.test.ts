import { describe, expect, test } from 'vitest'
import { prunePartitions, scanKeyRanges } from '../../src/common/partition-pruner.ts'
import { aSchema } from '../support/a-schema.ts'
import {
  type Partitioned,
  type PlainBound,
  type PlainDimension,
  type PlainRange,
  partitioned,
} from '../support/partition-input.ts'
import { aScan, type PlainKey, type PlainPredicate } from '../support/plain-scan.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Group {
  readonly schema: readonly (readonly [string, string])[]
  readonly range?: readonly string[]
  readonly hash?: readonly PlainDimension[]
  readonly splits?: readonly PlainBound[]
  readonly tableHash?: readonly PlainDimension[]
  readonly customRanges?: readonly PlainRange[]
  readonly cases: readonly {
    readonly preds?: readonly PlainPredicate[]
    readonly lower?: PlainKey
    readonly upper?: PlainKey
    readonly tablets: number
    /** Intervals of partition keys. */
    readonly ranges?: number
  }[]
}

const GROUPS = [
  'prune_pk_range',
  'prune_partial_pk_range',
  'prune_int_partial_pk_range',
  'prune_range_predicates',
  'prune_hash',
  'prune_inlist_hash',
  'prune_inlist_hash_multicolumn',
  'prune_timeseries',
  'prune_kudu2173',
  'prune_custom_ranges_partial_pk',
  'prune_inlist_custom_ranges',
  // Upstream switched the tests of these two off, since it wants as many hash dimensions in every
  // range. Here ranges may differ. The first one's intervals are left out: upstream expects none
  // for the gaps between ranges, which it does count in prune_custom_ranges_partial_pk.
  'prune_custom_ranges_disabled',
  'prune_single_range_disabled',
] as const

const vectors = readVectors<Readonly<Record<(typeof GROUPS)[number], Group>>>('pruning')

function tableOf({ schema, range, hash, tableHash, splits, customRanges }: Group): Partitioned {
  const columns = schema.map(([name, type]) => `${name} ${type} KEY`)
  return partitioned(aSchema(...columns, 'v INT32'), {
    hash: hash ?? tableHash,
    range,
    splits: splits ?? [],
    ranges: customRanges ?? [],
  })
}

describe('prunePartitions', () => {
  test.each(GROUPS)('leaves the tablets and intervals of %s', (name) => {
    const { cases, ...group } = vectors[name]
    const table = tableOf({ cases, ...group })
    const { schema, partitionSchema, partitions } = table
    for (const { preds = [], lower = null, upper = null, tablets, ranges } of cases) {
      const spec = aScan(schema, preds, lower, upper)
      const message = JSON.stringify([preds, lower, upper])

      const left = prunePartitions(schema, partitionSchema, partitions, spec)

      expect(left.length, message).toBe(tablets)
      if (ranges === undefined) continue
      expect(scanKeyRanges(schema, partitionSchema, spec).length, message).toBe(ranges)
    }
    reportVectors(name, cases.length)
  })
})
