/**
 * Decodes one JSON object, however it is written, into the pending row of a RowBlockBuilder, driven
 * by the table's schema.
 *
 * A value that its column cannot hold, an unknown member and a missing key column are the row's
 * error; the rest of the row is still read, since bytes that are not JSON end the whole body.
 */

import { CELL_ERRORS, type CellError, describeCellError } from '../../common/cell-error.ts'
import { type CellPlan, planCell } from '../../common/cell-plan.ts'
import { CELL_FORMS, type CellForm, readCell } from '../../common/cell-reader.ts'
import type { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import type { Schema } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { JSON_BYTE, type JsonCursor } from './json-cursor.ts'
import { type MemberNames, memberNamesOf } from './member-names.ts'
import { showName, showScalar } from './show-scalar.ts'

/** Column of unknown members, and where their problem stands among those of columns. */
const UNKNOWN_MEMBER = -1

/** What was wrong with a row. */
export interface RowProblem {
  readonly message: string
  /** The column or member that was wrong, if it was one. */
  readonly column?: string
}

/** Decodes rows for one schema, from one cursor into one builder (all columns, in schema order). */
export class JsonRowDecoder {
  /** Why the last row was refused; meaningful when `decodeRow` returned false. */
  problem: RowProblem = { message: '' }
  /** Column of each member of the last row, in its order, each once and unknown ones left out. */
  readonly members: number[] = []
  /** Whether a column is among `members`. */
  readonly #isMember: Uint8Array

  readonly #schema: Schema
  readonly #cursor: JsonCursor
  readonly #builder: RowBlockBuilder
  readonly #plans: readonly CellPlan[]
  readonly #names: MemberNames
  /**
   * Problems of the row being read by column index, or UNKNOWN_MEMBER; null while there is none.
   */
  #problems: Map<number, RowProblem> | null = null

  constructor(schema: Schema, cursor: JsonCursor, builder: RowBlockBuilder, options: ValueOptions) {
    this.#schema = schema
    this.#cursor = cursor
    this.#builder = builder
    this.#plans = schema.columns.map((column) => planCell(column, options))
    this.#names = memberNamesOf(schema)
    this.#isMember = new Uint8Array(schema.columns.length)
  }

  /**
   * Reads the object whose `{` is at the cursor; `depth` is the nesting of that object.
   *
   * Returns: true with the row's cells pending in the builder (the caller ends or drops the row),
   * or false with nothing pending and `problem` set. Throws: JsonSyntaxError.
   */
  decodeRow(depth: number, requiresKey: boolean): boolean {
    this.#problems = null
    for (const index of this.members) this.#isMember[index] = 0
    this.members.length = 0
    this.#decodeMembers(depth)
    if (requiresKey) this.#checkKey()
    if (this.#problems === null) return true
    this.#builder.dropRow()
    this.problem = firstOf(this.#problems)
    return false
  }

  /** Reads a value that is no object: a problem of its own. */
  decodeNonObject(depth: number): void {
    this.#cursor.skipValue(depth)
    this.problem = { message: 'row is not an object' }
  }

  #decodeMembers(depth: number): void {
    const cursor = this.#cursor
    cursor.checkDepth(depth)
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeObject) {
      cursor.position++
      return
    }
    do {
      cursor.readName()
      const index = this.#findColumn()
      if (index === UNKNOWN_MEMBER) this.#skipUnknownMember(depth)
      else this.#decodeCell(index, depth)
    } while (!cursor.endsList(JSON_BYTE.closeObject))
  }

  /** Index of the column of the name just read, or UNKNOWN_MEMBER. */
  #findColumn(): number {
    const { stringBytes, stringStart, stringEnd, hasLoneSurrogate } = this.#cursor
    return hasLoneSurrogate ? UNKNOWN_MEMBER : this.#names.find(stringBytes, stringStart, stringEnd)
  }

  #skipUnknownMember(depth: number): void {
    // One is enough to refuse the row, and a body may have any number of them.
    if (this.#problems?.has(UNKNOWN_MEMBER) !== true) {
      const { stringBytes, stringStart, stringEnd } = this.#cursor
      const column = showName(stringBytes, stringStart, stringEnd)
      this.#report(UNKNOWN_MEMBER, { message: `unknown column "${column}"`, column })
    }
    this.#cursor.skipValue(depth)
  }

  #checkKey(): void {
    const keyColumnCount = this.#schema.keyColumnCount
    for (let index = 0; index < keyColumnCount; index++) {
      const isThere = this.#builder.hasPending(index)
      if (isThere && !this.#builder.isPendingNull(index)) continue
      if (this.#problems?.has(index) === true) continue
      const code = isThere ? ROW_ERRORS.KEY_COLUMN_NULL : ROW_ERRORS.KEY_COLUMN_UNSET
      const column = this.#schema.columns[index].name
      this.#report(index, { message: describeRowError(code, column).message, column })
    }
  }

  #decodeCell(index: number, depth: number): void {
    const cursor = this.#cursor
    // Of a member given twice the last counts, whatever was wrong with the one before.
    if (this.#problems?.delete(index) === true && this.#problems.size === 0) this.#problems = null
    if (this.#isMember[index] === 0) this.members.push(index)
    this.#isMember[index] = 1
    const byte = cursor.peek()
    if (byte === JSON_BYTE.quote) {
      cursor.readString()
      const { stringBytes, stringStart, stringEnd } = cursor
      if (cursor.hasLoneSurrogate) this.#reportCell(index, CELL_ERRORS.LONE_SURROGATE, '')
      else this.#readCell(index, CELL_FORMS.jsonString, stringBytes, stringStart, stringEnd)
    } else if (byte === JSON_BYTE.openObject || byte === JSON_BYTE.openArray) {
      cursor.skipValue(depth)
      const shown = byte === JSON_BYTE.openObject ? 'an object' : 'an array'
      this.#reportCell(index, CELL_ERRORS.WRONG_KIND, shown)
    } else if (byte === JSON_BYTE.n) {
      cursor.readWord()
      this.#builder.setNull(index)
    } else {
      this.#decodeWordOrNumber(index, byte)
    }
  }

  #decodeWordOrNumber(index: number, first: number): void {
    const cursor = this.#cursor
    const start = cursor.position
    let form: CellForm = CELL_FORMS.jsonNumber
    if (first === JSON_BYTE.t) form = CELL_FORMS.jsonTrue
    else if (first === JSON_BYTE.f) form = CELL_FORMS.jsonFalse
    if (form === CELL_FORMS.jsonNumber) cursor.readNumber()
    else cursor.readWord()
    this.#readCell(index, form, cursor.bytes, start, cursor.position)
  }

  #readCell(index: number, form: CellForm, bytes: Uint8Array, start: number, end: number): void {
    const error = readCell(this.#plans[index], form, bytes, start, end, this.#builder, index)
    if (error !== CELL_ERRORS.NONE) {
      this.#reportCell(index, error, showScalar(form, bytes, start, end))
    }
  }

  #reportCell(index: number, error: CellError, shown: string): void {
    const column = this.#schema.columns[index]
    this.#report(index, { message: describeCellError(error, column, shown), column: column.name })
  }

  #report(key: number, problem: RowProblem): void {
    this.#problems ??= new Map()
    this.#problems.set(key, problem)
  }
}

function firstOf(problems: Map<number, RowProblem>): RowProblem {
  for (const problem of problems.values()) return problem
  return { message: '' }
}
