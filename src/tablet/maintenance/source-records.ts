/** The delta records of one input of a compaction, as a merged history reads them. Hot. */

import { assert } from '../../util/assert.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import type { HistoryCells } from './history-cells.ts'

const NOT_KEPT = -1

/**
 * A reader that goes through records once, by ascending ordinals.
 *
 * The cell `i` of the records is of our column `columns[cellColumns[i]]`, or of none that is kept
 * when that is below 0, and has the ref `shifts[cellColumns[i]] + cellPositions[i]`.
 */
export class SourceRecords {
  readonly records: DeltaRecords
  readonly columns: Int32Array
  readonly shifts: Int32Array
  /** The records of the row last sought: `[start, end)`. */
  start = 0
  end = 0

  /** Takes the cells of the records that are of kept columns into the pools of these. */
  constructor(records: DeltaRecords, cells: readonly HistoryCells[]) {
    this.records = records
    const count = records.columns.length
    this.columns = new Int32Array(count).fill(NOT_KEPT)
    this.shifts = new Int32Array(count)
    if (count === 0) return
    const { firsts, lasts } = usedCells(records)
    for (let index = 0; index < count; index++) {
      const { columnId } = records.columns[index]
      const kept = cells.findIndex(({ column }) => column.id === columnId)
      if (kept < 0 || firsts[index] > lasts[index]) continue
      const { cells: vector } = records.columns[index]
      assert(lasts[index] < vector.rowCount, 'a record has a cell that is not there')
      this.columns[index] = kept
      this.shifts[index] = cells[kept].take(vector, firsts[index], lasts[index] + 1)
    }
  }

  /** Finds the records of a row. Returns whether there are any. Requires: ordinals ascend. */
  seek(ordinal: number): boolean {
    const { ordinals, count } = this.records
    let next = this.end
    while (next < count && ordinals[next] < ordinal) next++
    this.start = next
    while (next < count && ordinals[next] === ordinal) next++
    this.end = next
    return next > this.start
  }
}

/** First and last used row of each column's cells; the first is above the last when none is. */
function usedCells(records: DeltaRecords): { firsts: Uint32Array; lasts: Int32Array } {
  const { count, cellEnds, cellColumns, cellPositions, columns } = records
  const firsts = new Uint32Array(columns.length).fill(0xffff_ffff)
  const lasts = new Int32Array(columns.length).fill(-1)
  const end = count === 0 ? 0 : cellEnds[count - 1]
  for (let i = 0; i < end; i++) {
    const column = cellColumns[i]
    const position = cellPositions[i]
    if (position < firsts[column]) firsts[column] = position
    if (position > lasts[column]) lasts[column] = position
  }
  return { firsts, lasts }
}
