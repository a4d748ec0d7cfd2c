/**
 * The rows of a MemRowSet that a diff shows, in the place of those that a scan shows. Hot.
 *
 *   newest change at or below the snapshot
 *        insert, update, reinsert ──► shown as it is there
 *        delete ──────────────────► shown as deleted, if it was there where the diff begins
 *   it lies at or below where the diff begins ──► not shown
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import { getBit } from '../../util/bitmap.ts'
import type { MemRowStore } from '../memory/mem-row-store.ts'
import type { ReadColumn } from '../memory/read-columns.ts'
import { REDO_KINDS } from '../memory/redo-log.ts'
import { NO_REDO } from '../memory/row-chunk.ts'
import { RowWindow } from '../memory/row-window.ts'
import { changedSlots } from './changed-slots.ts'

const SHOWN = 0
const SHOWN_DELETED = 1

/** When a diff begins and ends. */
export interface DiffTimes {
  readonly diffFrom: Timestamp
  readonly snapshot: Timestamp
}

/** See the file's header. */
export class DiffRowWindow extends RowWindow {
  readonly #rows: MemRowStore
  readonly #diffFrom: Timestamp
  readonly #snapshot: Timestamp
  /** The column that tells whether a row is deleted. */
  readonly #isDeleted: ReadColumn
  /** Slots of rows that may have changed; null before they are asked for. */
  #changed: Uint8Array | null = null
  /** SHOWN or SHOWN_DELETED, by row of the window. */
  #states = new Uint8Array(0)

  /** Requires: the last of `columns` is the one that tells whether a row is deleted. */
  constructor(rows: MemRowStore, times: DiffTimes, columns: readonly ReadColumn[]) {
    super(rows, times.snapshot, columns, 0)
    const isDeleted = columns.at(-1)
    assert(isDeleted !== undefined, 'a diff tells of each row whether it is deleted')
    this.#rows = rows
    this.#diffFrom = times.diffFrom
    this.#snapshot = times.snapshot
    this.#isDeleted = isDeleted
  }

  override clear(capacityRows: number): void {
    super.clear(capacityRows)
    if (this.#states.length < capacityRows) this.#states = new Uint8Array(capacityRows)
  }

  override add(slot: number): boolean {
    this.#changed ??= changedSlots(this.#rows, this.#diffFrom)
    return getBit(this.#changed, slot) && this.#addChanged(slot)
  }

  #addChanged(slot: number): boolean {
    const rows = this.#rows
    const insertedAt = rows.insertedAt(slot)
    if (insertedAt > this.#snapshot) return false
    const { redos } = rows
    const newest = redos.newestAt(rows.newestRedo(slot), this.#snapshot)
    const changedAt = newest === NO_REDO ? insertedAt : redos.at(newest)
    if (changedAt <= this.#diffFrom) return false
    const row = this.count
    if (newest === NO_REDO || redos.kind(newest) !== REDO_KINDS.DELETE) {
      this.#states[row] = SHOWN
      return super.add(slot)
    }
    if (!this.#wasThere(insertedAt, newest)) return false
    this.#states[row] = SHOWN_DELETED
    this.addAsInserted(slot)
    return true
  }

  /** Whether a row was there where the diff begins. */
  #wasThere(insertedAt: Timestamp, newest: number): boolean {
    if (insertedAt > this.#diffFrom) return false
    const { redos } = this.#rows
    const redo = redos.newestAt(newest, this.#diffFrom)
    return redo === NO_REDO || redos.kind(redo) !== REDO_KINDS.DELETE
  }

  override keep(rows: Uint32Array, count: number): void {
    super.keep(rows, count)
    const states = this.#states
    for (let i = 0; i < count; i++) states[i] = states[rows[i]]
  }

  override gather(column: ReadColumn, start: number, end: number, target: ColumnBuilder): void {
    if (column !== this.#isDeleted) {
      super.gather(column, start, end, target)
      return
    }
    target.reserve(end - start)
    for (let row = start; row < end; row++) {
      target.lanes[target.rowCount] = this.#states[row]
      target.endCell()
    }
  }
}
