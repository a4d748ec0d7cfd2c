/**
 * What a tablet that was initialized is made of, and how that changes. Only this folder's files and
 * its subfolders look inside.
 *
 *   inserts ─► memRowSet        frozen            rowSets
 *              (active)   ─swap─► (while it is ─commit─► on disk, each with its DeltaMemStore
 *                                  flushed)
 *
 * Writes change memory and append to the WAL. Everything else that is durable changes in one way: a
 * maintenance op calls `commitStorage` in its last transaction.
 */

import type { PageCache } from '../cfile/page-cache.ts'
import type { ColumnVector } from '../common/column-vector.ts'
import { type Clock, TIMESTAMP_MAX, type Timestamp } from '../common/hybrid-clock.ts'
import { DELTA_MEM_STORE_FLUSH_BYTES, HISTORY_MAX_AGE_SEC_DEFAULT } from '../common/limits.ts'
import type { RowBlock } from '../common/row-block.ts'
import { type Column, Schema } from '../common/schema.ts'
import { assert } from '../util/assert.ts'
import { DiskRowSet } from './disk/disk-row-set.ts'
import { FilePins } from './disk/file-pins.ts'
import type { RowSetMeta } from './disk/row-set-meta.ts'
import { RowSetTree } from './disk/row-set-tree.ts'
import { FileWriter } from './file-writer.ts'
import { LockManager } from './lock-manager.ts'
import { MemRowSet } from './memory/mem-row-set.ts'
import { MvccManager } from './mvcc/mvcc-manager.ts'
import { PartitionGuard } from './partition-guard.ts'
import type { TabletStore } from './ports.ts'
import type { ResultCache } from './result-cache.ts'
import {
  filesOfAll,
  rowSetsAfter,
  type StorageChange,
  sortFiles,
  type UnusedBlocks,
} from './storage-change.ts'
import { encodeResults, type StoredResults } from './stored-results.ts'
import {
  encodeIdentity,
  encodeSuperblock,
  type Superblock,
  type TabletIdentity,
} from './superblock.ts'
import type { TabletLayout } from './tablet-layout.ts'
import type { Wal } from './wal.ts'
import { WriteOp } from './write-op.ts'

const scratchOp = new WriteOp()
const NO_CHANGE: StorageChange = {}

/** A MemRowSet that is being flushed. */
export interface FrozenMemRowSet {
  readonly memRowSet: MemRowSet
  /** The flush takes what is at or below; changes above it were made since it was frozen. */
  readonly at: Timestamp
}

/** The same, and files that were begun for what it holds. */
export interface BegunFlush {
  readonly frozen: FrozenMemRowSet
  readonly files: readonly FileWriter[]
}

/** What a tablet that goes on is made from. */
export interface TabletPartsOptions {
  readonly store: TabletStore
  readonly clock: Clock
  /** Shared by all tablets of the isolate. */
  readonly cache: PageCache
  /** As stored, but for `walGenerations`, which the WAL knows. */
  readonly superblock: Superblock
  readonly results: ResultCache
  readonly wal: Wal
  readonly layout: TabletLayout
}

/** The share of what a flush is meant to take that may come before writes help it. */
const BEHIND_SHARE = 0.25

/**
 * The state of a running tablet: all of it can be rebuilt from storage, and is, whenever it
 * vanishes.
 *
 *  I1  no op is in flight and no lock is held between two calls;
 *  I2  `lastApplied` is the time of the newest op that changed or confirmed a row;
 *  I3  a live key is in exactly one of the active MemRowSet, the frozen one and the rowsets; in the
 *      latter it is a ghost of an older life when a MemRowSet knows it;
 *  I4  every change that is not in a file is in the WAL;
 *  I5  every file that may exist is one of a rowset's, or an orphan that the superblock names.
 */
