/** Rows as JSON objects. Hot. */

import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import { appendJsonCell, appendTextCell } from '../../common/cell-writer.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { concatBytes, EMPTY_BYTES } from '../../util/bytes.ts'
import {
  createAnyWriter,
  createColumnWriter,
  JSON_RUN_ROWS_MAX,
  type JsonColumnWriter,
} from './json-columns.ts'
import { JSON_BYTE } from './json-cursor.ts'
import { openingOf } from './member-names.ts'
import { STEP_ROW_COUNT } from './step-row-count.ts'

const NEWLINE = 0x0a
// The letters of `null` as a word.
const NULL_WORD = 0x6c6c_756e

/** Whether cells of a column are strings in JSON. */
const QUOTING = { never: 0, always: 1, byValue: 2 } as const

/** Writes objects whose members are all columns in their order; see RowEncoder. */
export class JsonRowEncoder {
  readonly holdsRows = false
  readonly stepRowCount = STEP_ROW_COUNT.text
  readonly #plans: readonly CellPlan[]
  readonly #quoting: Uint8Array
  /**
   * What precedes each cell, `{"first":` or `,"second":`, in words, the last one filled up: they
   * begin at an even one. The same as doubles, which are written at once; each one's bytes.
   */
  readonly #words: Int32Array
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  readonly #pairs: Float64Array
  readonly #pairEnds: Int32Array
  readonly #lengths: Int32Array
  readonly #isLine: boolean
  /** Bytes of a row beside its cells: what precedes them, and what ends it. */
  readonly #fixedBytes: number
  /** Made when a run of rows is written: whoever writes single ones needs none. */
  readonly #bestWriters: JsonColumnWriter[] = []
  readonly #anyWriters: JsonColumnWriter[] = []
  /** Of a run of rows: who writes each column, the bytes of each row, where each has got to. */
  readonly #writers: JsonColumnWriter[] = []
  readonly #sizes = new Int32Array(JSON_RUN_ROWS_MAX)
  readonly #places = new Int32Array(JSON_RUN_ROWS_MAX)
  /** The arena's bytes as they were last, as a view. */
  #viewed: Uint8Array = EMPTY_BYTES
  #view: DataView = new DataView(EMPTY_BYTES.buffer)

