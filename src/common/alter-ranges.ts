/** Ranges that come and go while a table lives (K§3.1, "Online change"). */

import { checkPartitionSchema } from './check-partition-schema.ts'
import { buildRange } from './partition-builder.ts'
import type { RangeBoundsInput, RangeInput } from './partition-input.ts'
import { intersects } from './partition-key.ts'
import type { PartitionSchema } from './partition-schema.ts'
import { rangeText } from './partition-text.ts'
import { rangeKeys } from './range-bound.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument, StatusError } from './status.ts'

/**
 * The partition schema with one range more.
 *
 * Throws: ALREADY_PRESENT when there is a range with the same bounds; INVALID_ARGUMENT when it
 * overlaps another, and as `buildPartitionSchema` does.
 */
export function addRangePartition(
  schema: Schema,
  partitionSchema: PartitionSchema,
  input: RangeInput,
): PartitionSchema {
  const columns = mustRangeColumns(schema, partitionSchema)
  const added = buildRange(schema, columns, partitionSchema.hashSchema, input)
  for (const range of partitionSchema.ranges) {
    if (range.lowerKey === added.lowerKey && range.upperKey === added.upperKey) {
      throw new StatusError(
        'ALREADY_PRESENT',
        `range partition already present: ${rangeText(columns, range)}`,
        { resource: 'range' },
      )
    }
    if (!intersects(range, added)) continue
    const [given, other] = [rangeText(columns, added), rangeText(columns, range)]
    throw invalidArgument(
      `new range partition conflicts with existing one: new ${given}, existing ${other}`,
    )
  }
  const above = partitionSchema.ranges.findIndex((range) => range.lowerKey > added.lowerKey)
  const index = above === -1 ? partitionSchema.ranges.length : above
  const altered = { ...partitionSchema, ranges: partitionSchema.ranges.toSpliced(index, 0, added) }
  checkPartitionSchema(schema, altered)
  return altered
}

/**
 * The partition schema with one range less, possibly none.
 *
 * Throws: INVALID_ARGUMENT unless a range has exactly these bounds.
 */
export function dropRangePartition(
  schema: Schema,
  partitionSchema: PartitionSchema,
  bounds: RangeBoundsInput,
): PartitionSchema {
  const columns = mustRangeColumns(schema, partitionSchema)
  const keys = rangeKeys(columns, bounds)
  const index = partitionSchema.ranges.findIndex((range) => range.lowerKey === keys.lowerKey)
  if (index === -1) {
    throw invalidArgument(
      `no range partition to drop has this lower bound: ${rangeText(columns, keys)}`,
    )
  }
  const range = partitionSchema.ranges[index]
  if (range.upperKey !== keys.upperKey) {
    const [given, existing] = [rangeText(columns, keys), rangeText(columns, range)]
    throw invalidArgument(
      `upper bound of the range partition to drop does not match: ${given}, existing ${existing}`,
    )
  }
  return { ...partitionSchema, ranges: partitionSchema.ranges.toSpliced(index, 1) }
}

function mustRangeColumns(schema: Schema, partitionSchema: PartitionSchema): Column[] {
  if (partitionSchema.rangeColumnIds.length === 0) {
    throw invalidArgument('table has no range columns, its ranges cannot change')
  }
  return partitionSchema.rangeColumnIds.map((id) => schema.mustById(id))
}
