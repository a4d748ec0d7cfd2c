/**
 * What drives the maintenance of a tablet object: its alarm, and operators that wait for an op.
 *
 * Each step is a turn of its own, so that writes and scans go on in between. All of it may end at
 * any step with the object; the alarm is set before, and goes on with what is due then.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { MAINTENANCE_ALARM_MS_MAX, MAINTENANCE_CALL_MS_MAX } from '../common/limits.ts'
import type { Outcome } from '../common/status.ts'
import type { MaintenanceManager } from '../tablet/maintenance/maintenance-manager.ts'
import type { RequestReport } from '../tablet/maintenance/maintenance-status.ts'
import type { Tablet } from '../tablet/tablet.ts'
import type { MaintainAnswer, MaintainCall } from '../wire/tablet-protocol.ts'
import { checkWireVersion } from '../wire/wire-version.ts'
import type { ObjectGuard } from './object-guard.ts'
import { type AlarmStorage, runSteps, TabletAlarm } from './tablet-alarm.ts'

/** What it needs of its object. */
export interface MaintenanceSurroundings {
  readonly storage: AlarmStorage
  readonly guard: Pick<ObjectGuard, 'run'>
  /** The tablet; null when it was dropped or never written to. Throws: CORRUPTION. */
  readonly tablet: () => Tablet | null
  readonly nowMicros: () => Timestamp
  readonly elapsedMs: () => number
  /** Lets other events in. */
  readonly pause: () => Promise<void>
}

/** See the file's header. */
export class TabletMaintenance {
  readonly #around: MaintenanceSurroundings
  readonly #alarm: TabletAlarm
  #wasAsked = false

  constructor(around: MaintenanceSurroundings) {
    this.#around = around
    this.#alarm = new TabletAlarm(around.storage)
  }

  /** Sets the alarm if something is due that it does not know of. */
  async arm(): Promise<void> {
    this.#wasAsked = true
    await this.#alarm.arm(this.#due(), this.#around.nowMicros())
  }

  /**
   * The same after the first call since the object woke, whatever that was: it may have fallen
   * between what it wrote and its alarm.
   */
  async armOnce(): Promise<void> {
    if (this.#wasAsked) return
    this.#wasAsked = true
    // What is planned for it is not waited for.
    await this.#around.pause()
    await this.arm()
  }

  /** What the alarm does: steps until nothing is due, or for a while. */
  async ring(): Promise<void> {
    const dueAfter = () => ({ due: this.#due(), now: this.#around.nowMicros() })
    await this.#alarm.ring(() => this.#runSteps(MAINTENANCE_ALARM_MS_MAX, () => true), dueAfter)
  }

  /** Works on an op that was asked for, for a while or until it is done. */
  async maintain(call: MaintainCall): Promise<Outcome<MaintainAnswer | null>> {
    let outcome = this.#ask(call)
    const isOpen = () => outcome.ok && outcome.value !== null && !outcome.value.isDone
    if (isOpen()) {
      // So that it is done when the caller goes away.
      await this.arm()
      await this.#runSteps(MAINTENANCE_CALL_MS_MAX, () => {
        outcome = this.#ask(call)
        return isOpen()
      })
      outcome = this.#ask(call)
    }
    return answerOf(outcome)
  }

  #ask({ wire, op, requestId }: MaintainCall): Outcome<RequestReport | null> {
    return this.#around.guard.run('maintain', () => {
      checkWireVersion(wire)
      return this.#manager()?.request(op, requestId) ?? null
    })
  }

  /** Makes steps while there are any and `goesOn`. */
  #runSteps(msMax: number, goesOn: () => boolean): Promise<void> {
    const { pause, elapsedMs } = this.#around
    return runSteps({ step: () => this.#step() && goesOn(), pause, elapsedMs, msMax })
  }

  /** Makes one step. Returns whether there is more to do at once. */
  #step(): boolean {
    const { guard, tablet } = this.#around
    const outcome = guard.run('maintenance', () => tablet()?.stepMaintenance() === true)
    return outcome.ok && outcome.value
  }

  /** When something is next due; null when nothing is, or the tablet cannot be opened. */
  #due(): Timestamp | null {
    const { guard, nowMicros } = this.#around
    const outcome = guard.run('due', () => this.#manager()?.due(nowMicros()) ?? null)
    return outcome.ok ? outcome.value : null
  }

  #manager(): MaintenanceManager | null {
    const tablet = this.#around.tablet()
    return tablet?.isInitialized === true ? tablet.maintenance : null
  }
}

function answerOf(outcome: Outcome<RequestReport | null>): Outcome<MaintainAnswer | null> {
  if (!outcome.ok) return outcome
  if (outcome.value === null) return { ok: true, value: null }
  const { isDone, runCount, summary } = outcome.value
  return { ok: true, value: { isDone, runCount, ...summary } }
}
