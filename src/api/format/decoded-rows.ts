/**
 * Rows that a format decoder has read and the front has not yet sent on, with what was wrong with
 * others.
 */

import { LANE_BYTES } from '../../common/data-type.ts'
import { ROW_ERROR_COUNT_MAX, SHARE_ROW_COUNT_MAX } from '../../common/limits.ts'
import { type BlockColumn, RowBlockBuilder } from '../../common/row-block-builder.ts'
import type { Schema } from '../../common/schema.ts'
import type { RowProblem } from './json-row-decoder.ts'

/** Bytes of a batch at which a decoder stops to have it taken, values and spare lanes counted. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024
const ROW_COUNT_MIN = 64
/** Bytes of values that a batch which was taken may keep room for. */
const BYTES_KEPT_MAX = 4 * BATCH_BYTES_MAX

/** A row that could not be decoded. `rowIndex` counts the rows of the request from 0. */
export interface DecodeProblem extends RowProblem {
  readonly rowIndex: number
}

/**
 * A batch of decoded rows: all columns of the schema in schema order, operations, and for each row
 * its number in the request.
 *
 *  I1  `rowIndexes[i]`, i < builder.rowCount, ascends strictly;
 *  I2  `nextRowIndex` is above every row index and every problem's.
 */
export class DecodedRows {
  readonly builder: RowBlockBuilder
  /** Request row number of each builder row. Replaced when it grows. */
  rowIndexes = new Uint32Array(64)
  /** Number of the next row of the request. */
  nextRowIndex = 0
  /** The first problems of this batch, in row order, at most ROW_ERROR_COUNT_MAX. */
  problems: DecodeProblem[] = []
  /** All rows of this batch that could not be decoded. */
  failedCount = 0
  readonly #rowCountMax: number

  constructor(schema: Schema) {
    const columns = schema.columns.map(({ id, physical }) => ({ id, physical }))
    this.builder = new RowBlockBuilder(columns, true, ROW_COUNT_MIN)
    this.#rowCountMax = rowCountOf(columns)
  }

  /** Whether the batch should be taken before more is decoded. */
  get isFull(): boolean {
    const { rowCount } = this.builder
    return rowCount >= this.#rowCountMax || this.builder.usedBytes >= BATCH_BYTES_MAX
  }

  /** Rows that the batch has room for. */
  get rowsLeft(): number {
    return Math.max(0, this.#rowCountMax - this.builder.rowCount)
  }

  /** Bytes that the batch has room for. */
  get bytesLeft(): number {
    return Math.max(0, BATCH_BYTES_MAX - this.builder.usedBytes)
  }

  /** Whether the next problem is one of those that are told rather than counted. */
  get keepsProblems(): boolean {
    return this.problems.length < ROW_ERROR_COUNT_MAX
  }

  /** Gives all rows one operation. */
  setOperations(operation: number): void {
    this.builder.view().operations?.fill(operation)
  }

  /**
   * Makes room for `ratio` times as many rows as there are, like them, as far as the batch goes; at
   * most `valueBytesMax` more bytes for the values of a column. For the sake of speed alone.
   */
  reserve(ratio: number, valueBytesMax: number): void {
    const { rowCount, columns } = this.builder
    const roomLeft = this.#rowCountMax - rowCount
    const extraRows = Math.min(Math.ceil(rowCount * ratio), Math.max(0, roomLeft))
    for (const column of columns) {
      column.reserve(extraRows)
      const { values } = column
      values.reserve(Math.min(Math.ceil((values.length / rowCount) * extraRows), valueBytesMax))
    }
  }

  /** Completes the builder's pending row under the next row number. */
  endRow(operation: number): void {
    const row = this.builder.rowCount
    this.#reserve(row + 1)
    this.rowIndexes[row] = this.nextRowIndex++
    this.builder.endRow(operation)
  }

  /**
   * Completes `count` rows whose cells were appended to every column of the builder, under the next
   * row numbers.
   */
  endRows(operations: Uint8Array, count: number): void {
    const row = this.builder.rowCount
    this.#reserve(row + count)
    for (let i = row; i < row + count; i++) this.rowIndexes[i] = this.nextRowIndex++
    this.builder.endRows(operations, count)
  }

  #reserve(rowCount: number): void {
    if (rowCount <= this.rowIndexes.length) return
    const grown = new Uint32Array(Math.max(rowCount, this.rowIndexes.length * 2))
    grown.set(this.rowIndexes)
    this.rowIndexes = grown
  }

  /** Notes that the next row could not be decoded. Requires: nothing is pending in the builder. */
  failRow(problem: RowProblem): void {
    this.failedCount++
    const rowIndex = this.nextRowIndex++
    if (this.problems.length < ROW_ERROR_COUNT_MAX) this.problems.push({ ...problem, rowIndex })
  }

  /** Forgets rows and problems and counts from 0. */
  reset(): void {
    this.clear()
    this.nextRowIndex = 0
  }

  /** Forgets rows and problems and goes on counting. */
  clear(): void {
    this.builder.clear()
    this.problems = []
    this.failedCount = 0
    // Each column keeps room for the most it ever held; together that may be far more than a batch.
    const { columns } = this.builder
    let keptBytes = 0
    for (const { values } of columns) keptBytes += values.bytes.length
    if (keptBytes > BYTES_KEPT_MAX) for (const { values } of columns) values.trim()
  }
}

/** Rows that a batch of moderate size holds: one that sets a single cell takes room for all. */
function rowCountOf(columns: readonly BlockColumn[]): number {
  let rowBytes = 0
  for (const { physical } of columns) rowBytes += (LANE_BYTES[physical] || 4) + 0.25
  const rows = Math.max(ROW_COUNT_MIN, Math.floor(BATCH_BYTES_MAX / rowBytes))
  return Math.min(rows, SHARE_ROW_COUNT_MAX)
}
