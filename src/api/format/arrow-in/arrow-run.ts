/** A run of cells of one Arrow column on its way into a column of a row block. */

import type { CellPlan } from '../../../common/cell-plan.ts'
import type { ColumnBuilder } from '../../../common/column-builder.ts'
import type { ArrowArray } from './arrow-array.ts'
import type { RowMarks } from './row-marks.ts'

/**
 * What a converter works on. It writes the cells of rows `[start, start + count)` behind the rows
 * of `column`, which has room for them, leaves lanes of null cells at zero and gives those that the
 * column cannot hold a mark, by their position in the run. It ends no row.
 */
export interface ArrowRun {
  readonly array: ArrowArray
  readonly start: number
  readonly count: number
  readonly column: ColumnBuilder
  readonly plan: CellPlan
  readonly marks: RowMarks
}

/** Moves the cells of a run. */
export type Converter = (run: ArrowRun) => void
