/**
 * Decodes the two JSON forms of a write: `{ "operation", "rows": [ {…} ] }` and
 * `{ "operations": [ { "operation", "row": {…} } ] }`.
 *
 * A body that is wrong applies nothing, so all of it is read before its first rows are given out:
 * the first batch is decoded, the rest only checked. Most bodies are one batch and are read once;
 * of a large one never more than a batch is held as columns, however sparse its rows are.
 */

import { JSON_ROW_COUNT_MAX } from '../../common/limits.ts'
import { ROW_OPERATIONS } from '../../common/row-operation.ts'
import type { Schema } from '../../common/schema.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { JSON_BYTE, JsonCursor, JsonSyntaxError, syntaxFailure } from './json-cursor.ts'
import { JsonEntryDecoder, operationOf, readText } from './json-entry-decoder.ts'
import { JsonRunDecoder } from './json-run-decoder.ts'
import { shortenName } from './show-scalar.ts'

export { operationOf } from './json-entry-decoder.ts'

/** Nesting of the arrays `rows` and `operations`. */
const ARRAY_DEPTH = 2

type RowsMember = 'rows' | 'operations'

/** Decodes one body batch by batch: `start`, then `next` until it returns false. */
export class JsonBodyDecoder {
  readonly rows: DecodedRows
  /** Operations that rows of the body have. Complete after `start`. */
  readonly operations = new Set<number>()

  readonly #cursor = new JsonCursor()
  readonly #runs: JsonRunDecoder
  readonly #entries: JsonEntryDecoder
  /** The member whose rows count, and where those behind the batch begin; −1 for none left. */
  #member: RowsMember | null = null
  #resumeAt = -1
  /** The member `operation`, null while it is not given. */
  #operation: number | null = null
  /** What is wrong with the last `operation`, and with the last `rows` or `operations`. */
  #operationProblem: StatusError | null = null
  #rowsProblem: StatusError | null = null
  #hasRows = false
  #hasOperations = false
  #isReserved = false

  constructor(schema: Schema, options: ValueOptions, rows: DecodedRows) {
    this.rows = rows
    this.#runs = new JsonRunDecoder(schema, this.#cursor, rows, options, false)
    this.#entries = new JsonEntryDecoder(this.#cursor, this.#runs)
  }

  /**
   * Checks all of a body and decodes its first batch into `rows`.
   *
   * Requires: `bytes[end]` is a readable byte below 0x20; the bytes stay as they are until the last
   * batch. Throws: INVALID_ARGUMENT when the body is not of either form, PAYLOAD_TOO_LARGE when it
   * has too many rows.
   */
  start(bytes: Uint8Array, end: number): void {
    this.#cursor.reset(bytes, 0, end)
    try {
      this.#readBody()
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      throw syntaxFailure('body', error)
    }
    this.#checkForm()
    if (this.#member === 'operations') return
    this.operations.add(this.#rowsOperation())
    this.rows.setOperations(this.#rowsOperation())
  }

  /** Decodes the next batch. Returns: whether there was one. Requires: `rows` was cleared. */
  next(): boolean {
    if (this.#resumeAt === -1) return false
    this.#cursor.position = this.#resumeAt
    this.#resumeAt = -1
    this.#decodeElements()
    return true
  }

  #rowsOperation(): number {
    return this.#operation ?? ROW_OPERATIONS.INSERT
  }

  #readBody(): void {
    const cursor = this.#cursor
    if (cursor.peek() === JSON_BYTE.openObject) {
      cursor.eachMember(1, (name) => this.#readMember(name))
      cursor.expectEnd()
      return
    }
    cursor.skipValue(0)
    cursor.expectEnd()
    throw invalidArgument('body is not a JSON object')
  }

  #checkForm(): void {
    const problem = this.#operationProblem ?? this.#rowsProblem
    if (problem !== null) throw problem
    if (this.#hasRows && this.#hasOperations) {
      throw invalidArgument('body has both "rows" and "operations"')
    }
    if (this.#member === null) throw invalidArgument('body has neither "rows" nor "operations"')
    if (this.#hasOperations && this.#operation !== null) {
      throw invalidArgument('body has both "operation" and "operations"')
    }
  }

  #readMember(name: string): void {
    if (name === 'operation') {
      this.#readOperation()
    } else if (name === 'rows' || name === 'operations') {
      if (name === 'rows') this.#hasRows = true
      else this.#hasOperations = true
      this.#startOver(name)
      this.#readElements()
    } else {
      throw invalidArgument(`unknown member "${shortenName(name)}"`)
    }
  }

  #readOperation(): void {
    this.#operation = null
    this.#operationProblem = null
    const name = readText(this.#cursor, 1)
    if (name === null) {
      this.#operationProblem = invalidArgument('member "operation" is not a string')
      return
    }
    try {
      this.#operation = operationOf(name)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      this.#operationProblem = error
    }
  }

  /** Of repeated members the last counts. */
  #startOver(member: RowsMember): void {
    this.rows.reset()
    this.operations.clear()
    this.#member = member
    this.#rowsProblem = null
    this.#entries.problem = null
    this.#resumeAt = -1
  }

  /** Reads the array of a member: the first batch into `rows`, the rest to be sure of it. */
  #readElements(): void {
    const cursor = this.#cursor
    if (cursor.peek() !== JSON_BYTE.openArray) {
      cursor.skipValue(1)
      this.#rowsProblem = invalidArgument(`member "${this.#member}" is not an array`)
      return
    }
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeArray) {
      cursor.position++
      return
    }
    this.#decodeElements()
    if (this.#resumeAt !== -1) this.#checkElements()
    this.#rowsProblem = this.#entries.problem
  }

