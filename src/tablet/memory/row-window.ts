/**
 * Some rows of a MemRowSet as they are at a snapshot. Hot.
 *
 * The cells of most rows are still those that were inserted. Of a row that was changed, the window notes once
 * where each wanted column has its cell, so that columns can then be copied one by one.
 *
 *   row      slot   patch
 *     0        17      −    every cell as inserted
 *     1         4      0    ──► positions[0, w): per wanted column a changed cell, or UNCHANGED
 *     2         9      w    ──► positions[w, 2w)
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { gatherCells } from './gather-cells.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { REDO_KINDS, UNCHANGED } from './redo-log.ts'
import { NO_REDO } from './row-chunk.ts'

const NO_PATCH = -1

let scratchCells = new Int32Array(2048)

/** Rows visible at a snapshot, in the order they were added. Changes above the snapshot leave it as it is. */
export class RowWindow {
  count = 0
  /** Slots of the rows. */
  readonly slots: Int32Array
  readonly #rows: MemRowStore
  readonly #snapshot: Timestamp
  /** By the column's index in the schema: its place among the wanted, or −1. */
  readonly #wanted: Int16Array
  readonly #wantedCount: number
  readonly #patches: Int32Array
  #patchedCount = 0
  #positions = new Int32Array(0)

  /** A window for at most `capacityRows` rows and the columns at some indexes of the schema. */
  constructor(
    rows: MemRowStore,
    snapshot: Timestamp,
    columnIndexes: readonly number[],
    capacityRows: number,
  ) {
    this.#rows = rows
    this.#snapshot = snapshot
    this.slots = new Int32Array(capacityRows)
    this.#patches = new Int32Array(capacityRows)
    this.#wanted = new Int16Array(rows.schema.columns.length).fill(-1)
    let wantedCount = 0
    for (const index of columnIndexes) {
      const isKey = index < rows.schema.keyColumnCount
      if (!isKey && this.#wanted[index] < 0) this.#wanted[index] = wantedCount++
    }
    this.#wantedCount = wantedCount
  }

  /** Forgets all rows. */
  clear(): void {
    this.count = 0
    this.#patchedCount = 0
  }

  /** Adds a row if it is visible. Returns: whether it is. Requires: there is room. */
  add(slot: number): boolean {
    const rows = this.#rows
    if (rows.insertedAt(slot) > this.#snapshot) return false
    const newest = rows.newestRedo(slot)
    let patch = NO_PATCH
    if (newest !== NO_REDO) {
      const redo = rows.redos.newestAt(newest, this.#snapshot)
      if (redo !== NO_REDO) {
        if (rows.redos.kind(redo) === REDO_KINDS.DELETE) return false
        patch = this.#resolve(redo)
      }
    }
    this.slots[this.count] = slot
    this.#patches[this.count] = patch
    this.count++
    return true
  }

  #resolve(redo: number): number {
    const start = this.#patchedCount * this.#wantedCount
    const end = start + this.#wantedCount
    if (end > this.#positions.length) {
      const grown = new Int32Array(Math.max(end, this.#positions.length * 2))
      grown.set(this.#positions)
      this.#positions = grown
    }
    const positions = this.#positions.fill(UNCHANGED, start, end)
    const { redos } = this.#rows
    if (redos.resolve(redo, this.#wanted, this.#wantedCount, positions, start) === 0) {
      return NO_PATCH
    }
    this.#patchedCount++
    return start
  }

  /** Keeps rows `rows[0, count)`, which ascend, and forgets the others. */
  keep(rows: Uint32Array, count: number): void {
    const slots = this.slots
    const patches = this.#patches
    for (let i = 0; i < count; i++) {
      slots[i] = slots[rows[i]]
      patches[i] = patches[rows[i]]
    }
    this.count = count
  }

  /** Appends the cells of rows `[start, end)` in a column to `target`. Requires: the column is wanted. */
  gather(columnIndex: number, start: number, end: number, target: ColumnBuilder): void {
    const rows = this.#rows
    const column = rows.columns[columnIndex]
    const place = this.#wanted[columnIndex]
    const changed = place < 0 || this.#patchedCount === 0 ? null : rows.redos.column(columnIndex)
    if (changed === null) {
      gatherCells(column, null, this.slots, start, end, target)
      return
    }
    if (scratchCells.length < end - start) scratchCells = new Int32Array(end - start)
    for (let i = start; i < end; i++) scratchCells[i - start] = this.#cell(i, place)
    gatherCells(column, changed, scratchCells, 0, end - start, target)
  }

  /** The cell of a row in the wanted column at `place`, as `gatherCells` names it. */
  #cell(row: number, place: number): number {
    const patch = this.#patches[row]
    const position = patch === NO_PATCH ? UNCHANGED : this.#positions[patch + place]
    return position === UNCHANGED ? this.slots[row] : ~position
  }

  /** Bytes of a binary value. Requires: the column is binary, and wanted. */
  valueBytes(columnIndex: number, row: number): number {
    const place = this.#wanted[columnIndex]
    const cell = place < 0 ? this.slots[row] : this.#cell(row, place)
    if (cell >= 0) return this.#rows.columns[columnIndex].valueBytes(cell)
    return this.#rows.redos.column(columnIndex)?.valueBytes(~cell) ?? 0
  }
}
