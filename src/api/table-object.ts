/** Tables, and the parts of them that tablets hold, as clients see them. */

import { cellToJson, DEFAULT_VALUE_OPTIONS } from '../common/cell-json.ts'
import { decodeKeyCells } from '../common/encoded-key.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type {
  HashDimension,
  Partition,
  PartitionSchema,
  RangePartition,
} from '../common/partition-schema.ts'
import { type Column, type ColumnDefinition, Schema } from '../common/schema.ts'
import type { TableEntry } from '../common/table.ts'
import { fromHex } from '../util/bytes.ts'
import { RawJson } from './json-text.ts'

/** A table, ready for `jsonText`. */
export function tableObject(table: TableEntry): object {
  const schema = new Schema(table.columns)
  return {
    id: table.id,
    name: table.name,
    state: table.state,
    schema: { columns: schema.columns.map(columnObject) },
    version: table.version,
    partition_schema: partitionSchemaObject(schema, table.partitionSchema),
    owner: table.owner,
    comment: table.comment,
    extra_configs: table.extraConfigs,
    num_tablets: table.tablets.length,
    created_at: dateTimeText(table.createdAt),
  }
}

/** Where a tablet's part of a table begins and ends, for `jsonText`. */
export function partitionObject(
  schema: Schema,
  partitionSchema: PartitionSchema,
  partition: Partition,
): object {
  return {
    hash_buckets: partition.hashBuckets,
    ...partitionBounds(schema, partitionSchema, partition),
    partition_key_start: partition.partitionKeyStart,
    partition_key_end: partition.partitionKeyEnd,
    range_key_start: partition.rangeKeyStart,
    range_key_end: partition.rangeKeyEnd,
  }
}

/** The bounds of a tablet's range, null where it is unbounded, for `jsonText`. */
export function partitionBounds(
  schema: Schema,
  partitionSchema: PartitionSchema,
  partition: Partition,
): object {
  const columns = rangeColumnsOf(schema, partitionSchema)
  return {
    range_lower: boundObject(columns, partition.rangeKeyStart) ?? null,
    range_upper: boundObject(columns, partition.rangeKeyEnd) ?? null,
  }
}

/** A timestamp of the system in RFC 3339. */
export function dateTimeText(timestamp: Timestamp): string {
  const micros = String(timestamp % 1000).padStart(3, '0')
  return new Date(Math.floor(timestamp / 1000)).toISOString().replace('Z', `${micros}Z`)
}

function columnObject(column: Column): object {
  const { id, name, type, attributes, isKey, isNullable, comment, encoding, compression } = column
  const hasAttributes = Object.keys(attributes).length > 0
  return {
    id,
    name,
    type,
    type_attributes: hasAttributes ? attributes : undefined,
    is_key: isKey,
    is_nullable: isNullable,
    default: column.writeDefault === null ? undefined : cellOf(column, column.writeDefault),
    comment,
    encoding,
    compression,
    immutable: column.isImmutable,
  }
}

function cellOf(column: Column, cell: NonNullable<ColumnDefinition['writeDefault']>): RawJson {
  return new RawJson(cellToJson(column, cell, DEFAULT_VALUE_OPTIONS))
}

function partitionSchemaObject(schema: Schema, partitionSchema: PartitionSchema): object {
  const columns = rangeColumnsOf(schema, partitionSchema)
  const ranges =
    columns.length === 0
      ? []
      : partitionSchema.ranges.map((range) => rangeObject(schema, columns, range))
  return {
    hash_schema: hashSchemaObject(schema, partitionSchema.hashSchema),
    range_schema: { columns: columns.map(({ name }) => ({ name })), ranges },
  }
}

function rangeObject(schema: Schema, columns: readonly Column[], range: RangePartition): object {
  return {
    lower: boundObject(columns, range.lowerKey),
    upper: boundObject(columns, range.upperKey),
    hash_schema: range.hashSchema === null ? undefined : hashSchemaObject(schema, range.hashSchema),
  }
}

function hashSchemaObject(schema: Schema, dimensions: readonly HashDimension[]): object[] {
  return dimensions.map(({ columnIds, bucketCount, seed }) => ({
    columns: columnIds.map((id) => ({ name: schema.mustById(id).name })),
    num_buckets: bucketCount,
    seed,
  }))
}

/** A bound by column name, or undefined when there is none. */
function boundObject(columns: readonly Column[], key: string): RawJson | undefined {
  if (key === '') return undefined
  const cells = decodeKeyCells(columns, fromHex(key))
  const members = columns.map((column, index) => {
    return `${JSON.stringify(column.name)}:${cellOf(column, cells[index]).text}`
  })
  return new RawJson(`{${members.join(',')}}`)
}

function rangeColumnsOf(schema: Schema, partitionSchema: PartitionSchema): Column[] {
  return partitionSchema.rangeColumnIds.map((id) => schema.mustById(id))
}
