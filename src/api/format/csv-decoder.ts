/**
 * Decodes CSV (RFC 4180) as it comes: a header line with column names, then a row a record; blank
 * lines skipped.
 *
 * Records are decoded in place inside the chunk, a run at a time; only the piece of a record that
 * crosses two chunks is copied.
 */

import { LINE_BYTES_MAX } from '../../common/limits.ts'
import type { Schema } from '../../common/schema.ts'
import type { StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { CsvRecordEnd } from './csv-record-end.ts'
import { CsvRunDecoder } from './csv-run-decoder.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { encodeNullText } from './null-text.ts'

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf)

/** How CSV is read beside what holds for all text. */
export interface CsvOptions extends ValueOptions {
  /** The unquoted text that is null; empty unless the client says. */
  readonly nullText: string
}

/**
 * Turns chunks of CSV into decoded rows, in memory bounded by a chunk and a record.
 *
 * What is not CSV, not UTF-8 or too long ends the stream: `failure` is set, the rows before it are
 * in `rows`, and what is pushed later is ignored. A value that its column cannot hold, and a record
 * with more or fewer fields than the header, is a row's problem.
 */
export class CsvDecoder {
  readonly rows: DecodedRows
  readonly #runs: CsvRunDecoder
  readonly #recordEnd = new CsvRecordEnd()
  /** The record that the chunks so far end in. */
  readonly #carry = new ByteArena(4096)
  /** Bytes of a byte order mark that the stream began with; 3 when there will be no more. */
  #markBytes = 0

  /** Throws: INVALID_ARGUMENT for a null text that an unquoted field cannot hold. */
  constructor(schema: Schema, options: CsvOptions, operation: number, rows: DecodedRows) {
    this.rows = rows
    const nullText = encodeNullText(options.nullText)
    this.#runs = new CsvRunDecoder(schema, options, nullText, operation, rows)
  }

  /** Why the stream ended early; names the line on which the record begins. */
  get failure(): StatusError | null {
    return this.#runs.failure
  }

  /**
   * Decodes the records that end in `chunk[start, …)` until the batch is full.
   *
   * Returns: where it stopped; the end of the chunk when all of it was taken in, which then may be
   * reused.
   */
  pushUntilFull(chunk: Uint8Array, start: number): number {
    let position = this.#passMark(chunk, start)
    if (this.#carry.length > 0 && this.failure === null) {
      const found = this.#recordEnd.find(chunk, position, chunk.length)
      const end = found === -1 ? chunk.length : found
      this.#appendCarry(chunk, position, end)
      if (found !== -1 && this.failure === null) this.#decodeCarry(false)
      position = end
    }
    position = this.#decodeRecords(chunk, position)
    if (this.failure !== null) return chunk.length
    if (!this.#runs.isIncomplete) return position
    this.#beginCarry(chunk, position)
    return chunk.length
  }

  /** Decodes the last record, if no line ends behind it. */
  finish(): void {
    if (this.#markBytes < 3) this.#keepMark()
    if (this.failure === null && this.#carry.length > 0) this.#decodeCarry(true)
  }

  /** Moves over a byte order mark that the stream begins with, in however many chunks it comes. */
  #passMark(chunk: Uint8Array, start: number): number {
    let position = start
    while (this.#markBytes < 3 && position < chunk.length) {
      if (chunk[position] !== BYTE_ORDER_MARK[this.#markBytes]) {
        this.#keepMark()
        break
      }
      this.#markBytes++
      position++
    }
    return position
  }

  /** Takes what looked like a mark and was none as the start of the first record. */
  #keepMark(): void {
    if (this.#markBytes > 0) this.#beginCarry(BYTE_ORDER_MARK.subarray(0, this.#markBytes), 0)
    this.#markBytes = 3
  }

  #decodeRecords(chunk: Uint8Array, start: number): number {
    const runs = this.#runs
    runs.reset(chunk, chunk.length, false)
    let position = start
    while (position < chunk.length && runs.failure === null && !runs.isIncomplete) {
      if (this.rows.isFull) break
      position = runs.decodeRun(position)
    }
    return position
  }

  #beginCarry(chunk: Uint8Array, start: number): void {
    this.#recordEnd.reset()
    this.#recordEnd.find(chunk, start, chunk.length)
    this.#appendCarry(chunk, start, chunk.length)
  }

  #appendCarry(chunk: Uint8Array, start: number, end: number): void {
    const isWhole = end > start && chunk[end - 1] === NEWLINE
    const recordBytes = this.#carry.length + end - start - (isWhole ? 1 : 0)
    if (recordBytes <= LINE_BYTES_MAX) this.#carry.append(chunk, start, end)
    else this.#runs.failTooLong()
  }

  #decodeCarry(isLast: boolean): void {
    const carry = this.#carry
    this.#runs.reset(carry.bytes, carry.length, isLast)
    const end = this.#runs.decodeRun(0)
    assert(this.failure !== null || end === carry.length, 'what is carried is one record')
    carry.truncate(0)
  }
}
