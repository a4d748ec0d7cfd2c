/**
 * Some rows of a MemRowSet as they are at a snapshot. Hot.
 *
 * The cells of most rows are still those that were inserted. Of a row that was changed, the window
 * notes once where each wanted column has its cell, so that columns can then be copied one by one.
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
import type { ReadColumn } from './read-columns.ts'
import { NOT_WANTED, REDO_KINDS, UNCHANGED } from './redo-log.ts'
import { NO_REDO } from './row-chunk.ts'

const NO_PATCH = -1

let scratchCells = new Int32Array(2048)

/**
 * Rows visible at a snapshot, in the order they were added. Changes above the snapshot leave it as
 * it is.
 */
export class RowWindow {
  count = 0
  /** Slots of the rows. Replaced when the window grows. */
  slots: Int32Array
  readonly #rows: MemRowStore
  readonly #snapshot: Timestamp
  /** By the column's index in the store: its place among the wanted, or `NOT_WANTED`. */
  readonly #wanted: Int16Array
  readonly #wantedCount: number
  #patches: Int32Array
  #patchedCount = 0
  #positions = new Int32Array(0)

  /** A window for at most `capacityRows` rows, of which `columns` can be read. */
  constructor(
    rows: MemRowStore,
    snapshot: Timestamp,
    columns: readonly ReadColumn[],
    capacityRows: number,
  ) {
    this.#rows = rows
    this.#snapshot = snapshot
    this.slots = new Int32Array(capacityRows)
    this.#patches = new Int32Array(capacityRows)
    this.#wanted = new Int16Array(rows.columnCount).fill(NOT_WANTED)
    let wantedCount = 0
    for (const { index } of columns) {
      // Cells of key columns never change. An unknown column is below them all.
      const canChange = index >= rows.schema.keyColumnCount
      if (canChange && this.#wanted[index] === NOT_WANTED) this.#wanted[index] = wantedCount++
    }
    this.#wantedCount = wantedCount
  }

  /** Forgets all rows and makes room for at least `capacityRows`. */
  clear(capacityRows: number): void {
    this.count = 0
    this.#patchedCount = 0
    if (capacityRows <= this.slots.length) return
    this.slots = new Int32Array(capacityRows)
    this.#patches = new Int32Array(capacityRows)
  }

  /** Adds a row if it is visible. Returns: whether it is. Requires: there is room. */
  add(slot: number): boolean {
    const rows = this.#rows
    let patch = NO_PATCH
    if (!rows.isUnchanged(slot, this.#snapshot)) {
      if (rows.insertedAt(slot) > this.#snapshot) return false
      const redo = rows.redos.newestAt(rows.newestRedo(slot), this.#snapshot)
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

  /** Adds a row as it was inserted, whether it is visible or not. Requires: as `add`. */
  addAsInserted(slot: number): void {
    this.slots[this.count] = slot
    this.#patches[this.count] = NO_PATCH
    this.count++
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

  /** Appends the cells of rows `[start, end)` in a column to `target`. */
  gather(column: ReadColumn, start: number, end: number, target: ColumnBuilder): void {
    const { index, fallback } = column
    const place = this.#place(index)
    const changed =
      place === NOT_WANTED || this.#patchedCount === 0 ? null : this.#rows.redos.column(index)
    if (changed === null && fallback === null) {
      gatherCells(this.#rows.columns[index], null, this.slots, start, end, target)
      return
    }
    if (scratchCells.length < end - start) scratchCells = new Int32Array(end - start)
    for (let i = start; i < end; i++) scratchCells[i - start] = this.#cell(column, place, i)
    const kept = fallback ?? this.#rows.columns[index]
    gatherCells(kept, changed, scratchCells, 0, end - start, target)
  }

  /** Place of a column among the wanted, or `NOT_WANTED` when no change of it can be met. */
  #place(index: number): number {
    return index < 0 || index >= this.#wanted.length ? NOT_WANTED : this.#wanted[index]
  }

  /** The cell of a row in a column with its place, as `gatherCells` names it. */
  #cell({ fallback }: ReadColumn, place: number, row: number): number {
    const patch = this.#patches[row]
    if (patch !== NO_PATCH && place !== NOT_WANTED) {
      const position = this.#positions[patch + place]
      if (position !== UNCHANGED) return ~position
    }
    return fallback === null ? this.slots[row] : 0
  }

  /** Bytes of a value in a binary column. */
  valueBytes(column: ReadColumn, row: number): number {
    const { index, fallback } = column
    const cell = this.#cell(column, this.#place(index), row)
    if (cell < 0) return this.#rows.redos.column(index)?.valueBytes(~cell) ?? 0
    return (fallback ?? this.#rows.columns[index]).valueBytes(cell)
  }
}
