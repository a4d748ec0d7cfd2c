/**
 * Decodes one JSON object into the pending row of a RowBlockBuilder, driven by the table's schema.
 * Hot: no object, closure or exception for a row that is right; the members of a row are expected
 * in the order of the row before, so that a name is found by one comparison.
 *
 * A value that its column cannot hold, an unknown member and a missing key column are the row's
 * error; the rest of the row is still read, since bytes that are not JSON end the whole body.
 */

import { cellFromJson, type ValueOptions } from '../../common/cell-json.ts'
import { type DataType, PHYSICAL } from '../../common/data-type.ts'
import { CELL_BYTES_MAX } from '../../common/limits.ts'
import { NumberLiteral } from '../../common/number-literal.ts'
import type { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { StatusError } from '../../common/status.ts'
import { parsedTimestamp, parseTimestampBytes } from '../../common/timestamp.ts'
import { equalBytes, utf8Decode, utf8Encode } from '../../util/bytes.ts'
import { JSON_BYTE, type JsonCursor } from './json-cursor.ts'

/** How a column's fast path reads: what is not of that shape takes the exact and slow one. */
const KIND = {
  integer: 0,
  wide: 1,
  double: 2,
  float: 3,
  text: 4,
  time: 5,
  bool: 6,
  other: 7,
} as const
type Kind = (typeof KIND)[keyof typeof KIND]

const KINDS: Readonly<Record<DataType, Kind>> = {
  BOOL: KIND.bool,
  INT8: KIND.integer,
  INT16: KIND.integer,
  INT32: KIND.integer,
  INT64: KIND.wide,
  FLOAT: KIND.float,
  DOUBLE: KIND.double,
  STRING: KIND.text,
  VARCHAR: KIND.text,
  BINARY: KIND.other,
  UNIXTIME_MICROS: KIND.time,
  DATE: KIND.other,
  DECIMAL: KIND.other,
}

const INTEGER_MAX: Readonly<Record<number, number>> = {
  [PHYSICAL.int8]: 127,
  [PHYSICAL.int16]: 32_767,
  [PHYSICAL.int32]: 2_147_483_647,
}

/** Powers of ten that a double holds exactly. */
const EXACT_POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)
const NO_COLUMN = -1
const TWO_32 = 4_294_967_296

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
  readonly #options: ValueOptions
  readonly #names: readonly Uint8Array[]
  readonly #kinds: Uint8Array
  readonly #integerMax: Float64Array
  readonly #lengthMax: Float64Array
  /** Column of each member of the row before, by position. */
  readonly #order: Int32Array
  /** Problems of the row being read by column index or `member` name; null while there is none. */
  #problems: Map<number | string, RowProblem> | null = null

  constructor(schema: Schema, cursor: JsonCursor, builder: RowBlockBuilder, options: ValueOptions) {
    this.#schema = schema
    this.#cursor = cursor
    this.#builder = builder
    this.#options = options
    const { columns } = schema
    this.#names = columns.map((column) => utf8Encode(column.name))
    this.#kinds = Uint8Array.from(columns, (column) => KINDS[column.type])
    this.#integerMax = Float64Array.from(columns, (column) => INTEGER_MAX[column.physical] ?? 0)
    this.#lengthMax = Float64Array.from(columns, (column) =>
      column.type === 'VARCHAR' ? (column.attributes.length ?? 0) : Number.POSITIVE_INFINITY,
    )
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
      cursor.readName()
      const column = this.#columnOfName(member)
      if (column === NO_COLUMN) this.#skipUnknownMember(depth)
      else this.#decodeCell(column, depth)
      if (cursor.endsList(JSON_BYTE.closeObject)) return
      member++
    }
  }

  /** Column index of the name just read, or NO_COLUMN. */
  #columnOfName(member: number): number {
    const { stringBytes, stringStart, stringEnd } = this.#cursor
    const order = this.#order
    if (member < order.length) {
      const name = this.#names[order[member]]
      if (equalBytes(name, 0, name.length, stringBytes, stringStart, stringEnd)) {
        return order[member]
      }
    }
    if (this.#cursor.hasLoneSurrogate) return NO_COLUMN
    const name = utf8Decode(stringBytes.subarray(stringStart, stringEnd))
    const column = this.#schema.byName(name)
    if (column === undefined) return NO_COLUMN
    if (member < order.length) order[member] = column.index
    return column.index
  }

  #skipUnknownMember(depth: number): void {
    const { stringBytes, stringStart, stringEnd } = this.#cursor
    const name = utf8Decode(stringBytes.subarray(stringStart, stringEnd))
    this.#cursor.skipValue(depth)
    this.#report(name, { message: `unknown column "${shorten(name)}"`, column: shorten(name) })
  }

  #checkKey(): void {
    for (const column of this.#schema.keyColumns) {
      if (this.#problems?.has(column.index)) continue
      const code = this.#builder.hasPending(column.index)
        ? this.#builder.isPendingNull(column.index)
          ? ROW_ERRORS.KEY_COLUMN_NULL
          : 0
        : ROW_ERRORS.KEY_COLUMN_UNSET
      if (code === 0) continue
      const { message } = describeRowError(code, column.name)
      this.#report(column.index, { message, column: column.name })
    }
  }

  #report(key: number | string, problem: RowProblem): void {
    this.#problems ??= new Map()
    // Of a member given twice the last counts: a map keeps the first place, so take it out before.
    this.#problems.delete(key)
    this.#problems.set(key, problem)
  }

  #decodeCell(index: number, depth: number): void {
    const cursor = this.#cursor
    const byte = cursor.peek()
    if (this.#problems !== null) this.#problems.delete(index)
    if (byte === JSON_BYTE.quote) {
      cursor.readString()
      this.#decodeString(index)
    } else if (byte === JSON_BYTE.openObject || byte === JSON_BYTE.openArray) {
      cursor.skipValue(depth)
      const { name, type } = this.#schema.columns[index]
      const what = byte === JSON_BYTE.openObject ? 'an object' : 'an array'
      this.#report(index, { message: `column "${name}": ${what} is not a ${type}`, column: name })
    } else if (byte === 0x6e) {
      cursor.readWord()
      this.#builder.setNull(index)
    } else if (byte === 0x74 || byte === 0x66) {
      cursor.readWord()
      if (this.#kinds[index] === KIND.bool) this.#builder.setNumber(index, byte === 0x74 ? 1 : 0)
      else this.#decodeSlowly(index, byte === 0x74)
    } else {
      cursor.readNumber()
      this.#decodeNumber(index)
    }
    if (this.#problems !== null && this.#problems.size === 0) this.#problems = null
  }

  #decodeNumber(index: number): void {
    const cursor = this.#cursor
    const value = cursor.shortInteger
    const kind = this.#kinds[index]
    if (cursor.isShortInteger) {
      if (kind === KIND.integer) {
        const max = this.#integerMax[index]
        if (value <= max && value >= -max - 1) {
          this.#builder.setNumber(index, value)
          return
        }
      } else if (kind === KIND.wide) {
        this.#builder.setPair(index, value >>> 0, Math.floor(value / TWO_32) | 0)
        return
      }
    }
    if (kind === KIND.double || kind === KIND.float) {
      const double = cursor.isShortInteger
        ? value
        : decodeDouble(cursor.bytes, cursor.numberStart, cursor.position)
      if (kind === KIND.double ? Number.isFinite(double) : roundsOnceToFloat(double)) {
        this.#builder.setNumber(index, double)
        return
      }
    }
    const literal = cursor.bytes.subarray(cursor.numberStart, cursor.position)
    this.#decodeSlowly(index, new NumberLiteral(utf8Decode(literal)))
  }

  #decodeString(index: number): void {
    const cursor = this.#cursor
    const { stringBytes, stringStart, stringEnd } = cursor
    const kind = this.#kinds[index]
    if (kind === KIND.text && !cursor.hasLoneSurrogate) {
      const bytes = stringEnd - stringStart
      if (bytes <= CELL_BYTES_MAX && bytes <= this.#lengthMax[index]) {
        this.#builder.setBytes(index, stringBytes, stringStart, stringEnd)
        return
      }
    } else if (kind === KIND.time && parseTimestampBytes(stringBytes, stringStart, stringEnd)) {
      this.#builder.setPair(index, parsedTimestamp.low, parsedTimestamp.high)
      return
    }
    // A lone surrogate was read as U+FFFD; the slow path must see what it was.
    const text = utf8Decode(stringBytes.subarray(stringStart, stringEnd))
    this.#decodeSlowly(index, cursor.hasLoneSurrogate ? '\ud800' : text)
  }

  /** Decodes any value exactly, or reports why the column cannot hold it. */
  #decodeSlowly(index: number, value: boolean | string | NumberLiteral): void {
    const column: Column = this.#schema.columns[index]
    try {
      this.#builder.setCell(index, cellFromJson(column, value, this.#options))
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      this.#report(index, { message: error.message, column: column.name })
    }
  }
}

