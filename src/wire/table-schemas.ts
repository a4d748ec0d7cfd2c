/** Requests and responses about tables. */

import { z } from 'zod'
import { DATA_TYPES } from '../common/data-type.ts'
import { DECIMAL_PRECISION_MAX, TABLET_COUNT_MAX, VARCHAR_LENGTH_MAX } from '../common/limits.ts'
import { BOUND_TYPES } from '../common/partition-input.ts'
import { COMPRESSIONS, ENCODINGS } from '../common/schema.ts'
import {
  anyValue,
  cellsByName,
  flag,
  integer,
  list,
  members,
  shownCells,
  text,
  word,
} from './json-schema.ts'

const BUCKET_COUNT_MIN = 2
const UINT32_MAX = 2 ** 32 - 1
const REPLICA_COUNT_MAX = 7

const typeAttributesSchema = members({
  precision: integer(1, DECIMAL_PRECISION_MAX).optional(),
  scale: integer(0, DECIMAL_PRECISION_MAX).optional(),
  length: integer(1, VARCHAR_LENGTH_MAX).optional(),
})

const columnShape = {
  name: text(),
  type: word(DATA_TYPES),
  type_attributes: typeAttributesSchema.optional(),
  is_key: flag().optional(),
  is_nullable: flag().optional(),
  default: anyValue('used by inserts that leave the column unset').optional(),
  comment: text().optional(),
  encoding: word(ENCODINGS).optional(),
  compression: word(COMPRESSIONS).optional(),
  immutable: flag().optional(),
}

/** A column as a client says it. */
export const columnSpecSchema = members(columnShape).meta({ id: 'ColumnSpec' })
/** A column as a client says it. */
export type ColumnSpec = z.output<typeof columnSpecSchema>

const columnRefSchema = z
  .union([text(), members({ name: text() })], 'must be a column name, or an object with one')
  .transform((column) => (typeof column === 'string' ? column : column.name))
  .meta({ description: 'a column by name' })

const hashDimensionSchema = members({
  columns: list(columnRefSchema),
  num_buckets: integer(BUCKET_COUNT_MIN, TABLET_COUNT_MAX),
  seed: integer(0, UINT32_MAX).optional(),
}).meta({ id: 'HashDimension' })
/** A hash dimension as a client says it. */
export type HashDimensionSpec = z.output<typeof hashDimensionSchema>

/** A range as a client says it. */
export const rangeSchema = members({
  lower: cellsByName('missing or {}: unbounded').optional(),
  upper: cellsByName('missing or {}: unbounded').optional(),
  lower_bound_type: word(BOUND_TYPES).optional(),
  upper_bound_type: word(BOUND_TYPES).optional(),
  hash_schema: list(hashDimensionSchema).optional(),
}).meta({ id: 'Range' })
/** A range as a client says it. */
export type RangeSpec = z.output<typeof rangeSchema>

const partitionSchemaSchema = members({
  hash_schema: list(hashDimensionSchema).optional(),
  range_schema: members({
    columns: list(columnRefSchema).optional(),
    ranges: list(rangeSchema).optional(),
    split_rows: list(cellsByName('where ranges are cut')).optional(),
  }).optional(),
}).meta({ id: 'PartitionSchema' })
/** Partitions as a client says them. */
export type PartitionSchemaSpec = z.output<typeof partitionSchemaSchema>

const EXTRA_CONFIGS_TEXT =
  'texts by name: kudu.table.history_max_age_sec, kudu.table.maintenance_priority, ' +
  'kudu.table.disable_compaction; nyala.table.row_count_limit and nyala.table.disk_size_limit ' +
  'are not kept yet, so that any value but "-1" is refused as NOT_SUPPORTED'

/** Body of `POST /tables`. */
export const createTableSchema = members({
  name: text(),
  schema: members({ columns: list(columnSpecSchema) }),
  partition_schema: partitionSchemaSchema.optional(),
  owner: text().optional(),
  comment: text().optional(),
  extra_configs: cellsByName(EXTRA_CONFIGS_TEXT).optional(),
  num_replicas: integer(1, REPLICA_COUNT_MAX)
    .refine((count) => count % 2 === 1, 'must be odd')
    .optional()
    .meta({ description: "accepted for Kudu's clients, without effect" }),
}).meta({ id: 'CreateTable' })
/** Body of `POST /tables`. */
export type CreateTableRequest = z.output<typeof createTableSchema>

const hashSchemaObject = z.array(
  z.object({
    columns: z.array(z.object({ name: z.string() })),
    num_buckets: z.int(),
    seed: z.int(),
  }),
)

/** A table as it is shown. */
export const tableObjectSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.enum(['RUNNING', 'ALTERING', 'SOFT_DELETED']),
    schema: z.object({
      columns: z.array(
        z.object({
          id: z.int(),
          name: z.string(),
          type: z.enum(DATA_TYPES),
          type_attributes: z
            .object({
              precision: z.int().optional(),
              scale: z.int().optional(),
              length: z.int().optional(),
            })
            .optional(),
          is_key: z.boolean(),
          is_nullable: z.boolean(),
          default: z.unknown().optional(),
          comment: z.string(),
          encoding: z.enum(ENCODINGS),
          compression: z.enum(COMPRESSIONS),
          immutable: z.boolean(),
        }),
      ),
    }),
    version: z.int(),
    partition_schema: z.object({
      hash_schema: hashSchemaObject,
      range_schema: z.object({
        columns: z.array(z.object({ name: z.string() })),
        ranges: z.array(
          z.object({
            lower: shownCells('inclusive; missing: unbounded').optional(),
            upper: shownCells('exclusive; missing: unbounded').optional(),
            hash_schema: hashSchemaObject.optional(),
          }),
        ),
      }),
    }),
    owner: z.string(),
    comment: z.string(),
    extra_configs: z.record(z.string(), z.string()),
    num_tablets: z.int(),
    created_at: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Table' })

/** A page of the list of tables. */
export const tableListSchema = z
  .object({
    tables: z.array(z.object({ table_id: z.string(), table_name: z.string() })),
    next_page_token: z.string().optional(),
  })
  .meta({ id: 'TableList' })

/** The part of a table that a tablet holds. */
export const shownPartitionSchema = z.object({
  hash_buckets: z.array(z.int()),
  range_lower: shownCells('inclusive; null: unbounded').nullable(),
  range_upper: shownCells('exclusive; null: unbounded').nullable(),
  partition_key_start: z.string(),
  partition_key_end: z.string(),
  range_key_start: z.string(),
  range_key_end: z.string(),
})

/** A table's tablets, in partition-key order. */
export const tabletListSchema = z
  .object({
    tablets: z.array(
      z.object({
        tablet_id: z.string(),
        partition: shownPartitionSchema,
        state: z.enum(['RUNNING', 'NOT_CREATED']),
      }),
    ),
  })
  .meta({ id: 'TabletList' })

/** Body of `POST /tables/{table}/locate_row`. */
export const locateRowSchema = members({ row: cellsByName('all key columns') }).meta({
  id: 'LocateRow',
})

/** Where a row lies. */
export const rowLocationSchema = z
  .object({
    tablet_id: z.string(),
    encoded_key: z.string(),
    partition_key: z.string(),
    hash_buckets: z.array(z.int()),
  })
  .meta({ id: 'RowLocation' })
