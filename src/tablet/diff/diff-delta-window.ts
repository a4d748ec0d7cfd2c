/**
 * The rows of a DiskRowSet that a diff shows, as a scan's window asks for them. Hot.
 *
 *   changed within            no ──► not shown, whatever it is
 *   there at the snapshot     yes ─► shown as it is there
 *   there where the diff      yes ─► shown as deleted
 *   begins                    no ──► not shown: it came and went
 *
 * Where no row changed nothing else is read. What tells whether a row is deleted is, to the scan, a
 * column that no base has and that deleted rows have a changed cell of.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { IS_DELETED_COLUMN_ID } from '../../common/is-deleted-column.ts'
import { assert } from '../../util/assert.ts'
import { BASE_CELL, DeltaWindow, type DeltaWindowOptions } from '../delta/delta-window.ts'
import { ChangedRows } from './changed-rows.ts'

/** Rows that are looked through for changes at a time. */
const STRETCH_ROW_COUNT = 4096
const SHOWN = 0
const SHOWN_DELETED = 1

/** One cell: that of a row that is deleted. */
const DELETED_CELLS = deletedCells()

/** What to show of a rowset's rows, and since when they changed. */
export interface DiffWindowOptions extends DeltaWindowOptions {
  readonly diffFrom: Timestamp
}

/** See the file's header. Requires: rows are read in ascending order. */
export class DiffDeltaWindow extends DeltaWindow {
  readonly #changed: ChangedRows
  /** Who was there where the diff begins. */
  readonly #before: DeltaWindow
  readonly #isDeletedIndex: number
  /** SHOWN or SHOWN_DELETED, by row of the window; of the rows that were kept. */
  #states = new Uint8Array(0)
  #start = 0
  /** Rows of the stretch that was looked through last. */
  #stretchEnd = 0

  constructor(options: DiffWindowOptions) {
    super(options)
    const { undos, redos, snapshot, columns, diffFrom } = options
    this.#changed = new ChangedRows([...undos, ...redos], diffFrom, snapshot)
    this.#before = new DeltaWindow({ undos, redos, snapshot: diffFrom, columns: [] })
    this.#isDeletedIndex = columns.findIndex(({ id }) => id === IS_DELETED_COLUMN_ID)
    assert(this.#isDeletedIndex >= 0, 'a diff tells of each row whether it is deleted')
  }

  /**
   * The first row of `[start, end)` that changed, or `end`. Throws: CORRUPTION that names a block.
   */
  firstChanged(start: number, end: number): number {
    for (let first = start; first < end; first = this.#stretchEnd) {
      this.#stretchEnd = Math.min(end, first + STRETCH_ROW_COUNT)
      this.#changed.load(first, this.#stretchEnd)
      if (this.#changed.count > 0) return this.#changed.first
    }
    return end
  }

  override mayChange(columnIndex: number): boolean {
    return columnIndex === this.#isDeletedIndex || super.mayChange(columnIndex)
  }

  override load(start: number, end: number): void {
    if (this.#states.length < end - start) this.#states = new Uint8Array(end - start)
    this.#start = start
    this.#changed.load(start, end)
    if (this.#changed.count === 0) return
    super.load(start, end)
    this.#before.load(start, end)
  }

  override keepVisible(rows: Uint32Array, count: number): number {
    const changed = this.#changed
    if (changed.count === 0) return 0
    const states = this.#states
    const start = this.#start
    let kept = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (!changed.isChanged(row)) continue
      const isThere = this.isVisible(row)
      if (!isThere && !this.#before.isVisible(row)) continue
      states[row - start] = isThere ? SHOWN : SHOWN_DELETED
      rows[kept++] = row
    }
    return kept
  }

  override positions(
    columnIndex: number,
    rows: Uint32Array,
    start: number,
    end: number,
    out: Int32Array,
  ): ColumnVector | null {
    if (columnIndex !== this.#isDeletedIndex) {
      return super.positions(columnIndex, rows, start, end, out)
    }
    const states = this.#states
    const first = this.#start
    for (let i = start; i < end; i++) {
      out[i] = states[rows[i] - first] === SHOWN_DELETED ? 0 : BASE_CELL
    }
    return DELETED_CELLS
  }
}

function deletedCells(): ColumnVector {
  const builder = new ColumnBuilder(PHYSICAL.int8, 1)
  builder.appendCell(1)
  return builder.view()
}
