/**
 * Rows inserted since the last flush, and what became of them since.
 *
 *   key hash ──► KeyIndex ──► slot ──► MemRowStore: key, cells as inserted, insertedAt
 *   key order ─► KeyOrder ──────┘          └──► RedoLog: change @15 ──► change @12 ──► (none older)
 *
 * Rows are never changed in place: each later change is put at the head of the row's redo chain, so
 * that a read at any time finds the row as it was. A deleted row stays as a ghost, whose key may be
 * inserted again: that is a REINSERT at the head of the same chain.
 *
 * A row is visible at T when it was inserted at or before T and its newest redo at or before T is
 * no DELETE. So a row that one op inserted and deleted is visible at no time.
 */

import { successorKey } from '../../common/encoded-key.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { MEM_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Schema } from '../../common/schema.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'
import type { KeyBounds, RowSet, RowSetIterator, RowSetScan } from '../row-set.ts'
import type { KeyLookup } from '../scan/key-lookup.ts'
import { ABSENT, KeyIndex } from './key-index.ts'
import { KeyOrder } from './key-order.ts'
import { MemRowChanges } from './mem-row-changes.ts'
import { MemRowHistory } from './mem-row-history.ts'
import { MemRowSetScan } from './mem-row-set-scan.ts'
import { MemRowStore } from './mem-row-store.ts'
import { ReadColumns } from './read-columns.ts'
import { REDO_KINDS } from './redo-log.ts'
import { NO_REDO } from './row-chunk.ts'
import { RowWindow } from './row-window.ts'
import { SlotList } from './slot-list.ts'

/** What makes a MemRowSet. */
export interface MemRowSetOptions {
  readonly id: number
  /** The schema of every row in it: another schema gets another MemRowSet. */
  readonly schema: Schema
  /** Seed of the hashes that keys come with. */
  readonly keyHashSeed: number
}

/**
 * The rowset that rows are inserted into.
 *
 * Invariants, checked by `checkInvariants`:
 *  I1  each key is in one slot, and the index finds it there;
 *  I2  timestamps of changes never decrease, over all rows;
 *  I3  after `freeze` no key comes to life: ghosts stay ghosts, live rows can be changed and
 *      deleted;
 *  I4  along a chain, oldest first: UPDATE and DELETE change a live row, REINSERT a ghost;
 *  I5  since `freeze` the row of each change is listed, so that a flush can carry it over.
 */
export class MemRowSet implements RowSet {
  readonly id: number
  readonly schema: Schema
  readonly keyHashSeed: number
  readonly #rows: MemRowStore
  readonly #index = new KeyIndex()
  readonly #order = new KeyOrder()
  #liveRowCount = 0
  #lastAt: Timestamp = 0
  #isFrozen = false
  readonly #scans = new Set<MemRowSetScan>()
  /** Redos there were when it was frozen, and the slot of each one since. */
  #frozenRedoCount = 0
  readonly #changedSlots = new SlotList()

  constructor(options: MemRowSetOptions) {
    this.id = options.id
    this.schema = options.schema
    this.keyHashSeed = options.keyHashSeed
    this.#rows = new MemRowStore(options.schema)
  }

  /** Bytes held in memory, spare capacity included. Cost: O(columns). */
  get heldBytes(): number {
    const listBytes = this.#order.heldBytes + this.#changedSlots.heldBytes
    return this.#rows.heldBytes + this.#index.heldBytes + listBytes
  }

  /** Rows ever inserted, ghosts included. */
  get rowCount(): number {
    return this.#rows.rowCount
  }

