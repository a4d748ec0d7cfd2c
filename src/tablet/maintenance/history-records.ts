/** Delta records that a maintenance op puts together. Hot. */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'
import {
  DELTA_KINDS,
  type DeltaColumn,
  type DeltaKind,
  type DeltaRecords,
} from '../delta/delta-records.ts'
import { RecordArrays } from '../delta/record-arrays.ts'
import { type BaseCells, HistoryCells } from './history-cells.ts'

const CAPACITY_MIN = 1024
const ABSENT = 0xffff

/**
 * Records with cells that are known by refs (history-cells.ts) until all are there.
 *
 *   startRecord ─► pickCell … ─► endRecord ─► startRecord … ─► finish ─► clear
 *
 *  I1  records ascend by ordinal, and by timestamp within one;
 *  I2  an UPDATE has at least one cell: one that came to none is not kept.
 */
export class HistoryRecords {
  /** By the columns' places among those that histories are kept of. */
  readonly cells: readonly HistoryCells[]
  readonly #records = new RecordArrays(CAPACITY_MIN)

  constructor(columns: readonly Column[]) {
    this.cells = columns.map((column) => new HistoryCells(column))
  }

  /** Records that were ended, and the one begun. */
  get count(): number {
    return this.#records.count
  }

  /** Forgets all records. What `finish` gave becomes meaningless. */
  clear(): void {
    this.#records.clear()
    for (const cells of this.cells) cells.clear()
  }

  /** Begins a record. */
  startRecord(ordinal: number, timestamp: Timestamp, kind: DeltaKind): void {
    this.#records.add(ordinal, timestamp, kind)
  }

  /** Gives the record begun a cell of a column. */
  pickCell(column: number, ref: number): void {
    this.#records.addCell(column, this.cells[column].pick(ref))
  }

  /** Ends the record begun. */
  endRecord(): void {
    const { count, kinds, cellEnds, cellCount } = this.#records
    const before = count === 1 ? 0 : cellEnds[count - 2]
    const isEmpty = kinds[count - 1] === DELTA_KINDS.UPDATE && cellCount === before
    if (isEmpty) this.#records.count--
  }

  /**
   * The records. Borrowed until `clear`.
   *
   * Throws: CORRUPTION when a base that holds cells of theirs cannot be read.
   */
  finish(base: BaseCells): DeltaRecords {
    const columns: DeltaColumn[] = []
    const places = new Uint16Array(this.cells.length).fill(ABSENT)
    for (let index = 0; index < this.cells.length; index++) {
      const cells = this.cells[index]
      if (cells.pickCount === 0) continue
      places[index] = columns.length
      const { id, physical } = cells.column
      columns.push({ columnId: id, physical, cells: cells.finish(base) })
    }
    const own = this.#records
    const cellColumns = new Uint16Array(own.cellCount)
    for (let i = 0; i < cellColumns.length; i++) cellColumns[i] = places[own.cellColumns[i]]
    if (VERIFY) this.#checkOrder()
    return { ...own.view(columns), cellColumns }
  }

  #checkOrder(): void {
    const { count, ordinals, timestamps } = this.#records
    for (let i = 1; i < count; i++) {
      const isSameRow = ordinals[i - 1] === ordinals[i]
      const isLater =
        ordinals[i - 1] < ordinals[i] || (isSameRow && timestamps[i - 1] <= timestamps[i])
      assert(isLater, 'records ascend by row and time')
    }
  }
}
