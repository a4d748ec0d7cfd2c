/**
 * Decodes JSON rows a run at a time, and row by row where a run is broken by one that is written in
 * another way or has something wrong.
 */

import type { Schema } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { JSON_BYTE, type JsonCursor } from './json-cursor.ts'
import { JsonRowDecoder } from './json-row-decoder.ts'
import { JsonRowScanner } from './json-row-scanner.ts'
import { TapeDecoder } from './tape-decoder.ts'

/** Rows of the first run, which shows what rows are like. */
const FIRST_RUN_ROW_COUNT = 64
/** Rows that are read by themselves, at most, before a run is tried again. */
const ALONE_ROW_COUNT_MAX = 32

/** Decodes rows of one cursor's text into one batch. */
export class JsonRunDecoder {
  readonly scanner: JsonRowScanner
  /** Whether the run ended at a row that must be read by itself. */
  isBroken = false
  /**
   * Rows that are read by themselves after a run that gave none, and how many of them are left:
   * where one row is wrong all may be, and trying each twice would be in vain.
   */
  #aloneRowCount = 0
  #aloneRowsLeft = 0
  /** Rows that the next run may have, if the tape has room for them. */
  #runRowCount = FIRST_RUN_ROW_COUNT

  readonly #cursor: JsonCursor
  readonly #rows: DecodedRows
  readonly #schema: Schema
  readonly #options: ValueOptions
  /** Made when the first odd row comes. */
  #rowDecoder: JsonRowDecoder | null = null
  readonly #tapeDecoder: TapeDecoder
  #members: readonly number[]

  constructor(
    schema: Schema,
    cursor: JsonCursor,
    rows: DecodedRows,
    options: ValueOptions,
    isLine: boolean,
  ) {
    this.#cursor = cursor
    this.#rows = rows
    this.scanner = new JsonRowScanner(schema, cursor, isLine)
    this.#schema = schema
    this.#options = options
    this.#tapeDecoder = new TapeDecoder(schema, options, rows)
    this.#members = schema.columns.map((column) => column.index)
  }

  /**
   * Rows that the next run may have: what was scanned behind a wrong row is scanned again, so runs
   * are as short as the last one was good, and double from then on.
   */
  get rowCountMax(): number {
    return Math.min(this.#runRowCount, this.scanner.tape.rowCountMax)
  }

  /** Whether a run should be tried; if not, `isBroken` says that the next row is read by itself. */
  beginRun(): boolean {
    if (this.#aloneRowsLeft === 0) return true
    this.#aloneRowsLeft--
    this.isBroken = true
    return false
  }

  /**
   * Decodes the rows on the scanner's tape up to the first that has something wrong, and empties
   * the tape. `end` is where scanning ended, `isOdd` whether it ended at an odd row.
   *
   * Returns: where the first row that was not decoded starts, or `end`. `isBroken` tells whether
   * that row must be read by itself.
   */
  decodeRun(end: number, isOdd: boolean): number {
    const { tape } = this.scanner
    const { bytes, view } = this.#cursor
    const scanned = tape.rowCount
    const decoded = scanned === 0 ? 0 : this.#tapeDecoder.decode(tape, bytes, view)
    tape.clear()
    this.isBroken = isOdd || decoded < scanned
    const isVain = decoded === 0 && this.isBroken
    this.#aloneRowCount = isVain ? Math.min(this.#aloneRowCount * 2 + 1, ALONE_ROW_COUNT_MAX) : 0
    this.#aloneRowsLeft = this.#aloneRowCount
    if (decoded < scanned) {
      this.#runRowCount = Math.max(1, decoded)
      return tape.rowStarts[decoded]
    }
    this.#runRowCount = this.rowCountMax * 2
    return end
  }

  /**
   * Reads the value at the cursor as the next row, and leaves the cursor behind it. `depth` is the
   * nesting of what it stands in.
   *
   * Returns: whether it is right, and then it is pending in the batch. Throws: JsonSyntaxError, and
   * then the pending row is to be dropped.
   */
  readRow(depth: number): boolean {
    const decoder = this.#exactDecoder()
    if (this.#cursor.peek() !== JSON_BYTE.openObject) {
      decoder.decodeNonObject(depth)
      return false
    }
    if (!decoder.decodeRow(depth + 1, true)) return false
    this.#learnMembers(decoder.members)
    return true
  }

  /** Ends the row that was read last under the next row number. */
  endRow(isRight: boolean, operation: number): void {
    if (isRight) this.#rows.endRow(operation)
    else this.#rows.failRow(this.#exactDecoder().problem)
  }

  /** Drops the row that is pending, if one is. */
  dropRow(): void {
    this.#rows.builder.dropRow()
  }

  #exactDecoder(): JsonRowDecoder {
    this.#rowDecoder ??= new JsonRowDecoder(
      this.#schema,
      this.#cursor,
      this.#rows.builder,
      this.#options,
    )
    return this.#rowDecoder
  }

  /** Expects the next rows to have the members of the one that was just read. */
  #learnMembers(members: readonly number[]): void {
    const known = this.#members
    if (members.length === known.length && members.every((index, i) => index === known[i])) return
    this.#members = members.slice()
    this.scanner.tape.setLayout(this.#members)
    this.#aloneRowsLeft = 0
  }
}