  constructor(columns: readonly Column[], options: ValueOptions, isLine: boolean) {
    this.#plans = columns.map((column) => planCell(column, options))
    this.#quoting = Uint8Array.from(this.#plans, quotingOf)
    this.#isLine = isLine
    const prefixes = columns.map(({ name }, index) => {
      const first = Uint8Array.of(index === 0 ? JSON_BYTE.openObject : JSON_BYTE.comma)
      return concatBytes(first, openingOf(name))
    })
    this.#lengths = Int32Array.from(prefixes, (prefix) => prefix.length)
    this.#starts = new Int32Array(columns.length)
    this.#ends = new Int32Array(columns.length)
    const words: number[] = []
    for (let index = 0; index < prefixes.length; index++) {
      this.#starts[index] = words.length
      words.push(...filledWords(prefixes[index]))
      this.#ends[index] = words.length
      if (words.length % 2 !== 0) words.push(0)
    }
    this.#words = Int32Array.from(words)
    this.#pairs = new Float64Array(this.#words.buffer)
    this.#pairEnds = this.#ends.map((end, index) => {
      const start = this.#starts[index] >>> 1
      // Not every bit of a NaN may be written as it is; no name is likely to look like one.
      const hasNaN = this.#pairs.subarray(start, end >>> 1).some(Number.isNaN)
      return hasNaN ? start : end >>> 1
    })
    this.#fixedBytes = this.#lengths.reduce((sum, length) => sum + length, 2)
  }

  appendHeader(): void {}

  appendFooter(): void {}

  appendRow(block: RowBlock, row: number, out: ByteArena): void {
    const { columns } = block
    const count = this.#plans.length
    if (count === 0) {
      out.reserve(1)
      out.bytes[out.length++] = JSON_BYTE.openObject
    }
    for (let index = 0; index < count; index++) {
      this.#appendPrefix(index, out)
      const vector = columns[index]
      if (vector.isNull(row)) {
        this.#view.setInt32(out.length, NULL_WORD, true)
        out.length += 4
      } else if (this.#quoting[index] === QUOTING.never) {
        appendTextCell(out, this.#plans[index], vector, row)
      } else if (this.#quoting[index] === QUOTING.always) {
        out.bytes[out.length++] = JSON_BYTE.quote
        appendTextCell(out, this.#plans[index], vector, row)
        out.reserve(1)
        out.bytes[out.length++] = JSON_BYTE.quote
      } else {
        appendJsonCell(out, this.#plans[index], vector, row)
      }
    }
    out.reserve(2)
    out.bytes[out.length++] = JSON_BYTE.closeObject
    if (this.#isLine) out.bytes[out.length++] = NEWLINE
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    for (let row = start; row < end; row += JSON_RUN_ROWS_MAX) {
      this.#appendRun(block, row, Math.min(JSON_RUN_ROWS_MAX, end - row), row > start, out)
    }
  }

  /** Appends a run of rows column by column; see json-columns.ts. */
  #appendRun(
    block: RowBlock,
    start: number,
    count: number,
    isContinued: boolean,
    out: ByteArena,
  ): void {
    const { columns } = block
    const columnCount = this.#plans.length
    const sizes = this.#sizes.fill(this.#fixedBytes, 0, count)
    if (columnCount === 0) sizes.fill(this.#fixedBytes + 1, 0, count)
    for (let index = 0; index < columnCount; index++) {
      this.#writers[index] = this.#measured(index, columns[index], start, count)
    }
    const end = this.#findPlaces(count, isContinued, out)
    const view = new DataView(out.bytes.buffer, out.bytes.byteOffset, out.bytes.length)
    for (let index = 0; index < columnCount; index++) {
      this.#writePrefixes(index, count, view)
      this.#writers[index].write(columns[index], start, out.bytes, this.#places)
    }
    this.#writeEnds(count, columnCount === 0, isContinued, out)
    out.length = end
  }

  /** The writer that has measured a column. */
  #measured(index: number, cells: ColumnVector, start: number, count: number): JsonColumnWriter {
    const best = this.#bestWriters[index] ?? createColumnWriter(this.#plans[index])
    this.#bestWriters[index] = best
    if (best.measure(cells, start, count, this.#sizes)) return best
    const any = this.#anyWriters[index] ?? createAnyWriter(this.#plans[index])
    this.#anyWriters[index] = any
    any.measure(cells, start, count, this.#sizes)
    return any
  }

  /** Finds where each row begins, and makes room. Returns: where the last one ends. */
  #findPlaces(count: number, isContinued: boolean, out: ByteArena): number {
    let total = isContinued && !this.#isLine ? 1 : 0
    for (let i = 0; i < count; i++) total += this.#sizes[i]
    // The last row has no comma behind it; a prefix is written in whole words.
    out.reserve(total + 4)
    let at = out.length + (isContinued && !this.#isLine ? 1 : 0)
    for (let i = 0; i < count; i++) {
      this.#places[i] = at
      at += this.#sizes[i]
    }
    return this.#isLine ? at : at - 1
  }

  #writePrefixes(index: number, count: number, view: DataView): void {
    const words = this.#words
    const pairs = this.#pairs
    const firstPair = this.#starts[index] >>> 1
    const pairEnd = this.#pairEnds[index]
    const firstWord = pairEnd * 2
    const end = this.#ends[index]
    const length = this.#lengths[index]
    const places = this.#places
    for (let i = 0; i < count; i++) {
      let offset = places[i]
      places[i] = offset + length
      for (let pair = firstPair; pair < pairEnd; pair++, offset += 8) {
        view.setFloat64(offset, pairs[pair], true)
      }
      for (let word = firstWord; word < end; word++, offset += 4) {
        view.setInt32(offset, words[word], true)
      }
    }
  }

  #writeEnds(count: number, isEmpty: boolean, isContinued: boolean, out: ByteArena): void {
    const { bytes } = out
    const separator = this.#isLine ? NEWLINE : JSON_BYTE.comma
    if (isContinued && !this.#isLine) bytes[out.length] = JSON_BYTE.comma
    for (let i = 0; i < count; i++) {
      let at = this.#places[i]
      if (isEmpty) bytes[at++] = JSON_BYTE.openObject
      bytes[at] = JSON_BYTE.closeObject
      if (this.#isLine || i < count - 1) bytes[at + 1] = separator
    }
  }

  /** Appends what precedes a cell, and makes room for four bytes more. */
  #appendPrefix(index: number, out: ByteArena): void {
    const length = this.#lengths[index]
    out.reserve(length + 7)
    if (out.bytes !== this.#viewed) {
      this.#viewed = out.bytes
      this.#view = new DataView(out.bytes.buffer, out.bytes.byteOffset, out.bytes.length)
    }
    const view = this.#view
    const words = this.#words
    const end = this.#ends[index]
    let offset = out.length
    for (let word = this.#starts[index]; word < end; word++, offset += 4) {
      view.setInt32(offset, words[word], true)
    }
    out.length += length
  }
}

function quotingOf(plan: CellPlan): number {
  switch (plan.kind) {
    case CELL_KINDS.bool:
    case CELL_KINDS.integer:
      return QUOTING.never
    case CELL_KINDS.int64:
      return plan.isInt64Quoted ? QUOTING.always : QUOTING.never
    case CELL_KINDS.timestamp:
      return plan.timestamps === 'rfc3339' ? QUOTING.always : QUOTING.never
    case CELL_KINDS.float:
    case CELL_KINDS.double:
    case CELL_KINDS.string:
      return QUOTING.byValue
    default:
      return QUOTING.always
  }
}

/** Bytes as words, the last one filled up with zeros. */
function filledWords(bytes: Uint8Array): Int32Array {
  const filled = new Uint8Array((bytes.length + 3) & ~3)
  filled.set(bytes)
  return new Int32Array(filled.buffer)
}
