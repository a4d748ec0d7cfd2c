/**
 * Decodes the elements of `operations`: `{ "operation": "UPSERT", "row": {…} }`, the operation
 * INSERT when it is left out.
 */

import { ROW_OPERATIONS, type RowOperationName } from '../../common/row-operation.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import { equalBytes, utf8Decode, utf8Encode } from '../../util/bytes.ts'
import { JSON_BYTE, type JsonCursor } from './json-cursor.ts'
import type { JsonRunDecoder } from './json-run-decoder.ts'
import { shortenName } from './show-scalar.ts'

const ODD = -1
/** Nesting of an entry's members, the body being 1. */
const ENTRY_DEPTH = 3

const OPERATION_MEMBER = utf8Encode('"operation":')
const ROW_MEMBER = utf8Encode('"row":')
const OPERATIONS = (Object.keys(ROW_OPERATIONS) as RowOperationName[]).map((name) => ({
  text: utf8Encode(`"${name}"`),
  operation: ROW_OPERATIONS[name],
}))

/** The operation with a name of any case. Throws: INVALID_ARGUMENT naming it. */
export function operationOf(name: string): number {
  const upper = name.toUpperCase()
  if (Object.hasOwn(ROW_OPERATIONS, upper)) return ROW_OPERATIONS[upper as RowOperationName]
  throw invalidArgument(`unknown operation "${shortenName(name)}"`)
}

/** Reads entries from one cursor. */
export class JsonEntryDecoder {
  /** What is wrong with the entries read since it was set to null: they fail the whole request. */
  problem: StatusError | null = null

  readonly #cursor: JsonCursor
  readonly #runs: JsonRunDecoder
  #operation: number = ROW_OPERATIONS.INSERT
  #operationProblem: StatusError | null = null
  #hasRow = false
  #isRight = false

  constructor(cursor: JsonCursor, runs: JsonRunDecoder) {
    this.#cursor = cursor
    this.#runs = runs
  }

  /**
   * Scans an entry that has its operation first and its row last as the tape's next row.
   *
   * Returns: the offset behind it, or −1 when it is written in another way.
   */
  scanEntry(start: number): number {
    const { bytes } = this.#cursor
    const { scanner } = this.#runs
    if (bytes[start] !== JSON_BYTE.openObject) return ODD
    let position = scanner.skipSpace(start + 1)
    let operation: number = ROW_OPERATIONS.INSERT
    if (standsAt(OPERATION_MEMBER, bytes, position)) {
      position = scanner.skipSpace(position + OPERATION_MEMBER.length)
      const known = OPERATIONS.find(({ text }) => standsAt(text, bytes, position))
      if (known === undefined) return ODD
      operation = known.operation
      position = scanner.skipSpace(position + known.text.length)
      if (bytes[position] !== JSON_BYTE.comma) return ODD
      position = scanner.skipSpace(position + 1)
    }
    if (!standsAt(ROW_MEMBER, bytes, position)) return ODD
    const rowStart = scanner.skipSpace(position + ROW_MEMBER.length)
    const rowEnd = scanner.scanRow(rowStart, operation)
    if (rowEnd < 0) return ODD
    const end = scanner.skipSpace(rowEnd)
    if (bytes[end] !== JSON_BYTE.closeObject) {
      scanner.tape.rowCount--
      return ODD
    }
    // The entry is read again as a whole if its row turns out to be wrong.
    scanner.tape.rowStarts[scanner.tape.rowCount - 1] = start
    return end + 1
  }

  /**
   * Reads the entry at the cursor, whatever it is; number `index` of the body. Its row is decoded,
   * and ended or failed, unless it is only checked.
   *
   * Returns: its operation. What fails the request is left in `problem`. Throws: JsonSyntaxError.
   */
  readEntry(index: number, isDecoded: boolean): number {
    const cursor = this.#cursor
    this.#operation = ROW_OPERATIONS.INSERT
    this.#operationProblem = null
    this.#hasRow = false
    if (cursor.peek() !== JSON_BYTE.openObject) {
      cursor.skipValue(ENTRY_DEPTH - 1)
      this.problem ??= invalidArgument(`operations[${index}] is not an object`)
      return this.#operation
    }
    cursor.eachMember(ENTRY_DEPTH, (name) => this.#readMember(name, index, isDecoded))
    if (!this.#hasRow) this.problem ??= invalidArgument(`operations[${index}] has no "row"`)
    this.problem ??= this.#operationProblem
    if (isDecoded && this.#hasRow) this.#runs.endRow(this.#isRight, this.#operation)
    return this.#operation
  }

  #readMember(name: string, index: number, isDecoded: boolean): void {
    if (name === 'operation') {
      this.#readOperation(index)
    } else if (name === 'row') {
      // Of repeated members the last counts.
      if (isDecoded && this.#hasRow) this.#runs.dropRow()
      this.#hasRow = true
      if (isDecoded) this.#isRight = this.#runs.readRow(ENTRY_DEPTH)
      else this.#cursor.skipValue(ENTRY_DEPTH)
    } else {
      this.#cursor.skipValue(ENTRY_DEPTH)
      this.problem ??= invalidArgument(
        `unknown member "${shortenName(name)}" of operations[${index}]`,
      )
    }
  }

  #readOperation(index: number): void {
    this.#operationProblem = null
    const name = readText(this.#cursor, ENTRY_DEPTH)
    if (name === null) {
      this.#operationProblem = invalidArgument(`operation of operations[${index}] is not a string`)
      return
    }
    try {
      this.#operation = operationOf(name)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      this.#operationProblem = error
    }
  }
}

/** The string at the cursor, or null for another value; the cursor is behind it either way. */
export function readText(cursor: JsonCursor, depth: number): string | null {
  if (cursor.peek() !== JSON_BYTE.quote) {
    cursor.skipValue(depth)
    return null
  }
  cursor.readString()
  return utf8Decode(cursor.stringBytes.subarray(cursor.stringStart, cursor.stringEnd))
}

function standsAt(text: Uint8Array, bytes: Uint8Array, offset: number): boolean {
  return equalBytes(text, 0, text.length, bytes, offset, offset + text.length)
}
