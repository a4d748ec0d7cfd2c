/**
 * Decodes CSV (RFC 4180) as it comes: a header line with column names, then a row a record.
 *
 * The bytes are cut behind the last record that is whole, which is where a line ends and the quotes
 * so far are even in number, and csv-parse reads what lies before the cut. It tells a quoted empty
 * field (the empty string) from an unquoted one (null), and where it gave up.
 */

import { type CastingContext, CsvError, type Info, parse } from 'csv-parse/sync'
import { cellFromText } from '../../common/cell-json.ts'
import { LINE_BYTES_MAX } from '../../common/limits.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { ByteArena } from '../../util/arena.ts'
import { utf8DecodeStrict } from '../../util/bytes.ts'
import type { DecodedRows } from './decoded-rows.ts'
import type { RowProblem } from './json-row-decoder.ts'

const NEWLINE = 0x0a
const QUOTE = 0x22
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** How CSV is read beside what holds for all text. */
export interface CsvOptions extends ValueOptions {
  /** The unquoted text that is null; empty unless the client says. */
  readonly nullText: string
}

type Field = string | null

/**
 * Turns chunks of CSV into decoded rows, in memory bounded by a chunk and a record.
 *
 * What is not CSV, not UTF-8 or too long ends the stream: `failure` is set, the rows before it are
 * in `rows`, and what is pushed later is ignored. A value that its column cannot hold is a row's
 * problem.
 */
export class CsvDecoder {
  readonly rows: DecodedRows
  /** Why the stream ended early; names the line. */
  failure: StatusError | null = null

  readonly #schema: Schema
  readonly #options: CsvOptions
  readonly #operation: number
  readonly #pending = new ByteArena(4096)
  /** Where the scan for record ends stopped, and whether it stopped between quotes. */
  #scanned = 0
  #isQuoted = false
  /** Columns by field; null until the header was read. */
  #columns: readonly Column[] | null = null
  #isAtStart = true
  /** Lines before what is pending. */
  #lineCount = 0

  constructor(schema: Schema, options: CsvOptions, operation: number, rows: DecodedRows) {
    this.rows = rows
    this.#schema = schema
    this.#options = options
    this.#operation = operation
  }

  /** Decodes all records that end in this chunk. The chunk may be reused afterwards. */
  push(chunk: Uint8Array): void {
    if (this.failure !== null) return
    this.#pending.append(chunk, 0, chunk.length)
    const end = this.#findRecordsEnd()
    if (end > 0) this.#decodeRecords(end)
    if (this.failure === null && this.#pending.length > LINE_BYTES_MAX) {
      this.#fail(this.#lineCount + 1, `record is longer than the limit of ${LINE_BYTES_MAX} bytes`)
    }
  }

  /** Decodes the last record, if no line ends behind it. */
  finish(): void {
    if (this.failure === null && this.#pending.length > 0) {
      this.#decodeRecords(this.#pending.length)
    }
  }

