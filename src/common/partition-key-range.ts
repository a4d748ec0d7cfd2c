/**
 * The partition keys that a scan can meet, as intervals (K§3.4): what Kudu's clients walk, which do
 * not know the tablets beforehand. Who knows them prunes one by one (partition-pruner.ts), and
 * verify builds hold the two against each other.
 */

import { bucketProduct } from './hash-schema.ts'
import type { PredicateMap } from './key-bounds.ts'
import {
  lesserUpperKey,
  partitionKeyEnd,
  partitionKeyStart,
  type RangeKeys,
} from './partition-key.ts'
import type { HashDimension, PartitionSchema } from './partition-schema.ts'
import { possibleBuckets } from './possible-buckets.ts'
import type { Schema } from './schema.ts'

/** Partition keys in `[startKey, endKey)`, as hexadecimal; '' is no bound. */
export interface PartitionKeyRange {
  readonly startKey: string
  readonly endKey: string
}

/** A piece of a scan's range, all of whose rows are hashed alike. */
export interface HashedRange extends RangeKeys {
  readonly hashSchema: readonly HashDimension[]
}

/**
 * The intervals of partition keys in which rows can lie that satisfy the predicates and whose range
 * key is in `scan`: a key part behind the last one that is narrowed is left open.
 *
 * Cost: up to the product of the bucket counts for each piece of the scan; see `keyRangeCountMax`.
 */
export function partitionKeyRanges(
  schema: Schema,
  partitionSchema: PartitionSchema,
  scan: RangeKeys,
  predicates: PredicateMap,
): PartitionKeyRange[] {
  return cutByHashSchema(partitionSchema, scan).flatMap((piece) => {
    const choices = piece.hashSchema.map((dimension) => {
      return possibleBuckets(schema, dimension, predicates)
    })
    return pieceKeyRanges(piece, choices)
  })
}

/** The greatest number of intervals that `partitionKeyRanges` can give for a table. */
export function keyRangeCountMax(partitionSchema: PartitionSchema): number {
  const tableCount = bucketProduct(partitionSchema.hashSchema)
  let count = tableCount
  for (const { hashSchema } of partitionSchema.ranges) {
    if (hashSchema !== null) count += bucketProduct(hashSchema) + tableCount
  }
  return count
}

/**
 * Cuts a scan's range where the way of hashing changes. What lies in no range with a hash schema of
 * its own, gaps included, is hashed the table's way.
 */
export function cutByHashSchema(partitionSchema: PartitionSchema, scan: RangeKeys): HashedRange[] {
  const pieces: HashedRange[] = []
  let lowerKey = scan.lowerKey
  for (const range of partitionSchema.ranges) {
    if (range.hashSchema === null) continue
    if (range.upperKey !== '' && range.upperKey <= lowerKey) continue
    if (scan.upperKey !== '' && range.lowerKey >= scan.upperKey) break
    if (lowerKey < range.lowerKey) {
      const { hashSchema } = partitionSchema
      pieces.push({ lowerKey, upperKey: range.lowerKey, hashSchema })
      lowerKey = range.lowerKey
    }
    const upperKey = lesserUpperKey(range.upperKey, scan.upperKey)
    pieces.push({ lowerKey, upperKey, hashSchema: range.hashSchema })
    if (upperKey === scan.upperKey) return pieces
    lowerKey = upperKey
  }
  pieces.push({ lowerKey, upperKey: scan.upperKey, hashSchema: partitionSchema.hashSchema })
  return pieces
}

function pieceKeyRanges(
  piece: HashedRange,
  choices: readonly (Uint8Array | null)[],
): PartitionKeyRange[] {
  const hasBounds = piece.lowerKey !== '' || piece.upperKey !== ''
  const wordCount = hasBounds
    ? choices.length
    : choices.findLastIndex((choice) => choice !== null) + 1
  let prefixes: number[][] = [[]]
  for (let index = 0; index < wordCount; index++) {
    const buckets = bucketsOf(piece.hashSchema[index].bucketCount, choices[index])
    prefixes = prefixes.flatMap((prefix) => buckets.map((bucket) => [...prefix, bucket]))
  }
  return prefixes.map((buckets) => ({
    startKey: partitionKeyStart(buckets, piece.lowerKey),
    endKey: partitionKeyEnd(buckets, piece.upperKey),
  }))
}

function bucketsOf(bucketCount: number, choice: Uint8Array | null): number[] {
  const all = Array.from({ length: bucketCount }, (_, bucket) => bucket)
  return choice === null ? all : all.filter((bucket) => choice[bucket] === 1)
}
