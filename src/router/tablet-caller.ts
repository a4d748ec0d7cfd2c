/**
 * Calls a tablet, repeats the call when that is safe and may help, and turns what comes back into a
 * value or a StatusError.
 *
 * A tablet whose table version is another answers `stale`: the front fetches the table again and
 * repeats the call with what it learnt.
 */

import { FRONT_DEADLINE_MS, FRONT_RETRY_COUNT_MAX } from '../common/limits.ts'
import { type Outcome, StatusError } from '../common/status.ts'
import type { TabletAnswer, TabletCall, TabletStub } from '../wire/tablet-protocol.ts'
import { WIRE_VERSION } from '../wire/tablet-protocol.ts'
import type { CallBudget } from './call-budget.ts'
import type { OpenTable } from './open-table.ts'
import { backoffMs, isWorthRepeating, type PlatformError } from './platform-error.ts'
import type { RouterPorts } from './ports.ts'

/** A tablet's answer that is not a failure. */
export type SettledAnswer<T> = Extract<
  TabletAnswer<T>,
  { readonly kind: 'ok' | 'uninitialized' | 'stale' | 'dropped' }
>

/** What every call of a request to tablets shares. */
export interface CallContext {
  readonly ports: RouterPorts
  readonly budget: CallBudget
}

/** What the calls of one request share. */
export function callContext(ports: RouterPorts, budget: CallBudget): CallContext {
  return { ports, budget }
}

/**
 * Makes one call to the tablet at `index` of a table.
 *
 * Requires: `send` is a read or a keyed write: it may be made more than once.
 * Throws: the tablet's failure with its id, SERVICE_UNAVAILABLE when it stays unreachable or
 * overloaded, INTERNAL when the object was reset at every try.
 */
export async function callTablet<T>(
  context: CallContext,
  table: OpenTable,
  index: number,
  send: (stub: TabletStub, call: TabletCall) => Promise<TabletAnswer<T>>,
): Promise<SettledAnswer<T>> {
  const { ports } = context
  const tabletId = table.tabletId(index)
  return repeatCall(context, tabletId, async (stub) => {
    const answer = await send(stub, tabletCall(ports, table, tabletId))
    ports.clock.raise(answer.clock)
    if (answer.kind !== 'error') return answer
    throw new StatusError(answer.code, answer.message, { ...answer.details, tablet_id: tabletId })
  })
}

/**
 * Asks a tablet something that has to do with no version of its table.
 *
 * Requires: `send` may be made more than once. Throws: as `callTablet`.
 */
export async function askTablet<T>(
  context: CallContext,
  tabletId: string,
  send: (stub: TabletStub) => Promise<Outcome<T>>,
): Promise<T> {
  return repeatCall(context, tabletId, async (stub) => {
    const outcome = await send(stub)
    if (outcome.ok) return outcome.value
    const { code, message, details } = outcome
    throw new StatusError(code, message, { ...details, tablet_id: tabletId })
  })
}

/** Makes a call, with a fresh stub each time, until it is answered or repeating it cannot help. */
async function repeatCall<T>(
  { ports, budget }: CallContext,
  tabletId: string,
  call: (stub: TabletStub) => Promise<T>,
): Promise<T> {
  const deadlineMs = ports.elapsedMs() + FRONT_DEADLINE_MS
  for (let attempt = 0; ; attempt++) {
    try {
      return await budget.run(() => call(ports.tablet(tabletId)))
    } catch (error) {
      if (error instanceof StatusError) throw error
      const canRepeat = attempt < FRONT_RETRY_COUNT_MAX && ports.elapsedMs() < deadlineMs
      if (!canRepeat || !isWorthRepeating(error)) throw unreachableTablet(error, tabletId)
      await ports.sleep(backoffMs(ports, attempt))
    }
  }
}

function tabletCall(ports: RouterPorts, table: OpenTable, tabletId: string): TabletCall {
  return {
    wire: WIRE_VERSION,
    tableId: table.entry.id,
    tabletId,
    tableVersion: table.entry.version,
    clock: ports.clock.now(),
  }
}

/** A call that failed on the way: what it was to do may have been done or not. */
export class TabletUnreachable extends StatusError {}

function unreachableTablet(error: unknown, tabletId: string): TabletUnreachable {
  const marks = error as PlatformError
  const details = { tablet_id: tabletId }
  if (marks.overloaded === true) {
    return new TabletUnreachable('SERVICE_UNAVAILABLE', 'tablet is overloaded', details, error)
  }
  if (marks.retryable === true && marks.durableObjectReset !== true) {
    return new TabletUnreachable('SERVICE_UNAVAILABLE', 'tablet is unreachable', details, error)
  }
  return new TabletUnreachable('INTERNAL', 'tablet failed', details, error)
}
