/**
 * Hybrid logical time in one safe integer: microseconds since the epoch that never go back.
 *
 * The platform's clock steps by milliseconds, so the microseconds inside one are the logical ticks:
 * `next() = max(now, last + 1)`. A snapshot at T holds every op with a timestamp ≤ T.
 */

import { assert } from '../util/assert.ts'

/** Microseconds since the epoch, a safe integer. */
export type Timestamp = number

/** The time before every op. */
export const TIMESTAMP_MIN: Timestamp = 0
/** The time after every op. */
export const TIMESTAMP_MAX: Timestamp = Number.MAX_SAFE_INTEGER

/** Where physical time comes from: injected, so that tests and simulations own it. */
export interface Clock {
  /** Microseconds since the epoch. May step in either direction. */
  nowMicros(): number
}

/**
 * A clock that never goes back and never gives one timestamp twice.
 *
 *  I1  `last` is at least every timestamp given by `next` or passed to `raise`.
 */
export class HybridClock {
  readonly #clock: Clock
  #last: Timestamp

  constructor(clock: Clock, startAt: Timestamp = TIMESTAMP_MIN) {
    this.#clock = clock
    this.#last = startAt
  }

  /** Physical time, as the clock port tells it. */
  get physical(): Timestamp {
    return this.#clock.nowMicros()
  }

  /** The greatest timestamp given or heard of so far. */
  get last(): Timestamp {
    return this.#last
  }

  /** A timestamp above all before. */
  next(): Timestamp {
    this.#last = Math.max(this.#clock.nowMicros(), this.#last + 1)
    assert(this.#last < TIMESTAMP_MAX, 'time ran out of safe integers')
    return this.#last
  }

  /** A timestamp at least as great as all before: what a read is served at. */
  now(): Timestamp {
    this.#last = Math.max(this.#clock.nowMicros(), this.#last)
    return this.#last
  }

  /**
   * Makes every later timestamp greater than `heard`. Requires: the caller bounded how far ahead it
   * is.
   */
  raise(heard: Timestamp): void {
    assert(Number.isSafeInteger(heard), 'a timestamp is a safe integer')
    if (heard > this.#last) this.#last = heard
  }
}
