/**
 * Five changes of Kudu's write path, each measured against what was before it. `after` is the
 * engine as it is; `before` is the same engine with one part replaced (`bench/before/`): the
 * smallest one that works as Kudu's did. Kudu's own figures stand beside; where the part that was
 * replaced cannot cost so much here, that is what is printed.
 *
 * Rows are prepared before, as the blocks of bytes that a front sends; tablets keep a hundred
 * thousand of them in memory and are not flushed. What is measured is the CPU of the process while
 * they are written, collection of garbage and compilation on other threads included, in turns in
 * one run. Both sides must end with the same rows.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TIMESTAMP_MIN } from '../src/common/hybrid-clock.ts'
import { encodeRowBlock } from '../src/common/row-block.ts'
import { TabletClock } from '../src/tablet/tablet-clock.ts'
import { ClockedMvcc, MvccClock } from './before/clocked-mvcc.ts'
import { HeapKeyOp } from './before/heap-key-op.ts'
import { RowLocks } from './before/row-locks.ts'
import { tellAbsent } from './before/status-lookup.ts'
import { WalkedSizes } from './before/walked-sizes.ts'
import { InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { inTurns, median, spread } from './support/in-turns.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './support/loadgen.ts'
import { MemoryStore } from './support/memory-store.ts'
import { partsOf, replaceParts } from './support/parts.ts'
import { Report } from './support/report.ts'
import { scanHash } from './support/scan-hash.ts'
import { SectionTablet } from './support/section-tablet.ts'
import type { Size } from './support/size.ts'

/** Rows that one run of a side writes, by rows an op. */
const ROWS: Readonly<Record<Size, { readonly many: number; readonly single: number }>> = {
  smoke: { many: 20_000, single: 5_000 },
  full: { many: 1_000_000, single: 300_000 },
}
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const OP_ROWS = 1000
const TABLET_ROWS = 100_000

/** A change, and what it is measured by. */
interface Change {
  readonly name: string
  readonly opRows: number
  /** What Kudu took before and after; null: a line that only tells more. */
  readonly kudu: { readonly took: string; readonly percent: number } | null
  readonly openBefore: () => BenchTablet
  /** Left out: a tablet as it is. */
  readonly openAfter?: () => BenchTablet
}

const heapKeys = new HeapKeyOp()

const LOCKS = { took: '177.8 → 146.0 s', percent: 17 }

const CHANGES: readonly Change[] = [
  {
    name: 'keys in an arena, before: an object each',
    opRows: OP_ROWS,
    kudu: { took: '269.9 → 227.7 s', percent: 15 },
    openBefore: () => replaced((bench) => replaceParts(bench, { op: heapKeys })),
  },
  {
    name: 'locks by batches, before: a call each',
    opRows: 1,
    kudu: LOCKS,
    openBefore: () => replaced((bench) => replaceParts(bench, { locks: new RowLocks() })),
  },
  {
    name: 'locks by batches, before: a call each',
    opRows: OP_ROWS,
    kudu: null,
    openBefore: () => replaced((bench) => replaceParts(bench, { locks: new RowLocks() })),
  },
  {
    name: 'absent keys by a slot, before: a status each',
    opRows: OP_ROWS,
    kudu: { took: '72,873 → 61,879 s', percent: 15 },
    openBefore: () => replaced((bench) => tellAbsent(partsOf(bench).memRowSet, 'status')),
  },
  {
    name: 'absent keys by a slot, before: an exception each',
    opRows: OP_ROWS,
    kudu: null,
    openBefore: () => replaced((bench) => tellAbsent(partsOf(bench).memRowSet, 'exception')),
  },
  {
    name: 'sizes of log entries kept, before: walked',
    opRows: 1,
    kudu: { took: '65.7 → 59.9 s', percent: 8 },
    openBefore: () => replaced((bench) => new WalkedSizes(partsOf(bench))),
  },
  {
    name: 'times told to MVCC, before: taken by it',
    opRows: 1,
    kudu: { took: '60.8 → 55.4 s', percent: 8 },
    openBefore: openClocked,
    openAfter: openTold,
  },
]

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('write-path', size)
  for (const change of CHANGES) await measure(report, size, change)
  report.close()
}

function openUsual(): BenchTablet {
  return new BenchTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
}

function replaced(replace: (bench: BenchTablet) => unknown): BenchTablet {
  const bench = openUsual()
  replace(bench)
  return bench
}

