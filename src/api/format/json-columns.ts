/**
 * Cells of one column as JSON values, many rows at a time. Hot.
 *
 *   measure   the bytes of each row's cell, added to the row's size
 *   write     the cells, each at the place where its row has got to
 *
 * Measured first, every cell of a run of rows is written where it belongs, whichever column comes
 * first: so the rows are written column after column, each in a loop that knows its type. A writer
 * that cannot measure some cells by its simple rule says so, and another one, which can
 * write anything, takes the run.
 */

import { CELL_KINDS, type CellPlan } from '../../common/cell-plan.ts'
import { appendJsonCell } from '../../common/cell-writer.ts'
import type { ColumnVector, Lanes } from '../../common/column-vector.ts'
import { appendDate } from '../../common/date.ts'
import { ByteArena, copyBytes } from '../../util/arena.ts'
import { HIGH_BITS, markSpecial } from './ascii-words.ts'

/** Rows of a run at most. */
export const JSON_RUN_ROWS_MAX = 64

/** Writes the cells of a column; rows `[start, start + count)`, at most JSON_RUN_ROWS_MAX. */
export interface JsonColumnWriter {
  /**
   * Adds the bytes of each cell to `sizes`. Returns: false when it cannot write these cells, and
   * `sizes` is as it was.
   */
  measure(cells: ColumnVector, start: number, count: number, sizes: Int32Array): boolean
  /**
   * Writes the cells that were measured last, each at its row's place, which then lies behind it.
   * Requires: `places[i]` plus what was measured is within `bytes`.
   */
  write(cells: ColumnVector, start: number, bytes: Uint8Array, places: Int32Array): void
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BACKSLASHES = 0x5c5c_5c5c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NULL_TEXT = Uint8Array.of(0x6e, 0x75, 0x6c, 0x6c)
const BILLION = 1_000_000_000
/** Integers whose high word is below this in magnitude are exact as numbers. */
const SAFE_HIGH_WORD = 2 ** 20

/** Bytes of a string that JSON writes as they are. */
const isPlain = new Uint8Array(256).fill(1, 0x20, 0x80)
isPlain[QUOTE] = 0
isPlain[BACKSLASH] = 0

const PAIRS = new Uint8Array(200)
for (let i = 0; i < 100; i++) {
  PAIRS[i * 2] = ZERO + Math.floor(i / 10)
  PAIRS[i * 2 + 1] = ZERO + (i % 10)
}

const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

/** The writer for the cells of a column that is best at them. */
export function createColumnWriter(plan: CellPlan): JsonColumnWriter {
  switch (plan.kind) {
    case CELL_KINDS.integer:
      return new FixedWriter(1, 0, false)
    case CELL_KINDS.int64:
      return new FixedWriter(2, 0, plan.isInt64Quoted)
    case CELL_KINDS.decimal32:
      return new FixedWriter(1, plan.scale, true)
    case CELL_KINDS.decimal64:
      return plan.scale < POWERS.length ? new FixedWriter(2, plan.scale, true) : new AnyWriter(plan)
    case CELL_KINDS.date:
      return new DateWriter()
    case CELL_KINDS.string:
      return new StringWriter()
    default:
      return new AnyWriter(plan)
  }
}

/** A writer for whatever cells a column can have. */
export function createAnyWriter(plan: CellPlan): JsonColumnWriter {
  return new AnyWriter(plan)
}

/** Writes each cell by itself, then copies it. */
class AnyWriter implements JsonColumnWriter {
  readonly #plan: CellPlan
  readonly #text = new ByteArena(4096)
  readonly #ends = new Int32Array(JSON_RUN_ROWS_MAX)
  #count = 0

  constructor(plan: CellPlan) {
    this.#plan = plan
  }

  measure(cells: ColumnVector, start: number, count: number, sizes: Int32Array): boolean {
    const text = this.#text
    text.truncate(0)
    for (let i = 0, before = 0; i < count; i++) {
      appendJsonCell(text, this.#plan, cells, start + i)
      this.#ends[i] = text.length
      sizes[i] += text.length - before
      before = text.length
    }
    this.#count = count
    return true
  }

  write(_cells: ColumnVector, _start: number, bytes: Uint8Array, places: Int32Array): void {
    const text = this.#text.bytes
    for (let i = 0, from = 0; i < this.#count; i++) {
      const end = this.#ends[i]
      copyBytes(text, from, end, bytes, places[i])
      places[i] += end - from
      from = end
    }
  }
}

/**
 * Integers of 53 bits at most, divided by ten to the power of a scale. `stride` 1: numbers; 2:
 * pairs of words, low word first.
 */
class FixedWriter implements JsonColumnWriter {
  readonly #stride: number
  readonly #scale: number
  readonly #isQuoted: boolean
  readonly #values = new Float64Array(JSON_RUN_ROWS_MAX)
  readonly #lengths = new Uint8Array(JSON_RUN_ROWS_MAX)
  #count = 0

  constructor(stride: number, scale: number, isQuoted: boolean) {
    this.#stride = stride
    this.#scale = scale
    this.#isQuoted = isQuoted
  }

