/**
 * Runs a planned scan in its tablets for what it tells of itself, all at one snapshot.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { ReadMode } from '../common/read-mode.ts'
import type { ScanStats } from '../common/scan-stats.ts'
import type { ScanCall, TabletCall } from '../wire/tablet-protocol.ts'
import type { ReadSession } from './read-session.ts'
import type { ScanPlan } from './scan-plan.ts'
import { snapshotOf } from './scan-session.ts'

/** Tablets that work at the same time. */
const FAN_OUT_MAX = 8

/** How to read for an analysis. */
export interface AnalysisOptions {
  readonly mode: ReadMode
  /** Given by the client; null: picked here. */
  readonly snapshot: Timestamp | null
}

/** What came out of an analysis. */
export interface ScanAnalysis {
  readonly snapshot: Timestamp
  /**
   * By the index of the tablet. One that holds no rows, or that the limit leaves out, did nothing
   * and is not there.
   */
  readonly tablets: ReadonlyMap<number, ScanStats>
}

/** Analyzes a planned scan. Throws: whatever reads throw. */
export async function analyzeScan(
  session: ReadSession,
  plan: ScanPlan,
  options: AnalysisOptions,
): Promise<ScanAnalysis> {
  const { tablets } = plan
  const { limit, order } = plan.request
  let snapshot = await snapshotOf(session, tablets, options)
  const found = new Map<number, ScanStats>()
  // Only the tablets that a limit lets the scan come to work, one after the other. In a merge all
  // do.
  const isLimited = limit !== Number.POSITIVE_INFINITY && order === 'UNORDERED'
  let next = 0
  let rowsLeft = limit
  const work = async (): Promise<void> => {
    while (next < tablets.length && rowsLeft > 0) {
      const index = tablets[next++]
      const asked = { ...callOf(plan, snapshot), rowCountMax: isLimited ? rowsLeft : limit }
      const { value, clock: at } = await session.call(index, (stub, call: TabletCall) =>
        stub.analyze({ ...call, ...asked }),
      )
      snapshot ??= value?.snapshot ?? at
      if (value === null) continue
      found.set(index, value.stats)
      if (isLimited) rowsLeft -= value.stats.rowsReturned
    }
  }
  await Promise.all(Array.from({ length: isLimited ? 1 : FAN_OUT_MAX }, work))
  return { snapshot: snapshot ?? session.context.ports.clock.now(), tablets: found }
}

function callOf(
  { request, spec }: ScanPlan,
  snapshot: Timestamp | null,
): Omit<ScanCall, keyof TabletCall | 'rowCountMax'> {
  const { columnIds, order, diffFrom = null } = request
  const { predicates, lowerKey, upperKey } = spec
  const shape = { columnIds, predicates, lowerKey, upperKey, order, diffFrom }
  return { ...shape, snapshot, bytesMax: Number.MAX_SAFE_INTEGER, withKeys: false }
}
