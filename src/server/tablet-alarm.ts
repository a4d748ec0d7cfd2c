/**
 * The alarm of a tablet object: when it next works by itself.
 *
 *   nothing due      no alarm is set, and none is asked for
 *   due at T         one alarm, at T or before
 *   it goes off      steps of maintenance, events in between, for a while; then it is set anew
 *
 * Setting an alarm bills a row, so it is only ever moved to an earlier time. One that goes off too
 * early finds that nothing is due yet, and is set anew. The platform keeps it over evictions and
 * crashes, and lets it go off again when the object fell in the middle of it.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'

/** The part of an object's storage that keeps its alarm. */
export interface AlarmStorage {
  /** When it goes off, in milliseconds; null when it is not set, and while it goes off. */
  getAlarm(): Promise<number | null>
  setAlarm(scheduledMs: number): Promise<void>
}

/** An alarm this much earlier is not worth its row. */
const SLACK_MS = 1000

/** See the file's header. */
export class TabletAlarm {
  readonly #storage: AlarmStorage
  /** Undefined: not asked for yet. */
  #scheduledMs: number | null | undefined = undefined
  #isRinging = false

  constructor(storage: AlarmStorage) {
    this.#storage = storage
  }

  /** Makes sure that it goes off when something is due, if something is. `now`: physical. */
  async arm(due: Timestamp | null, now: Timestamp): Promise<void> {
    // When it has gone off it is set anew by itself.
    if (due === null || this.#isRinging) return
    if (this.#scheduledMs === undefined) {
      const stored = await this.#storage.getAlarm()
      // Another call may have come first.
      this.#scheduledMs ??= stored
      if (this.#isRinging) return
    }
    const wantedMs = Math.ceil(Math.max(due, now) / 1000)
    const isSoonEnough = this.#scheduledMs !== null && this.#scheduledMs <= wantedMs + SLACK_MS
    if (isSoonEnough) return
    this.#scheduledMs = wantedMs
    await this.#storage.setAlarm(wantedMs)
  }

  /**
   * Runs what is to be done when it goes off. `dueAfter`: asked when that is done, for when it is
   * to go off next.
   */
  async ring(
    work: () => Promise<void>,
    dueAfter: () => { readonly due: Timestamp | null; readonly now: Timestamp },
  ): Promise<void> {
    this.#isRinging = true
    this.#scheduledMs = null
    try {
      await work()
    } finally {
      this.#isRinging = false
    }
    const { due, now } = dueAfter()
    await this.arm(due, now)
  }
}

/** How steps are spread over turns. */
export interface StepLoop {
  /** Makes a step. Returns whether there is more to do. */
  readonly step: () => boolean
  /** Lets other events in. */
  readonly pause: () => Promise<void>
  readonly elapsedMs: () => number
  /** After this long no step is begun. */
  readonly msMax: number
}

/** Makes steps until there is nothing more to do, or for so long. */
export async function runSteps({ step, pause, elapsedMs, msMax }: StepLoop): Promise<void> {
  const endMs = elapsedMs() + msMax
  while (step() && elapsedMs() < endMs) await pause()
}