  measure(cells: ColumnVector, start: number, count: number, sizes: Int32Array): boolean {
    const isSafe =
      this.#stride === 1
        ? this.#takeNumbers(cells.lanes, start, count)
        : this.#takePairs(cells.lanes, start, count)
    if (!isSafe) return false
    this.#count = count
    const values = this.#values
    const lengths = this.#lengths
    const scale = this.#scale
    const extra = (this.#isQuoted ? 2 : 0) + (scale > 0 ? 1 : 0)
    for (let i = 0; i < count; i++) {
      const value = values[i]
      const magnitude = value < 0 ? -value : value
      let digits = digitsOf(magnitude)
      if (digits <= scale) digits = scale + 1
      const length = digits + extra + (value < 0 ? 1 : 0)
      lengths[i] = length
      sizes[i] += length
    }
    if (cells.validity !== null) this.#measureNulls(cells, start, count, sizes)
    return true
  }

  #takeNumbers(lanes: Lanes, start: number, count: number): boolean {
    for (let i = 0; i < count; i++) this.#values[i] = lanes[start + i]
    return true
  }

  #takePairs(lanes: Lanes, start: number, count: number): boolean {
    const values = this.#values
    for (let i = 0, at = start * 2; i < count; i++, at += 2) {
      const high = lanes[at + 1] | 0
      if (high >= SAFE_HIGH_WORD || high < -SAFE_HIGH_WORD) return false
      values[i] = high * 2 ** 32 + (lanes[at] >>> 0)
    }
    return true
  }

  #measureNulls(cells: ColumnVector, start: number, count: number, sizes: Int32Array): void {
    for (let i = 0; i < count; i++) {
      if (!cells.isNull(start + i)) continue
      sizes[i] += NULL_TEXT.length - this.#lengths[i]
      this.#lengths[i] = 0
    }
  }

  write(_cells: ColumnVector, _start: number, bytes: Uint8Array, places: Int32Array): void {
    const values = this.#values
    const lengths = this.#lengths
    const scale = this.#scale
    const quote = this.#isQuoted ? 1 : 0
    for (let i = 0; i < this.#count; i++) {
      const at = places[i]
      const length = lengths[i]
      if (length === 0) {
        places[i] = writeNull(bytes, at)
        continue
      }
      const value = values[i]
      const end = at + length
      places[i] = end
      if (quote === 1) {
        bytes[at] = QUOTE
        bytes[end - 1] = QUOTE
      }
      if (value < 0) bytes[at + quote] = MINUS
      const magnitude = value < 0 ? -value : value
      const first = at + quote + (value < 0 ? 1 : 0)
      if (scale === 0) writeDigits(magnitude, bytes, first, end - quote)
      else writePoint(magnitude, scale, bytes, first, end - quote)
    }
  }
}

/** Days as `"YYYY-MM-DD"`. Lately written ones are remembered. */
class DateWriter implements JsonColumnWriter {
  readonly #text = new ByteArena(32)
  /** Texts of 12 bytes as words, quotes included, by the low bits of their day. */
  readonly #words = new Int32Array(DATE_SLOTS * 3)
  readonly #days = new Int32Array(DATE_SLOTS).fill(NO_DAY)
  #count = 0

  measure(cells: ColumnVector, start: number, count: number, sizes: Int32Array): boolean {
    const days = cells.lanes
    for (let i = 0; i < count; i++) {
      const day = days[start + i]
      if (this.#days[day & DATE_MASK] !== day && !this.#remember(day)) return this.#undo(i, sizes)
      sizes[i] += DATE_BYTES
    }
    for (let i = 0; i < count && cells.validity !== null; i++) {
      if (cells.isNull(start + i)) sizes[i] += NULL_TEXT.length - DATE_BYTES
    }
    this.#count = count
    return true
  }

  #undo(count: number, sizes: Int32Array): boolean {
    for (let i = 0; i < count; i++) sizes[i] -= DATE_BYTES
    return false
  }

  /** Returns: whether the day's text has the length of nearly all. */
  #remember(day: number): boolean {
    const text = this.#text
    text.truncate(0)
    text.reserve(DATE_BYTES)
    text.bytes[text.length++] = QUOTE
    appendDate(text, day)
    text.reserve(1)
    text.bytes[text.length++] = QUOTE
    if (text.length !== DATE_BYTES) return false
    const slot = day & DATE_MASK
    const view = new DataView(text.bytes.buffer, text.bytes.byteOffset)
    for (let word = 0; word < 3; word++) {
      this.#words[slot * 3 + word] = view.getInt32(word * 4, true)
    }
    this.#days[slot] = day
    return true
  }

  write(cells: ColumnVector, start: number, bytes: Uint8Array, places: Int32Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const days = cells.lanes
    const words = this.#words
    const hasNulls = cells.validity !== null
    for (let i = 0; i < this.#count; i++) {
      const at = places[i]
      if (hasNulls && cells.isNull(start + i)) {
        places[i] = writeNull(bytes, at)
        continue
      }
      const day = days[start + i]
      // Of two days in one run that share a slot, the second has taken it.
      if (this.#days[day & DATE_MASK] !== day) this.#remember(day)
      const word = (day & DATE_MASK) * 3
      view.setInt32(at, words[word], true)
      view.setInt32(at + 4, words[word + 1], true)
      view.setInt32(at + 8, words[word + 2], true)
      places[i] = at + DATE_BYTES
    }
  }
}

