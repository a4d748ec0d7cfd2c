/** Requests and responses of scans. */

import { z } from 'zod'
import { PAGE_ROW_COUNT_DEFAULT, PAGE_ROW_COUNT_MAX } from '../common/limits.ts'
import { READ_MODES } from '../common/read-mode.ts'
import { PAGE_SKIPS, ROW_SET_SKIPS } from '../common/scan-stats.ts'
import {
  anyValue,
  cellsByName,
  flag,
  integer,
  list,
  members,
  shownCells,
  text,
  timestamp,
  word,
} from './json-schema.ts'
import { SCAN_ORDERS } from './tablet-protocol.ts'

/** Rows that a scan may be limited to. */
export const LIMIT_MAX = Number.MAX_SAFE_INTEGER

/** Predicates in a request; read and checked by the table's schema. */
export function predicateList() {
  return anyValue('a list of predicates, all of which must hold').meta({
    type: 'array',
    items: {
      type: 'object',
      properties: { column: { type: 'string' }, op: { type: 'string' }, value: {}, values: {} },
      required: ['column', 'op'],
    },
  })
}

/** Members that say which rows are wanted, and how. */
const WANTED = {
  columns: list(text()).optional().meta({ description: 'omitted: all, in schema order' }),
  predicates: predicateList().optional(),
  primary_key_lower: cellsByName('inclusive; every key column').optional(),
  primary_key_upper: cellsByName('exclusive; every key column').optional(),
  limit: integer(0, LIMIT_MAX).optional(),
  order: word(SCAN_ORDERS).optional(),
  read_mode: word(READ_MODES).optional(),
  snapshot_timestamp: anyValue('integer microseconds, or RFC 3339').optional(),
  diff_from: anyValue(
    'integer microseconds, or RFC 3339: only rows that changed above it and at or below the ' +
      'snapshot, each with is_deleted; of a deleted row only its key is given',
  ).optional(),
  is_deleted_as: text()
    .optional()
    .meta({ description: 'another name for is_deleted, as when the table has such a column' }),
}

/** Body of `POST /tables/{table}/scan`. */
export const scanSchema = members({
  ...WANTED,
  page_size: integer(1, PAGE_ROW_COUNT_MAX)
    .optional()
    .meta({ description: `JSON only; ${PAGE_ROW_COUNT_DEFAULT} unless given` }),
  page_token: text().optional().meta({ description: 'JSON only' }),
  scan_token: text()
    .optional()
    .meta({ description: 'a part of a scan; goes with page_size and page_token only' }),
  explain: flag().optional().meta({ description: 'no rows, but how they would be found' }),
  analyze: flag()
    .optional()
    .meta({ description: 'as explain, and what the tablets read and left out when it is run' }),
}).meta({ id: 'Scan' })
/** Body of `POST /tables/{table}/scan`. */
export type ScanBody = z.output<typeof scanSchema>

/** A page of rows. */
export const scanPageSchema = z
  .object({
    rows: z.array(shownCells('a row by column name')),
    snapshot_timestamp: timestamp(),
    next_page_token: z.string().optional().meta({ description: 'only its absence ends the walk' }),
  })
  .meta({ id: 'ScanPage' })

/**
 * What a tablet did, with analyze; missing of one that holds no rows or that the limit left out.
 */
function analysisMembers() {
  return {
    rowsets: z
      .object({
        total: z.int(),
        read: z.int(),
        skipped: z.record(z.enum(ROW_SET_SKIPS), z.int()),
      })
      .optional()
      .meta({ description: 'with analyze, as all that follows' }),
    columns: z
      .array(
        z.object({
          column: z.string(),
          pages: z.int().meta({ description: 'in all rowsets on disk' }),
          pages_read: z.int(),
          pages_from_cache: z.int().meta({ description: 'of those read' }),
          pages_skipped: z.record(z.enum(PAGE_SKIPS), z.int()),
          bytes_decoded: z.int(),
        }),
      )
      .optional(),
    key_pages_read: z.int().optional(),
    rows_scanned: z.int().optional(),
    rows_returned: z.int().optional(),
    bytes_decoded: z.int().optional(),
    billed_rows_read: z.int().optional(),
  }
}

/** How a scan would find its rows. */
export const explanationSchema = z
  .object({
    tablets: z.array(
      z.object({
        tablet_id: z.string(),
        hash_buckets: z.array(z.int()),
        range_lower: shownCells('inclusive; null: unbounded').nullable(),
        range_upper: shownCells('exclusive; null: unbounded').nullable(),
        ...analysisMembers(),
      }),
    ),
    tablets_total: z.int(),
    tablets_pruned: z.int(),
    primary_key_lower: z.string().nullable(),
    primary_key_upper: z.string().nullable(),
    predicates: z.array(z.unknown()),
    snapshot_timestamp: timestamp().optional().meta({ description: 'with analyze' }),
  })
  .meta({ id: 'Explanation' })

/** Body of `POST /tables/{table}/scan_tokens`. */
export const scanTokensSchema = members({
  ...WANTED,
  limit: integer(0, LIMIT_MAX)
    .optional()
    .meta({ description: 'rows that each token gives at most' }),
  target_bytes: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'stored bytes of the columns a token, about; else one token a tablet' }),
}).meta({ id: 'ScanTokensRequest' })
/** Body of `POST /tables/{table}/scan_tokens`. */
export type ScanTokensBody = z.output<typeof scanTokensSchema>

/** The parts of a scan. */
export const scanTokensAnswerSchema = z
  .object({
    tokens: z.array(
      z.object({
        scan_token: z.string(),
        tablet_id: z.string(),
        estimated_bytes: z.int().meta({ description: 'stored bytes of the columns, about' }),
      }),
    ),
    snapshot_timestamp: timestamp(),
  })
  .meta({ id: 'ScanTokens' })

/** Body of `POST /tables/{table}/rows/delete`. */
export const deleteRowsSchema = members({
  predicates: predicateList().optional(),
  primary_key_lower: cellsByName('inclusive; every key column').optional(),
  primary_key_upper: cellsByName('exclusive; every key column').optional(),
  all: flag()
    .optional()
    .meta({ description: 'must be true where there are neither predicates nor bounds' }),
}).meta({ id: 'DeleteRows' })

/** What was deleted. */
export const deleteRowsAnswerSchema = z
  .object({
    deleted: z.int(),
    timestamp: timestamp('whoever reads at it sees none of the rows'),
  })
  .meta({ id: 'DeleteRowsAnswer' })
