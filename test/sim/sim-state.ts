/** What all parts of a simulated tablet share: the tablet, the truth, and how it starts again. */

import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { Prng } from '../../src/util/prng.ts'
import { type FaultMoment, REFUSED, StorageFault } from '../support/memory-tablet-store.ts'
import { TabletHarness } from '../support/tablet-harness.ts'
import type { SimScript } from './sim-event.ts'
import { SimHistory } from './sim-history.ts'
import { simSchema, tabletLayout } from './sim-table.ts'

export const SECOND_MICROS = 1_000_000
/** Below this, memory is short. */
const SHORT_MEMORY_BYTES = 1 << 20
/** How far a restart may move the clock back. */
export const STEP_BACK_MICROS = 250_000

/** See the file's header. */
export class SimState {
  readonly script: SimScript
  readonly schema: Schema
  readonly prng: Prng
  readonly harness: TabletHarness
  readonly history = new SimHistory()
  /** How often each thing happened: a run in which nothing is flushed proves little. */
  readonly counts = new Map<string, number>()
  /** When the next transaction fails. */
  failsNext: FaultMoment | null = null
  behindMicros = 0
  /** Whether the tablet has told its account what it holds since somebody looked into it. */
  hasAccounted = false
  readonly #onRestart: (() => void)[] = []

  constructor(script: SimScript) {
    this.script = script
    this.schema = simSchema(script.layout.encodings)
    this.prng = new Prng(script.seed)
    this.harness = new TabletHarness(this.schema, {
      seed: script.seed,
      extraConfigs: { 'kudu.table.history_max_age_sec': String(script.historySec) },
      layout: tabletLayout(script.layout),
      ...(script.memoryBytes === undefined ? {} : { memoryBytesMax: script.memoryBytes }),
    })
  }

  /** The oldest snapshot that can be read. */
  get horizon(): number {
    return this.harness.clock.nowMicros() - this.script.historySec * SECOND_MICROS
  }

  /** Whether writes may have to work for their memory: then one comes to several transactions. */
  get isMemoryShort(): boolean {
    return (this.script.memoryBytes ?? SHORT_MEMORY_BYTES) < SHORT_MEMORY_BYTES
  }

  count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  /** Runs `forget` whenever the tablet loses its memory. */
  onRestart(forget: () => void): void {
    this.#onRestart.push(forget)
  }

  /**
   * Runs what may meet the failure that was ordered. Returns: false when it did, and the tablet is
   * to be opened again. What is refused leaves it as it was.
   */
  withFault(what: string, work: () => void): boolean {
    const { store } = this.harness
    const moment = this.isMemoryShort ? null : this.failsNext
    if (moment !== null) store.failNext(moment)
    this.failsNext = null
    try {
      work()
      // It had no transaction to fail in.
      if (moment !== null) store.failNext(null)
      return true
    } catch (error) {
      if (error instanceof StatusError && error.message === REFUSED) {
        this.count(`${what} refused by the storage`)
        return true
      }
      if (!(error instanceof StorageFault)) throw error
      this.count(`${what} failed ${moment}`)
      return false
    }
  }

  /** Goes on from what a prefix of the transactions left. */
  restart(keptCount: number, behindMicros: number): void {
    this.harness.clock.advance(this.behindMicros - behindMicros)
    this.behindMicros = behindMicros
    this.failsNext = null
    for (const forget of this.#onRestart) forget()
    this.harness.crash(keptCount)
    this.history.crash(keptCount)
  }
}

/** The element that a dice in [0, 1) chooses. Requires: there is one. */
export function chosen<T>(list: readonly T[], dice: number): T {
  return list[Math.min(list.length - 1, Math.floor(dice * list.length))]
}
