/** Headers by which clients name their requests and tell what time they have seen. */

import type { HybridClock, Timestamp } from '../common/hybrid-clock.ts'
import {
  CLIENT_AHEAD_MICROS_MAX,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  REQUEST_ID_LENGTH_MAX,
} from '../common/limits.ts'
import { invalidArgument } from '../common/status.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** The client's id of its request, or null when it sent none that can be used. */
export function clientRequestId(request: Request): string | null {
  const id = request.headers.get('Nyala-Request-Id')
  return id !== null && isVisibleAscii(id, REQUEST_ID_LENGTH_MAX) ? id : null
}

/** The client's Idempotency-Key, or null when it sent none. Throws: INVALID_ARGUMENT. */
export function idempotencyKey(request: Request): string | null {
  const key = request.headers.get('Idempotency-Key')
  if (key === null || isVisibleAscii(key, IDEMPOTENCY_KEY_LENGTH_MAX)) return key
  const rule = `1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters`
  throw invalidArgument(`header Idempotency-Key must be ${rule}`, {
    limit: IDEMPOTENCY_KEY_LENGTH_MAX,
  })
}

/**
 * Raises the front's clock to the newest time that the client has seen, so that nothing it is shown
 * from now on is older. To be called once the caller is authorized.
 *
 * Throws: INVALID_ARGUMENT when the header is no timestamp, or too far ahead.
 */
export function raiseToClientTime(request: Request, clock: HybridClock): void {
  const header = request.headers.get('Nyala-Propagated-Timestamp')
  if (header === null) return
  const heard = Number(header)
  if (!/^\d+$/.test(header)) {
    throw invalidArgument('header Nyala-Propagated-Timestamp must be an integer of microseconds')
  }
  // What is no safe integer any more lies centuries ahead.
  checkNotAhead('header Nyala-Propagated-Timestamp', heard, clock)
  clock.raise(heard)
}

/**
 * Throws INVALID_ARGUMENT when a client's timestamp, Infinity too, lies too far ahead of this
 * server.
 */
export function checkNotAhead(what: string, timestamp: Timestamp, clock: HybridClock): void {
  if (timestamp <= clock.physical + CLIENT_AHEAD_MICROS_MAX) return
  const limit = CLIENT_AHEAD_MICROS_MAX
  throw invalidArgument(`${what} is more than ${limit / 1_000_000} s ahead of the server's clock`, {
    limit,
  })
}

function isVisibleAscii(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && VISIBLE_ASCII.test(text)
}
