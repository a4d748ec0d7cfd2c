/**
 * Decodes the two JSON forms of a write: `{ "operation", "rows": [ {…} ] }` and
 * `{ "operations": [ { "operation", "row": {…} } ] }`. The whole body is read before anything is
 * applied, so a malformed one applies nothing.
 */

import type { ValueOptions } from '../../common/cell-json.ts'
import { JSON_ROW_COUNT_MAX } from '../../common/limits.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../common/row-operation.ts'
import type { Schema } from '../../common/schema.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import { utf8Decode } from '../../util/bytes.ts'
import { DecodedRows } from './decoded-rows.ts'
import { JSON_BYTE, JsonCursor, JsonSyntaxError } from './json-cursor.ts'
import { JsonRowDecoder } from './json-row-decoder.ts'

const NO_OPERATION = 0

/** The operation with a name of any case. Throws: INVALID_ARGUMENT naming it. */
export function operationOf(name: string): number {
  const upper = name.toUpperCase()
  if (Object.hasOwn(ROW_OPERATIONS, upper)) return ROW_OPERATIONS[upper as RowOperationName]
  throw invalidArgument(`unknown operation "${name.slice(0, 64)}"`)
}

/**
 * Decodes a body.
 *
 * Requires: `bytes[end]` is a readable byte below 0x20. Throws: INVALID_ARGUMENT when the body is
 * not of either form, PAYLOAD_TOO_LARGE when it has too many rows.
 */
export function decodeJsonBody(
  schema: Schema,
  options: ValueOptions,
  bytes: Uint8Array,
  end: number,
): DecodedRows {
  const decoder = new BodyDecoder(schema, options)
  try {
    return decoder.decode(bytes, end)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidArgument(`body is not JSON: ${error.message} at byte ${error.offset}`)
  }
}

class BodyDecoder {
  readonly #schema: Schema
  readonly #options: ValueOptions
  readonly #cursor = new JsonCursor()
  #rows: DecodedRows
  #rowDecoder: JsonRowDecoder
  #operation = NO_OPERATION
  #hasRows = false
  #hasOperations = false

  constructor(schema: Schema, options: ValueOptions) {
    this.#schema = schema
    this.#options = options
    this.#rows = new DecodedRows(schema)
    this.#rowDecoder = new JsonRowDecoder(schema, this.#cursor, this.#rows.builder, options)
  }

  decode(bytes: Uint8Array, end: number): DecodedRows {
    const cursor = this.#cursor
    cursor.reset(bytes, 0, end)
    if (cursor.peek() !== JSON_BYTE.openObject) {
      cursor.skipValue(0)
      cursor.expectEnd()
      throw invalidArgument('body is not a JSON object')
    }
    this.#eachMember(1, (name) => this.#decodeMember(name))
    cursor.expectEnd()
    return this.#finish()
  }

  #finish(): DecodedRows {
    if (this.#hasRows && this.#hasOperations) {
      throw invalidArgument('body has both "rows" and "operations"')
    }
    if (!this.#hasRows && !this.#hasOperations) {
      throw invalidArgument('body has neither "rows" nor "operations"')
    }
    if (this.#hasOperations) {
      if (this.#operation !== NO_OPERATION) {
        throw invalidArgument('body has both "operation" and "operations"')
      }
      return this.#rows
    }
    const operation = this.#operation === NO_OPERATION ? ROW_OPERATIONS.INSERT : this.#operation
    this.#rows.builder.view().operations?.fill(operation)
    return this.#rows
  }

  #decodeMember(name: string): void {
    switch (name) {
      case 'operation':
        this.#operation = this.#readOperation()
        return
      case 'rows':
        this.#hasRows = true
        this.#startOver()
        this.#eachElement('rows', () => this.#decodeRow())
        return
      case 'operations':
        this.#hasOperations = true
        this.#startOver()
        this.#eachElement('operations', () => this.#decodeEntry())
        return
      default:
        throw invalidArgument(`unknown member "${name.slice(0, 64)}"`)
    }
  }

  /** Of repeated members the last counts. */
  #startOver(): void {
    this.#rows = new DecodedRows(this.#schema)
    const { builder } = this.#rows
    this.#rowDecoder = new JsonRowDecoder(this.#schema, this.#cursor, builder, this.#options)
  }

  #readOperation(): number {
    const cursor = this.#cursor
    if (cursor.peek() !== JSON_BYTE.quote) {
      cursor.skipValue(1)
      throw invalidArgument('member "operation" is not a string')
    }
    return operationOf(this.#readText())
  }

  #readText(): string {
    const cursor = this.#cursor
    cursor.readString()
    return utf8Decode(cursor.stringBytes.subarray(cursor.stringStart, cursor.stringEnd))
  }

  #eachMember(depth: number, visit: (name: string) => void): void {
    const cursor = this.#cursor
    cursor.checkDepth(depth)
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeObject) {
      cursor.position++
      return
    }
    do {
      cursor.readName()
      const name = cursor.stringBytes.subarray(cursor.stringStart, cursor.stringEnd)
      visit(utf8Decode(name))
    } while (!cursor.endsList(JSON_BYTE.closeObject))
  }

  #eachElement(member: string, visit: () => void): void {
    const cursor = this.#cursor
    if (cursor.peek() !== JSON_BYTE.openArray) {
      cursor.skipValue(1)
      throw invalidArgument(`member "${member}" is not an array`)
    }
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeArray) {
      cursor.position++
      return
    }
    do {
      if (this.#rows.nextRowIndex === JSON_ROW_COUNT_MAX) {
        throw new StatusError(
          'PAYLOAD_TOO_LARGE',
          `body has more rows than the limit of ${JSON_ROW_COUNT_MAX}`,
          { limit: JSON_ROW_COUNT_MAX },
        )
      }
      visit()
    } while (!cursor.endsList(JSON_BYTE.closeArray))
  }

  #decodeRow(): void {
    if (this.#readRow(3)) this.#rows.endRow(ROW_OPERATIONS.INSERT)
    else this.#rows.failRow(this.#rowDecoder.problem)
  }

  /**
   * Reads a row. Returns whether it is pending in the builder; else the row decoder has the
   * problem.
   */
  #readRow(depth: number): boolean {
    if (this.#cursor.peek() === JSON_BYTE.openObject) {
      return this.#rowDecoder.decodeRow(depth, true)
    }
    this.#rowDecoder.decodeNonObject(depth - 1)
    return false
  }

  #decodeEntry(): void {
    const cursor = this.#cursor
    const index = this.#rows.nextRowIndex
    if (cursor.peek() !== JSON_BYTE.openObject) {
      cursor.skipValue(2)
      throw invalidArgument(`operations[${index}] is not an object`)
    }
    let operation: number = ROW_OPERATIONS.INSERT
    let hasRow = false
    let isRight = false
    this.#eachMember(3, (name) => {
      if (name === 'operation') {
        operation = this.#readOperation()
      } else if (name === 'row') {
        this.#rows.builder.dropRow()
        hasRow = true
        isRight = this.#readRow(4)
      } else {
        throw invalidArgument(`unknown member "${name.slice(0, 64)}" of operations[${index}]`)
      }
    })
    if (!hasRow) throw invalidArgument(`operations[${index}] has no "row"`)
    if (isRight) this.#rows.endRow(operation)
    else this.#rows.failRow(this.#rowDecoder.problem)
  }
}