  /** End of the last whole record in what is pending; 0 when there is none. */
  #findRecordsEnd(): number {
    const { bytes, length } = this.#pending
    let isQuoted = this.#isQuoted
    let end = 0
    for (let i = this.#scanned; i < length; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === NEWLINE && !isQuoted) end = i + 1
    }
    this.#scanned = length
    this.#isQuoted = isQuoted
    return end
  }

  #decodeRecords(end: number): void {
    const pending = this.#pending
    const records = pending.bytes.slice(this.#bomBytes(), end)
    if (utf8DecodeStrict(records) === undefined) this.#decodeUpToBadByte(records)
    else this.#parse(records)
    this.#lineCount += countNewlines(records)
    pending.bytes.copyWithin(0, end, pending.length)
    pending.truncate(pending.length - end)
    this.#scanned -= end
  }

  #bomBytes(): number {
    const { bytes, length } = this.#pending
    const hasBom =
      this.#isAtStart && length >= 3 && BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte)
    this.#isAtStart = false
    return hasBom ? BYTE_ORDER_MARK.length : 0
  }

  /** Decodes the lines before the first that is not UTF-8, then fails at that one. */
  #decodeUpToBadByte(records: Uint8Array): void {
    let line = 0
    let start = 0
    for (;;) {
      const newline = records.indexOf(NEWLINE, start)
      const end = newline === -1 ? records.length : newline + 1
      if (utf8DecodeStrict(records.subarray(start, end)) === undefined) break
      line++
      start = end
    }
    this.#parse(records.subarray(0, start))
    this.#fail(this.#lineCount + line + 1, 'not UTF-8')
  }

  #parse(records: Uint8Array): void {
    try {
      parse(Buffer.from(records.buffer, records.byteOffset, records.length), {
        cast: (value: string, context: CastingContext) => this.#readField(value, context.quoting),
        on_record: (record: Field[], context: Info) => this.#decodeRecord(record, context),
        record_delimiter: ['\n', '\r\n'],
        relax_column_count: true,
        skip_empty_lines: true,
      })
    } catch (error) {
      this.rows.builder.dropRow()
      if (error instanceof StatusError) this.failure ??= error
      else if (error instanceof CsvError) this.#failAt(error)
      else throw error
    }
  }

  #failAt(error: CsvError): void {
    const line = this.#lineCount + Number(error.lines ?? 1)
    const what = REASONS[error.code] ?? 'not CSV'
    this.#fail(line, what)
  }

  #readField(value: string, isQuoted: boolean): Field {
    return !isQuoted && value === this.#options.nullText ? null : value
  }

  /** Takes one record in. Returns: null, so that csv-parse keeps nothing. */
  #decodeRecord(record: Field[], context: Info): null {
    if (this.#columns === null) {
      this.#columns = this.#readHeader(record, this.#lineCount + context.lines)
      return null
    }
    const problem = this.#decodeFields(this.#columns, record)
    if (problem === null) {
      this.rows.endRow(this.#operation)
    } else {
      this.rows.builder.dropRow()
      this.rows.failRow(problem)
    }
    return null
  }

  #readHeader(record: readonly Field[], line: number): readonly Column[] {
    const columns: Column[] = []
    for (const field of record) {
      const name = field ?? ''
      const column = this.#schema.byName(name)
      if (column === undefined) {
        throw invalidArgument(`line ${line}: unknown column "${name.slice(0, 64)}" in the header`, {
          line,
        })
      }
      if (columns.includes(column)) {
        throw invalidArgument(`line ${line}: column "${name}" is twice in the header`, { line })
      }
      columns.push(column)
    }
    return columns
  }

  #decodeFields(columns: readonly Column[], record: readonly Field[]): RowProblem | null {
    if (record.length !== columns.length) {
      return { message: `record has ${record.length} fields, the header ${columns.length}` }
    }
    const { builder } = this.rows
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]
      const field = record[i]
      try {
        const cell = field === null ? null : cellFromText(column, field, this.#options)
        builder.setCell(column.index, cell)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        return { message: error.message, column: column.name }
      }
    }
    return this.#checkKey()
  }

  #checkKey(): RowProblem | null {
    const { builder } = this.rows
    for (const { index, name } of this.#schema.keyColumns) {
      const isThere = builder.hasPending(index)
      if (isThere && !builder.isPendingNull(index)) continue
      const code = isThere ? ROW_ERRORS.KEY_COLUMN_NULL : ROW_ERRORS.KEY_COLUMN_UNSET
      return { message: describeRowError(code, name).message, column: name }
    }
    return null
  }

  #fail(line: number, what: string): void {
    this.failure ??= invalidArgument(`line ${line}: ${what}`, { line })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows the closing quote of a field',
  INVALID_OPENING_QUOTE: 'a quote stands inside an unquoted field',
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === NEWLINE) count++
  return count
}
