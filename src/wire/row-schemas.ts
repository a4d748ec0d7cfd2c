/** Requests and responses about rows that are written or asked for by key. */

import { z } from 'zod'
import { ROW_OPERATIONS, type RowOperationName } from '../common/row-operation.ts'
import {
  anyValue,
  cellsByName,
  list,
  members,
  shownCells,
  text,
  timestamp,
  word,
} from './json-schema.ts'
import { rowErrorSchema } from './problem-schema.ts'

const OPERATIONS = Object.keys(ROW_OPERATIONS) as [RowOperationName, ...RowOperationName[]]

/**
 * Body of `POST /tables/{table}/rows`. Documents it only: such bodies have a decoder of their own.
 */
export const writeRowsSchema = z
  .union([
    members({
      operation: word(OPERATIONS).optional(),
      rows: list(cellsByName('a row by column name')),
    }),
    members({
      operations: list(
        members({
          operation: word(OPERATIONS).optional(),
          row: cellsByName('a row by column name'),
        }),
      ),
    }),
  ])
  .meta({ id: 'WriteRows' })

/** What became of the rows of a write. */
export const writeResultSchema = z
  .object({
    timestamp: timestamp('of the newest op; null when nothing was applied').nullable(),
    rows: z.int(),
    inserted: z.int(),
    upserted: z.int(),
    updated: z.int(),
    deleted: z.int(),
    ignored: z.int(),
    failed: z.int(),
    row_errors: z.array(rowErrorSchema),
    row_errors_truncated: z.boolean().optional(),
  })
  .meta({ id: 'WriteResult' })

/** Body of `POST /tables/{table}/rows/get`. */
export const getRowsSchema = members({
  keys: list(cellsByName('the key columns of a row by name')),
  columns: list(text()).optional(),
  snapshot_timestamp: anyValue('integer microseconds, or RFC 3339').optional(),
}).meta({ id: 'GetRows' })

/** Rows in the order in which they were asked for. */
export const rowsAnswerSchema = z
  .object({
    rows: z.array(shownCells('a row, or null').nullable()),
    snapshot_timestamp: timestamp(),
  })
  .meta({ id: 'Rows' })

/** A row. */
export const rowObjectSchema = shownCells('a row by column name').meta({ id: 'Row' })

/** Answer of `PUT` and `PATCH` of a row. */
export const rowWriteAnswerSchema = z.object({ timestamp: timestamp().nullable() }).meta({
  id: 'RowWriteAnswer',
})
