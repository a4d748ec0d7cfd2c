/**
 * The rules of a normalized partition schema, for whoever gets one from another object.
 */

import { fromHex } from '../util/bytes.ts'
import { decodeKeyCells } from './encoded-key.ts'
import { bucketProduct, checkBuckets } from './hash-schema.ts'
import { KEY_BYTES_MAX, STORED_ROW_BYTES_MAX, TABLET_COUNT_MAX } from './limits.ts'
import {
  type HashDimension,
  hashSchemaOf,
  type PartitionSchema,
  type RangePartition,
} from './partition-schema.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument, outcomeOf, type StatusError } from './status.ts'

const HEX_PAIRS = /^(?:[0-9a-f]{2})*$/
const HASH_WORD_LENGTH = 8

/**
 * Throws: INVALID_ARGUMENT when a partition schema is not one that `buildPartitionSchema` makes for
 * these columns, makes more than `TABLET_COUNT_MAX` tablets, or has keys too long to be stored.
 */
export function checkPartitionSchema(schema: Schema, partitionSchema: PartitionSchema): void {
  const { hashSchema, rangeColumnIds, ranges } = partitionSchema
  checkHashSchema(schema, hashSchema)
  for (const range of ranges)
    if (range.hashSchema !== null) checkHashSchema(schema, range.hashSchema)
  const columns = distinctKeyColumns(schema, rangeColumnIds)
  if (columns.length === 0) {
    const [only] = ranges
    const isWhole = only?.lowerKey === '' && only.upperKey === '' && only.hashSchema === null
    if (ranges.length !== 1 || !isWhole) throw malformed('ranges without range columns')
  } else {
    checkRanges(columns, ranges)
  }
  checkTabletCount(partitionSchema)
  checkKeyLengths(partitionSchema)
}

function checkHashSchema(schema: Schema, hashSchema: readonly HashDimension[]): void {
  distinctKeyColumns(
    schema,
    hashSchema.flatMap((dimension) => dimension.columnIds),
  )
  for (const { columnIds, bucketCount, seed } of hashSchema) {
    if (columnIds.length === 0) throw malformed('a hash dimension has no columns')
    const isAscending = columnIds.every((id, index) => index === 0 || columnIds[index - 1] < id)
    if (!isAscending) throw malformed('columns of a hash dimension are not ascending')
    checkBuckets(bucketCount, seed)
  }
}

function distinctKeyColumns(schema: Schema, ids: readonly number[]): Column[] {
  if (new Set(ids).size < ids.length) throw malformed('a column is named twice')
  return ids.map((id) => {
    const column = schema.byId(id)
    if (column === undefined || !column.isKey) throw malformed('a column is not of the key')
    return column
  })
}

function checkRanges(columns: readonly Column[], ranges: readonly RangePartition[]): void {
  for (const [index, { lowerKey, upperKey }] of ranges.entries()) {
    if (!isRangeKey(columns, lowerKey)) throw malformed('a lower bound is not a range key')
    if (!isRangeKey(columns, upperKey)) throw malformed('an upper bound is not a range key')
    if (upperKey !== '' && lowerKey >= upperKey) throw malformed('a range is empty')
    const below = index === 0 ? null : ranges[index - 1].upperKey
    if (below !== null && (below === '' || below > lowerKey)) throw malformed('ranges overlap')
  }
}

function isRangeKey(columns: readonly Column[], key: unknown): boolean {
  if (typeof key !== 'string' || key.length > KEY_BYTES_MAX * 2 || !HEX_PAIRS.test(key))
    return false
  return key === '' || outcomeOf(() => decodeKeyCells(columns, fromHex(key))).ok
}

/** Throws: INVALID_ARGUMENT when a table would have more than `TABLET_COUNT_MAX` tablets. */
export function checkTabletCount(partitionSchema: PartitionSchema): void {
  let count = 0
  for (const range of partitionSchema.ranges) {
    count += bucketProduct(hashSchemaOf(partitionSchema, range))
  }
  if (count <= TABLET_COUNT_MAX) return
  throw invalidArgument(`partitions make ${count} tablets, limit is ${TABLET_COUNT_MAX}`, {
    limit: TABLET_COUNT_MAX,
  })
}

/** A table is one stored row, in which each tablet repeats the keys of its range. */
function checkKeyLengths(partitionSchema: PartitionSchema): void {
  let length = 0
  for (const range of partitionSchema.ranges) {
    const dimensions = hashSchemaOf(partitionSchema, range)
    const keysLength = 2 * (range.lowerKey.length + range.upperKey.length)
    const tabletLength = keysLength + 2 * HASH_WORD_LENGTH * dimensions.length
    length += bucketProduct(dimensions) * tabletLength
  }
  if (length <= STORED_ROW_BYTES_MAX) return
  throw invalidArgument(
    `keys of the partitions take ${length} bytes, limit is ${STORED_ROW_BYTES_MAX}`,
    { limit: STORED_ROW_BYTES_MAX },
  )
}

function malformed(what: string): StatusError {
  return invalidArgument(`partition schema is malformed: ${what}`)
}
