/** Partitions in a line or two, and those of Kudu's test vectors. */

import type { Cell } from '../../src/common/data-type.ts'
import { buildPartitionSchema, createPartitions } from '../../src/common/partition-builder.ts'
import type {
  BoundInput,
  HashDimensionInput,
  PartitionSchemaInput,
  RangeInput,
} from '../../src/common/partition-input.ts'
import type { Partition, PartitionSchema } from '../../src/common/partition-schema.ts'
import type { Schema } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/** A cell as tests write it; texts are of strings. */
export type PlainCell = number | bigint | string | Uint8Array
/** A bound by column name; null cells are left out, and `null` is no bound. */
export type PlainBound = Readonly<Record<string, PlainCell | null>> | null

/** A hash dimension, as the vectors write it. */
export interface PlainDimension {
  readonly columns: readonly string[]
  readonly buckets: number
  readonly seed?: number
}

/** A range, as the vectors write it. */
export interface PlainRange {
  readonly lower: PlainBound
  readonly upper: PlainBound
  readonly hash?: readonly PlainDimension[]
  readonly lowerType?: 'INCLUSIVE' | 'EXCLUSIVE'
  readonly upperType?: 'INCLUSIVE' | 'EXCLUSIVE'
}

/** How a table is to be partitioned, as tests write it. */
export interface PlainInput {
  readonly hash?: readonly PlainDimension[] | undefined
  readonly range?: readonly string[] | null | undefined
  readonly ranges?: readonly PlainRange[]
  readonly splits?: readonly PlainBound[]
}

/** A cell of a text is its UTF-8. */
export function aCell(cell: PlainCell): Cell {
  return typeof cell === 'string' ? utf8Encode(cell) : cell
}

/** A bound. */
export function aBound(bound: PlainBound): BoundInput {
  const cells = new Map<string, Cell>()
  for (const [name, cell] of Object.entries(bound ?? {})) {
    if (cell !== null) cells.set(name, aCell(cell))
  }
  return cells
}

/** A bound of cells given in the order of the columns. */
export function boundOf(
  columns: readonly string[],
  cells: readonly (PlainCell | null)[],
): PlainBound {
  return Object.fromEntries(cells.map((cell, index) => [columns[index], cell]))
}

/** A hash dimension. */
export function aDimension({ columns, buckets, seed }: PlainDimension): HashDimensionInput {
  return { columns, bucketCount: buckets, seed: seed ?? 0 }
}

/** A range. */
export function aRange(range: PlainRange): RangeInput {
  return {
    lower: aBound(range.lower),
    upper: aBound(range.upper),
    lowerBoundType: range.lowerType ?? 'INCLUSIVE',
    upperBoundType: range.upperType ?? 'EXCLUSIVE',
    hashSchema: range.hash?.map(aDimension) ?? null,
  }
}

/** How a table is to be partitioned; by nothing when nothing is said. */
export function aPartitionInput(input: PlainInput): PartitionSchemaInput {
  return {
    hashSchema: (input.hash ?? []).map(aDimension),
    rangeColumns: input.range === undefined ? [] : input.range,
    ranges: (input.ranges ?? []).map(aRange),
    splits: (input.splits ?? []).map(aBound),
  }
}

/** A table's partition schema and its partitions. */
export interface Partitioned {
  readonly schema: Schema
  readonly partitionSchema: PartitionSchema
  readonly partitions: readonly Partition[]
}

/** Partitions of a table. */
export function partitioned(schema: Schema, input: PlainInput): Partitioned {
  const partitionSchema = buildPartitionSchema(schema, aPartitionInput(input))
  return { schema, partitionSchema, partitions: createPartitions(schema, partitionSchema) }
}
