/** From what a client says about a table to be made to what the catalog is told. */

import { normalizeExtraConfigs } from '../catalog/extra-configs.ts'
import { validateComment, validateOwner, validateTableName } from '../catalog/validate-table.ts'
import { cellFromJson, DEFAULT_VALUE_OPTIONS } from '../common/cell-json.ts'
import { type Cell, physicalOf, type TypeAttributes } from '../common/data-type.ts'
import { isJsonObject } from '../common/json-object.ts'
import { buildPartitionSchema } from '../common/partition-builder.ts'
import type {
  BoundInput,
  HashDimensionInput,
  PartitionSchemaInput,
  RangeInput,
} from '../common/partition-input.ts'
import { type Column, type ColumnDefinition, Schema } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import { completeTypeAttributes } from '../common/type-attributes.ts'
import { validateColumns } from '../common/validate-schema.ts'
import type { CreateTableCall } from '../wire/catalog-protocol.ts'
import type {
  ColumnSpec,
  CreateTableRequest,
  HashDimensionSpec,
  PartitionSchemaSpec,
  RangeSpec,
} from '../wire/table-schemas.ts'
import { WIRE_VERSION } from '../wire/tablet-protocol.ts'
import { shownName } from './json-tree.ts'

/**
 * The call that makes a table. `ownerDefault` owns it unless the request says another.
 *
 * Throws: INVALID_ARGUMENT naming what is wrong, and its limit.
 */
export function createTableCall(
  request: CreateTableRequest,
  ownerDefault: string,
): CreateTableCall {
  const { name, owner = ownerDefault, comment = '' } = request
  validateTableName(name)
  validateOwner(owner)
  validateComment(comment)
  const extraConfigs = extraConfigsOf(request.extra_configs)
  const columns = columnsOf(request.schema.columns)
  const schema = new Schema(columns)
  const input = partitionInput(schema, request.partition_schema ?? {})
  const partitionSchema = buildPartitionSchema(schema, input)
  return { wire: WIRE_VERSION, name, columns, partitionSchema, owner, comment, extraConfigs }
}

function columnsOf(specs: readonly ColumnSpec[]): ColumnDefinition[] {
  const columns = specs.map(columnOf)
  validateColumns(columns)
  return columns
}

function columnOf(spec: ColumnSpec, index: number): ColumnDefinition {
  const { name, type } = spec
  const column: ColumnDefinition = {
    id: index,
    name,
    type,
    attributes: completeTypeAttributes(name, type, attributesOf(spec)),
    isKey: spec.is_key ?? false,
    isNullable: spec.is_nullable ?? false,
    writeDefault: null,
    readDefault: null,
    comment: spec.comment ?? '',
    encoding: spec.encoding ?? 'AUTO_ENCODING',
    compression: spec.compression ?? 'DEFAULT_COMPRESSION',
    isImmutable: spec.immutable ?? false,
  }
  if (spec.default === undefined) return column
  const physical = physicalOf(type, column.attributes)
  const cell = cellFromJson({ ...column, index, physical }, spec.default, DEFAULT_VALUE_OPTIONS)
  return { ...column, writeDefault: cell, readDefault: cell }
}

function attributesOf({ type_attributes: attributes = {} }: ColumnSpec): TypeAttributes {
  const { precision, scale, length } = attributes
  return {
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(length === undefined ? {} : { length }),
  }
}

function extraConfigsOf(configs: unknown): Readonly<Record<string, string>> {
  if (configs === undefined) return {}
  if (!isJsonObject(configs)) throw invalidArgument('member "extra_configs" must be an object')
  for (const [name, value] of Object.entries(configs)) {
    if (typeof value === 'string') continue
    throw invalidArgument(`extra config ${shownName(name)} must be a string`)
  }
  return normalizeExtraConfigs(configs as Readonly<Record<string, string>>)
}

function partitionInput(schema: Schema, spec: PartitionSchemaSpec): PartitionSchemaInput {
  const { columns = null, ranges = [], split_rows: splits = [] } = spec.range_schema ?? {}
  const rangeColumns =
    columns === null
      ? schema.keyColumns
      : schema.columns.filter((column) => columns.includes(column.name))
  const place = 'partition_schema.range_schema'
  return {
    hashSchema: (spec.hash_schema ?? []).map(hashDimensionInput),
    rangeColumns: columns,
    ranges: ranges.map((range, i) => rangeInput(rangeColumns, range, `${place}.ranges[${i}]`)),
    splits: splits.map((split, i) => boundInput(rangeColumns, split, `${place}.split_rows[${i}]`)),
  }
}

function hashDimensionInput(spec: HashDimensionSpec): HashDimensionInput {
  return { columns: spec.columns, bucketCount: spec.num_buckets, seed: spec.seed ?? 0 }
}

function rangeInput(columns: readonly Column[], spec: RangeSpec, place: string): RangeInput {
  return {
    lower: boundInput(columns, spec.lower, `${place}.lower`),
    upper: boundInput(columns, spec.upper, `${place}.upper`),
    lowerBoundType: spec.lower_bound_type ?? 'INCLUSIVE',
    upperBoundType: spec.upper_bound_type ?? 'EXCLUSIVE',
    hashSchema: spec.hash_schema?.map(hashDimensionInput) ?? null,
  }
}

function boundInput(columns: readonly Column[], bound: unknown, place: string): BoundInput {
  const cells = new Map<string, Cell>()
  if (bound === undefined) return cells
  if (!isJsonObject(bound)) throw invalidArgument(`member "${place}" must be an object`)
  for (const [name, value] of Object.entries(bound)) {
    const column = columns.find((known) => known.name === name)
    if (column === undefined) {
      throw invalidArgument(
        `member "${place}" sets column ${shownName(name)}, which is not a range column`,
        { column: name.slice(0, 64) },
      )
    }
    const cell = cellFromJson(column, value, DEFAULT_VALUE_OPTIONS)
    if (cell !== null) cells.set(name, cell)
  }
  return cells
}
