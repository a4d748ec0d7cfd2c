/**
 * What a tablet holds, counted for operators. Plain data.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'
import { type DeltaFileMeta, rowSetBytes } from './disk/row-set-meta.ts'
import { averageRowSetHeight } from './maintenance/row-set-picks.ts'
import type { TabletParts } from './tablet-parts.ts'

/** Delta files of a rowset. */
export interface DeltaReport {
  readonly fileCount: number
  readonly recordCount: number
  readonly deleteCount: number
  readonly bytes: number
}

/** A rowset. */
export interface RowSetReport {
  readonly id: number
  readonly rowCount: number
  readonly liveRowCount: number
  /** Of all its files. */
  readonly bytes: number
  readonly baseBytes: number
  readonly lowerKey: Uint8Array
  /** Empty when it is not known. */
  readonly upperKey: Uint8Array
  readonly undos: DeltaReport
  readonly redos: DeltaReport
  /** Changes that are in memory only. */
  readonly memoryRecordCount: number
  readonly memoryBytes: number
  readonly isBusy: boolean
}

/** See the file's header. */
export interface TabletReport {
  readonly liveRowCount: number
  readonly onDiskBytes: number
  readonly memory: {
    readonly total: number
    readonly memRowSet: number
    /** Rows that are being flushed. */
    readonly flushing: number
    readonly deltas: number
    readonly results: number
    /** What is kept of rowsets beside their deltas. */
    readonly rowSets: number
  }
  readonly memRowSetRowCount: number
  readonly flushingRowCount: number
  readonly wal: {
    readonly bytes: number
    readonly rowCount: number
    readonly generationCount: number
  }
  readonly rowSets: readonly RowSetReport[]
  readonly averageRowSetHeight: number
  readonly safeTime: Timestamp
  readonly cleanTime: Timestamp
  readonly inFlightOpCount: number
  readonly lastApplied: Timestamp
  readonly historyMark: Timestamp
  readonly locks: {
    readonly heldCount: number
    readonly waitingCount: number
    readonly waitingOpCount: number
  }
}

/** Counts what a tablet holds. Reads nothing from the storage. Cost: O(rowsets log rowsets). */
export function reportOf(parts: TabletParts): TabletReport {
  const { memRowSet, frozen, rowSets, wal, mvcc, locks } = parts
  return {
    liveRowCount: parts.liveRowCount,
    onDiskBytes: onDiskBytes(parts),
    memory: memoryOf(parts),
    memRowSetRowCount: memRowSet.rowCount,
    flushingRowCount: frozen?.memRowSet.rowCount ?? 0,
    wal: { bytes: wal.bytes, rowCount: wal.rowCount, generationCount: wal.generations.length },
    rowSets: rowSets.map(rowSetReport),
    averageRowSetHeight: averageRowSetHeight(rowSets),
    safeTime: mvcc.safeTime,
    cleanTime: mvcc.cleanTime,
    inFlightOpCount: mvcc.inFlightCount,
    lastApplied: parts.lastApplied,
    historyMark: parts.historyMark,
    locks: {
      heldCount: locks.heldCount,
      waitingCount: locks.waitingCount,
      waitingOpCount: locks.waitingOpCount,
    },
  }
}

/** Bytes of a tablet's rowsets and WAL. Cost: O(rowsets). */
export function onDiskBytes({ rowSets, wal }: TabletParts): number {
  let { bytes } = wal
  for (const { meta } of rowSets) bytes += rowSetBytes(meta)
  return bytes
}

function memoryOf(parts: TabletParts): TabletReport['memory'] {
  const total = parts.heldBytes
  const memRowSet = parts.memRowSet.heldBytes
  const results = parts.results.bytes
  let deltas = 0
  let held = 0
  for (const rowSet of parts.rowSets) {
    deltas += memoryDeltas(rowSet).bytes
    held += rowSet.heldBytes
  }
  return {
    total,
    memRowSet,
    flushing: total - memRowSet - results - held,
    deltas,
    results,
    rowSets: held - deltas,
  }
}

function rowSetReport(rowSet: DiskRowSet): RowSetReport {
  const { meta, id, rowCount, lowerKey, upperKey, liveRowCount, isBusy } = rowSet
  const { recordCount, bytes: memoryBytes } = memoryDeltas(rowSet)
  return {
    id,
    rowCount,
    liveRowCount,
    bytes: rowSetBytes(meta),
    baseBytes: meta.baseBytes,
    lowerKey,
    upperKey,
    undos: deltaReport(meta.undos),
    redos: deltaReport(meta.redos),
    memoryRecordCount: recordCount,
    memoryBytes,
    isBusy,
  }
}

function memoryDeltas({ memStores }: DiskRowSet): { recordCount: number; bytes: number } {
  let recordCount = 0
  let bytes = 0
  for (const store of memStores) {
    recordCount += store.recordCount
    bytes += store.heldBytes
  }
  return { recordCount, bytes }
}

function deltaReport(files: readonly DeltaFileMeta[]): DeltaReport {
  let recordCount = 0
  let deleteCount = 0
  let bytes = 0
  for (const file of files) {
    recordCount += file.recordCount
    deleteCount += file.deleteCount
    bytes += file.bytes
  }
  return { fileCount: files.length, recordCount, deleteCount, bytes }
}
