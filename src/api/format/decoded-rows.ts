/**
 * Rows that a format decoder has read and the front has not yet sent on, with what was wrong with
 * others.
 */

import { ROW_ERROR_COUNT_MAX } from '../../common/limits.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import type { Schema } from '../../common/schema.ts'
import type { RowProblem } from './json-row-decoder.ts'

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

  constructor(schema: Schema) {
    const columns = schema.columns.map(({ id, physical }) => ({ id, physical }))
    this.builder = new RowBlockBuilder(columns, true, 64)
  }

  /** Completes the builder's pending row under the next row number. */
  endRow(operation: number): void {
    const row = this.builder.rowCount
    if (row === this.rowIndexes.length) {
      const grown = new Uint32Array(row * 2)
      grown.set(this.rowIndexes)
      this.rowIndexes = grown
    }
    this.rowIndexes[row] = this.nextRowIndex++
    this.builder.endRow(operation)
  }

  /** Notes that the next row could not be decoded. Requires: nothing is pending in the builder. */
  failRow(problem: RowProblem): void {
    this.failedCount++
    const rowIndex = this.nextRowIndex++
    if (this.problems.length < ROW_ERROR_COUNT_MAX) this.problems.push({ ...problem, rowIndex })
  }

  /** Forgets rows and problems and goes on counting. */
  clear(): void {
    this.builder.clear()
    this.problems = []
    this.failedCount = 0
  }
}
