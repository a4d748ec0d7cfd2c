/**
 * Rows that were deleted at or before the ancient history mark: nobody may read a time at which
 * they were there, and they take space until their rowset is written anew. Only decides.
 *
 *   rowset of 10 rows   REDO file a: 1 delete   b: 2 deletes   c: 4 deletes
 *                       ────────────────────────────────────┆───────────────
 *   3 rows are gone                                        mark
 *
 * A delete is known to be ancient when its whole file is. What is written anew has no such file,
 * and gets one only when more of its rows are deleted: each time it is less by GONE_SHARE_MIN, so
 * it ends.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { COMPACTION_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { RowSetMeta } from '../disk/row-set-meta.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { CompactionChoice } from './row-set-picks.ts'

/** The part of a rowset's rows that are gone from which on it is written anew by itself. */
export const GONE_SHARE_MIN = 0.2

/** A rowset to be written anew. */
export interface GoneChoice {
  readonly choice: CompactionChoice | null
  /** When there will be one; null: as things are, never. */
  readonly nextAt: Timestamp | null
}

/**
 * The rowset of which the greatest part is gone, if that is GONE_SHARE_MIN or more. One without a
 * live row is left to garbage collection. `maxAgeMicros`: how long the table keeps history.
 */
export function chooseGone(
  parts: TabletParts,
  failed: ReadonlySet<number>,
  now: Timestamp,
  maxAgeMicros: number,
): GoneChoice {
  const mark = parts.ancientHistoryMark(now)
  const rowSets = parts.rowSets.filter((rowSet) => {
    return isRewritable(rowSet) && rowSet.liveRowCount > 0 && !failed.has(rowSet.id)
  })
  let nextAt: Timestamp | null = null
  for (const { meta } of rowSets) {
    const at = goneAt(meta, GONE_SHARE_MIN)
    if (at === null || at <= mark || at + maxAgeMicros <= now) continue
    nextAt = Math.min(nextAt ?? Number.POSITIVE_INFINITY, at + maxAgeMicros)
  }
  return { choice: mostGone(rowSets, mark, GONE_SHARE_MIN), nextAt }
}

/** The same when any row that is gone is reason enough. */
export function chooseAskedGone(parts: TabletParts, now: Timestamp): CompactionChoice | null {
  return mostGone(parts.rowSets.filter(isRewritable), parts.ancientHistoryMark(now), 0)
}

/**
 * When so great a part of a rowset's rows was deleted that it is worth to write it anew, as REDO
 * files tell; null: it was not yet.
 */
export function goneAt({ redos, rowCount }: RowSetMeta, shareMin: number): Timestamp | null {
  let count = 0
  for (const { newest, deleteCount } of [...redos].sort((a, b) => a.newest - b.newest)) {
    count += deleteCount
    if (count > 0 && count >= rowCount * shareMin) return newest
  }
  return null
}

function mostGone(
  rowSets: readonly DiskRowSet[],
  mark: Timestamp,
  shareMin: number,
): CompactionChoice | null {
  let best: CompactionChoice | null = null
  for (const rowSet of rowSets) {
    const share = goneCount(rowSet.meta, mark) / rowSet.rowCount
    if (share === 0 || share < shareMin || (best !== null && share <= best.value)) continue
    best = { rowSets: [rowSet], value: share, cuts: [] }
  }
  return best
}

function goneCount({ redos }: RowSetMeta, mark: Timestamp): number {
  let count = 0
  for (const { newest, deleteCount } of redos) if (newest <= mark) count += deleteCount
  return count
}

function isRewritable({ isBusy, rowCount }: DiskRowSet): boolean {
  return !isBusy && rowCount <= COMPACTION_ROW_COUNT_MAX
}
