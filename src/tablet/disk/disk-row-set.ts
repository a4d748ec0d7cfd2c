/**
 * Rows on disk, and what became of them since they were flushed.
 *
 *          UNDO files              base               REDO files         DeltaMemStores
 *   ◄── 12 ── 15 ── 21 ──     rows at ordinal      ── 40 ── 44 ──     ── 51 ── 52 ── 60 ──►
 *     what rows were before   0, 1, 2 … by key     what became of       what became of them
 *                                                  them since           since, not yet durable
 *
 * The base never changes. A row is known by its ordinal, and changes are kept by ordinal: reading
 * needs no comparison of keys. Changes go to the newest DeltaMemStore; a flush closes it and begins
 * another.
 *
 * What is on disk is said by `meta`, which commits replace. A scan holds on to the rowset as it was
 * when the scan was opened: base, delta files and stores. Its files are pinned until it is closed.
 */

import type { BlockReader } from '../../cfile/block-id.ts'
import type { PageCache } from '../../cfile/page-cache.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Schema } from '../../common/schema.ts'
import { sortKeys } from '../../common/sort-keys.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { bitmapBytes, getBit, setBit } from '../../util/bitmap.ts'
import { DeltaFile } from '../delta/delta-file.ts'
import { DeltaMemStore } from '../delta/delta-mem-store.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { deletedOrdinals, existsJustBefore } from '../delta/liveness.ts'
import { hasRecordsWithin } from '../diff/changed-rows.ts'
import type { KeyBounds, RowSet, RowSetIterator, RowSetScan } from '../row-set.ts'
import type { KeyLookup } from '../scan/key-lookup.ts'
import { BaseReader } from './base-reader.ts'
import { checkDiskRowSet } from './check-disk-row-set.ts'
import { DiskRowSetIterator } from './disk-row-set-iterator.ts'
import type { FilePins } from './file-pins.ts'
import { lookupDiskRows } from './lookup-disk-rows.ts'
import { type DeltaFileMeta, filesOf, type RowSetMeta } from './row-set-meta.ts'

/** What a DiskRowSet reads with. */
export interface DiskRowSetContext {
  readonly blocks: BlockReader
  readonly cache: PageCache
  /** The tablet's number in the cache. */
  readonly owner: number
  /** Of the tablet, all of whose rowsets may share a file. */
  readonly pins: FilePins
}

/** A rowset as it was at one moment, for reading. The lists never change. */
export interface DiskRowSetView {
  readonly meta: RowSetMeta
  readonly base: BaseReader
  readonly undos: readonly DeltaFile[]
  readonly redos: readonly DeltaFile[]
  /** Oldest first. The newest may get more records, all of them later than the view. */
  readonly memStores: readonly DeltaMemStore[]
}

/** A hold on a rowset as it was when it was taken. */
export class RowSetPin {
  readonly view: DiskRowSetView
  readonly #release: (pin: RowSetPin) => void
  #isReleased = false

  constructor(view: DiskRowSetView, release: (pin: RowSetPin) => void) {
    this.view = view
    this.#release = release
  }

  /** Lets go. Doing so twice is no error. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#release(this)
  }
}

let scratchOrder = new Uint32Array(1024)

/** See the file's header. */
export class DiskRowSet implements RowSet {
  readonly id: number
  readonly rowCount: number
  readonly lowerKey: Uint8Array
  readonly upperKey: Uint8Array
  /** Whether a maintenance task works on it: one at a time. */
  isBusy = false
  readonly #context: DiskRowSetContext
  #view: DiskRowSetView
  /** Ordinals of rows that are deleted now; null when not known yet. */
  #deleted: Uint8Array | null = null
  readonly #pins = new Set<RowSetPin>()
  /** Flushed stores that scans still read. */
  #retired: DeltaMemStore[] = []
  #retiredBytes = 0

  constructor(meta: RowSetMeta, context: DiskRowSetContext) {
    this.id = meta.id
    this.rowCount = meta.rowCount
    this.lowerKey = meta.lowerKey
    this.upperKey = meta.upperKey
    this.#context = context
    this.#view = {
      meta,
      base: this.#openBase(meta),
      undos: this.#openFiles(meta.undos, []),
      redos: this.#openFiles(meta.redos, []),
      memStores: [new DeltaMemStore()],
    }
  }

