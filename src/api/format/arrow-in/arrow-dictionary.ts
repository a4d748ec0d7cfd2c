/**
 * The values of a column whose cells are numbers of values, as cells of that column. Hot where
 * cells are looked up.
 */

import type { CellPlan } from '../../../common/cell-plan.ts'
import { ColumnBuilder } from '../../../common/column-builder.ts'
import type { ColumnVector } from '../../../common/column-vector.ts'
import { LANE_BYTES } from '../../../common/data-type.ts'
import { ARROW_DICTIONARY_BYTES_MAX } from '../../../common/limits.ts'
import { invalidArgument } from '../../../common/status.ts'
import { getBit } from '../../../util/bitmap.ts'
import type { ArrowArray } from './arrow-array.ts'
import { wordsOf } from './arrow-numbers.ts'
import type { Converter } from './arrow-run.ts'
import { rangeBytes } from './byte-ranges.ts'
import { showCell } from './describe-cell.ts'
import { endCells } from './end-cells.ts'
import { type RowMark, RowMarks, RUN_ROW_COUNT_MAX } from './row-marks.ts'

/** Values that a column cannot hold and of which it is kept how errors show them. */
const SHOWN_COUNT_MAX = 100
const NULL_ENTRY = 0
/** A bound of the bytes of a run that is so low that nobody needs to know them. */
const BOUND_BYTES_MAX = 1024 * 1024

const scratchEntries = new Uint32Array(RUN_ROW_COUNT_MAX)
const scratchMarks = new RowMarks()

/**
 * Values of one column.
 *
 *  I1  entry 0 is null, value i is entry i + 1.
 */
export class ArrowDictionary {
  readonly #plan: CellPlan
  readonly #convert: Converter
  readonly #builder: ColumnBuilder
  #vector: ColumnVector
  /** Marks of entries from the first on; those behind them have none. */
  #marks: Uint8Array | null = null
  readonly #shown = new Map<number, string>()
  #cellBytesMax = 0

  constructor(plan: CellPlan, convert: Converter) {
    this.#plan = plan
    this.#convert = convert
    this.#builder = new ColumnBuilder(plan.column.physical)
    this.#builder.appendNull(true)
    this.#vector = this.#builder.view()
  }

  /** Bytes of the values. */
  get usedBytes(): number {
    return this.#builder.usedBytes
  }

  /** Bytes that the values take in memory. */
  get heldBytes(): number {
    return this.#builder.heldBytes + (this.#marks?.length ?? 0)
  }

  /**
   * Takes values: behind those that there are, or in their place.
   *
   * Throws: INVALID_ARGUMENT when they take more than `bytesMax` in all.
   */
  load(array: ArrowArray, isDelta: boolean, bytesMax: number): void {
    if (!isDelta) this.#reset()
    const builder = this.#builder
    const laneBytes = (LANE_BYTES[builder.physical] || 4) + 1
    if ((builder.rowCount + array.rowCount) * laneBytes > bytesMax) throw tooLarge()
    for (let start = 0; start < array.rowCount; start += RUN_ROW_COUNT_MAX) {
      const count = Math.min(RUN_ROW_COUNT_MAX, array.rowCount - start)
      const bytes = builder.usedBytes + rangeBytes(array, start, count)
      if (bytes > bytesMax) throw tooLarge()
      this.#append(array, start, count)
    }
    if (array.cellBytesMax > this.#cellBytesMax) this.#cellBytesMax = array.cellBytesMax
    this.#vector = builder.view()
  }

  /** Throws: INVALID_ARGUMENT when a number is that of no value. */
  check(numbers: ArrowArray): void {
    const { values, validity, type, rowCount } = numbers
    const words = wordsOf(type)
    const valueCount = this.#builder.rowCount - 1
    let isInside = true
    for (let row = 0; row < rowCount; row++) {
      if (validity !== null && !getBit(validity, row)) continue
      const number = values[row * words]
      if (!(number >= 0 && number < valueCount)) isInside = false
      if (words === 2 && values[row * 2 + 1] !== 0) isInside = false
    }
    if (!isInside) throw invalidArgument('a number is that of no value of its dictionary')
  }

  /** The most bytes of values that rows `[start, start + count)` have together. */
  bytesOf(numbers: ArrowArray, start: number, count: number): number {
    const bound = this.#cellBytesMax * count
    if (bound <= BOUND_BYTES_MAX) return bound
    findEntries(numbers, start, count)
    const { offsets } = this.#vector
    let bytes = 0
    for (let i = 0; i < count; i++) {
      bytes += offsets[scratchEntries[i] + 1] - offsets[scratchEntries[i]]
    }
    return bytes
  }

  /** Appends the cells of rows `[start, start + count)`. Requires: the numbers were checked. */
  appendCells(
    numbers: ArrowArray,
    start: number,
    count: number,
    column: ColumnBuilder,
    marks: RowMarks,
  ): void {
    findEntries(numbers, start, count)
    column.appendRows(this.#vector, scratchEntries, 0, count)
    const entryMarks = this.#marks
    if (entryMarks === null) return
    for (let i = 0; i < count; i++) {
      const entry = scratchEntries[i]
      const mark = entry < entryMarks.length ? entryMarks[entry] : 0
      if (mark !== 0) marks.mark(i, mark as RowMark)
    }
  }

  /** How errors show the value that a row has. */
  shown(numbers: ArrowArray, row: number): string {
    findEntries(numbers, row, 1)
    return this.#shown.get(scratchEntries[0]) ?? 'a value'
  }

  #reset(): void {
    this.#builder.clear()
    this.#builder.appendNull(true)
    this.#marks = null
    this.#shown.clear()
    this.#cellBytesMax = 0
  }

  #append(array: ArrowArray, start: number, count: number): void {
    const column = this.#builder
    const first = column.rowCount
    scratchMarks.clear()
    column.reserve(count)
    this.#convert({ array, start, count, column, plan: this.#plan, marks: scratchMarks })
    endCells(column, array, start, count)
    if (scratchMarks.count > 0) this.#keepMarks(array, start, count, first)
  }

  #keepMarks(array: ArrowArray, start: number, count: number, first: number): void {
    const marks = new Uint8Array(this.#builder.rowCount)
    if (this.#marks !== null) marks.set(this.#marks)
    for (let i = 0; i < count; i++) {
      const mark = scratchMarks.marks[i]
      if (mark === 0) continue
      marks[first + i] = mark
      if (this.#shown.size < SHOWN_COUNT_MAX) this.#shown.set(first + i, showCell(array, start + i))
    }
    this.#marks = marks
  }
}

/** Puts the entry of each row of a run into scratch. */
function findEntries(numbers: ArrowArray, start: number, count: number): void {
  const { values, validity, type } = numbers
  const words = wordsOf(type)
  for (let i = 0, row = start; i < count; i++, row++) {
    const isNull = validity !== null && !getBit(validity, row)
    scratchEntries[i] = isNull ? NULL_ENTRY : values[row * words] + 1
  }
}

function tooLarge(): Error {
  const limit = ARROW_DICTIONARY_BYTES_MAX
  return invalidArgument(`dictionaries are larger than the limit of ${limit} bytes`, { limit })
}
