/**
 * Everything at once on one tablet, the engine alone: inserters, whoever updates, upserts, deletes
 * and inserts again, counters, slow readers of the present and the past, lookups, every kind of
 * maintenance, and restarts that lose all memory.
 *
 * The engine is synchronous, as on the edge, where calls to a tablet take turns: so do these, each
 * turn drawn from a seed, time included. What every turn gives is held against a model: which rows
 * of a write fail, exact counts and sums, each reader's snapshot row by row, each row once; in the
 * end a scan, the tablet's invariants, and the same after a restart. The same seed does all again
 * (`--seed 4711`), and its hash is then the same.
 */

import { MAINTENANCE_OPS } from '../src/common/maintenance-op.ts'
import { checkTablet } from '../src/tablet/invariants.ts'
import type { Actor } from './support/mt/actor.ts'
import { Maintainer, Restarter } from './support/mt/maintainers.ts'
import { Counter, Getter, SlowReader } from './support/mt/readers.ts'
import { isLive, MT_SCHEMA } from './support/mt/row-model.ts'
import { World } from './support/mt/world.ts'
import { Changer, Inserter } from './support/mt/writers.ts'
import { Report } from './support/report.ts'
import { scanHash } from './support/scan-hash.ts'
import type { Size } from './support/size.ts'

const SEED = 13
const INSERTER_COUNT = 8
const COUNTER_COUNT = 8

interface Scale {
  /** What each inserter inserts. */
  readonly rows: number
  /** Bytes of a MemRowSet at which it is flushed without being asked. */
  readonly rowSetBytes: number
  /** Turns between two ops of one kind of maintenance, at most. */
  readonly pauseMax: number
  /** How likely a restart is at a turn of the one that makes them. */
  readonly restarts: number
}

const SCALES: Readonly<Record<Size, Scale>> = {
  smoke: { rows: 1000, rowSetBytes: 256 * 1024, pauseMax: 10, restarts: 0.3 },
  full: { rows: 50_000, rowSetBytes: 2 * 1024 * 1024, pauseMax: 20, restarts: 0.02 },
}
const TURNS_A_SAMPLE = 200

/** See the file's header. */
export function run(size: Size, seed = SEED): Promise<void> {
  const scale = SCALES[size]
  const world = new World(seed, scale.rows * INSERTER_COUNT, scale.rowSetBytes)
  const stress = new Stress(world, scale)
  const [begun, cpuBegun] = [performance.now(), process.cpuUsage()]
  try {
    stress.run()
  } catch (error) {
    throw new Error(`seed ${seed}, turn ${stress.turnCount}`, { cause: error })
  }
  const { user, system } = process.cpuUsage(cpuBegun)
  const milliseconds = performance.now() - begun
  const report = new Report('mt-tablet', size)
  for (const [kind, { turns, rows: done, milliseconds: ms, longestMs }] of world.tallies) {
    const name = `${kind}, ${turns} turns, the longest ${longestMs.toFixed(1)} ms`
    if (done > 0) report.add({ name, rows: done, milliseconds: [ms] })
    else report.add({ name, value: { amount: ms / turns, unit: 'ms a turn' } })
  }
  report.add({
    name: `seed ${seed}, ${stress.turnCount} turns, all right; rows written, checks included`,
    rows: world.writtenCount,
    milliseconds: [milliseconds],
    cpuMs: (user + system) / 1000,
    peakBytes: stress.peakBytes,
    hash: stress.hash,
  })
  report.close()
  return Promise.resolve()
}

/** A course of turns. */
class Stress {
  turnCount = 0
  peakBytes = 0
  hash = ''
  readonly #world: World
  readonly #inserters: readonly Inserter[]
  readonly #actors: readonly Actor[]

  constructor(world: World, { pauseMax, restarts }: Scale) {
    this.#world = world
    this.#inserters = times(INSERTER_COUNT, (i) => new Inserter(world, i, INSERTER_COUNT))
    this.#actors = [
      ...this.#inserters,
      ...times(COUNTER_COUNT, () => new Counter(world)),
      new Changer(world, 'updater', 'UPDATE'),
      new Changer(world, 'upserter', 'UPSERT'),
      new Changer(world, 'deleter', 'DELETE'),
      new Changer(world, 'inserter of what was deleted', 'INSERT'),
      new SlowReader(world, false),
      new SlowReader(world, true),
      new Getter(world),
      ...MAINTENANCE_OPS.map((op) => new Maintainer(world, op, pauseMax)),
      new Restarter(world, restarts, () => this.#actors),
    ]
  }

  run(): void {
    const world = this.#world
    while (this.#inserters.some(({ isBusy }) => isBusy)) this.#turn(world.prng.pick(this.#actors))
    world.isEnding = true
    for (const actor of this.#actors) while (actor.isBusy) this.#turn(actor)
    this.#checkAll()
    world.bench.rest()
    this.#checkAll()
    world.bench.reopen()
    this.#checkAll()
    this.hash = world.traceHash().slice(0, 12)
  }

  #turn(actor: Actor): void {
    if (this.turnCount % TURNS_A_SAMPLE === 0) this.#sampleMemory()
    this.turnCount++
    this.#world.passTime()
    actor.turn()
  }

  #sampleMemory(): void {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    this.peakBytes = Math.max(this.peakBytes, heapUsed + arrayBuffers)
  }

  /** Throws when any row is not what it should be. */
  #checkAll(): void {
    const world = this.#world
    world.isEnding = false
    const reader = new SlowReader(world, false)
    do reader.turn()
    while (reader.isBusy)
    const { rowCount, hash } = scanHash([world.bench], MT_SCHEMA)
    const { counts, liveCount } = world.model
    let live = 0
    for (let key = 0; key < counts.length; key++) if (isLive(world.model, key)) live++
    const { liveRowCount } = world.bench.tablet.figures()
    if (rowCount !== live || liveCount !== live || liveRowCount !== live) {
      throw new Error(`${rowCount} rows, ${liveRowCount} by the tablet's count, not ${live}`)
    }
    checkTablet(world.bench.tablet)
    world.note(`${rowCount} rows ${hash}`)
  }
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
