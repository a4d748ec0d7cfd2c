/** One column of a run of rows on a tape, on its way into a ColumnBuilder. */

import { CELL_ERRORS } from '../../common/cell-error.ts'
import type { CellPlan } from '../../common/cell-plan.ts'
import { type CellForm, scanCell } from '../../common/cell-reader.ts'
import type { ColumnBuilder } from '../../common/column-builder.ts'
import { type RowTape, TAPE_FORMS } from './row-tape.ts'

/**
 * What a column's loop works on. It reads the cells of the first `count` rows, writes them behind
 * the rows of `column`, which has room for them, and returns how many it read: the cell behind them
 * is one that the column cannot hold. Null and absent cells leave their lanes as they are, zero.
 */
export interface TapeColumn {
  readonly tape: RowTape
  /** Position of the column's cells in each row. */
  readonly cell: number
  readonly count: number
  /** The text that the tape is about, twice. */
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly plan: CellPlan
  readonly column: ColumnBuilder
}

/**
 * Reads the cell of an entry, however it is written, into the scratch of scalars.
 *
 * Returns: whether its column can hold it.
 */
export function isScanned(
  tape: RowTape,
  entry: number,
  bytes: Uint8Array,
  plan: CellPlan,
): boolean {
  const form = tape.forms[entry]
  const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
  const cellForm = (form & (TAPE_FORMS.inScratch - 1)) as CellForm
  return scanCell(plan, cellForm, source, tape.starts[entry], tape.ends[entry]) === CELL_ERRORS.NONE
}
