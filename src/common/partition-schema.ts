/**
 * How a table is cut into tablets, as plain data: JSON and structured clone keep it as it is.
 *
 * A row's *partition key* is one 4-byte big-endian word per hash dimension (its bucket) and then
 * the range columns encoded like a key (docs/formats/encoded-key.md). Keys are lower-case
 * hexadecimal here, so that comparing two of them as strings compares their bytes; '' is no bound.
 *
 *   ranges        ───[ r0 ──────)──────[ r1 ──)[ r2 ─────────…     gaps hold no rows
 *   hash buckets     0 1 2 3           0 1 2 3  0 1                 r2 has its own hash schema
 *   tablets          4                 4        2
 */

/** One hash dimension: rows go to bucket `murmur2(columns, seed) mod bucketCount`. */
export interface HashDimension {
  /** Ascending, at least one. */
  readonly columnIds: readonly number[]
  /** At least 2. */
  readonly bucketCount: number
  /** An unsigned 32-bit integer. */
  readonly seed: number
}

/** One range of range keys, `[lowerKey, upperKey)`. */
export interface RangePartition {
  /** Encoded range key, inclusive; '' is unbounded. */
  readonly lowerKey: string
  /** Encoded range key, exclusive; '' is unbounded. */
  readonly upperKey: string
  /** The range's own hash dimensions, `[]` for none; null: the table's. */
  readonly hashSchema: readonly HashDimension[] | null
}

/**
 * How a table is partitioned, normalized by `buildPartitionSchema`: splits resolved, bounds
 * inclusive below and exclusive above, ranges ascending and disjoint, a range's own hash schema
 * kept only where it differs.
 */
export interface PartitionSchema {
  readonly hashSchema: readonly HashDimension[]
  /**
   * In the order in which they are encoded; empty: no range part, and exactly one unbounded range.
   */
  readonly rangeColumnIds: readonly number[]
  readonly ranges: readonly RangePartition[]
}

/** The part of a table that one tablet holds: one bucket of each hash dimension of one range. */
export interface Partition {
  readonly hashBuckets: readonly number[]
  /** Bounds of the range, as in `RangePartition`. */
  readonly rangeKeyStart: string
  readonly rangeKeyEnd: string
  /** Bucket words and range key joined. Without hash dimensions '' is unbounded. */
  readonly partitionKeyStart: string
  /** Exclusive. Above an unbounded range it is the next word of the last hash dimension. */
  readonly partitionKeyEnd: string
}

/** The hash dimensions of one range. */
export function hashSchemaOf(
  schema: PartitionSchema,
  range: RangePartition,
): readonly HashDimension[] {
  return range.hashSchema ?? schema.hashSchema
}
