/** Delta records that a maintenance op puts together. Hot. */

import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'
import {
  DELTA_KINDS,
  type DeltaColumn,
  type DeltaKind,
  type DeltaRecords,
} from '../delta/delta-records.ts'
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
  count = 0
  #ordinals = new Uint32Array(CAPACITY_MIN)
  #timestamps = new Float64Array(CAPACITY_MIN)
  #kinds = new Uint8Array(CAPACITY_MIN)
  #cellEnds = new Uint32Array(CAPACITY_MIN)
  #cellCount = 0
  #cellColumns = new Uint16Array(CAPACITY_MIN)
  #cellPositions = new Uint32Array(CAPACITY_MIN)

  constructor(columns: readonly Column[]) {
    this.cells = columns.map((column) => new HistoryCells(column))
  }

  /** Forgets all records. What `finish` gave becomes meaningless. */
  clear(): void {
    this.count = 0
    this.#cellCount = 0
    for (const cells of this.cells) cells.clear()
  }

  /** Begins a record. */
  startRecord(ordinal: number, timestamp: number, kind: DeltaKind): void {
    const record = this.count
    if (record === this.#ordinals.length) this.#growRecords()
    this.#ordinals[record] = ordinal
    this.#timestamps[record] = timestamp
    this.#kinds[record] = kind
  }

  /** Gives the record begun a cell of a column. */
  pickCell(column: number, ref: number): void {
    const cell = this.#cellCount
    if (cell === this.#cellColumns.length) this.#growCells()
    this.#cellColumns[cell] = column
    this.#cellPositions[cell] = this.cells[column].pick(ref)
    this.#cellCount = cell + 1
  }

  /** Ends the record begun. */
  endRecord(): void {
    const record = this.count
    const before = record === 0 ? 0 : this.#cellEnds[record - 1]
    if (this.#kinds[record] === DELTA_KINDS.UPDATE && this.#cellCount === before) return
    this.#cellEnds[record] = this.#cellCount
    this.count = record + 1
  }

  #growRecords(): void {
    const capacity = this.count * 2
    const ordinals = new Uint32Array(capacity)
    ordinals.set(this.#ordinals)
    this.#ordinals = ordinals
    const timestamps = new Float64Array(capacity)
    timestamps.set(this.#timestamps)
    this.#timestamps = timestamps
    const kinds = new Uint8Array(capacity)
    kinds.set(this.#kinds)
    this.#kinds = kinds
    const cellEnds = new Uint32Array(capacity)
    cellEnds.set(this.#cellEnds)
    this.#cellEnds = cellEnds
  }

  #growCells(): void {
    const capacity = this.#cellCount * 2
    const columns = new Uint16Array(capacity)
    columns.set(this.#cellColumns)
    this.#cellColumns = columns
    const positions = new Uint32Array(capacity)
    positions.set(this.#cellPositions)
    this.#cellPositions = positions
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
    const cellColumns = new Uint16Array(this.#cellCount)
    for (let i = 0; i < cellColumns.length; i++) cellColumns[i] = places[this.#cellColumns[i]]
    if (VERIFY) this.#checkOrder()
    return {
      count: this.count,
      ordinals: this.#ordinals,
      timestamps: this.#timestamps,
      kinds: this.#kinds,
      cellEnds: this.#cellEnds,
      cellColumns,
      cellPositions: this.#cellPositions,
      columns,
    }
  }

  #checkOrder(): void {
    for (let i = 1; i < this.count; i++) {
      const before = this.#ordinals[i - 1]
      const isLater =
        before < this.#ordinals[i] ||
        (before === this.#ordinals[i] && this.#timestamps[i - 1] <= this.#timestamps[i])
      assert(isLater, 'records ascend by row and time')
    }
  }
}