  #openBase({ id, directory }: RowSetMeta): BaseReader {
    const { blocks, cache, owner } = this.#context
    return new BaseReader({ blocks, cache, owner, directory, where: `rowset ${id}` })
  }

  /** Readers of delta files; those of `known` that are still named go on. */
  #openFiles(metas: readonly DeltaFileMeta[], known: readonly DeltaFile[]): DeltaFile[] {
    const { blocks, cache, owner } = this.#context
    return metas.map((meta) => {
      const isSame = ({ meta: other }: DeltaFile) =>
        other.file === meta.file && other.firstBlock === meta.firstBlock
      return known.find(isSame) ?? new DeltaFile(meta, blocks, cache, owner, `rowset ${this.id}`)
    })
  }

  /** What the superblock says of it. */
  get meta(): RowSetMeta {
    return this.#view.meta
  }

  get base(): BaseReader {
    return this.#view.base
  }

  /** UNDO files, oldest first. */
  get undos(): readonly DeltaFile[] {
    return this.#view.undos
  }

  /** REDO files, oldest first. */
  get redos(): readonly DeltaFile[] {
    return this.#view.redos
  }

  /** Changes that are not durable here, oldest first; new ones go to the last. At least one. */
  get memStores(): readonly DeltaMemStore[] {
    return this.#view.memStores
  }

  /** The store that changes go to. */
  get deltas(): DeltaMemStore {
    return this.#view.memStores[this.#view.memStores.length - 1]
  }

  /** Rows that are there after the newest change. Cost: O(stores). */
  get liveRowCount(): number {
    let count = this.#view.meta.liveRowCount
    for (const { deleteCount } of this.#view.memStores) count -= deleteCount
    return count
  }

  /** Bytes that it keeps in memory, beside what is in the page cache. Cost: O(stores). */
  get heldBytes(): number {
    let bytes = this.#retiredBytes + (this.#deleted?.length ?? 0)
    for (const { heldBytes } of this.#view.memStores) bytes += heldBytes
    return bytes
  }

  /** Time of the oldest change that is not durable here; null when all are. */
  get oldestUnflushed(): Timestamp | null {
    for (const store of this.#view.memStores) if (!store.isEmpty) return store.oldest
    return null
  }

  /** Whether a scan holds on to it. */
  get isPinned(): boolean {
    return this.#pins.size > 0
  }

  keyBounds(): KeyBounds {
    return this
  }

  mayHaveChanged(after: Timestamp, upTo: Timestamp): boolean {
    const { undos, redos, memStores } = this.#view
    const stores: DeltaStore[] = [...undos, ...redos, ...memStores]
    return stores.some((store) => hasRecordsWithin(store, after, upTo))
  }

  /** Holds on to it as it is now: whoever does reads the same until the release. */
  pin(): RowSetPin {
    const { pins } = this.#context
    const files = filesOf(this.#view.meta)
    const pin = new RowSetPin(this.#view, () => {
      pins.unpin(files)
      this.#pins.delete(pin)
      if (this.#retired.length > 0) this.#forgetRetired()
    })
    pins.pin(files)
    this.#pins.add(pin)
    return pin
  }

  /** Keeps of the flushed stores those that scans still read. */
  #forgetRetired(): void {
    const isRead = (store: DeltaMemStore) => {
      for (const { view } of this.#pins) if (view.memStores.includes(store)) return true
      return false
    }
    this.#retired = this.#retired.filter(isRead)
    this.#retiredBytes = 0
    for (const { heldBytes } of this.#retired) this.#retiredBytes += heldBytes
  }

  /**
   * Makes it what a commit made it. `flushed` are stores whose records are in delta files now.
   *
   * Requires: rows and ordinals are the same. Cost: reads nothing.
   */
  replaceMeta(meta: RowSetMeta, flushed: readonly DeltaMemStore[] = []): void {
    const { base, undos, redos, memStores } = this.#view
    assert(meta.id === this.id && meta.rowCount === this.rowCount, 'a rowset keeps its rows')
    assert(!flushed.includes(this.deltas), 'the store that changes go to is not flushed')
    const { directory } = this.#view.meta
    const isSameBase =
      meta.directory.file === directory.file && meta.directory.block === directory.block
    this.#view = {
      meta,
      base: isSameBase ? base : this.#openBase(meta),
      undos: this.#openFiles(meta.undos, undos),
      redos: this.#openFiles(meta.redos, redos),
      memStores: memStores.filter((store) => !flushed.includes(store)),
    }
    this.#retired.push(...flushed)
    this.#forgetRetired()
  }

  /**
   * Lets later changes go to a new store. Returns: the older ones that hold anything, oldest first:
   * what a flush has to write, with what an earlier one left behind when it failed.
   */
  freezeDeltas(): readonly DeltaMemStore[] {
    const frozen = this.#view.memStores.filter((store) => !store.isEmpty)
    const isFresh = this.deltas.isEmpty
    const newest = isFresh ? this.deltas : new DeltaMemStore()
    this.#view = { ...this.#view, memStores: [...frozen, newest] }
    return frozen
  }

  /**
   * Finds the rows of keys, deleted ones too: of each key `order[start, end)` that it has, writes
   * the ordinal to `out` at the key's index. Others stay as they are.
   *
   * Requires: `hashes` are those of the keys by the tablet's seed. Throws: CORRUPTION. Cost: of an
   * absent key about one probe of the Bloom filter; keys that pass it are sorted and looked for. No
   * allocation.
   */
  findRows(
    keys: KeyArena,
    hashes: Uint32Array,
    order: Uint32Array,
    start: number,
    end: number,
    out: Int32Array,
  ): void {
    const { base } = this.#view
    if (scratchOrder.length < end - start) scratchOrder = new Uint32Array(end - start)
    const count = base.bloom.filter(hashes, order, start, end, scratchOrder)
    if (count === 0) return
    sortKeys(keys, scratchOrder, count)
    base.keys.findSorted(keys, scratchOrder, 0, count, out)
  }

  /**
   * Whether it has no row with a key at or above key `first` of `keys` and at or below key `last`,
   * as far as one page of keys tells. Throws: CORRUPTION. Cost: a few microseconds; a page that is
   * not at hand is read.
   */
  isGap(keys: KeyArena, first: number, last: number): boolean {
    return this.#view.base.keys.isGap(keys, first, last)
  }

  /**
   * Whether the row at an ordinal is there after the newest change. Throws: CORRUPTION. Cost: O(1);
   * the first time reads the REDO files that have deletes.
   */
  isLive(ordinal: number): boolean {
    this.#deleted ??= this.#findDeleted()
    return this.#deleted === NONE_DELETED || !getBit(this.#deleted, ordinal)
  }

  #findDeleted(): Uint8Array {
    const { redos, memStores } = this.#view
    const stores: DeltaStore[] = [...redos, ...memStores]
    if (stores.every(({ deleteCount }) => deleteCount === 0)) return NONE_DELETED
    return deletedOrdinals(stores, this.rowCount)
  }

  /**
   * Whether the row at an ordinal was there just before a time: after all changes below it. Throws:
   * CORRUPTION. Cost: reads the delta files that can tell.
   */
  wasLiveBefore(ordinal: number, at: Timestamp): boolean {
    const { undos, redos, memStores } = this.#view
    return existsJustBefore(undos, [...redos, ...memStores], ordinal, at)
  }

  /**
   * Changes the cells that `row` of a write block sets, but those of key columns and, with
   * `skipImmutable`, of immutable ones. `schema` is the one that the block was checked against.
   *
   * Returns: how many cells; when there are none the row stays as it was. Requires: the row is
   * live; `at` is not below that of an earlier change.
   */
  update(
    ordinal: number,
    block: RowBlock,
    row: number,
    at: Timestamp,
    skipImmutable: boolean,
    schema: Schema,
  ): number {
    assert(ordinal < this.rowCount, 'a row of the rowset is updated')
    return this.deltas.update(ordinal, block, row, at, schema, skipImmutable)
  }

  /** Deletes a row. Requires: as `update`. */
  delete(ordinal: number, at: Timestamp): void {
    assert(ordinal < this.rowCount, 'a row of the rowset is deleted')
    this.deltas.delete(ordinal, at)
    if (this.#deleted === null) return
    if (this.#deleted === NONE_DELETED) this.#deleted = new Uint8Array(bitmapBytes(this.rowCount))
    assert(!getBit(this.#deleted, ordinal), 'a live row is deleted')
    setBit(this.#deleted, ordinal)
  }

  /**
   * Adds changes that were made to its rows elsewhere while it was written: to the rows of a frozen
   * MemRowSet, or of the rowsets that it was compacted from. Requires: as `DeltaMemStore.append`.
   */
  appendDeltas(records: DeltaRecords): void {
    this.deltas.append(records)
    this.#deleted = null
  }

  openIterator(scan: RowSetScan): RowSetIterator {
    return new DiskRowSetIterator(this.pin(), scan)
  }

  lookupRows(lookup: KeyLookup): void {
    lookupDiskRows(this, lookup)
  }

  /**
   * Reads everything. Throws an AssertionError where an invariant does not hold, and CORRUPTION
   * where bytes are damaged. Cost: O(bytes), in memory a few pages and 1 bit a row.
   *
   * `known` are parts that never change and held when they were checked: those are passed over, and
   * this rowset's become some.
   */
  checkInvariants(keyHashSeed: number, known = new WeakSet<object>()): void {
    checkDiskRowSet(this, keyHashSeed, known)
  }
}

/** What is kept when no row is deleted. */
const NONE_DELETED = new Uint8Array(0)
