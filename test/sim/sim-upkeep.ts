/** The maintenance of a simulated tablet: what it does by itself, and what it is asked for. */

import type { MaintenanceOp } from '../../src/common/maintenance-op.ts'
import { assert } from '../../src/util/assert.ts'
import type { SimReads } from './sim-reads.ts'
import { checkNoGarbage } from './sim-space.ts'
import type { SimState } from './sim-state.ts'

const STEP_COUNT_MAX = 100_000

/** See the file's header. */
export class SimUpkeep {
  readonly #state: SimState
  readonly #reads: SimReads
  #requestCount = 0

  constructor(state: SimState, reads: SimReads) {
    this.#state = state
    this.#reads = reads
  }

  maintain(steps: number): void {
    const { tablet, store } = this.#state.harness
    const isAnswered = this.#state.withFault('maintenance', () => {
      for (let step = 0; step < steps; step++) {
        if (!tablet.stepMaintenance()) return
        this.#state.count('maintenance step')
      }
    })
    if (!isAnswered) this.#state.restart(store.committedCount, this.#state.behindMicros)
  }

  /** Asks for a maintenance op and runs so many steps of it, or, with 0, all. */
  request(op: MaintenanceOp, steps: number): void {
    const { store } = this.#state.harness
    const isAnswered = this.#state.withFault(op, () => {
      if (this.run(op, steps)) {
        this.#state.count(`${op} done`)
        if (op === 'GC') this.#checkCollected()
      } else this.#state.count(`${op} begun or without work`)
    })
    if (!isAnswered) this.#state.restart(store.committedCount, this.#state.behindMicros)
  }

  /** Runs steps of an op. Returns: whether it was done. Throws: what made it fail. */
  run(op: MaintenanceOp, steps: number): boolean {
    const { tablet } = this.#state.harness
    const id = `request ${this.#requestCount++}`
    let report = tablet.maintenance.request(op, id)
    for (let step = 1; !report.isDone && (steps === 0 || step <= steps); step++) {
      assert(step < STEP_COUNT_MAX, 'maintenance comes to an end')
      tablet.stepMaintenance()
      this.#state.hasAccounted = true
      report = tablet.maintenance.request(op, id)
    }
    return report.isDone && report.runCount > 0
  }

  /** What garbage collection leaves when nobody holds on to anything. */
  #checkCollected(): void {
    const { tablet, parts, clock, store } = this.#state.harness
    const { running } = tablet.maintenance.status(clock.nowMicros())
    if (this.#reads.openCount > 0 || running.length > 0) return
    checkNoGarbage(parts, store)
    this.#state.count('no garbage left')
  }
}
