import { MEM_ROW_COUNT_MAX } from '../../common/limits.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import { CHUNK_MASK, CHUNK_SHIFT } from './chunk.ts'
import { type HistoryColumn, historyColumns } from './history-columns.ts'
import type { MemRecordsBuilder } from './mem-records-builder.ts'
import type { MemRowHistory } from './mem-row-history.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { REDO_KINDS } from './redo-log.ts'
import type { SlotList } from './slot-list.ts'

/** Above every count of redos: an ordinal times this and a redo's place is exact. */
const REDO_RANGE = MEM_ROW_COUNT_MAX

/**
 * What changed in a frozen MemRowSet since its history was made, by the ordinals of the history.
 * Good until the next change. Hot.
 */
export class MemRowChanges {
  /** The columns as the cells of records are added. */
  readonly cells: readonly HistoryColumn[]
  readonly #rows: MemRowStore
  readonly #redoEnd: number
  /** Ordinal × REDO_RANGE + redo's place behind `redoEnd`, ascending. */
  readonly #changes: Float64Array

  /**
   * Requires: all rows of `history` were resolved; `slots` from `first` on are those of the redos
   * from its `redoEnd` on. Cost: O(changes · log), and O(rows) when there are any.
   */
  constructor(rows: MemRowStore, history: MemRowHistory, slots: SlotList, first: number) {
    this.#rows = rows
    this.#redoEnd = history.redoEnd
    this.cells = historyColumns(rows)
    const count = slots.count - first
    this.#changes = new Float64Array(count)
    if (count === 0) return
    const ordinals = new Uint32Array(rows.rowCount)
    for (let ordinal = 0; ordinal < history.rowCount; ordinal++) {
      ordinals[history.slots[ordinal]] = ordinal
    }
    for (let i = 0; i < count; i++) {
      this.#changes[i] = ordinals[slots.items[first + i]] * REDO_RANGE + i
    }
    this.#changes.sort()
  }

  /** Changes in all. */
  get count(): number {
    return this.#changes.length
  }

  /** Rows that were deleted, of all. */
  get deleteCount(): number {
    const { redos } = this.#rows
    let count = 0
    for (let redo = this.#redoEnd; redo < redos.count; redo++) {
      if (redos.kind(redo) === REDO_KINDS.DELETE) count++
    }
    return count
  }

  /** Adds the changes to rows `[start, end)` as REDO records; their ordinals begin at `base`. */
  addTo(records: MemRecordsBuilder, start: number, end: number, base: number): void {
    const { chunks } = this.#rows.redos
    for (let i = this.#lowerBound(start * REDO_RANGE); i < this.count; i++) {
      const change = this.#changes[i]
      if (change >= end * REDO_RANGE) break
      const ordinal = Math.floor(change / REDO_RANGE)
      const redo = this.#redoEnd + (change - ordinal * REDO_RANGE)
      const chunk = chunks[redo >>> CHUNK_SHIFT]
      const record = redo & CHUNK_MASK
      const isDelete = chunk.kinds[record] === REDO_KINDS.DELETE
      const kind = isDelete ? DELTA_KINDS.DELETE : DELTA_KINDS.UPDATE
      records.add(ordinal - base, chunk.at[record], kind)
      const cellEnd = chunk.cellEnds[record]
      for (let cell = record === 0 ? 0 : chunk.cellEnds[record - 1]; cell < cellEnd; cell++) {
        records.addCell(chunk.cellColumns[cell], ~chunk.cellPositions[cell])
      }
    }
  }

  #lowerBound(change: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#changes[middle] < change) low = middle + 1
      else high = middle
    }
    return low
  }
}