const DATE_BYTES = 12
const DATE_SLOTS = 4096
const DATE_MASK = DATE_SLOTS - 1
/** No date is this far away. */
const NO_DAY = 0x7fff_ffff

/** Strings in which nothing needs to be escaped. */
class StringWriter implements JsonColumnWriter {
  #count = 0

  measure(cells: ColumnVector, start: number, count: number, sizes: Int32Array): boolean {
    const { offsets } = cells
    if (!arePlain(cells.bytes, offsets[start], offsets[start + count])) return false
    for (let i = 0; i < count; i++) sizes[i] += offsets[start + i + 1] - offsets[start + i] + 2
    for (let i = 0; i < count && cells.validity !== null; i++) {
      if (cells.isNull(start + i)) sizes[i] += NULL_TEXT.length - 2
    }
    this.#count = count
    return true
  }

  write(cells: ColumnVector, start: number, bytes: Uint8Array, places: Int32Array): void {
    const source = viewOf(cells.bytes)
    const target = viewOf(bytes)
    const { offsets } = cells
    const hasNulls = cells.validity !== null
    for (let i = 0; i < this.#count; i++) {
      let at = places[i]
      if (hasNulls && cells.isNull(start + i)) {
        places[i] = writeNull(bytes, at)
        continue
      }
      bytes[at++] = QUOTE
      let from = offsets[start + i]
      const end = offsets[start + i + 1]
      for (; from + 4 <= end; from += 4, at += 4) {
        target.setInt32(at, source.getInt32(from, true), true)
      }
      for (; from < end; from++) bytes[at++] = source.getUint8(from)
      bytes[at++] = QUOTE
      places[i] = at
    }
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Whether JSON writes all of `bytes[start, end)` as they are. */
function arePlain(bytes: Uint8Array, start: number, end: number): boolean {
  const view = viewOf(bytes)
  let marks = 0
  let at = start
  for (; at + 4 <= end; at += 4) marks |= markSpecial(view.getInt32(at, true), BACKSLASHES)
  for (; at < end; at++) marks |= isPlain[bytes[at]] - 1
  return (marks & HIGH_BITS) === 0
}

function writeNull(bytes: Uint8Array, at: number): number {
  bytes[at] = NULL_TEXT[0]
  bytes[at + 1] = NULL_TEXT[1]
  bytes[at + 2] = NULL_TEXT[2]
  bytes[at + 3] = NULL_TEXT[3]
  return at + NULL_TEXT.length
}

/** Digits of an integer in `[0, 2^53]`, one for 0. */
function digitsOf(value: number): number {
  if (value < BILLION) return smallDigits(value)
  let digits = 10
  while (digits < POWERS.length && value >= POWERS[digits]) digits++
  return digits
}

function smallDigits(value: number): number {
  if (value < 100_000) {
    if (value < 100) return value < 10 ? 1 : 2
    return value < 1000 ? 3 : value < 10_000 ? 4 : 5
  }
  if (value < 10_000_000) return value < 1_000_000 ? 6 : 7
  return value < 100_000_000 ? 8 : 9
}

/** Writes an integer in `[0, 2^53]` to `[start, end)`, zeros in front of it. */
function writeDigits(value: number, bytes: Uint8Array, start: number, end: number): void {
  let rest = value
  let at = end
  while (rest >= BILLION) {
    const quotient = Math.floor(rest / BILLION)
    writeSmall((rest - quotient * BILLION) | 0, bytes, at - 9, at)
    at -= 9
    rest = quotient
  }
  writeSmall(rest | 0, bytes, start, at)
}

/** As `writeDigits`, of an integer below 10^9. */
function writeSmall(value: number, bytes: Uint8Array, start: number, end: number): void {
  let small = value
  let at = end
  while (at - start >= 2) {
    const quotient = (small / 100) | 0
    const pair = (small - quotient * 100) * 2
    bytes[--at] = PAIRS[pair + 1]
    bytes[--at] = PAIRS[pair]
    small = quotient
  }
  if (at > start) bytes[start] = ZERO + small
}

/** Writes an integer in `[0, 2^53]` with the point before its last `scale` digits. */
function writePoint(
  value: number,
  scale: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const power = POWERS[scale]
  let whole = Math.floor(value / power)
  let fraction = value - whole * power
  // The quotient of large numbers may have been rounded up to the next integer.
  if (fraction < 0) {
    whole--
    fraction += power
  }
  const point = end - scale - 1
  writeDigits(fraction, bytes, point + 1, end)
  bytes[point] = POINT
  writeDigits(whole, bytes, start, point)
}
