/**
 * Rows as text: JSON objects, NDJSON lines, CSV records. Hot: cells go from lanes to the arena
 * without an object, closure, bigint or string a row.
 */

import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { CsvRowEncoder } from './csv-row-encoder.ts'
import { JsonRowEncoder } from './json-row-encoder.ts'

/** The text formats that rows are written in. */
export type RowFormat = 'json' | 'ndjson' | 'csv'

/** How cells are written. */
export interface RowEncodeOptions extends ValueOptions {
  /** CSV: the unquoted text that is null; empty unless the client says. */
  readonly nullText: string
}

/**
 * Appends rows to an arena in one format.
 *
 *   json     the object alone, without a line feed; `appendRows` puts commas between objects
 *   ndjson   the object and a line feed
 *   csv      the record and a line feed; the header is a record of column names
 */
export interface RowEncoder {
  /** Appends what comes before the first row: nothing but in CSV. */
  appendHeader(out: ByteArena): void
  /** Appends a row of a block. Requires: the block's columns are the encoder's, in its order. */
  appendRow(block: RowBlock, row: number, out: ByteArena): void
  /** Appends rows `[start, end)` of a block. Requires: as `appendRow`. */
  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void
}

/**
 * An encoder of rows with these columns.
 *
 * Throws: INVALID_ARGUMENT for a null text that CSV cannot hold unquoted.
 */
export function createRowEncoder(
  format: RowFormat,
  columns: readonly Column[],
  options: RowEncodeOptions,
): RowEncoder {
  if (format === 'csv') return new CsvRowEncoder(columns, options, options.nullText)
  return new JsonRowEncoder(columns, options, format === 'ndjson')
}
