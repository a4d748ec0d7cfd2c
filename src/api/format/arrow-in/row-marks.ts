/** Which rows of a run have a cell that its column cannot hold. Hot: typed arrays alone. */

import type { CellError } from '../../../common/cell-error.ts'
import { SHARE_ROW_COUNT_MAX } from '../../../common/limits.ts'

/** Findings beside those of single cells. */
export const ROW_MARKS = { keyIsNull: 100, notUtf8: 101 } as const

/** A finding about a cell. */
export type RowMark = CellError | (typeof ROW_MARKS)[keyof typeof ROW_MARKS]

/** Rows that one run has at most. */
export const RUN_ROW_COUNT_MAX = SHARE_ROW_COUNT_MAX

/** Findings about the rows of one run; of each row the first. */
export class RowMarks {
  /** Rows that have a finding. */
  count = 0
  /** Position of the field that is being read. */
  field = 0
  /** Finding of each row, 0 for none, and the field that it is about. */
  readonly marks = new Uint8Array(RUN_ROW_COUNT_MAX)
  readonly fields = new Uint16Array(RUN_ROW_COUNT_MAX)

  /** Notes a finding about the cell of a row in the field that is being read. */
  mark(row: number, mark: RowMark): void {
    if (this.marks[row] !== 0) return
    this.marks[row] = mark
    this.fields[row] = this.field
    this.count++
  }

  /** Forgets all findings. */
  clear(): void {
    if (this.count > 0) this.marks.fill(0)
    this.count = 0
  }
}
