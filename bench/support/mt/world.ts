/** What the actors share: a tablet, what it should have, time, chance, and a tally. */

import { createHash } from 'node:crypto'
import type { Clock, Timestamp } from '../../../src/common/hybrid-clock.ts'
import { encodeRowBlock } from '../../../src/common/row-block.ts'
import { DEFAULT_TABLET_LAYOUT } from '../../../src/tablet/tablet-layout.ts'
import { Prng } from '../../../src/util/prng.ts'
import { InsertBlocks } from '../bench-schema.ts'
import { BenchTablet } from '../bench-tablet.ts'
import { MemoryStore } from '../memory-store.ts'
import { MT_SCHEMA, type MtOperation, noteOf, RowModel, valOf } from './row-model.ts'

const START_MICROS = Date.UTC(2026, 0, 1) * 1000
const TURN_MICROS_MAX = 10_000
const HISTORY_SEC = 30
/** How long the tablet keeps history. */
export const HISTORY_MICROS = HISTORY_SEC * 1_000_000

/** What one kind of actors did. */
export interface Tally {
  turns: number
  rows: number
  /** In the engine alone. */
  milliseconds: number
  longestMs: number
}

/** Time that passes with turns. */
class TurnClock implements Clock {
  now = START_MICROS

  nowMicros(): Timestamp {
    return this.now
  }
}

/** See the file's header. */
export class World {
  readonly prng: Prng
  readonly bench: BenchTablet
  readonly model: RowModel
  readonly tallies = new Map<string, Tally>()
  /** Keys that were ever inserted, in no order. */
  readonly touched: Uint32Array
  touchedCount = 0
  /** Rows of all writes. */
  writtenCount = 0
  /** Nothing new begins. */
  isEnding = false
  readonly #clock = new TurnClock()
  readonly #blocks = new InsertBlocks(MT_SCHEMA)
  readonly #trace = createHash('sha256')

  /** `rowSetBytes`: of a MemRowSet at which it is flushed. */
  constructor(seed: number, keyCount: number, rowSetBytes: number) {
    this.prng = new Prng(seed)
    this.model = new RowModel(keyCount)
    this.touched = new Uint32Array(keyCount)
    this.bench = new BenchTablet(new MemoryStore(), MT_SCHEMA, true, {
      clock: this.#clock,
      layout: { ...DEFAULT_TABLET_LAYOUT, rowSetBytes },
      extraConfigs: { 'kudu.table.history_max_age_sec': String(HISTORY_SEC) },
    })
  }

  /** Physical time. */
  get now(): Timestamp {
    return this.#clock.now
  }

  /** Lets a turn's time pass. */
  passTime(): void {
    this.#clock.now += 1 + this.prng.below(TURN_MICROS_MAX)
  }

  /** Any key that was ever inserted. Requires: there is one. */
  touchedKey(): number {
    return this.touched[this.prng.below(this.touchedCount)]
  }

  /** Notes what happened, for the hash of the whole. */
  note(what: string): void {
    this.#trace.update(`${what}\n`)
  }

  /** A hash of all that was noted. No more can be noted. */
  traceHash(): string {
    return this.#trace.digest('hex')
  }

  /** Runs work of the engine at the cost of a kind of actors. `rowsOf`: rows that it was about. */
  timed<T>(kind: string, work: () => T, rowsOf: (result: T) => number): T {
    const begun = performance.now()
    const result = work()
    const ms = performance.now() - begun
    const tally = this.tallies.get(kind) ?? { turns: 0, rows: 0, milliseconds: 0, longestMs: 0 }
    this.tallies.set(kind, tally)
    tally.turns++
    tally.rows += rowsOf(result)
    tally.milliseconds += ms
    tally.longestMs = Math.max(tally.longestMs, ms)
    return result
  }

  /**
   * Writes rows with these keys, one of which may come several times. Throws when other rows than
   * those that the model says are applied.
   */
  write(kind: string, operation: MtOperation, keys: readonly number[]): void {
    const { model, bench } = this
    const applied = keys.map((key) => {
      const isApplied = model.apply(operation, key)
      this.#append(operation, key)
      return isApplied
    })
    const block = encodeRowBlock(this.#blocks.take(operation))
    this.#blocks.clear()
    this.writtenCount += keys.length
    const request = { ...bench.request, block, resultKey: null }
    const reply = this.timed(
      kind,
      () => bench.tablet.write(request),
      () => keys.length,
    )
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    const failed = [...reply.value.errors.rows]
    const expected = applied.flatMap((isApplied, row) => (isApplied ? [] : [row]))
    if (failed.join() !== expected.join()) {
      throw new Error(`rows ${failed} of ${operation} ${keys} failed, not ${expected}`)
    }
    this.note(`${operation} ${keys} failed ${failed} at ${reply.value.timestamp}`)
  }

  /** Appends what makes the row what it is in the model. One that fails may have any cells. */
  #append(operation: MtOperation, key: number): void {
    const [keys, vals, counts, notes] = this.#blocks.builder.columns
    const count = Math.max(0, this.model.counts[key])
    keys.appendCell(BigInt(key))
    if (operation === 'DELETE' || operation === 'UPDATE') vals.appendNull(false)
    else vals.appendCell(valOf(key, this.model.versions[key]))
    if (operation === 'DELETE') {
      counts.appendNull(false)
      notes.appendNull(false)
    } else {
      counts.appendCell(count)
      notes.appendCell(noteOf(count))
    }
  }
}
