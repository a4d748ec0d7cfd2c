/** What a tablet says inside its object, and how its object says it to others. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { MESSAGE_BYTES_MAX } from '../common/limits.ts'
import { encodedRowBlockBytes, encodeRowBlock } from '../common/row-block.ts'
import { type Outcome, StatusError } from '../common/status.ts'
import type { LookupFound } from '../tablet/read-path.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import type { LookupAnswer, TabletAnswer } from '../wire/tablet-protocol.ts'

/** Bytes of a row block that fits one message beside what else is in it. */
const BLOCK_BYTES_MAX = MESSAGE_BYTES_MAX - 64 * 1024

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

/** What a lookup found, as a message. Throws: PAYLOAD_TOO_LARGE when the rows do not fit one. */
export function lookupAnswerOf(found: LookupFound): LookupAnswer {
  const { snapshot, block, keyIndexes, keyCount } = found
  if (encodedRowBlockBytes(block) > BLOCK_BYTES_MAX) {
    throw new StatusError(
      'PAYLOAD_TOO_LARGE',
      `rows are over the limit of ${BLOCK_BYTES_MAX} bytes together; ask for fewer keys`,
      { limit: BLOCK_BYTES_MAX },
    )
  }
  // A copy: of a view the whole buffer would be sent.
  return { snapshot, block: encodeRowBlock(block), keyIndexes: keyIndexes.slice(), keyCount }
}
