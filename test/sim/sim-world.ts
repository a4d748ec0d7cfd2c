/**
 * A simulated tablet: runs the events of a script one by one, and after each holds the tablet
 * against the truth.
 *
 *   event ──► tablet ──► what it answers = what the model says
 *                │
 *                └─► after each event: sim-checks.ts
 *
 * The physical clock may lie up to 250 ms behind the true time, by another amount after each
 * restart.
 */

import { SimChecks } from './sim-checks.ts'
import { SimDamage } from './sim-damage.ts'
import type { SimEvent, SimScript } from './sim-event.ts'
import { SimReads } from './sim-reads.ts'
import { SimState } from './sim-state.ts'
import { SimUpkeep } from './sim-upkeep.ts'
import { SimWrites } from './sim-writes.ts'

/** See the file's header. */
export class SimWorld {
  readonly #state: SimState
  readonly #writes: SimWrites
  readonly #reads: SimReads
  readonly #damage: SimDamage
  readonly #upkeep: SimUpkeep
  readonly #checks: SimChecks

  constructor(script: SimScript) {
    this.#state = new SimState(script)
    this.#writes = new SimWrites(this.#state)
    this.#reads = new SimReads(this.#state)
    this.#upkeep = new SimUpkeep(this.#state, this.#reads)
    this.#damage = new SimDamage(this.#state, this.#upkeep)
    this.#checks = new SimChecks(this.#state, this.#writes, this.#reads)
  }

  /** How often each thing happened. */
  get counts(): ReadonlyMap<string, number> {
    return this.#state.counts
  }

  /** Runs an event and holds the tablet against the truth. */
  run(event: SimEvent): void {
    this.#state.harness.clock.advance(1 + this.#state.prng.below(3000))
    this.#dispatch(event)
    this.#checks.check(event.kind)
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
        this.#upkeep.maintain(event.steps)
        break
      case 'request':
        this.#upkeep.request(event.op, event.steps)
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
        this.#damage.damage(event.what, event.dice, event.op)
        break
    }
  }

  #crash(dice: number, behindMicros: number): void {
    const { store } = this.#state.harness
    const { releasedCount, committedCount } = store
    const kept = releasedCount + Math.floor(dice * (committedCount - releasedCount + 1))
    this.#state.count(kept < committedCount ? 'crash that lost ops' : 'crash that lost nothing')
    this.#state.restart(kept, behindMicros)
  }
}
