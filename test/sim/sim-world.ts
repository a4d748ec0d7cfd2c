/**
 * A simulated tablet: runs the events of a script one by one, and after each holds the tablet
 * against the truth.
 *
 *   event ──► tablet ──► what it answers = what the model says
 *                │
 *                └─► after each event: the invariants of everything, the rows now and at two
 *                    snapshots shown before, the number of live rows
 *
 * The physical clock may lie up to 250 ms behind the true time, by another amount after each
 * restart.
 */

import type { MaintenanceOp } from '../../src/common/maintenance-op.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { assert } from '../../src/util/assert.ts'
import { assertSame } from './same.ts'
import { SimDamage } from './sim-damage.ts'
import type { SimEvent, SimScript } from './sim-event.ts'
import { SimReads } from './sim-reads.ts'
import { chosen, SimState, STEP_BACK_MICROS } from './sim-state.ts'
import { SimWrites } from './sim-writes.ts'

/** See the file's header. */
export class SimWorld {
  readonly #state: SimState
  readonly #writes: SimWrites
  readonly #reads: SimReads
  readonly #damage: SimDamage
  #requestCount = 0

  constructor(script: SimScript) {
    this.#state = new SimState(script)
    this.#writes = new SimWrites(this.#state)
    this.#reads = new SimReads(this.#state)
    this.#damage = new SimDamage(this.#state)
  }

  /** How often each thing happened. */
  get counts(): ReadonlyMap<string, number> {
    return this.#state.counts
  }

  /** Runs an event and holds the tablet against the truth. */
  run(event: SimEvent): void {
    this.#state.harness.clock.advance(1 + this.#state.prng.below(3000))
    this.#dispatch(event)
    this.#check()
  }

  /** Everything that was answered, as text: what must not depend on the layout. */
  answers(): string {
    const { history } = this.#state
    return JSON.stringify([
      history.model.rowsAt(Number.MAX_SAFE_INTEGER),
      history.sent.map(({ result }) => result?.created ?? null),
    ])
  }

  #dispatch(event: SimEvent): void {
    switch (event.kind) {
      case 'write':
        this.#writes.write(event.operations, event.key, event.leaves, event.aheadMicros)
        break
      case 'repeat':
        this.#writes.repeat(event.dice)
        break
      case 'scan':
        this.#reads.scan(event.scan)
        break
      case 'lookup':
        this.#reads.lookup(event.dice, event.rows)
        break
      case 'open scan':
        this.#reads.openScan(event.scan)
        break
      case 'read on':
        this.#reads.readOn(event.dice, event.batches)
        break
      case 'close scan':
        this.#reads.closeScan(event.dice)
        break
      case 'offer':
        this.#reads.offer(event.aheadMicros)
        break
      case 'maintain':
        this.#maintain(event.steps)
        break
      case 'request':
        this.#request(event.op, event.steps)
        break
      case 'advance':
        this.#state.harness.clock.advance(event.micros)
        this.#state.count('clock moves')
        break
      case 'lock':
        this.#writes.lock(event.operations)
        break
      case 'unlock':
        this.#writes.unlock(event.dice, event.applies)
        break
      case 'fail':
        this.#state.failsNext = event.moment
        break
      case 'crash':
        this.#crash(event.dice, event.behindMicros)
        break
      case 'evict':
        this.#state.count('eviction')
        this.#state.restart(this.#state.harness.store.committedCount, event.behindMicros)
        break
      case 'damage':
        this.#damage.damage(event.what, event.dice)
        break
    }
  }

  #maintain(steps: number): void {
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
  #request(op: MaintenanceOp, steps: number): void {
    const { tablet, store } = this.#state.harness
    const id = `request ${this.#requestCount++}`
    const isAnswered = this.#state.withFault(op, () => {
      let report = tablet.maintenance.request(op, id)
      for (let step = 1; !report.isDone && (steps === 0 || step <= steps); step++) {
        assert(step < 100_000, 'maintenance comes to an end')
        tablet.stepMaintenance()
        report = tablet.maintenance.request(op, id)
      }
      if (report.isDone && report.runCount > 0) this.#state.count(`${op} done`)
    })
    if (!isAnswered) this.#state.restart(store.committedCount, this.#state.behindMicros)
  }

  #crash(dice: number, behindMicros: number): void {
    const { store } = this.#state.harness
    const { releasedCount, committedCount } = store
    const kept = releasedCount + Math.floor(dice * (committedCount - releasedCount + 1))
    this.#state.count(kept < committedCount ? 'crash that lost ops' : 'crash that lost nothing')
    this.#state.restart(kept, behindMicros)
  }

  #check(): void {
    const { tablet } = this.#state.harness
    checkTablet(tablet, this.#writes.openOpCount)
    assert(tablet.lastApplied === this.#state.history.lastApplied, 'the newest op is known')
    const { snapshot, rows } = this.#state.harness.peek(null)
    assertSame(rows, this.#state.history.model.rowsAt(snapshot), 'the present is that of the model')
    const live = this.#state.history.model.rowsAt(Number.MAX_SAFE_INTEGER).length
    assert(tablet.figures().liveRowCount === live, 'live rows are counted')
    this.#state.history.forgetBefore(this.#state.horizon + STEP_BACK_MICROS)
    if (this.#state.history.shown.length === 0) return
    for (let i = 0; i < 2; i++) {
      const shown = chosen(this.#state.history.shown, this.#state.prng.unit())
      const { rows: again } = this.#state.harness.peek(shown.at)
      assertSame(again, shown.rows, `snapshot ${shown.at} shows what it showed before`)
    }
  }
}
