/**
 * A tablet's time: its hybrid clock, and the promises that reads make about it.
 *
 *      physical      +250 ms           +500 ms                            +30 s
 *   ──────┼─────────────┼─────────────────┼──────────────────────────────────┼────► time
 *         │ snapshots   │ a clock mark is │ first op after activation        │ refused
 *         │ need nothing│ stored first    │                                  │
 *
 * A snapshot once shown stays what it was, also across a restart, which loses this clock. Then the
 * clock begins at the greatest of the last logged op, the clock mark, and physical time + 500 ms;
 * physical time may have stepped back by 250 ms at most. So a snapshot up to physical time + 250 ms
 * is safe as it is, one further ahead only when an op at or above it is logged, or it is stored as
 * the clock mark.
 *
 * What callers are told (`newest`) is not this clock but the time of the newest op, or now: else
 * every activation would push their clocks half a second ahead, and with them all their snapshots
 * past the 250 ms.
 *
 *  I1  no op gets a timestamp at or below a snapshot shown before.
 */

import { type Clock, HybridClock, type Timestamp } from '../common/hybrid-clock.ts'
import {
  ACTIVATION_AHEAD_MICROS,
  FRONT_AHEAD_MICROS_MAX,
  SNAPSHOT_AHEAD_MICROS_MAX,
} from '../common/limits.ts'
import { invalidArgument } from '../common/status.ts'

/** See the file's header. */
export class TabletClock {
  readonly #clock: HybridClock
  #newestOp: Timestamp

  /** `newestOp` and `clockMark`: what storage tells; TIMESTAMP_MIN for a tablet that is new. */
  constructor(port: Clock, newestOp: Timestamp, clockMark: Timestamp) {
    const soon = port.nowMicros() + ACTIVATION_AHEAD_MICROS
    this.#clock = new HybridClock(port, Math.max(newestOp, clockMark, soon))
    this.#newestOp = newestOp
  }

  /** Physical time now. */
  get physical(): Timestamp {
    return this.#clock.physical
  }

  /** Every later op gets a timestamp above this one. */
  get last(): Timestamp {
    return this.#clock.last
  }

  /** The time of the newest op, or now if that is later: what a reply carries. */
  get newest(): Timestamp {
    return Math.max(this.#newestOp, this.physical)
  }

  /**
   * Raises the clock by a caller's. Throws: INVALID_ARGUMENT when it is no timestamp, or lies too
   * far ahead; then nothing is raised.
   */
  hear(heard: Timestamp): void {
    this.checkNotTooFar(heard)
    this.#clock.raise(heard)
  }

  /** The time of a new op: above every op, every snapshot shown, and everything heard. */
  next(): Timestamp {
    this.#newestOp = this.#clock.next()
    return this.#newestOp
  }

  /** Makes I1 hold for a snapshot. Requires: it is not too far ahead. */
  show(snapshot: Timestamp): void {
    this.#clock.raise(snapshot)
  }

  /** Whether a restart could forget about a snapshot unless storage tells of it. */
  mustOutliveRestart(snapshot: Timestamp): boolean {
    return snapshot > this.physical + SNAPSHOT_AHEAD_MICROS_MAX
  }

  /**
   * Throws INVALID_ARGUMENT when a time is no timestamp or lies further ahead than clocks may
   * differ.
   */
  checkNotTooFar(time: Timestamp): void {
    if (!Number.isSafeInteger(time) || time < 0) {
      throw invalidArgument('timestamp is not a whole number of microseconds')
    }
    if (time > this.physical + FRONT_AHEAD_MICROS_MAX) {
      throw invalidArgument('timestamp is more than 30 s ahead of the clock', {
        limit: FRONT_AHEAD_MICROS_MAX,
      })
    }
  }
}
