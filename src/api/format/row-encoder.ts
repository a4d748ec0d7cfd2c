/**
 * Rows as they leave: text (JSON objects, NDJSON lines, CSV records) or columns (Arrow, Parquet).
 * Hot: cells go from lanes to the arena without an object, closure, bigint or string a row.
 */

import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { ArrowRowEncoder } from './arrow-row-encoder.ts'
import { CsvRowEncoder } from './csv-row-encoder.ts'
import { JsonRowEncoder } from './json-row-encoder.ts'
import { ParquetRowEncoder } from './parquet-row-encoder.ts'

/** The text formats that rows are written in. */
export type RowFormat = 'json' | 'ndjson' | 'csv'

/** How cells are written. */
export interface RowEncodeOptions extends ValueOptions {
  /** CSV: the unquoted text that is null; empty unless the client says. */
  readonly nullText: string
}

/** The formats that a whole result is streamed in. */
export type StreamFormat = 'ndjson' | 'csv' | 'arrow' | 'parquet'

/** How a whole result is written. */
export interface StreamEncodeOptions extends RowEncodeOptions {
  /** Arrow: whether text and bytes may be written as numbers of values in dictionaries. */
  readonly hasDictionaries: boolean
}

/**
 * Writes the whole of a result to an arena, which is emptied as it goes: header, rows, footer.
 * What was taken need not be appended at once: rows may be kept until there are enough of them.
 */
export interface StreamEncoder {
  /** Whether rows that were taken are kept where they lie, and are not appended yet. */
  readonly holdsRows: boolean
  /** Rows to append at a time, so that chunks are not too large. */
  readonly stepRowCount: number
  /** Appends what comes before the first row. */
  appendHeader(out: ByteArena): void
  /**
   * Takes rows `[start, end)` of a block. Requires: the block's columns are the encoder's, in its
   * order, and it never changes.
   */
  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void
  /**
   * Does a part of what taking rows left to do, where that is much. Returns: how much it was, as so
   * many bytes of text that are made; 0: there was nothing. What is left when more is appended is
   * done then.
   */
  catchUp?(out: ByteArena): number
  /** Appends what comes behind the last row. */
  appendFooter(out: ByteArena): void
}

/**
 * Appends rows to an arena as text.
 *
 *   json     the object alone, without a line feed; `appendRows` puts commas between objects
 *   ndjson   the object and a line feed
 *   csv      the record and a line feed; the header is a record of column names
 *
 * There is no footer, and nothing is kept.
 */
export interface RowEncoder extends StreamEncoder {
  /** Appends a row of a block. Requires: as `appendRows`. */
  appendRow(block: RowBlock, row: number, out: ByteArena): void
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

/**
 * An encoder of a whole result with these columns.
 *
 * Throws: INVALID_ARGUMENT for what the format cannot hold.
 */
export function createStreamEncoder(
  format: StreamFormat,
  columns: readonly Column[],
  options: StreamEncodeOptions,
): StreamEncoder {
  switch (format) {
    case 'arrow':
      return new ArrowRowEncoder(columns, options.hasDictionaries)
    case 'parquet':
      return new ParquetRowEncoder(columns)
    default:
      return createRowEncoder(format, columns, options)
  }
}
