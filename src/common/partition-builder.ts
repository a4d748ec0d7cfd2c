/**
 * From what a client says about partitions to the schema a table keeps, and from that to the
 * partitions of its tablets (K§3.1, K§3.2).
 *
 *   ranges given    [a ───────── m)   [x ── z)      in any order, disjoint
 *   splits given          d    g                    each strictly inside a range
 *   ranges kept     [a ── d)[d ─ g)[g ─ m)   [x ── z)
 *
 * Each range is cut once more by its hash dimensions, one tablet for every combination of buckets.
 */

import { checkPartitionSchema } from './check-partition-schema.ts'
import { bucketProduct, buildHashSchema, equalHashSchemas, mustKeyColumn } from './hash-schema.ts'
import type { BoundInput, PartitionSchemaInput, RangeInput } from './partition-input.ts'
import {
  compareKeys,
  hashWords,
  intersects,
  partitionKeyEnd,
  partitionKeyStart,
  type RangeKeys,
} from './partition-key.ts'
import {
  type HashDimension,
  hashSchemaOf,
  type Partition,
  type PartitionSchema,
  type RangePartition,
} from './partition-schema.ts'
import { rangeText } from './partition-text.ts'
import { boundText, rangeKeys, splitKey } from './range-bound.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument, type StatusError } from './status.ts'

const UNBOUNDED: RangePartition = { lowerKey: '', upperKey: '', hashSchema: null }

/**
 * The partition schema that a table keeps, of what a client says.
 *
 * Throws: INVALID_ARGUMENT for everything that K§3.1 forbids, and for more than `TABLET_COUNT_MAX`
 * tablets.
 */
export function buildPartitionSchema(schema: Schema, input: PartitionSchemaInput): PartitionSchema {
  const hashSchema = buildHashSchema(schema, input.hashSchema)
  const columns = buildRangeColumns(schema, input.rangeColumns)
  if (columns.length === 0 && input.ranges.length + input.splits.length > 0) {
    throw invalidArgument('ranges and split rows need range columns')
  }
  let ranges = input.ranges.map((range) => buildRange(schema, columns, hashSchema, range))
  if (ranges.length === 0) ranges = [UNBOUNDED]
  ranges.sort((a, b) => compareKeys(a.lowerKey, b.lowerKey))
  checkDisjoint(columns, ranges)
  const built = {
    hashSchema,
    rangeColumnIds: columns.map((column) => column.id),
    ranges: splitRanges(columns, ranges, input.splits),
  }
  checkPartitionSchema(schema, built)
  return built
}

function buildRangeColumns(schema: Schema, names: readonly string[] | null): readonly Column[] {
  if (names === null) return schema.keyColumns
  const columns = names.map((name) => mustKeyColumn(schema, name, 'range'))
  for (const [index, column] of columns.entries()) {
    if (columns.indexOf(column) === index) continue
    throw invalidArgument(`range column "${column.name}" is named twice`, { column: column.name })
  }
  return columns
}

/**
 * One range as a table keeps it. Throws: INVALID_ARGUMENT as `rangeKeys` and `buildHashSchema` do.
 */
export function buildRange(
  schema: Schema,
  columns: readonly Column[],
  tableHashSchema: readonly HashDimension[],
  input: RangeInput,
): RangePartition {
  const keys = rangeKeys(columns, input)
  const own = input.hashSchema === null ? null : buildHashSchema(schema, input.hashSchema)
  const isTable = own === null || equalHashSchemas(own, tableHashSchema)
  return { ...keys, hashSchema: isTable ? null : own }
}

/** Requires: ranges ascending by lower key. */
function checkDisjoint(columns: readonly Column[], ranges: readonly RangeKeys[]): void {
  for (let i = 1; i < ranges.length; i++) {
    if (!intersects(ranges[i - 1], ranges[i])) continue
    const first = rangeText(columns, ranges[i - 1])
    const second = rangeText(columns, ranges[i])
    throw invalidArgument(`overlapping range partitions: first ${first}, second ${second}`)
  }
}

/** Requires: ranges ascending and disjoint. */
function splitRanges(
  columns: readonly Column[],
  ranges: readonly RangePartition[],
  splits: readonly BoundInput[],
): RangePartition[] {
  const cuts = splits.map((split) => ({ split, key: splitKey(columns, split) }))
  cuts.sort((a, b) => compareKeys(a.key, b.key))
  const kept: RangePartition[] = []
  let next = 0
  for (const range of ranges) {
    let lowerKey = range.lowerKey
    for (; next < cuts.length && isBelow(cuts[next].key, range.upperKey); next++) {
      const { key, split } = cuts[next]
      if (next > 0 && cuts[next - 1].key === key) {
        throw invalidArgument(`duplicate split row: ${boundText(columns, split)}`)
      }
      if (key <= range.lowerKey) throw outsideSplit(columns, split)
      if (range.hashSchema !== null) {
        throw invalidArgument(
          `split row cuts a range with a hash schema of its own: ${boundText(columns, split)}`,
        )
      }
      kept.push({ lowerKey, upperKey: key, hashSchema: null })
      lowerKey = key
    }
    kept.push({ ...range, lowerKey })
  }
  if (next < cuts.length) throw outsideSplit(columns, cuts[next].split)
  return kept
}

function isBelow(key: string, upperKey: string): boolean {
  return upperKey === '' || key < upperKey
}

function outsideSplit(columns: readonly Column[], split: BoundInput): StatusError {
  return invalidArgument(`split row is not strictly inside a range: ${boundText(columns, split)}`)
}

/**
 * The partitions of a table, in the order of its tablets: by hash words, then by range key.
 *
 * Throws: INVALID_ARGUMENT when the schema is not one that `buildPartitionSchema` makes, as
 * `checkPartitionSchema` does.
 */
export function createPartitions(schema: Schema, partitionSchema: PartitionSchema): Partition[] {
  checkPartitionSchema(schema, partitionSchema)
  const sorted: { readonly words: string; readonly partition: Partition }[] = []
  for (const range of partitionSchema.ranges) {
    const dimensions = hashSchemaOf(partitionSchema, range)
    const count = bucketProduct(dimensions)
    for (let combination = 0; combination < count; combination++) {
      const buckets = bucketsOf(dimensions, combination)
      sorted.push({ words: hashWords(buckets), partition: partitionOf(range, buckets) })
    }
  }
  sorted.sort((a, b) => {
    const order = compareKeys(a.words, b.words)
    return order !== 0 ? order : compareKeys(a.partition.rangeKeyStart, b.partition.rangeKeyStart)
  })
  return sorted.map(({ partition }) => partition)
}

/** The buckets of a combination, the last dimension turning fastest. */
function bucketsOf(dimensions: readonly HashDimension[], combination: number): number[] {
  const buckets: number[] = []
  let rest = combination
  for (let index = dimensions.length - 1; index >= 0; index--) {
    const { bucketCount } = dimensions[index]
    buckets.unshift(rest % bucketCount)
    rest = Math.floor(rest / bucketCount)
  }
  return buckets
}

function partitionOf(range: RangePartition, hashBuckets: readonly number[]): Partition {
  const { lowerKey, upperKey } = range
  return {
    hashBuckets,
    rangeKeyStart: lowerKey,
    rangeKeyEnd: upperKey,
    partitionKeyStart: partitionKeyStart(hashBuckets, lowerKey),
    partitionKeyEnd: partitionKeyEnd(hashBuckets, upperKey),
  }
}
