/**
 * How a table is to be partitioned, as a client says it: columns by name, bounds as cells, splits.
 * The form that is kept is partition-schema.ts; partition-builder.ts makes one of the other.
 */

import type { Cell } from './data-type.ts'

/** Whether a bound itself belongs to the range. */
export const BOUND_TYPES = ['INCLUSIVE', 'EXCLUSIVE'] as const
/** Whether a bound itself belongs to the range. */
export type BoundType = (typeof BOUND_TYPES)[number]

/** A hash dimension. */
export interface HashDimensionInput {
  readonly columns: readonly string[]
  readonly bucketCount: number
  readonly seed: number
}

/**
 * Cells of range columns by column name. A range column that is missing counts as its smallest
 * cell; with none at all the bound is no bound.
 */
export type BoundInput = ReadonlyMap<string, Cell>

/** The bounds of a range. */
export interface RangeBoundsInput {
  readonly lower: BoundInput
  readonly upper: BoundInput
  readonly lowerBoundType: BoundType
  readonly upperBoundType: BoundType
}

/** A range. */
export interface RangeInput extends RangeBoundsInput {
  /** The range's own hash dimensions, `[]` for none; null: the table's. */
  readonly hashSchema: readonly HashDimensionInput[] | null
}

/** How a table is to be partitioned. */
export interface PartitionSchemaInput {
  readonly hashSchema: readonly HashDimensionInput[]
  /** null: the key columns; `[]`: no range part. */
  readonly rangeColumns: readonly string[] | null
  /** In any order; `[]`: one unbounded range. */
  readonly ranges: readonly RangeInput[]
  /** In any order; each cuts the range it lies in. */
  readonly splits: readonly BoundInput[]
}

/** What a table gets that says nothing of its partitions: one unbounded range over the key. */
export const DEFAULT_PARTITION_SCHEMA_INPUT: PartitionSchemaInput = {
  hashSchema: [],
  rangeColumns: null,
  ranges: [],
  splits: [],
}