function openTold(): BenchTablet {
  const bench = new SectionTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
  bench.sectionClock = new TabletClock(bench.clock, TIMESTAMP_MIN, TIMESTAMP_MIN)
  return bench
}

function openClocked(): BenchTablet {
  const bench = new SectionTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
  const mvcc = new ClockedMvcc(bench.clock, TIMESTAMP_MIN)
  replaceParts(bench, { mvcc })
  bench.sectionClock = new MvccClock(bench.clock, mvcc, TIMESTAMP_MIN, TIMESTAMP_MIN)
  return bench
}

/** One side of a pair. */
class WritingSide {
  /** CPU of all its writes so far. */
  cpuMs = 0
  /** The same of each run. */
  readonly runsCpuMs: number[] = []
  hash = ''
  readonly #open: () => BenchTablet
  readonly #ops: readonly Uint8Array[]
  readonly #opRows: number

  constructor(open: () => BenchTablet, ops: readonly Uint8Array[], opRows: number) {
    this.#open = open
    this.#ops = ops
    this.#opRows = opRows
  }

  /** Writes all ops. Throws when other rows came out than in the run before. */
  run(): Promise<void> {
    const tabletOps = TABLET_ROWS / this.#opRows
    const ops = this.#ops
    const benches: BenchTablet[] = []
    // What others left is not collected at our cost.
    collectGarbage()
    const begun = processCpuMs()
    for (let start = 0; start < ops.length; start += tabletOps) {
      const bench = this.#open()
      const end = Math.min(ops.length, start + tabletOps)
      for (let i = start; i < end; i++) bench.writeBytes(ops[i])
      benches.push(bench)
    }
    const cpuMs = processCpuMs() - begun
    this.cpuMs += cpuMs
    this.runsCpuMs.push(cpuMs)
    const { hash, rowCount } = scanHash(benches, LOADGEN_SCHEMA)
    if (rowCount !== ops.length * this.#opRows) throw new Error(`${rowCount} rows are there`)
    if (this.hash !== '' && this.hash !== hash) throw new Error('other rows came out')
    this.hash = hash
    return Promise.resolve()
  }
}

async function measure(report: Report, size: Size, change: Change): Promise<void> {
  const { opRows, kudu, openBefore, openAfter = openUsual } = change
  const rows = opRows === 1 ? ROWS[size].single : ROWS[size].many
  const ops = opsOf(rows, opRows)
  const after = new WritingSide(openAfter, ops, opRows)
  const before = new WritingSide(openBefore, ops, opRows)
  const { cpuRatios } = await inTurns(
    ROUNDS[size],
    () => after.run(),
    () => before.run(),
    () => after.cpuMs + before.cpuMs,
  )
  if (after.hash !== before.hash) throw new Error('both sides have other rows')
  const name = `${change.name}, ${opRows} ${opRows === 1 ? 'row' : 'rows'} an op`
  for (const [side, label] of [
    [after, 'after'],
    [before, 'before'],
  ] as const) {
    // The first run does not count.
    const cpuMs = median(side.runsCpuMs.slice(1))
    const value = { amount: (cpuMs * 1e6) / rows, unit: 'ns of CPU a row' }
    report.add({ name: `${name}, ${label}`, rows, cpuMs, hash: side.hash, value })
  }
  const saved = cpuRatios.map((ratio) => (1 - 1 / ratio) * 100)
  const told = kudu === null ? '' : `, Kudu ${kudu.took}`
  report.add({
    name: `${name}, saved ${spread(saved, 1)} % of before${told}`,
    value: { amount: median(saved), unit: '% of CPU saved' },
    ...(kudu === null ? {} : { bar: { atLeast: kudu.percent } }),
  })
  if (size === 'full' && kudu !== null && median(saved) < kudu.percent) {
    process.stdout.write('    what was before costs no more here: reported as it is\n')
  }
}

/** Inserts of rows in the order of their keys, in byte form. */
function opsOf(rows: number, opRows: number): Uint8Array[] {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  const ops: Uint8Array[] = []
  for (let start = 0; start < rows; start += opRows) {
    for (let key = start; key < start + opRows; key++) appendLoadgenRow(blocks, key)
    ops.push(encodeRowBlock(blocks.take()))
    blocks.clear()
  }
  return ops
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