export class TabletParts {
  readonly store: TabletStore
  /** Physical time. */
  readonly clock: Clock
  readonly cache: PageCache
  readonly layout: TabletLayout
  readonly identity: TabletIdentity
  readonly schema: Schema
  readonly keyColumns: readonly Column[]
  readonly keyHashSeed: number
  readonly locks = new LockManager()
  readonly results: ResultCache
  readonly mvcc: MvccManager
  readonly wal: Wal
  readonly guard: PartitionGuard
  /** Scratch of the op under way: one for all tablets, since a section is never interrupted. */
  readonly op = scratchOp
  /** Files that scans read. */
  readonly pins = new FilePins()
  lastApplied: Timestamp
  /** As stored: no op after a restart gets a timestamp at or below it. */
  clockMark: Timestamp
  readonly #identityJson: string
  readonly #cacheOwner: number
  #memRowSet: MemRowSet
  #frozen: FrozenMemRowSet | null = null
  #rowSets: readonly DiskRowSet[]
  #tree: RowSetTree<DiskRowSet>
  #flushedMark: Timestamp
  #changesMark: Timestamp
  #historyMark: Timestamp
  #resultsUntil: Timestamp
  #nextRowSetId: number
  #nextFile: number
  #orphanFiles: readonly number[]
  /** Files that are being written. */
  #writers: readonly FileWriter[] = []
  /** Blocks to be deleted when no scan holds their file. */
  #unusedBlocks: readonly UnusedBlocks[] = []
  #opCount = 0
  #isTorn = false

  constructor(options: TabletPartsOptions) {
    const { store, superblock } = options
    const { identity, keyHashSeed } = superblock
    this.store = store
    this.clock = options.clock
    this.cache = options.cache
    this.layout = options.layout
    this.#cacheOwner = options.cache.nextOwner()
    this.identity = identity
    this.#identityJson = encodeIdentity(identity)
    this.schema = new Schema(identity.columns)
    this.keyColumns = this.schema.keyColumns
    this.guard = new PartitionGuard(this.schema, identity)
    this.keyHashSeed = keyHashSeed
    this.results = options.results
    this.wal = options.wal
    this.lastApplied = superblock.lastApplied
    this.clockMark = superblock.clockMark
    this.mvcc = new MvccManager(superblock.lastApplied)
    this.#flushedMark = superblock.flushedMark
    this.#changesMark = superblock.changesMark
    this.#historyMark = superblock.historyMark
    this.#resultsUntil = superblock.resultsUntil
    this.#nextRowSetId = superblock.nextRowSetId
    this.#nextFile = superblock.nextFile
    this.#orphanFiles = superblock.orphanFiles
    this.#rowSets = superblock.rowSets.map((meta) => this.openRowSet(meta))
    this.#tree = new RowSetTree(this.#rowSets)
    this.#memRowSet = this.#makeMemRowSet()
  }

  /** Where rows are inserted. */
  get memRowSet(): MemRowSet {
    return this.#memRowSet
  }

  /** The MemRowSet that is being flushed, if one is. */
  get frozen(): FrozenMemRowSet | null {
    return this.#frozen
  }

  /** Rowsets on disk, in no order. The list never changes: commits make another. */
  get rowSets(): readonly DiskRowSet[] {
    return this.#rowSets
  }

  /** The same by key. */
  get tree(): RowSetTree<DiskRowSet> {
    return this.#tree
  }

  /** Every row inserted at or below it is in a DiskRowSet. */
  get flushedMark(): Timestamp {
    return this.#flushedMark
  }

  /** As stored: every change to a row on disk at or below it is in files. */
  get changesMark(): Timestamp {
    return this.#changesMark
  }

  /** The highest mark that history was dropped by. */
  get historyMark(): Timestamp {
    return this.#historyMark
  }

  /** Files that may exist and that no rowset needs, those being written included. Ascending. */
  get orphanFiles(): readonly number[] {
    return this.#orphanFiles
  }

