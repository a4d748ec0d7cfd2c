/**
 * Counts the calls to objects that one request makes, and lets only so many be open at once.
 */

import { REQUEST_CALL_COUNT_MAX, TABLET_FAN_OUT_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'

/** For repeats and asking the catalog. */
const SPARE_CALL_COUNT = 100

/**
 * A request's calls.
 *
 *  I1  at most TABLET_FAN_OUT_MAX calls run at once, first come first served;
 *  I2  at most `#callCountMax` calls run in all: REQUEST_CALL_COUNT_MAX, which any plan of the
 *      platform allows, or what asking every tablet of a wide table twice takes.
 */
export class CallBudget {
  #count = 0
  #open = 0
  #callCountMax = REQUEST_CALL_COUNT_MAX
  readonly #waiting: (() => void)[] = []

  /** Calls made so far. */
  get count(): number {
    return this.#count
  }

  /** Makes room for a snapshot offered to, and a read or write of, each of a table's tablets. */
  coverTablets(tabletCount: number): void {
    const needed = tabletCount * 2 + SPARE_CALL_COUNT
    if (needed > this.#callCountMax) this.#callCountMax = needed
  }

  /**
   * Runs one call when there is room for it. Throws: PAYLOAD_TOO_LARGE when the request made too
   * many.
   */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#open === TABLET_FAN_OUT_MAX) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#open++
    }
    try {
      this.#count++
      if (this.#count > this.#callCountMax) throw tooManyCalls(this.#callCountMax)
      return await call()
    } finally {
      this.#passOn()
    }
  }

  /** Gives the room of a call that ended to the first that waits. */
  #passOn(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    this.#open--
    assert(this.#open >= 0, 'more calls ended than began')
  }
}

function tooManyCalls(limit: number): StatusError {
  return new StatusError(
    'PAYLOAD_TOO_LARGE',
    `request needs more than ${limit} calls to tablets; send it in parts`,
    { limit },
  )
}
