/**
 * Changes to rows of a DiskRowSet, as columns. Hot.
 *
 *   record          0         1        2         3
 *   ordinals        4         4        9         9          the row, by its place in the rowset
 *   timestamps     12        15       12        12
 *   kinds        UPDATE    DELETE   UPDATE    UPDATE
 *   cellEnds        2         2        3         5          of i: [cellEnds[i−1], cellEnds[i])
 *   cellColumns   c0 c1                c0      c0 c1        index into `columns`
 *   cellPositions  0  0                 1       2  1        row of that column's cells
 *
 * As REDO records they lead from the base to later times:
 *
 *   UPDATE     the cells from then on            DELETE     the row is not there from then on
 *
 * As UNDO records they lead from the base to earlier times; the timestamp is that of the op which
 * they undo, and they hold for times below it:
 *
 *   UPDATE     the cells before then             DELETE     the row was not there before then
 *   REINSERT   the row was there before then, with these cells: one for each column but the key's
 *
 * So at time T: a cell is that of the first UNDO record above T that has it, else that of the last
 * REDO record at or below T that has it, else the base's. Whether the row is there says the first
 * UNDO above T that is a DELETE or REINSERT, else a REDO DELETE at or below T; a base row by itself
 * is there.
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'

/** Kinds of records. Stored: numbers are never reused. */
export const DELTA_KINDS = { UPDATE: 1, DELETE: 2, REINSERT: 3 } as const
/** Kind of a record. */
export type DeltaKind = (typeof DELTA_KINDS)[keyof typeof DELTA_KINDS]

/** The changed cells of one column. */
export interface DeltaColumn {
  readonly columnId: number
  readonly physical: Physical
  readonly cells: ColumnVector
}

/**
 * Records ascending by (ordinal, timestamp, position in the op). Arrays may be longer than what is
 * meaningful. Immutable by convention; may be borrowed, and whoever hands them out says until when.
 */
export interface DeltaRecords {
  readonly count: number
  readonly ordinals: Uint32Array
  readonly timestamps: Float64Array
  readonly kinds: Uint8Array
  readonly cellEnds: Uint32Array
  readonly cellColumns: Uint16Array
  readonly cellPositions: Uint32Array
  readonly columns: readonly DeltaColumn[]
}
