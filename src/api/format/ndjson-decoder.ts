/**
 * Decodes newline-delimited JSON as it comes: one object a line, blank lines skipped. Hot.
 *
 * Lines are decoded in place inside the chunk; only the piece of a line that crosses two chunks is
 * copied.
 */

import type { ValueOptions } from '../../common/cell-json.ts'
import { LINE_BYTES_MAX } from '../../common/limits.ts'
import type { Schema } from '../../common/schema.ts'
import { invalidArgument, type StatusError } from '../../common/status.ts'
import { ByteArena } from '../../util/arena.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { JSON_BYTE, JsonCursor, JsonSyntaxError } from './json-cursor.ts'
import { JsonRowDecoder } from './json-row-decoder.ts'

const NEWLINE = 0x0a

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
  readonly #decoder: JsonRowDecoder
  readonly #carry = new ByteArena(4096)
  #line = 0

  constructor(schema: Schema, options: ValueOptions, operation: number, rows: DecodedRows) {
    this.rows = rows
    this.#operation = operation
    this.#decoder = new JsonRowDecoder(schema, this.#cursor, rows.builder, options)
  }

  /** Decodes all lines that end in this chunk. The chunk may be reused afterwards. */
  push(chunk: Uint8Array): void {
    let start = 0
    if (this.#carry.length > 0 && this.failure === null) {
      const newline = chunk.indexOf(NEWLINE)
      this.#appendCarry(chunk, 0, newline === -1 ? chunk.length : newline + 1)
      if (newline === -1 || this.failure !== null) return
      this.#decodeLine(this.#carry.bytes, 0, this.#carry.length - 1)
      this.#carry.truncate(0)
      start = newline + 1
    }
    while (this.failure === null) {
      const newline = chunk.indexOf(NEWLINE, start)
      if (newline === -1) break
      this.#decodeLine(chunk, start, newline)
      start = newline + 1
    }
    if (this.failure === null) this.#appendCarry(chunk, start, chunk.length)
  }

  /** Decodes the last line, if it has no newline. */
  finish(): void {
    if (this.#carry.length === 0 || this.failure !== null) return
    const end = this.#carry.length
    this.#carry.append(SENTINEL, 0, 1)
    this.#decodeLine(this.#carry.bytes, 0, end)
    this.#carry.truncate(0)
  }

  #appendCarry(chunk: Uint8Array, start: number, end: number): void {
    if (this.#carry.length + end - start > LINE_BYTES_MAX) {
      this.#line++
      this.#fail(`line is longer than the limit of ${LINE_BYTES_MAX} bytes`)
      return
    }
    this.#carry.append(chunk, start, end)
  }

  #decodeLine(bytes: Uint8Array, start: number, end: number): void {
    this.#line++
    const cursor = this.#cursor
    cursor.reset(bytes, start, end)
    const first = cursor.peek()
    if (first === -1) return
    try {
      this.#decodeRow(first)
    } catch (error) {
      this.rows.builder.dropRow()
      if (!(error instanceof JsonSyntaxError)) throw error
      this.#fail(`${error.message} at byte ${error.offset} of the line`)
    }
  }

  #decodeRow(first: number): void {
    const { rows } = this
    if (first !== JSON_BYTE.openObject) {
      this.#decoder.decodeNonObject(0)
      this.#cursor.expectEnd()
      rows.failRow(this.#decoder.problem)
      return
    }
    const isRight = this.#decoder.decodeRow(1, true)
    this.#cursor.expectEnd()
    if (isRight) rows.endRow(this.#operation)
    else rows.failRow(this.#decoder.problem)
  }

  #fail(what: string): void {
    this.#carry.truncate(0)
    const line = this.#line
    this.failure = invalidArgument(`line ${line}: ${what}`, { line })
  }
}

const SENTINEL = Uint8Array.of(NEWLINE)
