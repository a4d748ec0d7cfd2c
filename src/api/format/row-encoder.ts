/**
 * Rows as text: JSON objects, NDJSON lines, CSV records. Hot: cells go from lanes to the arena
 * without an object, closure, bigint or string a row.
 */

import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import { appendJsonCell, appendTextCell } from '../../common/cell-writer.ts'
import { appendJsonString } from '../../common/json-string.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { ByteArena as Arena } from '../../util/arena.ts'
import { equalBytes, utf8Encode } from '../../util/bytes.ts'
import { encodeNullText } from './null-text.ts'

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
  /** Appends row `row` of a block. Requires: the block's columns are the encoder's, in its order. */
  appendRow(block: RowBlock, row: number, out: ByteArena): void
  /** Appends rows `[start, end)` of a block. Requires: as `appendRow`. */
  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void
}

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a
const CLOSE_OBJECT = 0x7d

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
  if (format === 'csv') return new CsvRowEncoder(columns, options)
  return new JsonRowEncoder(columns, options, format === 'ndjson')
}

class JsonRowEncoder implements RowEncoder {
  readonly #plans: readonly CellPlan[]
  /** What precedes each cell: `{"first":`, `,"second":`. */
  readonly #prefixes: readonly Uint8Array[]
  readonly #isLine: boolean

  constructor(columns: readonly Column[], options: ValueOptions, isLine: boolean) {
    this.#plans = columns.map((column) => planCell(column, options))
    this.#prefixes = columns.map((column, index) => memberPrefix(column.name, index === 0))
    this.#isLine = isLine
  }

  appendHeader(): void {}

  appendRow(block: RowBlock, row: number, out: ByteArena): void {
    const plans = this.#plans
    const prefixes = this.#prefixes
    const { columns } = block
    if (plans.length === 0) appendByte(out, 0x7b)
    for (let i = 0; i < plans.length; i++) {
      const prefix = prefixes[i]
      out.append(prefix, 0, prefix.length)
      appendJsonCell(out, plans[i], columns[i], row)
    }
    appendByte(out, CLOSE_OBJECT)
    if (this.#isLine) appendByte(out, NEWLINE)
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    for (let row = start; row < end; row++) {
      if (row > start && !this.#isLine) appendByte(out, COMMA)
      this.appendRow(block, row, out)
    }
  }
}

function memberPrefix(name: string, isFirst: boolean): Uint8Array {
  const arena = new Arena(name.length + 8)
  appendByte(arena, isFirst ? 0x7b : COMMA)
  const bytes = utf8Encode(name)
  appendJsonString(arena, bytes, 0, bytes.length)
  appendByte(arena, 0x3a)
  return arena.bytes.slice(0, arena.length)
}

class CsvRowEncoder implements RowEncoder {
  readonly #plans: readonly CellPlan[]
  readonly #header: Uint8Array
  readonly #nullText: Uint8Array

  constructor(columns: readonly Column[], options: RowEncodeOptions) {
    this.#plans = columns.map((column) => planCell(column, options))
    this.#nullText = encodeNullText(options.nullText)
    this.#header = headerOf(columns, this.#nullText)
  }

  appendHeader(out: ByteArena): void {
    out.append(this.#header, 0, this.#header.length)
  }

  appendRow(block: RowBlock, row: number, out: ByteArena): void {
    const plans = this.#plans
    const nullText = this.#nullText
    const { columns } = block
    for (let i = 0; i < plans.length; i++) {
      if (i > 0) appendByte(out, COMMA)
      const plan = plans[i]
      const vector = columns[i]
      if (vector.isNull(row)) {
        out.append(nullText, 0, nullText.length)
      } else if (plan.kind === CELL_KINDS.string) {
        appendField(out, vector.bytes, vector.offsets[row], vector.offsets[row + 1], nullText)
      } else {
        const start = out.length
        appendTextCell(out, plan, vector, row)
        if (equalBytes(out.bytes, start, out.length, nullText, 0, nullText.length)) {
          out.truncate(start)
          appendQuoted(out, nullText, 0, nullText.length)
        }
      }
    }
    appendByte(out, NEWLINE)
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    for (let row = start; row < end; row++) this.appendRow(block, row, out)
  }
}

function headerOf(columns: readonly Column[], nullText: Uint8Array): Uint8Array {
  const arena = new Arena(256)
  for (let i = 0; i < columns.length; i++) {
    if (i > 0) appendByte(arena, COMMA)
    const name = utf8Encode(columns[i].name)
    // A name that begins like a byte order mark would be taken for one.
    if (i === 0 && name[0] === 0xef) appendQuoted(arena, name, 0, name.length)
    else appendField(arena, name, 0, name.length, nullText)
  }
  appendByte(arena, NEWLINE)
  return arena.bytes.slice(0, arena.length)
}

/** Appends a field, in quotes where it would be read as something else without. */
function appendField(
  out: ByteArena,
  source: Uint8Array,
  start: number,
  end: number,
  nullText: Uint8Array,
): void {
  let needsQuotes = start === end || equalBytes(source, start, end, nullText, 0, nullText.length)
  for (let i = start; i < end && !needsQuotes; i++) {
    const byte = source[i]
    needsQuotes = byte === COMMA || byte === QUOTE || byte === NEWLINE || byte === 0x0d
  }
  if (needsQuotes) appendQuoted(out, source, start, end)
  else out.append(source, start, end)
}

/** Appends a field in quotes, the quotes in it doubled. */
function appendQuoted(out: ByteArena, source: Uint8Array, start: number, end: number): void {
  appendByte(out, QUOTE)
  let runStart = start
  for (let i = start; i < end; i++) {
    if (source[i] !== QUOTE) continue
    out.append(source, runStart, i + 1)
    runStart = i
  }
  out.append(source, runStart, end)
  appendByte(out, QUOTE)
}

function appendByte(out: ByteArena, byte: number): void {
  out.reserve(1)
  out.bytes[out.length++] = byte
}