  /** Whether there are numbers left for `count` more rows and as many changes. */
  hasRoomFor(count: number): boolean {
    return Math.max(this.#rows.rowCount, this.#rows.redos.count) + count <= MEM_ROW_COUNT_MAX
  }

  /** Rows that are there after the newest change. */
  get liveRowCount(): number {
    return this.#liveRowCount
  }

  /** Timestamp of the newest change; 0 when there is none. */
  get lastAt(): Timestamp {
    return this.#lastAt
  }

  /** Timestamp of the oldest change; 0 when there is none. */
  get firstAt(): Timestamp {
    return this.#rows.rowCount === 0 ? 0 : this.#rows.insertedAt(0)
  }

  /** Whether `freeze` was called. */
  get isFrozen(): boolean {
    return this.#isFrozen
  }

  /** Whether a scan reads it. */
  get isPinned(): boolean {
    return this.#scans.size > 0
  }

  /** Ends the insertion of rows, as before a flush. */
  freeze(): void {
    if (this.#isFrozen) return
    this.#isFrozen = true
    this.#frozenRedoCount = this.#rows.redos.count
  }

  /**
   * Finds the slots of keys `[0, count)`, of ghosts too: writes each to `out`, `ABSENT` where there
   * is none.
   *
   * Requires: `hashes[i]` is the hash of key i by `keyHashSeed`. Cost: one probe a key, no
   * allocation.
   */
  findSlots(keys: KeyArena, hashes: Uint32Array, count: number, out: Int32Array): void {
    this.#index.findSlots(this.#rows, keys, hashes, count, out)
  }

  /** Whether the row of a slot is there after the newest change. Cost: O(1). */
  isLive(slot: number): boolean {
    const newest = this.#rows.newestRedo(slot)
    return newest === NO_REDO || this.#rows.redos.kind(newest) !== REDO_KINDS.DELETE
  }

  /**
   * Inserts rows `rows[start, end)` of a write block at one timestamp. Cells that are unset, or of
   * columns that the block lacks, get the column's write default or null.
   *
   * Returns: the first slot; the others follow it in order.
   * Requires: `keys` and `hashes` are those of all rows of the block; the keys are absent and
   * distinct; cells were checked against the schema; the block has no column that the schema lacks.
   */
  insertRows(
    keys: KeyArena,
    hashes: Uint32Array,
    block: RowBlock,
    rows: Uint32Array,
    start: number,
    end: number,
    at: Timestamp,
  ): number {
    assert(!this.#isFrozen, 'no row is inserted into a frozen MemRowSet')
    this.#begin(at)
    const first = this.#rows.append(keys, block, rows, start, end, at)
    this.#index.reserve(end - start)
    for (let i = start; i < end; i++) {
      const row = rows[i]
      if (VERIFY) {
        const slot = this.#index.findSlot(this.#rows, keys, row, hashes[row])
        assert(slot === ABSENT, 'an inserted key is absent')
      }
      this.#index.add(hashes[row], first + i - start)
    }
    this.#liveRowCount += end - start
    return first
  }

  /**
   * Changes the cells that `row` of a write block sets, but those of key columns and, with
   * `skipImmutable`, of immutable ones.
   *
   * `schema` is the one that the block was checked against: the rowset's own, or a younger one,
   * whose new columns can be changed though no row here was inserted with them.
   * Returns: how many cells; when there are none the row stays as it was. Requires: the row is
   * live.
   */
  update(
    slot: number,
    block: RowBlock,
    row: number,
    at: Timestamp,
    skipImmutable = false,
    schema: Schema = this.schema,
  ): number {
    assert(this.isLive(slot), 'a live row is updated')
    assert(this.#isFrozen || schema === this.schema, 'an altered table has a new MemRowSet')
    this.#begin(at)
    const { redos } = this.#rows
    let changedCount = 0
    for (let i = 0; i < block.columns.length; i++) {
      const source = block.columns[i]
      if (!source.hasCell(row)) continue
      const column = schema.mustById(block.columnIds[i])
      if (column.isKey || (skipImmutable && column.isImmutable)) continue
      assert(source.physical === column.physical, 'a block column is laid out as its schema says')
      if (changedCount === 0) this.#change(slot, at, REDO_KINDS.UPDATE)
      redos.addCell(this.#rows.knownColumnIndex(column), source, row)
      changedCount++
    }
    return changedCount
  }

  /** Deletes a row: it stays as a ghost. Requires: it is live. */
  delete(slot: number, at: Timestamp): void {
    assert(this.isLive(slot), 'a live row is deleted')
    this.#begin(at)
    this.#change(slot, at, REDO_KINDS.DELETE)
    this.#liveRowCount--
  }

  /**
   * Brings a ghost back with the cells that `row` of a write block sets; the others get the
   * column's write default or null, whatever the row held before.
   *
   * Requires: the row is a ghost; cells were checked against the schema.
   */
  reinsert(slot: number, block: RowBlock, row: number, at: Timestamp): void {
    assert(!this.#isFrozen, 'no row comes back in a frozen MemRowSet')
    assert(!this.isLive(slot), 'a ghost is reinserted')
    this.#begin(at)
    this.#change(slot, at, REDO_KINDS.REINSERT)
    const { columns, keyColumnCount } = this.schema
    for (let index = keyColumnCount; index < columns.length; index++) {
      const source = block.columnById(columns[index].id)
      if (source?.hasCell(row)) this.#rows.redos.addCell(index, source, row)
      else this.#rows.redos.addValue(index, columns[index].writeDefault)
    }
    this.#liveRowCount++
  }

  #begin(at: Timestamp): void {
    assert(at >= this.#lastAt, 'changes come in the order of their timestamps')
    this.#lastAt = at
  }

  #change(slot: number, at: Timestamp, kind: 1 | 2 | 3): void {
    const redo = this.#rows.redos.append(at, kind, this.#rows.newestRedo(slot))
    this.#rows.setNewestRedo(slot, redo)
    if (this.#isFrozen) this.#changedSlots.push(slot)
  }

  /** Cost: that of `KeyOrder.sorted` when rows were added since the last call. */
  keyBounds(): KeyBounds | null {
    const { slots, count } = this.#order.sorted(this.#rows)
    if (count === 0) return null
    return {
      lowerKey: this.#rows.key(slots[0]),
      upperKey: successorKey(this.#rows.key(slots[count - 1])),
    }
  }

  mayHaveChanged(after: Timestamp, upTo: Timestamp): boolean {
    return this.rowCount > 0 && this.firstAt <= upTo && this.lastAt > after
  }

  /**
   * Bytes of the cells of some columns as rows were inserted; of the keys where there are none.
   * Cost: O(chunks).
   */
  cellBytes(columnIds: readonly number[]): number {
    return this.#rows.cellBytes(columnIds)
  }

  /** Every `step`th key in their order, from the first. Cost: as that of `keyBounds`. */
  sampleKeys(step: number): Uint8Array[] {
    const { slots, count } = this.#order.sorted(this.#rows)
    const keys: Uint8Array[] = []
    for (let i = 0; i < count; i += step) keys.push(this.#rows.key(slots[i]))
    return keys
  }

  /** Opens a scan. Cost: that of `KeyOrder.sorted` when rows were added since the last one. */
  openIterator(scan: RowSetScan): RowSetIterator {
    const order = this.#order.sorted(this.#rows)
    const opened: MemRowSetScan = new MemRowSetScan(this.#rows, order, scan, () => {
      this.#scans.delete(opened)
    })
    this.#scans.add(opened)
    return opened
  }

  /**
   * Lets open scans go on in the rowsets that it was flushed to, so that none keeps it in memory.
   * Requires: it is not used any more; they hold its rows, all that these ever were, in the order
   * of their keys.
   */
  handOver(rowSets: readonly RowSet[]): void {
    for (const scan of [...this.#scans]) scan.goOnIn(rowSets)
  }

  /**
   * Adds to `lookup` the rows of its pending keys that are visible here, and takes those keys off.
   */
  lookupRows(lookup: KeyLookup): void {
    const projected = new ReadColumns(this.#rows, lookup.columns)
    const capacity = lookup.pendingCount
    const window = new RowWindow(this.#rows, lookup.snapshot, projected.columns, capacity)
    const { pending, keys, hashes, keyIndexes, rows } = lookup
    let left = 0
    for (let i = 0; i < lookup.pendingCount; i++) {
      const key = pending[i]
      const slot = this.#index.findSlot(this.#rows, keys, key, hashes[key])
      if (slot !== ABSENT && window.add(slot)) keyIndexes[rows.rowCount + window.count - 1] = key
      else pending[left++] = key
    }
    lookup.pendingCount = left
    if (window.count === 0) return
    projected.append(window, 0, window.count, rows.columns)
    rows.rowCount += window.count
  }

  /**
   * All rows as they are now and were before, as a flush writes them.
   *
   * Requires: it is frozen. Cost: as that of `openIterator`.
   */
  history(): MemRowHistory {
    assert(this.#isFrozen, 'a MemRowSet is frozen before it is flushed')
    const order = this.#order.sorted(this.#rows)
    return new MemRowHistory(this.#rows, order, this.#rows.redos.count)
  }

  /** What changed since a history was made. Requires: all its rows were resolved. */
  changesSince(history: MemRowHistory): MemRowChanges {
    const first = history.redoEnd - this.#frozenRedoCount
    return new MemRowChanges(this.#rows, history, this.#changedSlots, first)
  }

  /** Writes the hash of each slot's key to `out`. Cost: O(rows). */
  readHashes(out: Uint32Array): void {
    this.#index.readHashes(out)
  }

  /**
   * Walks everything. Throws an AssertionError where an invariant does not hold. Cost: O(rows +
   * redos).
   */
  checkInvariants(): void {
    const rows = this.#rows
    rows.checkInvariants()
    this.#index.checkInvariants(rows.rowCount)
    this.#order.checkInvariants(rows)
    let liveRowCount = 0
    for (let slot = 0; slot < rows.rowCount; slot++) {
      assert(rows.insertedAt(slot) <= this.#lastAt, 'no row is younger than the newest change')
      this.#checkChain(slot)
      if (this.isLive(slot)) liveRowCount++
    }
    assert(liveRowCount === this.#liveRowCount, 'live rows are counted')
    if (!this.#isFrozen) return
    const changeCount = rows.redos.count - this.#frozenRedoCount
    assert(this.#changedSlots.count === changeCount, 'changes since it was frozen are listed')
  }

  #checkChain(slot: number): void {
    const { redos } = this.#rows
    const chain: number[] = []
    for (let at = this.#rows.newestRedo(slot); at !== NO_REDO; at = redos.older(at)) chain.push(at)
    let isLive = true
    let at = this.#rows.insertedAt(slot)
    for (const redo of chain.reverse()) {
      const kind = redos.kind(redo)
      assert(redos.at(redo) >= at, 'a change is not older than the row and the change before')
      assert(isLive === (kind !== REDO_KINDS.REINSERT), 'a redo fits the state of its row')
      at = redos.at(redo)
      isLive = kind !== REDO_KINDS.DELETE
    }
  }
}
