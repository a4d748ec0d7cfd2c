/**
 * Lets others run while a stream of rows goes on.
 *
 * A reader that is fast enough is never waited for, so without pauses requests from outside would
 * wait until the scan is over. A short pause looks once for what has come. But a request takes
 * several turns, each of which would then wait behind the stream's next part: when one has come,
 * the next pauses rest for some milliseconds, in which most are answered.
 */

import type { AppPorts } from './ports.ts'

/** Pauses of this length follow a request that came. */
const REST_MS = 3
/** How many do. */
const REST_COUNT = 4
/** Work between two of them, in bytes of rows and of what becomes of them: a millisecond. */
const RESTLESS_BYTES = 128 * 1024
/** Work between two looks: 25 ms. With half as much a scan as Arrow takes a fifth longer. */
const QUIET_BYTES = 4 * 1024 * 1024
/** Work before the first pause: an answer that is small has none. */
export const FIRST_PAUSE_BYTES = 256 * 1024

type SleepPort = Pick<AppPorts, 'sleep'>

/** Counts what came to an isolate from outside. */
export class Arrivals {
  #count = 0

  /** How many requests came so far. */
  get count(): number {
    return this.#count
  }

  /** One more came. */
  add(): void {
    this.#count++
  }
}

/** The pauses of one stream. */
export class StreamPauses {
  readonly #ports: SleepPort
  readonly #arrivals: Arrivals
  #seenCount: number
  #restsLeft = 0
  /** A look that was begun, and is mostly over by the time that it is waited for. */
  #look: Promise<void> | null = null

  constructor(ports: SleepPort, arrivals: Arrivals) {
    this.#ports = ports
    this.#arrivals = arrivals
    this.#seenCount = arrivals.count
  }

  /** The next pause: resolves when it is over, to the bytes of work until the next. */
  async next(): Promise<number> {
    this.#notice()
    if (this.#restsLeft === 0) {
      await (this.#look ?? this.#ports.sleep(0))
      // Whoever came while it looked has turns to take before the next part.
      this.#notice()
    }
    if (this.#restsLeft > 0) {
      this.#restsLeft--
      await this.#ports.sleep(REST_MS)
      this.#notice()
    }
    if (this.#restsLeft > 0) return RESTLESS_BYTES
    this.#look = this.#ports.sleep(0)
    return QUIET_BYTES
  }

  /** Has the next pauses rest if somebody has come. */
  #notice(): void {
    const { count } = this.#arrivals
    if (count === this.#seenCount) return
    this.#seenCount = count
    this.#restsLeft = REST_COUNT
  }
}
