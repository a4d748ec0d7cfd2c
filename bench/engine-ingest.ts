/**
 * What the engine alone takes: inserts of the load generator's rows into a tablet, with their keys,
 * locks, MVCC and WAL, over a store that copies every byte and does nothing else.
 *
 * Rows are prepared before, as the blocks of bytes that a front sends. Keys come in their order,
 * and at random; ops are of one row to the most that one takes. `in memory`: a tablet for each
 * hundred thousand rows, about what a MemRowSet takes before it is flushed, and no flush. `flushed
 * meanwhile`: one tablet for all rows, and after every thousand of them all maintenance that is
 * due, on the same thread.
 *
 * CPU is that of the process: collection of garbage and compilation on other threads included.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SHARE_ROW_COUNT_MAX } from '../src/common/limits.ts'
import { encodeRowBlock } from '../src/common/row-block.ts'
import { InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { contest, medianCpuMs, type Side } from './support/contest.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './support/loadgen.ts'
import { MemoryStore } from './support/memory-store.ts'
import { shuffled } from './support/mixed-rows.ts'
import { Report } from './support/report.ts'
import { scanHash } from './support/scan-hash.ts'
import type { Size } from './support/size.ts'

const SEED = 7
/** The size of ops that the bar is about. */
const OP_ROWS = 1000
const OP_SIZES = [OP_ROWS, 1, 100, SHARE_ROW_COUNT_MAX]
const ROWS: Readonly<Record<Size, { readonly bar: number; readonly others: number }>> = {
  smoke: { bar: 20_000, others: 20_000 },
  full: { bar: 1_000_000, others: 200_000 },
}
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const TABLET_ROWS = 100_000
const MAINTAIN_ROWS = 1000
const ROWS_A_SECOND_MIN = 1_000_000
const MEMORY_SAMPLES = 50

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('engine-ingest', size)
  for (const opRows of OP_SIZES) {
    const rowCount = opRows === OP_ROWS ? ROWS[size].bar : ROWS[size].others
    await ingest(report, size, opRows, rowCount)
  }
  report.close()
}

async function ingest(report: Report, size: Size, opRows: number, rowCount: number): Promise<void> {
  const sides = (['sequential', 'random'] as const).flatMap((order) => {
    const numbers = order === 'random' ? shuffled(SEED, rowCount) : ascending(rowCount)
    const ops = opsOf(numbers, opRows)
    return [false, true].map((isFlushed) => new Ingest(order, ops, opRows, rowCount, isFlushed))
  })
  const courses = await contest(ROUNDS[size], sides, cpuMs)
  for (const side of sides) {
    const course = courses.get(side.name)
    if (course === undefined) throw new Error(`${side.name} did not run`)
    const cpu = medianCpuMs(course)
    report.add({
      name: side.name,
      rows: rowCount,
      milliseconds: course.milliseconds,
      cpuMs: cpu,
      peakBytes: side.peakBytes,
      hash: side.hash,
      value: { amount: (rowCount / Math.max(cpu, 1)) * 1000, unit: 'rows/s of CPU' },
      ...(opRows === OP_ROWS && !side.isFlushed ? { bar: { atLeast: ROWS_A_SECOND_MIN } } : {}),
    })
  }
}

function ascending(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => index)
}

/** Inserts of rows with these numbers, in byte form. */
function opsOf(numbers: Uint32Array, opRows: number): Uint8Array[] {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  const ops: Uint8Array[] = []
  for (let start = 0; start < numbers.length; start += opRows) {
    for (const number of numbers.subarray(start, start + opRows)) appendLoadgenRow(blocks, number)
    ops.push(encodeRowBlock(blocks.take()))
    blocks.clear()
  }
  return ops
}

/** One way to insert. */
class Ingest implements Side {
  readonly name: string
  readonly rows: number
  readonly isFlushed: boolean
  /** Most memory above what the rows take as they wait. */
  peakBytes = 0
  hash = ''
  readonly #ops: readonly Uint8Array[]
  readonly #opRows: number
  #tablets: BenchTablet[] = []

  constructor(
    order: string,
    ops: readonly Uint8Array[],
    opRows: number,
    rowCount: number,
    isFlushed: boolean,
  ) {
    const flushes = isFlushed ? 'flushed meanwhile' : 'in memory'
    this.name = `${order} keys, ${opRows} rows an op, ${flushes}`
    this.rows = rowCount
    this.isFlushed = isFlushed
    this.#ops = ops
    this.#opRows = opRows
  }

  /** What other sides left is not collected at our cost. */
  before(): Promise<void> {
    collectGarbage()
    return Promise.resolve()
  }

  /** The round that does not count samples memory. */
  run(round: number): Promise<void> {
    if (round >= 0) this.#insert(() => {})
    else {
      const begun = memoryBytes()
      this.#insert(() => {
        this.peakBytes = Math.max(this.peakBytes, memoryBytes() - begun)
      })
    }
    return Promise.resolve()
  }

  #insert(sample: () => void): void {
    const ops = this.#ops
    const opRows = this.#opRows
    const every = (rows: number) => Math.max(1, Math.floor(rows / opRows))
    const tabletOps = this.isFlushed ? ops.length : every(TABLET_ROWS)
    const maintainOps = every(MAINTAIN_ROWS)
    const sampleOps = Math.ceil(ops.length / MEMORY_SAMPLES)
    let bench = this.#open()
    for (let i = 0; i < ops.length; i++) {
      if (i > 0 && i % tabletOps === 0) bench = this.#open()
      bench.writeBytes(ops[i])
      if (this.isFlushed && (i + 1) % maintainOps === 0) bench.maintain()
      if ((i + 1) % sampleOps === 0) sample()
    }
  }

  #open(): BenchTablet {
    const bench = new BenchTablet(new MemoryStore(), LOADGEN_SCHEMA, this.isFlushed)
    this.#tablets.push(bench)
    return bench
  }

  /** Throws when other rows are there than were sent. */
  after(): Promise<void> {
    const { rowCount, hash } = scanHash(this.#tablets, LOADGEN_SCHEMA)
    this.#tablets = []
    if (rowCount !== this.rows) throw new Error(`${this.name}: ${rowCount} rows are there`)
    if (this.hash !== '' && hash !== this.hash) throw new Error(`${this.name}: other rows came out`)
    this.hash = hash
    return Promise.resolve()
  }
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

function memoryBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
