/**
 * Decodes one JSON object into the pending row of a RowBlockBuilder, driven by the table's schema.
 * Hot: no object, closure or exception for a row that is right; the members of a row are expected
 * in the order of the row before, so that a name is found by one comparison.
 *
 * A value that its column cannot hold, an unknown member and a missing key column are the row's
 * error; the rest of the row is still read, since bytes that are not JSON end the whole body.
 */

import { CELL_ERRORS, type CellError, describeCellError } from '../../common/cell-error.ts'
import { type CellPlan, planCell } from '../../common/cell-plan.ts'
import { CELL_FORMS, type CellForm, readCell } from '../../common/cell-reader.ts'
import { appendJsonString } from '../../common/json-string.ts'
import type { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import type { Schema } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { ByteArena } from '../../util/arena.ts'
import { utf8Decode, utf8Encode } from '../../util/bytes.ts'
import { JSON_BYTE, type JsonCursor } from './json-cursor.ts'

const NO_COLUMN = -1
/** Where the problem of unknown members stands among the problems of columns. */
const UNKNOWN_MEMBER = -1
/** Characters of a string that an error may show, and bytes that hold as many. */
const SHOWN_LENGTH_MAX = 80
const SHOWN_BYTES_MAX = 512

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

  readonly #schema: Schema
  readonly #cursor: JsonCursor
  readonly #builder: RowBlockBuilder
  readonly #plans: readonly CellPlan[]
  /** By column: its name as a member begins, `"name":`. */
  readonly #openings: readonly Uint8Array[]
  /** Column of each member of the row before, by position. */
  readonly #order: Int32Array
  /**
   * Problems of the row being read by column index, or UNKNOWN_MEMBER; null while there is none.
   */
  #problems: Map<number, RowProblem> | null = null

  constructor(schema: Schema, cursor: JsonCursor, builder: RowBlockBuilder, options: ValueOptions) {
    this.#schema = schema
    this.#cursor = cursor
    this.#builder = builder
    const { columns } = schema
    this.#plans = columns.map((column) => planCell(column, options))
    this.#openings = columns.map((column) => openingOf(column.name))
    this.#order = Int32Array.from(columns, (column) => column.index)
  }

  /**
   * Reads the object whose `{` is at the cursor; `depth` is the nesting of that object.
   *
   * Returns: true with the row's cells pending in the builder (the caller ends or drops the row),
   * or false with nothing pending and `problem` set. Throws: JsonSyntaxError.
   */
  decodeRow(depth: number, requiresKey: boolean): boolean {
    this.#problems = null
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
    let member = 0
    for (;;) {
      const index = this.#readName(member)
      if (index === NO_COLUMN) this.#skipUnknownMember(depth)
      else this.#decodeCell(index, depth)
      if (cursor.endsList(JSON_BYTE.closeObject)) return
      member++
    }
  }

  /** Reads a member's name and colon. Returns: its column's index or NO_COLUMN. */
  #readName(member: number): number {
    const cursor = this.#cursor
    const order = this.#order
    if (member < order.length) {
      const { bytes, position } = cursor
      const start = bytes[position] === 0x20 ? position + 1 : position
      const opening = this.#openings[order[member]]
      let i = 0
      while (i < opening.length && bytes[start + i] === opening[i]) i++
      if (i === opening.length) {
        cursor.position = start + i
        return order[member]
      }
    }
    cursor.readName()
    return this.#findColumn(member)
  }

  /** Column index of the name just read, or NO_COLUMN. */
  #findColumn(member: number): number {
    const { stringBytes, stringStart, stringEnd } = this.#cursor
    if (this.#cursor.hasLoneSurrogate) return NO_COLUMN
    const name = utf8Decode(stringBytes.subarray(stringStart, stringEnd))
    const column = this.#schema.byName(name)
    if (column === undefined) return NO_COLUMN
    if (member < this.#order.length) this.#order[member] = column.index
    return column.index
  }

  #skipUnknownMember(depth: number): void {
    const { stringBytes, stringStart, stringEnd } = this.#cursor
    if (this.#problems?.has(UNKNOWN_MEMBER) !== true) {
      const shownEnd = Math.min(stringEnd, stringStart + SHOWN_BYTES_MAX)
      const column = shorten(utf8Decode(stringBytes.subarray(stringStart, shownEnd)))
      this.#report(UNKNOWN_MEMBER, { message: `unknown column "${column}"`, column })
    }
    this.#cursor.skipValue(depth)
  }

  #checkKey(): void {
    const keyColumnCount = this.#schema.keyColumnCount
    for (let index = 0; index < keyColumnCount; index++) {
      if (this.#builder.hasPending(index) && !this.#builder.isPendingNull(index)) continue
      this.#reportKey(index)
    }
  }

  #reportKey(index: number): void {
    if (this.#problems?.has(index) === true) return
    const isNull = this.#builder.hasPending(index)
    const code = isNull ? ROW_ERRORS.KEY_COLUMN_NULL : ROW_ERRORS.KEY_COLUMN_UNSET
    const column = this.#schema.columns[index].name
    this.#report(index, { message: describeRowError(code, column).message, column })
  }

  #report(key: number, problem: RowProblem): void {
    this.#problems ??= new Map()
    this.#problems.set(key, problem)
  }

  #decodeCell(index: number, depth: number): void {
    const cursor = this.#cursor
    // Of a member given twice the last counts, whatever was wrong with the one before.
    if (this.#problems !== null) this.#forgetProblem(index)
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
    } else if (byte === JSON_BYTE.t || byte === JSON_BYTE.f) {
      cursor.readWord()
      const form = byte === JSON_BYTE.t ? CELL_FORMS.jsonTrue : CELL_FORMS.jsonFalse
      this.#readCell(index, form, cursor.bytes, cursor.position, cursor.position)
    } else {
      cursor.readNumber()
      const { bytes, numberStart, position } = cursor
      this.#readCell(index, CELL_FORMS.jsonNumber, bytes, numberStart, position)
    }
  }

  #readCell(index: number, form: CellForm, bytes: Uint8Array, start: number, end: number): void {
    const error = readCell(this.#plans[index], form, bytes, start, end, this.#builder, index)
    if (error === CELL_ERRORS.NONE) return
    this.#reportCell(index, error, showValue(form, bytes, start, end))
  }

  #reportCell(index: number, error: CellError, shown: string): void {
    const column = this.#schema.columns[index]
    this.#report(index, { message: describeCellError(error, column, shown), column: column.name })
  }

  #forgetProblem(index: number): void {
    const problems = this.#problems
    if (problems?.delete(index) === true && problems.size === 0) this.#problems = null
  }
}

/** A column's name as a member begins: in quotes, with the colon. */
function openingOf(name: string): Uint8Array {
  const arena = new ByteArena(64)
  const bytes = utf8Encode(name)
  appendJsonString(arena, bytes, 0, bytes.length)
  arena.append(utf8Encode(':'), 0, 1)
  return arena.bytes.slice(0, arena.length)
}

function firstOf(problems: Map<number, RowProblem>): RowProblem {
  for (const problem of problems.values()) return problem
  return { message: '' }
}

/** A scalar as errors show it: strings in quotes. */
function showValue(form: CellForm, bytes: Uint8Array, start: number, end: number): string {
  if (form === CELL_FORMS.jsonTrue) return 'true'
  if (form === CELL_FORMS.jsonFalse) return 'false'
  const text = utf8Decode(bytes.subarray(start, Math.min(end, start + SHOWN_BYTES_MAX)))
  if (form === CELL_FORMS.jsonNumber) return text
  return JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX).toWellFormed())
}

/** A name from a client's body, short enough for an error. */
function shorten(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 61)}…`
}