function firstOf(problems: Map<number | string, RowProblem>): RowProblem {
  for (const problem of problems.values()) return problem
  return { message: '' }
}

/** A name from a client's body, short enough for an error. */
function shorten(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 61)}…`
}

/**
 * The double nearest to a JSON number with a point or an exponent.
 *
 * Up to 15 digits and a power of ten up to 22 both are exact doubles, so one rounded operation
 * gives the nearest (W. D. Clinger, "How to read floating point numbers accurately", 1990); else
 * the platform reads it.
 */
function decodeDouble(bytes: Uint8Array, start: number, end: number): number {
  let position = bytes[start] === JSON_BYTE.minus ? start + 1 : start
  let mantissa = 0
  let digits = 0
  let fraction = 0
  let hasPoint = false
  while (position < end) {
    const byte = bytes[position]
    if (byte === JSON_BYTE.point) {
      hasPoint = true
    } else if (byte >= JSON_BYTE.zero && byte <= JSON_BYTE.nine) {
      mantissa = mantissa * 10 + (byte - JSON_BYTE.zero)
      if (mantissa !== 0) digits++
      if (hasPoint) fraction++
    } else {
      break
    }
    position++
  }
  if (position < end || digits > 15 || fraction > 22) {
    return Number(utf8Decode(bytes.subarray(start, end)))
  }
  const value = mantissa / EXACT_POWERS[fraction]
  return bytes[start] === JSON_BYTE.minus ? -value : value
}

const scratchDouble = new Float64Array(1)
const scratchWords = new Uint32Array(scratchDouble.buffer)
const FLOAT_MAX = 3.4028234663852886e38
const FLOAT_NORMAL_MIN = 1.1754943508222875e-38

/**
 * Whether rounding the double nearest to a decimal gives the float nearest to that decimal: unless
 * the double lies in the middle between two floats, where the decimal may lie on either side of it.
 */
function roundsOnceToFloat(double: number): boolean {
  const size = Math.abs(double)
  if (size === 0) return true
  if (!(size >= FLOAT_NORMAL_MIN && size <= FLOAT_MAX)) return false
  scratchDouble[0] = double
  return (scratchWords[0] & 0x1fff_ffff) !== 0x1000_0000
}
