/**
 * History that would be dropped, did the WAL not hold the ancient history mark back: replay may ask
 * for any time at or after the WAL's first. Only decides.
 *
 *   WAL        ├ insert, in memory since ───────────────────►
 *   history          ├ deletes, in a REDO file
 *              ▲                                 ▲
 *              mark                              where it would be
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowSetMeta } from '../disk/row-set-meta.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { GONE_SHARE_MIN, goneAt } from './gone-rows.ts'

/**
 * The first time that the mark would have to reach so that something on disk can be dropped, where
 * the WAL holds it back from that; null: there is none. `isCompacted`: whether rowsets are written
 * anew for rows that are deleted.
 */
export function findHeldHistory(parts: TabletParts, isCompacted: boolean): Timestamp | null {
  const { firstTimestamp } = parts.wal
  let oldest: Timestamp | null = null
  for (const { meta } of parts.rowSets) {
    for (const at of droppableAt(meta, isCompacted)) {
      if (at >= firstTimestamp && (oldest === null || at < oldest)) oldest = at
    }
  }
  return oldest
}

/** Time of the oldest changes in memory that delete rows on disk; null: none do. */
export function findUnflushedDeletes(parts: TabletParts): Timestamp | null {
  let oldest: Timestamp | null = null
  for (const { isBusy, memStores } of parts.rowSets) {
    if (isBusy) continue
    for (const store of memStores) {
      if (store.deleteCount > 0 && (oldest === null || store.oldest < oldest)) oldest = store.oldest
    }
  }
  return oldest
}

function droppableAt(meta: RowSetMeta, isCompacted: boolean): Timestamp[] {
  const times = meta.undos.map(({ newest }) => newest)
  const isEmpty = meta.liveRowCount === 0
  const at = isEmpty || isCompacted ? goneAt(meta, isEmpty ? 1 : GONE_SHARE_MIN) : null
  if (at !== null) times.push(at)
  return times
}
