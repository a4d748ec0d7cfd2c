/**
 * Decodes newline-delimited JSON as it comes: one object a line, blank lines skipped. Hot.
 *
 * Lines are decoded in place inside the chunk; only the piece of a line that crosses two chunks is
 * copied.
 */

import { LINE_BYTES_MAX } from '../../common/limits.ts'
import type { Schema } from '../../common/schema.ts'
import { invalidArgument, type StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { ByteArena } from '../../util/arena.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { JsonCursor, JsonSyntaxError } from './json-cursor.ts'
import { JsonRunDecoder } from './json-run-decoder.ts'

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SENTINEL = Uint8Array.of(NEWLINE)

/**
 * Turns chunks of NDJSON into decoded rows, in memory bounded by a chunk and a line.
 *
 * A line that is not JSON, not UTF-8 or too long ends the stream: `failure` is set, the rows before
 * it are in `rows`, and what is pushed later is ignored. A line that is JSON but not an object is a
 * row's problem.
 */
export class NdjsonDecoder {
  readonly rows: DecodedRows
  /** Why the stream ended early; names the line. */
  failure: StatusError | null = null

  readonly #operation: number
  readonly #cursor = new JsonCursor()
  readonly #runs: JsonRunDecoder
  readonly #carry = new ByteArena(4096)
  /** Lines that were decoded. */
  #lineCount = 0

  constructor(schema: Schema, options: ValueOptions, operation: number, rows: DecodedRows) {
    this.rows = rows
    this.#operation = operation
    this.#runs = new JsonRunDecoder(schema, this.#cursor, rows, options, true)
  }

  /**
   * Decodes the lines that end in `chunk[start, …)` until the batch is full.
   *
   * Returns: where it stopped; the end of the chunk when all of it was taken in, which then may be
   * reused.
   */
  pushUntilFull(chunk: Uint8Array, start: number): number {
    let position = start
    if (this.#carry.length > 0 && this.failure === null) {
      const newline = chunk.indexOf(NEWLINE, position)
      const end = newline === -1 ? chunk.length : newline + 1
      this.#appendCarry(chunk, position, end)
      if (newline !== -1 && this.failure === null) this.#decodeCarry(this.#carry.length - 1)
      position = end
    }
    const linesEnd = chunk.lastIndexOf(NEWLINE) + 1
    if (position < linesEnd) position = this.#decodeLines(chunk, position, linesEnd)
    if (this.failure !== null) return chunk.length
    if (position < linesEnd) return position
    this.#appendCarry(chunk, position, chunk.length)
    return chunk.length
  }

  /** Decodes the last line, if it has no newline. */
  finish(): void {
    const end = this.#carry.length
    if (end === 0 || this.failure !== null) return
    this.#carry.append(SENTINEL, 0, 1)
    this.#decodeCarry(end)
  }

  #appendCarry(chunk: Uint8Array, start: number, end: number): void {
    const isWhole = end > start && chunk[end - 1] === NEWLINE
    const lineBytes = this.#carry.length + end - start - (isWhole ? 1 : 0)
    if (lineBytes > LINE_BYTES_MAX) this.#failTooLong()
    else this.#carry.append(chunk, start, end)
  }

  #decodeCarry(end: number): void {
    this.#cursor.reset(this.#carry.bytes, 0, end)
    this.#decodeLine(end)
    this.#carry.truncate(0)
  }

  /**
   * Decodes whole lines until the batch is full. Returns: where it stopped, at the start of a line.
   */
  #decodeLines(bytes: Uint8Array, start: number, end: number): number {
    let position = start
    while (position < end && this.failure === null && !this.rows.isFull) {
      this.#cursor.reset(bytes, position, end - 1)
      position = this.#decodeRun(position, end)
      if (!this.#runs.isBroken) continue
      const newline = bytes.indexOf(NEWLINE, position)
      this.#cursor.reset(bytes, position, newline)
      this.#decodeLine(newline)
      position = newline + 1
    }
    return position
  }

  /** Decodes lines that are alike. Returns: the start of the first that is not, or `end`. */
  #decodeRun(start: number, end: number): number {
    if (!this.#runs.beginRun()) return start
    const { bytes } = this.#cursor
    const { scanner, rowCountMax } = this.#runs
    const { tape } = scanner
    const firstRowIndex = this.rows.nextRowIndex
    let position = start
    let isOdd = false
    while (position < end && tape.rowCount < rowCountMax && !isOdd) {
      const next = this.#scanLine(bytes, position)
      isOdd = next < 0
      if (!isOdd) position = next
    }
    position = this.#runs.decodeRun(position, isOdd)
    this.#lineCount += this.rows.nextRowIndex - firstRowIndex
    return position
  }

  /** Scans a line that is a row. Returns: the start of the next line, or −1. */
  #scanLine(bytes: Uint8Array, start: number): number {
    const { scanner } = this.#runs
    let end = scanner.scanRow(start, this.#operation)
    if (end < 0) return -1
    if (bytes[end] === CARRIAGE_RETURN) end++
    if (bytes[end] === NEWLINE && end - start <= LINE_BYTES_MAX) return end + 1
    scanner.tape.rowCount--
    return -1
  }

  #decodeLine(end: number): void {
    this.#lineCount++
    const cursor = this.#cursor
    const start = cursor.position
    if (end - start > LINE_BYTES_MAX) {
      this.#lineCount--
      this.#failTooLong()
      return
    }
    if (cursor.peek() === -1) return
    try {
      const isRight = this.#runs.readRow(0)
      cursor.expectEnd()
      this.#runs.endRow(isRight, this.#operation)
    } catch (error) {
      this.rows.builder.dropRow()
      if (!(error instanceof JsonSyntaxError)) throw error
      const { message, offset, limit } = error
      this.#fail(this.#lineCount, `${message} at byte ${offset} of the line`, limit)
    }
  }

  #failTooLong(): void {
    const what = `line is longer than the limit of ${LINE_BYTES_MAX} bytes`
    this.#fail(this.#lineCount + 1, what, LINE_BYTES_MAX)
  }

  #fail(line: number, what: string, limit: number | null): void {
    this.#carry.truncate(0)
    const details = limit === null ? { line } : { line, limit }
    this.failure = invalidArgument(`line ${line}: ${what}`, details)
  }
}
