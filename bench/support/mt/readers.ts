import { encodeKeyCells, successorKey } from '../../../src/common/encoded-key.ts'
import type { Timestamp } from '../../../src/common/hybrid-clock.ts'
import { StatusError } from '../../../src/common/status.ts'
import type { AggregateRun } from '../../../src/tablet/aggregate/aggregate-run.ts'
import type { TabletScanner } from '../../../src/tablet/scan/tablet-scanner.ts'
import { concatBytes } from '../../../src/util/bytes.ts'
import type { Actor } from './actor.ts'
import { checkRow, isLive, MT_SCHEMA, OrderedCheck, type RowsAt } from './row-model.ts'
import { HISTORY_MICROS, type World } from './world.ts'

const NO_BOUND = new Uint8Array(0)
const BATCH_BYTES = 1024 * 1024
const COLUMN_IDS = MT_SCHEMA.columns.map(({ id }) => id)
/** Batches of a scan of all rows, at least. */
const SCAN_BATCHES = 100
const BATCH_ROWS_MIN = 20
const LOOKUP_KEYS_MAX = 20
const MOMENT_COUNT_MAX = 4
/** Of the turns of a reader of the past so many remember a moment. */
const REMEMBER_CHANCE = 0.05

/** A moment, and the rows that it has. */
interface Moment {
  readonly snapshot: Timestamp
  readonly rows: RowsAt
}

/**
 * Reads all rows of one snapshot, some a turn, over restarts too. Each must be there once, and as
 * it was.
 */
export class SlowReader implements Actor {
  readonly kind: string
  readonly #world: World
  readonly #isOfPast: boolean
  readonly #moments: Moment[] = []
  #reading: (Moment & { readonly check: OrderedCheck }) | null = null
  #scanner: TabletScanner | null = null
  #lowerKey: Uint8Array = NO_BOUND

  constructor(world: World, isOfPast: boolean) {
    this.kind = isOfPast ? 'slow reader of the past' : 'slow reader'
    this.#world = world
    this.#isOfPast = isOfPast
  }

  get isBusy(): boolean {
    return this.#reading !== null
  }

  turn(): void {
    const world = this.#world
    const hasNone = this.#moments.length === 0
    if (this.#isOfPast && (hasNone || world.prng.chance(REMEMBER_CHANCE))) this.#remember()
    if (this.#reading === null) {
      if (world.isEnding) return
      this.#begin()
    }
    if (this.#scanner === null && !this.#open()) return
    this.#read()
  }

  restart(): void {
    this.#scanner = null
  }

  #remember(): void {
    const world = this.#world
    const snapshot = world.bench.tablet.lastApplied
    this.#moments.push({ snapshot, rows: world.model.copy() })
    if (this.#moments.length > MOMENT_COUNT_MAX) this.#moments.shift()
  }

  /** Takes a moment to read. */
  #begin(): void {
    const { prng, model, bench } = this.#world
    this.#lowerKey = NO_BOUND
    const moment = this.#isOfPast
      ? prng.pick(this.#moments)
      : { snapshot: bench.tablet.lastApplied, rows: model.copy() }
    this.#reading = { ...moment, check: new OrderedCheck(moment.rows) }
  }

  /** Returns: whether the moment can still be read. Throws when it should be. */
  #open(): boolean {
    const world = this.#world
    const { snapshot } = this.#must()
    try {
      const { bench } = world
      const reply = bench.tablet.openScan({
        ...bench.request,
        columnIds: COLUMN_IDS,
        predicates: [],
        lowerKey: this.#lowerKey,
        upperKey: NO_BOUND,
        order: 'ORDERED',
        snapshot,
        withKeys: false,
      })
      if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
      this.#scanner = reply.value.scanner
      return true
    } catch (error) {
      const isForgotten = error instanceof StatusError && error.code === 'INVALID_SNAPSHOT'
      if (!isForgotten || snapshot >= world.now - HISTORY_MICROS) throw error
      world.note(`${snapshot} is forgotten`)
      this.#reading = null
      return false
    }
  }

  #read(): void {
    const world = this.#world
    const { check, rows, snapshot } = this.#must()
    const most = Math.max(BATCH_ROWS_MIN, Math.floor(rows.liveCount / SCAN_BATCHES))
    const count = 1 + world.prng.below(most)
    const batch = world.timed(
      this.kind,
      () => this.#scanner?.nextBatch(count, BATCH_BYTES) ?? null,
      (it) => it?.block.rowCount ?? 0,
    )
    if (batch === null) {
      check.end()
      world.note(`${rows.liveCount} rows at ${snapshot}`)
      this.#scanner = null
      this.#reading = null
      return
    }
    check.take(batch.block)
    this.#lowerKey = successorKey(batch.lastKeyScanned)
  }