  /** Checks the elements from the cursor on, which is at one, to the end of the array. */
  #checkElements(): void {
    const cursor = this.#cursor
    let index = this.rows.nextRowIndex
    do {
      checkRowCount(index + 1)
      if (this.#member === 'rows') cursor.skipValue(ARRAY_DEPTH)
      else this.operations.add(this.#entries.readEntry(index, false))
      index++
    } while (!cursor.endsList(JSON_BYTE.closeArray))
  }

  /**
   * Decodes elements from the cursor on, which is at one, to the end of the array or until the
   * batch is full: then the next one is at `#resumeAt`, and at the cursor.
   */
  #decodeElements(): void {
    const cursor = this.#cursor
    const start = cursor.position
    while (!this.rows.isFull) {
      const isEnded = this.#decodeRun()
      checkRowCount(this.rows.nextRowIndex)
      if (isEnded) return
      this.#reserve(start)
      if (!this.#runs.isBroken) continue
      this.#decodeElement()
      checkRowCount(this.rows.nextRowIndex)
      if (cursor.endsList(JSON_BYTE.closeArray)) return
    }
    this.#resumeAt = cursor.position
  }

  /** Makes room for the rows that are left, if they are like those decoded from `start` on. */
  #reserve(start: number): void {
    const { position, end } = this.#cursor
    const { rowCount } = this.rows.builder
    if (this.#isReserved || rowCount === 0) return
    this.#isReserved = true
    this.rows.reserve((end - position) / (position - start), end - position)
  }

  #decodeElement(): void {
    if (this.#member === 'operations') {
      this.operations.add(this.#entries.readEntry(this.rows.nextRowIndex, true))
    } else {
      const isRight = this.#runs.readRow(ARRAY_DEPTH)
      this.#runs.endRow(isRight, this.#rowsOperation())
    }
  }

  /**
   * Decodes elements that are alike, and leaves the cursor at the next one. Returns: whether there
   * is none.
   */
  #decodeRun(): boolean {
    if (!this.#runs.beginRun()) return false
    const cursor = this.#cursor
    const { scanner, rowCountMax } = this.#runs
    let position = scanner.skipSpace(cursor.position)
    let isOdd = false
    let isEnded = false
    while (scanner.tape.rowCount < rowCountMax && !isOdd && !isEnded) {
      const next = this.#scanElement(position)
      isOdd = next < 0
      if (isOdd) break
      isEnded = cursor.bytes[next] === JSON_BYTE.closeArray
      position = isEnded ? next + 1 : scanner.skipSpace(next + 1)
    }
    this.#noteOperations()
    cursor.position = this.#runs.decodeRun(position, isOdd)
    return isEnded && !this.#runs.isBroken
  }

  /** Scans an element. Returns: the offset of the comma or bracket behind it, or −1. */
  #scanElement(start: number): number {
    const { bytes } = this.#cursor
    const { scanner } = this.#runs
    const isEntry = this.#member === 'operations'
    const end = isEntry
      ? this.#entries.scanEntry(start)
      : scanner.scanRow(start, this.#rowsOperation())
    if (end < 0) return -1
    const next = scanner.skipSpace(end)
    if (bytes[next] === JSON_BYTE.comma || bytes[next] === JSON_BYTE.closeArray) return next
    scanner.tape.rowCount--
    return -1
  }

  #noteOperations(): void {
    const { tape } = this.#runs.scanner
    let last = -1
    for (let row = 0; row < tape.rowCount; row++) {
      if (tape.operations[row] === last) continue
      last = tape.operations[row]
      this.operations.add(last)
    }
  }
}

function checkRowCount(rowCount: number): void {
  if (rowCount <= JSON_ROW_COUNT_MAX) return
  throw new StatusError(
    'PAYLOAD_TOO_LARGE',
    `body has more rows than the limit of ${JSON_ROW_COUNT_MAX}`,
    { limit: JSON_ROW_COUNT_MAX },
  )
}
