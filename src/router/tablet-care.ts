/**
 * What operators ask of tablets: what they hold, and that something be done to them.
 */

import { MAINTENANCE_REQUEST_MS_MAX } from '../common/limits.ts'
import type { MaintenanceOp } from '../common/maintenance-op.ts'
import { StatusError } from '../common/status.ts'
import {
  type MaintainAnswer,
  type TabletCounters,
  type TabletStatusAnswer,
  WIRE_VERSION,
} from '../wire/tablet-protocol.ts'
import { askTablet, type CallContext } from './tablet-caller.ts'

/**
 * Runs a maintenance op on a tablet until there is none of it left to do: as many calls as it
 * takes, each of them bounded.
 *
 * Returns: null when no write ever reached the tablet. Throws: the tablet's failure; TIMED_OUT when
 * it takes too long, and goes on.
 */
export async function maintainTablet(
  context: CallContext,
  tabletId: string,
  op: MaintenanceOp,
): Promise<MaintainAnswer | null> {
  const { ports } = context
  const call = { wire: WIRE_VERSION, tabletId, op, requestId: ports.randomId() }
  const deadlineMs = ports.elapsedMs() + MAINTENANCE_REQUEST_MS_MAX
  for (;;) {
    const answer = await askTablet(context, tabletId, (stub) => stub.maintain(call))
    if (answer === null || answer.isDone) return answer
    if (ports.elapsedMs() >= deadlineMs) {
      const detail = `${op} is not done yet; it goes on`
      throw new StatusError('TIMED_OUT', detail, { tablet_id: tabletId })
    }
  }
}

/** What there is to know of a tablet; null when no write ever reached it. Throws: its failure. */
export function tabletStatus(
  context: CallContext,
  tabletId: string,
): Promise<TabletStatusAnswer | null> {
  return askTablet(context, tabletId, (stub) => stub.status(tabletId))
}

/** How much a tablet holds. Throws: its failure. */
export function tabletCounters(context: CallContext, tabletId: string): Promise<TabletCounters> {
  return askTablet(context, tabletId, (stub) => stub.counters())
}
