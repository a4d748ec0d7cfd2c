/**
 * Opens the rows of a planned scan at one snapshot over all its tablets.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { MERGE_STREAM_COUNT_MAX } from '../common/limits.ts'
import type { ReadMode } from '../common/read-mode.ts'
import type { ReadSession } from './read-session.ts'
import { MergeFeed, type RowFeed, SequentialFeed } from './row-feed.ts'
import type { ScanPlan } from './scan-plan.ts'
import {
  type CursorRequest,
  PageCursor,
  StreamCursor,
  type TabletCursor,
  WholeCursor,
} from './tablet-cursor.ts'

/**
 * Bytes of one page of one tablet; what is merged at once divides a few of them among its tablets.
 */
const PAGE_BYTES = 1_000_000
const MERGE_BYTES = 8 * PAGE_BYTES
const MERGE_ROW_COUNT_MIN = 64

/** How to read a plan. */
export interface FeedOptions {
  readonly mode: ReadMode
  /** Given by the client or by a page token; null: picked here. */
  readonly snapshot: Timestamp | null
  /** Rows the caller can use at most, or Infinity: decides between pages and streams. */
  readonly rowCountMax: number
  /** Index of the first tablet to read, for an unordered scan that goes on. */
  readonly firstTablet: number
  /**
   * Encoded key to go on behind, in the first tablet or, if ordered, in all; null: from the start.
   */
  readonly afterKey: Uint8Array | null
  /** Whether batches must carry keys. */
  readonly withKeys: boolean
}

/**
 * Opens the feed of a plan. Its snapshot is known once `more` was awaited, if it reads any tablet.
 */
export async function openFeed(
  session: ReadSession,
  plan: ScanPlan,
  options: FeedOptions,
): Promise<{ readonly feed: RowFeed; readonly snapshot: Timestamp | null }> {
  const tablets = isDone(plan, options.afterKey)
    ? []
    : plan.tablets.filter((index) => index >= options.firstTablet)
  const snapshot = await snapshotOf(session, tablets, options)
  const isOrdered = plan.request.order !== 'UNORDERED' && tablets.length > 1
  const cursors = tablets.map((index, position) => {
    const goesOn = isOrdered || (position === 0 && index === options.firstTablet)
    const afterKey = goesOn || plan.request.order !== 'UNORDERED' ? options.afterKey : null
    const request = cursorRequest(plan, options, { snapshot, afterKey, count: tablets.length })
    return openCursor(session, index, request, options, tablets.length)
  })
  const feed = isOrdered
    ? new MergeFeed(cursors, plan.request.order === 'DESCENDING')
    : new SequentialFeed(cursors)
  return { feed, snapshot }
}

/** Whether nothing can follow: no key sorts before the empty one. */
function isDone(plan: ScanPlan, afterKey: Uint8Array | null): boolean {
  return plan.request.order === 'DESCENDING' && afterKey?.length === 0
}

/**
 * The snapshot that a read of some tablets is at. Returns: null when it is the one tablet's own
 * present.
 */
export async function snapshotOf(
  session: ReadSession,
  tablets: readonly number[],
  options: Pick<FeedOptions, 'mode' | 'snapshot'>,
): Promise<Timestamp | null> {
  if (options.snapshot !== null) return options.snapshot
  const { clock } = session.context.ports
  if (tablets.length === 0 || options.mode === 'READ_YOUR_WRITES') return clock.now()
  // A read that touches one tablet simply reads at that tablet's time.
  return tablets.length === 1 ? null : session.pickSnapshot(tablets)
}

function openCursor(
  session: ReadSession,
  index: number,
  request: CursorRequest,
  options: FeedOptions,
  tabletCount: number,
): TabletCursor {
  if (options.rowCountMax !== Number.POSITIVE_INFINITY) {
    return new PageCursor(session, index, request)
  }
  const isMerged = request.order !== 'UNORDERED' && tabletCount > 1
  if (!isMerged) return new WholeCursor(session, index, request)
  // A merge reads all its tablets at once, and of many it must not hold much of each.
  return tabletCount <= MERGE_STREAM_COUNT_MAX
    ? new StreamCursor(session, index, request)
    : new PageCursor(session, index, request)
}

function cursorRequest(
  plan: ScanPlan,
  options: FeedOptions,
  where: { snapshot: Timestamp | null; afterKey: Uint8Array | null; count: number },
): CursorRequest {
  const { order, columnIds, diffFrom = null } = plan.request
  const isMerged = order !== 'UNORDERED' && where.count > 1
  const isWhole = options.rowCountMax === Number.POSITIVE_INFINITY
  // A tablet of a merge gives about its part of what is wanted, and is asked again when that was
  // too little.
  const wanted = isMerged
    ? Math.max(MERGE_ROW_COUNT_MIN, Math.ceil((options.rowCountMax * 1.5) / where.count))
    : options.rowCountMax
  const { lowerKey, upperKey } = boundsBehind(plan, where.afterKey)
  return {
    columnIds,
    predicates: plan.spec.predicates,
    lowerKey,
    upperKey,
    order,
    snapshot: where.snapshot,
    diffFrom,
    rowCountMax: isWhole ? plan.request.limit : Math.min(wanted, plan.request.limit),
    bytesMax: isMerged ? Math.ceil(MERGE_BYTES / where.count) : PAGE_BYTES,
    withKeys: options.withKeys || isMerged,
  }
}

function boundsBehind(
  plan: ScanPlan,
  afterKey: Uint8Array | null,
): { readonly lowerKey: Uint8Array; readonly upperKey: Uint8Array } {
  const { lowerKey, upperKey } = plan.spec
  if (afterKey === null) return { lowerKey, upperKey }
  if (plan.request.order === 'DESCENDING') return { lowerKey, upperKey: afterKey }
  const behind = new Uint8Array(afterKey.length + 1)
  behind.set(afterKey)
  return { lowerKey: behind, upperKey }
}
