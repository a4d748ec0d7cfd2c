/**
 * Which tablets a scan needs: those whose range of range keys and whose hash buckets can hold a row
 * that satisfies its predicates and primary key bounds (K§3.4).
 *
 *   predicates       a = 3 AND b IN (1, 2) AND 10 ≤ c < 20
 *   HASH (a) × 4     bucket 2
 *   HASH (b) × 4     buckets 0, 3
 *   RANGE (c)        [10, 20)                  → 2 tablets of each range that meets [10, 20)
 */

import { assert } from '../util/assert.ts'
import { compareWhole, toHex } from '../util/bytes.ts'
import { VERIFY } from '../util/verify.ts'
import { minCell } from './cell-order.ts'
import { equalityPredicate } from './column-predicate.ts'
import { decodeKeyPrefix, encodeKeyCells, successorKey } from './encoded-key.ts'
import { type PredicateMap, pushLowerBound, pushUpperBound } from './key-bounds.ts'
import { intersects, lesserUpperKey, type RangeKeys } from './partition-key.ts'
import {
  keyRangeCountMax,
  type PartitionKeyRange,
  partitionKeyRanges,
} from './partition-key-range.ts'
import {
  type HashDimension,
  hashSchemaOf,
  type Partition,
  type PartitionSchema,
} from './partition-schema.ts'
import { possibleBuckets } from './possible-buckets.ts'
import { optimizeScanSpec, type ScanSpec } from './scan-spec.ts'
import type { Column, Schema } from './schema.ts'
import { outcomeOf } from './status.ts'

/** Verify builds leave tables alone that would have more key ranges. */
const VERIFIED_KEY_RANGE_COUNT_MAX = 4096

const UNBOUNDED: RangeKeys = { lowerKey: '', upperKey: '' }

/** What a scan can meet: ranges of range keys, ascending and disjoint, and predicates by column. */
interface NarrowedScan {
  readonly ranges: readonly RangeKeys[]
  readonly predicates: PredicateMap
}

/**
 * Indexes of the partitions that can hold a row which a scan wants, ascending.
 *
 * Requires: `partitions` are those of the schema, and predicates name its columns. Which of the
 * predicates were pushed into the key bounds already makes no difference.
 */
export function prunePartitions(
  schema: Schema,
  partitionSchema: PartitionSchema,
  partitions: readonly Partition[],
  spec: ScanSpec,
): number[] {
  const scan = narrowScan(schema, partitionSchema, spec)
  const rangesLeft = rangesThatMeet(partitionSchema, scan.ranges)
  const choices = new BucketChoices(schema, scan.predicates)
  const left: number[] = []
  for (const [index, partition] of partitions.entries()) {
    const dimensions = rangesLeft.get(partition.rangeKeyStart)
    if (dimensions !== undefined && choices.allow(dimensions, partition)) left.push(index)
  }
  if (VERIFY && keyRangeCountMax(partitionSchema) <= VERIFIED_KEY_RANGE_COUNT_MAX) {
    const keyRanges = scanKeyRanges(schema, partitionSchema, spec)
    assert(
      left.every((index) => meetsAny(partitions[index], keyRanges)),
      'a partition is left that no interval of partition keys meets',
    )
  }
  return left
}

/**
 * The intervals of partition keys that a scan can meet, as Kudu's clients walk them: of a list on
 * the first range column they know the least and the greatest value only.
 *
 * Cost: see `partitionKeyRanges`.
 */
export function scanKeyRanges(
  schema: Schema,
  partitionSchema: PartitionSchema,
  spec: ScanSpec,
): PartitionKeyRange[] {
  const { ranges, predicates } = narrowScan(schema, partitionSchema, spec)
  const [first] = ranges
  const last = ranges.at(-1)
  if (last === undefined) return []
  const whole = { lowerKey: first.lowerKey, upperKey: last.upperKey }
  return partitionKeyRanges(schema, partitionSchema, whole, predicates)
}

function narrowScan(
  schema: Schema,
  partitionSchema: PartitionSchema,
  spec: ScanSpec,
): NarrowedScan {
  const narrowed = optimizeScanSpec(schema, spec, { erasePushed: false })
  const predicates = new Map(narrowed.predicates.map((it) => [it.columnId, it]))
  if (narrowed.isEmpty) return { ranges: [], predicates }
  const columns = partitionSchema.rangeColumnIds.map((id) => schema.mustById(id))
  const keyBounds = rangeKeysOfKeyBounds(schema, columns, narrowed)
  return { ranges: scanRanges(columns, keyBounds, predicates), predicates }
}

function meetsAny(partition: Partition, keyRanges: readonly PartitionKeyRange[]): boolean {
  const { partitionKeyStart: lowerKey, partitionKeyEnd: upperKey } = partition
  return keyRanges.some(({ startKey, endKey }) => {
    return intersects({ lowerKey, upperKey }, { lowerKey: startKey, upperKey: endKey })
  })
}

