/**
 * The rows of a frozen MemRowSet in the form in which a rowset keeps them on disk: a base in key
 * order, and around it what was before and after. Hot.
 *
 *   in memory   inserted @3 ──► UPDATE @5 ──► DELETE @7 ──► REINSERT @9 ──► UPDATE @9
 *
 *   on disk     UNDO DELETE @3, UPDATE @5 {old cells}, REINSERT @7 {all cells}, DELETE @9
 *               base: the cells as of @9
 *
 *   in memory   inserted @3 ──► UPDATE @5 ──► DELETE @7
 *
 *   on disk     UNDO DELETE @3, UPDATE @5 {old cells}
 *               base: the cells as of @5
 *               REDO DELETE @7
 *
 * An op is all or nothing to readers, so of its changes to one row only the last counts, and a row
 * that no op left there is in none of this.
 *
 * The rows are as they were when the history was made. `MemRowChanges` tells what changed since.
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { TIMESTAMP_MAX } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import type { KeyArena } from '../../util/arena.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import { CHUNK_MASK, CHUNK_ROW_COUNT, CHUNK_SHIFT } from './chunk.ts'
import { gatherCells } from './gather-cells.ts'
import { gatherKeys } from './gather-keys.ts'
import { columnsOf, type HistoryColumn, historyColumns } from './history-columns.ts'
import type { SortedSlots } from './key-order.ts'
import type { MemRecordsBuilder } from './mem-records-builder.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { UNCHANGED } from './redo-log.ts'
import { RowChain } from './row-chain.ts'
import { NO_REDO } from './row-chunk.ts'
import { RowUndos } from './row-undos.ts'
import { SlotList } from './slot-list.ts'

/** Keys or binary cells that are copied before their bytes are looked at. */
const KEYS_AT_A_TIME = 64
const VALUES_AT_A_TIME = 64

const scratchCells = new Int32Array(CHUNK_ROW_COUNT)

/** The cells of one column in which the base differs from what was inserted. */
interface Patches {
  /** Ascending. */
  readonly ordinals: SlotList
  /** Positions of the changed cells. */
  readonly positions: SlotList
}

/**
 * See the file's header. Rows are named by their ordinals: places among the rows of the base.
 *
 *  I1  `slots[0, rowCount)` are rows that were there at some time, by ascending key;
 *  I2  nothing here changes once all rows were resolved.
 */
export class MemRowHistory {
  /** Columns of the base: those of the rows' schema, then those that changes brought in later. */
  readonly columns: readonly Column[]
  /** The columns as the cells of records are added. */
  readonly cells: readonly HistoryColumn[]
  /** Redos from this one on came later. */
  readonly redoEnd: number
  /** Slots by ordinal: `[0, rowCount)`. Replaced while rows are resolved. */
  slots: Uint32Array
  /** Rows of the base, as far as rows were resolved. */
  rowCount = 0
  readonly #rows: MemRowStore
  readonly #order: SortedSlots
  readonly #chain: RowChain
  /** Rows of the order that were resolved. */
  #resolvedCount = 0
  /** Ordinals of the rows that are not there any more. */
  readonly #ghosts = new SlotList()
  /** By the column's index; null where no cell differs. */
  readonly #patches: (Patches | null)[]
  readonly #undos: RowUndos
  /** Scratch: for each column a place of its own, and there its changed cell. */
  readonly #places: Int16Array
  readonly #positions: Int32Array

  /** The history of all rows of `order`, by redos below `redoEnd`. */
  constructor(rows: MemRowStore, order: SortedSlots, redoEnd: number) {
    this.#rows = rows
    this.#order = order
    this.redoEnd = redoEnd
    this.columns = columnsOf(rows)
    this.cells = historyColumns(rows)
    this.#chain = new RowChain(rows, redoEnd)
    const columnCount = this.columns.length
    this.#patches = this.columns.map(() => null)
    this.#undos = new RowUndos(rows, this.cells, this.#chain)
    this.#places = new Int16Array(columnCount).map((_, index) => index)
    this.#positions = new Int32Array(columnCount)
    if (redoEnd > 0) {
      this.slots = new Uint32Array(order.count)
      return
    }
    this.slots = order.slots
    this.rowCount = order.count
    this.#resolvedCount = order.count
  }

  /** Whether all rows were resolved, so that everything else can be asked. */
  get isResolved(): boolean {
    return this.#resolvedCount === this.#order.count
  }

  /** Rows that are there at the end. */
  get liveRowCount(): number {
    return this.rowCount - this.#ghosts.count
  }

  /** Rows that are not there any more. */
  get ghostCount(): number {
    return this.#ghosts.count
  }

