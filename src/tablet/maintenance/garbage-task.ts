/**
 * Drops what nobody may read any more: UNDO files that only lead to times below the ancient history
 * mark, rowsets whose rows were all deleted by then, and with them files and WAL generations that
 * nothing needs.
 */

import { TIMESTAMP_MAX, TIMESTAMP_MIN, type Timestamp } from '../../common/hybrid-clock.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import { type RowSetMeta, rowSetBytes } from '../disk/row-set-meta.ts'
import type { RowSetReplacement } from '../storage-change.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { SteppedTask } from './stepped-task.ts'

/**
 * See the file's header. It reads nothing, and is done in one step. Its summary counts what it
 * drops: rows of rowsets, records of UNDO files, and the bytes of both and of the WAL.
 */
export class GarbageTask extends SteppedTask {
  readonly op = 'GC'

  constructor(parts: TabletParts, now: Timestamp) {
    super(parts, now, {})
  }

  protected *run(): Generator<void, void> {
    const { parts, summary } = this
    const remove: DiskRowSet[] = []
    const replace: RowSetReplacement[] = []
    for (const rowSet of parts.rowSets) {
      if (rowSet.isBusy) continue
      const { meta } = rowSet
      if (isGone(rowSet, this.mark)) {
        remove.push(rowSet)
        summary.rowsIn += meta.rowCount
        summary.bytesIn += rowSetBytes(meta)
      } else if (meta.undos.some(({ newest }) => newest <= this.mark)) {
        const kept = withoutAncient(meta, this.mark)
        replace.push({ rowSet, meta: kept })
        summary.rowsIn += recordCountOf(meta) - recordCountOf(kept)
        summary.bytesIn += rowSetBytes(meta) - rowSetBytes(kept)
      }
    }
    summary.rowSetsIn = remove.length + replace.length
    summary.rowSetsOut = replace.length
    const walBytes = parts.wal.bytes
    if (summary.rowSetsIn > 0) this.commit({ remove, replace, historyMark: this.mark })
    else if (hasOrphans(parts)) this.commit({})
    summary.bytesIn += walBytes - parts.wal.bytes
  }
}

/** Whether every row was deleted at or before a time. */
function isGone({ meta, oldestUnflushed }: DiskRowSet, mark: Timestamp): boolean {
  if (meta.liveRowCount > 0 || oldestUnflushed !== null) return false
  return meta.redos.every(({ newest }) => newest <= mark)
}

function withoutAncient(meta: RowSetMeta, mark: Timestamp): RowSetMeta {
  const undos = meta.undos.filter(({ newest }) => newest > mark)
  const newestUndo = undos.reduce((newest, undo) => Math.max(newest, undo.newest), TIMESTAMP_MIN)
  return { ...meta, undos, newestUndo }
}

function recordCountOf({ undos }: RowSetMeta): number {
  return undos.reduce((sum, { recordCount }) => sum + recordCount, 0)
}

/** Whether a commit that changes nothing drops something all the same. */
function hasOrphans(parts: TabletParts): boolean {
  const { orphanFiles, pins, wal, oldestAnchor } = parts
  if (wal.droppableCount(oldestAnchor ?? TIMESTAMP_MAX) > 0) return true
  return orphanFiles.some((file) => !pins.isPinned(file))
}