/** Which buckets each dimension may have, worked out once a dimension. */
class BucketChoices {
  readonly #schema: Schema
  readonly #predicates: PredicateMap
  readonly #known = new Map<string, Uint8Array | null>()
  readonly #ofDimension = new Map<HashDimension, Uint8Array | null>()

  constructor(schema: Schema, predicates: PredicateMap) {
    this.#schema = schema
    this.#predicates = predicates
  }

  /** Whether rows can be in all buckets of a partition. */
  allow(dimensions: readonly HashDimension[], partition: Partition): boolean {
    return dimensions.every((dimension, index) => {
      const choice = this.#choiceOf(dimension)
      return choice === null || choice[partition.hashBuckets[index]] === 1
    })
  }

  #choiceOf(dimension: HashDimension): Uint8Array | null {
    let choice = this.#ofDimension.get(dimension)
    if (choice !== undefined) return choice
    const { columnIds, bucketCount, seed } = dimension
    const name = `${columnIds.join()} ${bucketCount} ${seed}`
    choice = this.#known.get(name)
    if (choice === undefined) choice = possibleBuckets(this.#schema, dimension, this.#predicates)
    this.#known.set(name, choice)
    this.#ofDimension.set(dimension, choice)
    return choice
  }
}

/**
 * The ranges of range keys that rows can have, ascending and disjoint: one, or one for each value
 * when the first range column is in a list.
 */
function scanRanges(
  columns: readonly Column[],
  keyBounds: RangeKeys,
  predicates: PredicateMap,
): RangeKeys[] {
  if (columns.length === 0) return [UNBOUNDED]
  const [first] = columns
  const list = predicates.get(first.id)
  if (list?.kind !== 'IN_LIST') return narrowedRange(keyBounds, pushedRange(columns, predicates))
  const own = new Map(predicates)
  return list.values.flatMap((value) => {
    own.set(first.id, equalityPredicate(first, value))
    return narrowedRange(keyBounds, pushedRange(columns, own))
  })
}

function pushedRange(columns: readonly Column[], predicates: PredicateMap): RangeKeys {
  return {
    lowerKey: toHex(pushLowerBound(columns, predicates).key),
    upperKey: toHex(pushUpperBound(columns, predicates).key),
  }
}

/** What two ranges have in common: one range or none. */
function narrowedRange(a: RangeKeys, b: RangeKeys): RangeKeys[] {
  const lowerKey = a.lowerKey < b.lowerKey ? b.lowerKey : a.lowerKey
  const upperKey = lesserUpperKey(a.upperKey, b.upperKey)
  return upperKey !== '' && lowerKey >= upperKey ? [] : [{ lowerKey, upperKey }]
}

/**
 * Bounds of the primary key as bounds of the range key: where the range columns are the first of
 * the key, the part of each bound that speaks of them.
 */
function rangeKeysOfKeyBounds(
  schema: Schema,
  columns: readonly Column[],
  spec: ScanSpec,
): RangeKeys {
  if (columns.some((column, index) => column.index !== index)) return UNBOUNDED
  if (columns.length === schema.keyColumnCount) {
    return { lowerKey: toHex(spec.lowerKey), upperKey: toHex(spec.upperKey) }
  }
  return {
    lowerKey: boundPrefix(schema, columns, spec.lowerKey, false),
    upperKey: boundPrefix(schema, columns, spec.upperKey, true),
  }
}

/**
 * The range key of a bound's first cells. Of an upper bound rows with the same cells are below it
 * unless the rest of it is the least there is. What is not a key is no bound.
 */
function boundPrefix(
  schema: Schema,
  columns: readonly Column[],
  bound: Uint8Array,
  isUpper: boolean,
): string {
  if (bound.length === 0) return ''
  const { keyColumns } = schema
  const prefix = outcomeOf(() => decodeKeyPrefix(keyColumns, bound, columns.length))
  if (!prefix.ok) return ''
  const key = encodeKeyCells(columns, prefix.value.cells)
  if (!isUpper) return toHex(key)
  const rest = keyColumns.slice(columns.length)
  const least = encodeKeyCells(rest, rest.map(minCell))
  const isLeast = compareWhole(bound.subarray(prefix.value.end), least) <= 0
  return toHex(isLeast ? key : successorKey(key))
}

/** The hash dimensions of each range that meets a scan, by the range's lower key. */
function rangesThatMeet(
  partitionSchema: PartitionSchema,
  scans: readonly RangeKeys[],
): Map<string, readonly HashDimension[]> {
  const left = new Map<string, readonly HashDimension[]>()
  let next = 0
  for (const range of partitionSchema.ranges) {
    while (next < scans.length && isBelow(scans[next], range)) next++
    if (next === scans.length) break
    if (!intersects(scans[next], range)) continue
    left.set(range.lowerKey, hashSchemaOf(partitionSchema, range))
  }
  return left
}

function isBelow(a: RangeKeys, b: RangeKeys): boolean {
  return a.upperKey !== '' && a.upperKey <= b.lowerKey
}