  /**
   * Finds the bases of up to `rowCountMax` more rows. Cost: O(their changes and changed cells).
   */
  resolve(rowCountMax: number): void {
    const { chunks } = this.#rows
    const order = this.#order.slots
    const end = Math.min(this.#order.count, this.#resolvedCount + rowCountMax)
    for (let i = this.#resolvedCount; i < end; i++) {
      const slot = order[i]
      const chunk = chunks[slot >>> CHUNK_SHIFT]
      const isChanged = chunk.hasRedos && chunk.newestRedo[slot & CHUNK_MASK] !== NO_REDO
      if (isChanged && !this.#resolveChanged(slot)) continue
      this.slots[this.rowCount++] = slot
    }
    this.#resolvedCount = end
  }

  /** Returns: whether the row was there at any time. */
  #resolveChanged(slot: number): boolean {
    const chain = this.#chain
    if (!chain.load(slot)) return false
    const ordinal = this.rowCount
    if (chain.deletedAt !== TIMESTAMP_MAX) this.#ghosts.push(ordinal)
    if (chain.count === 0) return true
    const newest = chain.redos[chain.count - 1]
    const count = this.columns.length
    const positions = this.#positions.fill(UNCHANGED)
    if (this.#rows.redos.resolve(newest, this.#places, count, positions, 0) === 0) return true
    for (let index = 0; index < count; index++) {
      if (positions[index] === UNCHANGED) continue
      const patches = this.#patches[index] ?? this.#openPatches(index)
      patches.ordinals.push(ordinal)
      patches.positions.push(positions[index])
    }
    return true
  }

  #openPatches(index: number): Patches {
    const patches = { ordinals: new SlotList(), positions: new SlotList() }
    this.#patches[index] = patches
    return patches
  }

  /**
   * Appends the keys of rows from `start` on to `target`, until it holds about `bytesMax` or the
   * rows reach `end`. Returns: the row it came to.
   */
  appendKeys(start: number, end: number, target: KeyArena, bytesMax: number): number {
    let ordinal = start
    while (ordinal < end && target.length < bytesMax) {
      const to = Math.min(end, ordinal + KEYS_AT_A_TIME)
      gatherKeys(this.#rows.chunks, this.slots, ordinal, to, target)
      ordinal = to
    }
    return ordinal
  }

  /**
   * Appends the base cells of rows from `start` on in a column to `target`, until its values have
   * about `bytesMax` or the rows reach `end`, at most 4,096. Returns: the row it came to.
   */
  gather(
    columnIndex: number,
    start: number,
    end: number,
    target: ColumnBuilder,
    bytesMax: number,
  ): number {
    const limit = Math.min(end, start + CHUNK_ROW_COUNT)
    const { physical, kept, changed } = this.cells[columnIndex]
    const source = this.#nameCells(columnIndex, start, limit) ? changed : null
    const rowsAtATime = physical === PHYSICAL.binary ? VALUES_AT_A_TIME : CHUNK_ROW_COUNT
    let row = start
    while (row < limit && target.values.length < bytesMax) {
      const to = Math.min(limit, row + rowsAtATime)
      gatherCells(kept, source, scratchCells, row - start, to - start, target)
      row = to
    }
    return row
  }

  /**
   * Writes to `scratchCells` which cells rows `[start, end)` have, as `gatherCells` names them.
   * Returns: whether any is a changed one.
   */
  #nameCells(columnIndex: number, start: number, end: number): boolean {
    const { slots } = this
    if (this.cells[columnIndex].isLate) scratchCells.fill(0, 0, end - start)
    else for (let i = start; i < end; i++) scratchCells[i - start] = slots[i]
    const patches = this.#patches[columnIndex]
    if (patches === null) return false
    const { ordinals, positions } = patches
    const first = ordinals.lowerBound(start)
    let i = first
    for (; i < ordinals.count && ordinals.items[i] < end; i++) {
      scratchCells[ordinals.items[i] - start] = ~positions.items[i]
    }
    return i > first
  }

  /**
   * Adds the UNDO records of rows from `start` on, whose ordinals begin at `base`, until `records`
   * hold `bytesMax` or the rows reach `end`. Returns: the row it came to.
   */
  addUndos(
    start: number,
    end: number,
    base: number,
    records: MemRecordsBuilder,
    bytesMax: number,
  ): number {
    const { chunks } = this.#rows
    const { slots } = this
    let ordinal = start
    for (; ordinal < end && records.bytes < bytesMax; ordinal++) {
      const slot = slots[ordinal]
      const chunk = chunks[slot >>> CHUNK_SHIFT]
      const row = slot & CHUNK_MASK
      if (chunk.hasRedos && chunk.newestRedo[row] !== NO_REDO) {
        this.#undos.add(slot, ordinal - base, records)
      } else {
        records.add(ordinal - base, chunk.insertedAt[row], DELTA_KINDS.DELETE)
      }
    }
    return ordinal
  }

  /**
   * Adds a DELETE for each row of `[start, end)` that is not there any more; ordinals begin at
   * `base`.
   */
  addDeletes(start: number, end: number, base: number, records: MemRecordsBuilder): void {
    const ghosts = this.#ghosts
    for (let i = ghosts.lowerBound(start); i < ghosts.count && ghosts.items[i] < end; i++) {
      const ordinal = ghosts.items[i]
      this.#chain.load(this.slots[ordinal])
      records.add(ordinal - base, this.#chain.deletedAt, DELTA_KINDS.DELETE)
    }
  }

  /** How many of rows `[start, end)` are not there any more. */
  ghostsIn(start: number, end: number): number {
    return this.#ghosts.lowerBound(end) - this.#ghosts.lowerBound(start)
  }

  /** Bytes that the history takes beside the rows. */
  get heldBytes(): number {
    let bytes = this.slots === this.#order.slots ? 0 : this.slots.byteLength
    bytes += this.#ghosts.heldBytes
    for (const patches of this.#patches) {
      if (patches !== null) bytes += patches.ordinals.heldBytes + patches.positions.heldBytes
    }
    return bytes
  }
}
