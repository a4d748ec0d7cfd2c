/** The platform's clock. The only file that asks it for the time of day. */

import type { Clock, Timestamp } from '../common/hybrid-clock.ts'

/**
 * Time as the platform tells it: in steps of a millisecond, and at rest while nothing is awaited.
 */
export class SystemClock implements Clock {
  /** Microseconds since the epoch. */
  nowMicros(): Timestamp {
    return Date.now() * 1000
  }

  /** Milliseconds that only ever grow; they rest while nothing is awaited. */
  elapsedMs(): number {
    return performance.now()
  }
}
