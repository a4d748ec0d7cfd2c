/** What a tablet says inside its object, and how its object says it to others. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { Outcome } from '../common/status.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import type { TabletAnswer } from '../wire/tablet-protocol.ts'

/** What a section says: a tablet's reply, or that there is no tablet any more. */
export type SectionReply<T> = TabletReply<T> | { readonly kind: 'dropped' }

/** The same reply about another value. `map` is called for a value only. */
export function withValue<T, U>(reply: TabletReply<T>, map: (value: T) => U): TabletReply<U> {
  return reply.kind === 'ok' ? { ...reply, value: map(reply.value) } : reply
}

/** A section's outcome as a message. `clock` is that of a reply which carries none of its own. */
export function answerOf<T>(outcome: Outcome<SectionReply<T>>, clock: Timestamp): TabletAnswer<T> {
  if (!outcome.ok) {
    const { code, message, details } = outcome
    return { kind: 'error', clock, code, message, details }
  }
  const reply = outcome.value
  if (reply.kind === 'dropped') return { kind: 'dropped', clock }
  if (reply.kind === 'uninitialized') return { kind: 'uninitialized', clock: reply.clock }
  return reply
}