  #must(): Moment & { readonly check: OrderedCheck } {
    if (this.#reading === null) throw new Error('nothing is being read')
    return this.#reading
  }
}

/** Counts all rows and adds up how often they were counted up, a step a turn. */
export class Counter implements Actor {
  readonly kind = 'counter'
  readonly #world: World
  #run: AggregateRun | null = null
  #expected = ''

  constructor(world: World) {
    this.#world = world
  }

  get isBusy(): boolean {
    return this.#run !== null
  }

  turn(): void {
    const world = this.#world
    if (this.#run === null && world.isEnding) return
    this.#run ??= this.#open()
    const run = this.#run
    const isDone = world.timed(
      this.kind,
      () => !run.step(),
      (it) => (it ? world.model.liveCount : 0),
    )
    if (!isDone) return
    const [block] = run.partial()
    const found = block.columns.map((column) => String(column.cell(0))).join()
    run.close()
    this.#run = null
    if (found !== this.#expected) throw new Error(`counted ${found}, not ${this.#expected}`)
    world.note(`counted ${found}`)
  }

  restart(): void {
    this.#run = null
  }

  #open(): AggregateRun {
    const { bench, model } = this.#world
    const column = { kind: 'column', columnId: MT_SCHEMA.columns[2].id } as const
    const reply = bench.tablet.openAggregate({
      ...bench.request,
      spec: {
        groupBy: [],
        aggregates: [
          { op: 'COUNT', input: { kind: 'rows' } },
          { op: 'SUM', input: column },
        ],
      },
      predicates: [],
      lowerKey: NO_BOUND,
      upperKey: NO_BOUND,
      snapshot: null,
    })
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    this.#expected = `${model.liveCount},${model.countSum}`
    return reply.value.run
  }
}

/** Looks rows up by key, present and absent. */
export class Getter implements Actor {
  readonly kind = 'getter'
  readonly isBusy = false
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  turn(): void {
    const world = this.#world
    const { bench, model, prng } = world
    if (world.isEnding) return
    const length = 1 + prng.below(LOOKUP_KEYS_MAX)
    const keys = Array.from({ length }, () => prng.below(model.counts.length))
    const encoded = keys.map((key) => encodeKeyCells(MT_SCHEMA.keyColumns, [BigInt(key)]))
    let end = 0
    const request = {
      ...bench.request,
      columnIds: COLUMN_IDS,
      keyBytes: concatBytes(...encoded),
      keyEnds: Uint32Array.from(encoded, (key) => {
        end += key.length
        return end
      }),
      snapshot: null,
    }
    const reply = world.timed(
      this.kind,
      () => bench.tablet.lookup(request),
      () => length,
    )
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    const { block, keyIndexes, keyCount } = reply.value
    const expected = keys.flatMap((key, index) => (isLive(model, key) ? [index] : []))
    if (keyCount !== length || keyIndexes.toSorted().join() !== expected.join()) {
      throw new Error(`of keys ${keys} those at ${keyIndexes} were found, not those at ${expected}`)
    }
    for (const [row, index] of keyIndexes.entries()) checkRow(model, block, row, keys[index])
    world.note(`found ${keyIndexes} of ${keys}`)
  }

  restart(): void {}
}
