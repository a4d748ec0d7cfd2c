/** The laws that hold for a simulated tablet after every event. */

import { checkAccount, checkTablet } from '../../src/tablet/invariants.ts'
import { assert } from '../../src/util/assert.ts'
import type { MemoryTabletStore } from '../support/memory-tablet-store.ts'
import { assertSame } from './same.ts'
import type { SimEvent } from './sim-event.ts'
import type { SimReads } from './sim-reads.ts'
import { checkHeldBytes, SimSpace } from './sim-space.ts'
import { chosen, type SimState, STEP_BACK_MICROS } from './sim-state.ts'
import type { SimWrites } from './sim-writes.ts'

/** See the file's header. */
export class SimChecks {
  readonly #state: SimState
  readonly #writes: SimWrites
  readonly #reads: SimReads
  readonly #space = new SimSpace()
  /** What never changes and was read before. */
  readonly #known = new WeakSet<object>()
  /** What the storage was when everything was last read. */
  #store: MemoryTabletStore | null = null
  #committedCount = -1

  constructor(state: SimState, writes: SimWrites, reads: SimReads) {
    this.#state = state
    this.#writes = writes
    this.#reads = reads
  }

  /** Holds the tablet against the truth after an event. */
  check(kind: SimEvent['kind']): void {
    const { harness } = this.#state
    const { tablet, store } = harness
    if (this.#state.hasAccounted) checkAccount(tablet, harness.accountant)
    // What is checked below may make it keep more.
    this.#state.hasAccounted = false
    this.#checkHolds()
    tablet.parts?.locks.checkInvariants()
    const isSame = store === this.#store && store.committedCount === this.#committedCount
    this.#state.history.forgetBefore(this.#state.horizon + STEP_BACK_MICROS)
    // Memory changes only with the storage: what held before an event that wrote nothing holds now.
    if (isSame) return
    checkTablet(tablet, this.#writes.openOpCount, this.#known)
    this.#checkRows(kind)
    this.#space.check(harness.parts, store, this.#reads.openCount > 0)
    this.#store = store
    this.#committedCount = store.committedCount
  }

  #checkRows(kind: SimEvent['kind']): void {
    const { harness, history, prng } = this.#state
    const { tablet } = harness
    assert(tablet.lastApplied === history.lastApplied, 'the newest op is known')
    const { snapshot, rows } = harness.peek(null)
    assertSame(rows, history.model.rowsAt(snapshot), 'the present is that of the model')
    assert(tablet.figures().liveRowCount === history.model.liveRowCount, 'live rows are counted')
    this.#reads.probe(snapshot, history.model.rowsAt(snapshot))
    if (history.shown.length === 0) return
    // A write adds to what was there; all else may put it elsewhere.
    for (let count = kind === 'write' ? 1 : 2; count > 0; count--) {
      const shown = chosen(history.shown, prng.unit())
      const { rows: again } = harness.peek(shown.at)
      assertSame(again, shown.rows, `snapshot ${shown.at} shows what it showed before`)
      this.#reads.probe(shown.at, shown.rows)
    }
  }

  /** When no scan is open and no op is under way, nothing holds on to anything. */
  #checkHolds(): void {
    const { parts, tablet, clock } = this.#state.harness
    if (this.#reads.openCount > 0) return
    if (tablet.maintenance.status(clock.nowMicros()).running.length > 0) return
    assert(parts.pins.fileCount === 0, 'files are pinned and nobody reads them')
    checkHeldBytes(parts)
  }
}