  /** Rows that are there after the newest change. Cost: O(rowsets). */
  get liveRowCount(): number {
    let count = this.#memRowSet.liveRowCount + (this.#frozen?.memRowSet.liveRowCount ?? 0)
    for (const rowSet of this.#rowSets) count += rowSet.liveRowCount
    return count
  }

  /** Bytes of changes to rows on disk that are in memory only. Cost: O(rowsets). */
  get deltaBytes(): number {
    let bytes = 0
    for (const { memStores } of this.#rowSets) {
      for (const store of memStores) if (!store.isEmpty) bytes += store.heldBytes
    }
    return bytes
  }

  /** Bytes that the tablet holds in memory, but for the page cache. Cost: O(rowsets). */
  get heldBytes(): number {
    let bytes = this.#memRowSet.heldBytes + this.results.bytes
    if (this.#frozen !== null) bytes += this.#frozen.memRowSet.heldBytes
    for (const rowSet of this.#rowSets) bytes += rowSet.heldBytes
    return bytes
  }

  /**
   * Whether what is written comes faster than it is flushed: a flush is due and was not begun, or
   * is under way while much has come since. Cost: O(rowsets).
   */
  get isBehind(): boolean {
    const { rowSetBytes } = this.layout
    const rowBytes = this.#memRowSet.heldBytes
    if (rowBytes >= rowSetBytes * (1 + BEHIND_SHARE)) return true
    if (this.#frozen !== null && rowBytes >= rowSetBytes * BEHIND_SHARE) return true
    return this.deltaBytes >= DELTA_MEM_STORE_FLUSH_BYTES * (1 + BEHIND_SHARE)
  }

  /**
   * Time of the oldest change that is in memory and the WAL only; null when all are in files. Cost:
   * O(rowsets).
   */
  get oldestAnchor(): Timestamp | null {
    const { oldestUnflushed } = rowSetsAfter(this.#rowSets, NO_CHANGE, TIMESTAMP_MAX)
    const anchor = this.#anchorWith(oldestUnflushed, this.#frozen)
    return anchor === TIMESTAMP_MAX ? null : anchor
  }

  #anchorWith(oldestUnflushed: Timestamp, frozen: FrozenMemRowSet | null): Timestamp {
    let anchor = oldestUnflushed
    if (this.#memRowSet.rowCount > 0) anchor = Math.min(anchor, this.#memRowSet.firstAt)
    if (frozen !== null) anchor = Math.min(anchor, frozen.memRowSet.firstAt)
    return anchor
  }

  /**
   * The time up to which history may be dropped: versions that ended at or below it. Never moves
   * back, never within the table's history nor within the live WAL, whose replay asks which version
   * of a row a change was made to. `now`: physical.
   */
  ancientHistoryMark(now: Timestamp): Timestamp {
    const mark = Math.min(now - historyMaxAgeMicros(this.identity), this.wal.firstTimestamp - 1)
    return Math.max(this.#historyMark, mark)
  }

  /** A number for an op, by which it owns its locks. */
  nextOpNumber(): number {
    return ++this.#opCount
  }

  /** A number for a rowset that is about to be made. */
  nextRowSetId(): number {
    return this.#nextRowSetId++
  }

  /** A rowset of this tablet. Reads nothing. */
  openRowSet(meta: RowSetMeta): DiskRowSet {
    return new DiskRowSet(meta, {
      blocks: this.store,
      cache: this.cache,
      owner: this.#cacheOwner,
      pins: this.pins,
    })
  }

  /**
   * Runs one transaction of the store. What fails before anything in memory was changed with it
   * leaves the tablet as it was; see `isTorn`.
   */
  transact<T>(work: () => T): T {
    assert(!this.#isTorn, 'nothing is written after memory and storage parted')
    const result = this.store.transact(work)
    this.#isTorn = false
    return result
  }

  /**
   * Says that memory changes with the open transaction. Requires: inside `transact`.
   */
  tear(): void {
    this.#isTorn = true
  }

  /** Whether a transaction failed that had changed memory too: then that is worth nothing. */
  get isTorn(): boolean {
    return this.#isTorn
  }

  /** Begins a file: see `beginFiles`. */
  beginFile(): FileWriter {
    return this.beginFiles(1)[0]
  }

  /**
   * Begins files: 2 rows written for each, and one. Requires: inside `transact`.
   *
   * Returns: their writers, to be given to `commitStorage`, or closed when the op is aborted.
   */
  beginFiles(count: number): FileWriter[] {
    const writers = this.#createFiles(count)
    this.writeSuperblock()
    return writers
  }

  /** Makes files, which the superblock does not name yet. */
  #createFiles(count: number): FileWriter[] {
    const writers: FileWriter[] = []
    for (let i = 0; i < count; i++) {
      const file = this.#nextFile++
      writers.push(new FileWriter(this.store, file, this.layout))
      this.store.createFile(file)
    }
    this.#writers = [...this.#writers.filter(({ isOpen }) => isOpen), ...writers]
    this.#orphanFiles = [...this.#orphanFiles, ...writers.map(({ file }) => file)]
    return writers
  }

  /** Freezes the active MemRowSet without files for what it holds: see `beginFlush`. */
  swapMemRowSet(): FrozenMemRowSet | null {
    return this.beginFlush(() => 0)?.frozen ?? null
  }

  /**
   * Freezes the active MemRowSet, for a flush, and begins an empty one and a WAL generation: 3 rows
   * written; and files for what the frozen one holds, 2 rows each.
   *
   * Returns: the frozen one, also one that was frozen before; null when there is no row to flush,
   * and then nothing was done. Requires: inside `transact`.
   */
  beginFlush(fileCountOf: (memRowSet: MemRowSet) => number): BegunFlush | null {
    if (this.#frozen !== null) {
      const fileCount = fileCountOf(this.#frozen.memRowSet)
      return { frozen: this.#frozen, files: fileCount === 0 ? [] : this.beginFiles(fileCount) }
    }
    if (this.#memRowSet.rowCount === 0) return null
    this.tear()
    const frozen = { memRowSet: this.#memRowSet, at: this.lastApplied }
    frozen.memRowSet.freeze()
    this.#frozen = frozen
    this.#memRowSet = this.#makeMemRowSet()
    this.wal.beginGeneration()
    const files = this.#createFiles(fileCountOf(frozen.memRowSet))
    this.commitStorage(NO_CHANGE)
    return { frozen, files }
  }

  /**
   * Closes the open WAL generation, as a flush of changes does, so that it can be dropped when all
   * of it is durable. Requires: inside `transact`.
   */
  beginWalGeneration(): void {
    this.tear()
    if (this.wal.beginGeneration()) this.commitStorage(NO_CHANGE)
  }

  /**
   * Makes a change of the storage true: writes the superblock, drops files that nothing needs, and
   * WAL generations whose changes are all durable; what they tell of remembered results is written
   * to the results row first. Then memory follows.
   *
   * Requires: inside `transact`, as the last thing done there that may fail. Throws: ILLEGAL_STATE
   * when the superblock is full; nothing was changed then. Cost: O(rowsets); 1 row written, 2 with
   * results.
   */
  commitStorage(change: StorageChange): void {
    const { flushedMark, files = [], unusedBlocks = [] } = change
    assert(
      flushedMark === undefined || flushedMark === this.#frozen?.at,
      'what is flushed is the frozen MemRowSet',
    )
    const after = rowSetsAfter(this.#rowSets, change, TIMESTAMP_MAX)
    const frozen = flushedMark === undefined ? this.#frozen : null
    const walCount = this.wal.droppableCount(this.#anchorWith(after.oldestUnflushed, frozen))
    const closing = new Set(files)
    const writers = this.#writers.filter((writer) => writer.isOpen && !closing.has(writer))
    const used = filesOfAll(after.metas)
    const mayExist = [...this.#orphanFiles, ...filesOfAll(this.#metas()), ...used]
    const { dropped, orphans } = sortFiles(
      mayExist,
      used,
      (file) => this.pins.isPinned(file) || writers.some((writer) => writer.file === file),
    )
    const results = this.#resultsToKeep(walCount)
    const next: Superblock = {
      ...this.#superblock(),
      rowSets: after.metas,
      changesMark: Math.min(after.oldestUnflushed - 1, this.lastApplied),
      flushedMark: flushedMark ?? this.#flushedMark,
      historyMark: Math.max(this.#historyMark, change.historyMark ?? this.#historyMark),
      resultsUntil: results?.until ?? this.#resultsUntil,
      clockMark: Math.max(this.clockMark, this.wal.lastTimestampOf(walCount)),
      walGenerations: this.wal.generations.slice(walCount),
      orphanFiles: orphans,
    }
    const superblock = encodeSuperblock(next, this.#identityJson)

    this.tear()
    if (results !== null) this.store.writeResults(results.bytes)
    this.store.writeSuperblock(superblock)
    this.wal.drop(walCount)
    for (const file of dropped) this.store.dropFile(file)
    this.#deleteBlocks([...this.#unusedBlocks, ...unusedBlocks], used)

    for (const writer of files) writer.close()
    for (const file of dropped) this.cache.dropFile(this.#cacheOwner, file)
    for (const { rowSet, meta, flushed } of change.replace ?? []) rowSet.replaceMeta(meta, flushed)
    if (frozen === null) this.#frozen?.memRowSet.handOver(change.add ?? [])
    this.#frozen = frozen
    this.#writers = writers
    this.#orphanFiles = orphans
    this.clockMark = next.clockMark
    this.#flushedMark = next.flushedMark
    this.#changesMark = next.changesMark
    this.#historyMark = next.historyMark
    this.#resultsUntil = next.resultsUntil
    this.#setRowSets(after.rowSets)
  }

  #setRowSets(rowSets: readonly DiskRowSet[]): void {
    if (rowSets === this.#rowSets) return
    this.#rowSets = rowSets
    this.#tree = new RowSetTree(rowSets)
  }

  /** Deletes blocks of files that are still used, unless a scan may read them: then later. */
  #deleteBlocks(unused: readonly UnusedBlocks[], used: ReadonlySet<number>): void {
    const left: UnusedBlocks[] = []
    for (const entry of unused) {
      if (!used.has(entry.file)) continue
      if (this.pins.isPinned(entry.file)) left.push(entry)
      else this.store.deleteBlocks(entry.file, entry.blocks)
    }
    this.#unusedBlocks = left
  }

  /** The results row that must be written before WAL generations are dropped; null: none. */
  #resultsToKeep(walCount: number): StoredResults | null {
    const now = this.clock.nowMicros()
    return this.wal.resultsUntilOf(walCount) > now ? encodeResults(this.results, now) : null
  }

  /** Promises, over restarts too, that no later op gets a timestamp at or below: 1 row written. */
  writeClockMark(mark: Timestamp): void {
    this.tear()
    this.clockMark = mark
    this.writeSuperblock()
  }

  /** Replaces the superblock: 1 row written. Requires: inside `transact`. */
  writeSuperblock(): void {
    const superblock = this.#superblock()
    this.store.writeSuperblock(encodeSuperblock(superblock, this.#identityJson))
    this.#changesMark = superblock.changesMark
  }

  #superblock(): Superblock {
    const { oldestUnflushed } = rowSetsAfter(this.#rowSets, NO_CHANGE, TIMESTAMP_MAX)
    return {
      identity: this.identity,
      keyHashSeed: this.keyHashSeed,
      clockMark: this.clockMark,
      lastApplied: this.lastApplied,
      flushedMark: this.#flushedMark,
      changesMark: Math.min(oldestUnflushed - 1, this.lastApplied),
      historyMark: this.#historyMark,
      resultsUntil: this.#resultsUntil,
      nextRowSetId: this.#nextRowSetId,
      nextFile: this.#nextFile,
      walGenerations: this.wal.generations,
      orphanFiles: this.#orphanFiles,
      rowSets: this.#metas(),
    }
  }

  #metas(): RowSetMeta[] {
    return this.#rowSets.map(({ meta }) => meta)
  }

  #makeMemRowSet(): MemRowSet {
    return new MemRowSet({
      id: this.nextRowSetId(),
      schema: this.schema,
      keyHashSeed: this.keyHashSeed,
    })
  }

  /** Asserts I3 in part, and I5. Cost: O(rowsets). */
  checkInvariants(): void {
    const ids = new Set(this.#rowSets.map(({ id }) => id))
    assert(ids.size === this.#rowSets.length, 'two rowsets have one id')
    for (const id of ids) assert(id < this.#nextRowSetId, 'a rowset has an id that was given out')
    const used = filesOfAll(this.#metas())
    for (const file of used) {
      assert(file < this.#nextFile, 'a rowset has files that were begun')
      assert(!this.#orphanFiles.includes(file), 'a file of a rowset is no orphan')
    }
    for (const { isOpen, file } of this.#writers) {
      assert(!isOpen || this.#orphanFiles.includes(file), 'a file being written is an orphan')
    }
    assert(this.#tree.rowSets.length === this.#rowSets.length, 'the tree has all rowsets')
    if (this.#frozen === null) return
    assert(this.#frozen.memRowSet.isFrozen, 'nothing is inserted into what is flushed')
    assert(this.#frozen.at > this.#flushedMark, 'what is flushed is newer than what was')
  }
}

/** How long a table keeps history. */
export function historyMaxAgeMicros({ extraConfigs }: TabletIdentity): number {
  const text = extraConfigs['kudu.table.history_max_age_sec']
  return (text === undefined ? HISTORY_MAX_AGE_SEC_DEFAULT : Number(text)) * 1_000_000
}

/** The key columns of a block, in key order, or null when it lacks one. */
export function keyVectorsOf(
  block: RowBlock,
  keyColumns: readonly Column[],
): readonly ColumnVector[] | null {
  const vectors: ColumnVector[] = []
  for (let index = 0; index < keyColumns.length; index++) {
    const vector = block.columnById(keyColumns[index].id)
    if (vector === undefined) return null
    vectors.push(vector)
  }
  return vectors
}
