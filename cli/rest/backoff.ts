/** How long to wait before a request is sent again. */

import type { Prng } from '../../src/util/prng.ts'

const FIRST_MS = 50
const LONGEST_MS = 5_000

/**
 * Milliseconds before attempt `attempt`, from 1: twice as long each time, somewhat random so that
 * not all come back at once, and no less than what the service asked for.
 */
export function backoffMs(attempt: number, retryAfterMs: number, prng: Prng): number {
  const steady = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1))
  return Math.round(Math.max(steady, retryAfterMs) * (1 + prng.unit() / 2))
}
