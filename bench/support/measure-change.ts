/**
 * Measures one change of the write path, in a process of its own: code that was compiled for
 * several of them would serve none well. Its arguments are the number of the change and the size;
 * it answers with a message.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { InsertBlocks } from './bench-schema.ts'
import type { BenchTablet } from './bench-tablet.ts'
import { inTurns } from './in-turns.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './loadgen.ts'
import { scanHash } from './scan-hash.ts'
import type { Size } from './size.ts'
import { CHANGES, type Change, openUsual } from './write-path-changes.ts'

/** Rows that one run of a side writes, by rows an op, and how many runs count. */
const RUNS: Readonly<Record<Size, { many: number; single: number; rounds: number }>> = {
  smoke: { many: 20_000, single: 2_000, rounds: 1 },
  full: { many: 200_000, single: 100_000, rounds: 21 },
}
const TABLET_ROWS = 100_000

/** What both sides took. */
export interface MeasuredChange {
  /** Of one run. */
  readonly rows: number
  /** CPU of each run. */
  readonly afterCpuMs: readonly number[]
  readonly beforeCpuMs: readonly number[]
  /** How many times as much the side before took, round by round. */
  readonly ratios: readonly number[]
  /** Of the rows that both ended with. */
  readonly hash: string
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

async function measure(size: Size, change: Change): Promise<MeasuredChange> {
  const { opRows, openBefore, openAfter = openUsual } = change
  const { many, single, rounds } = RUNS[size]
  const rows = opRows === 1 ? single : many
  const ops = opsOf(rows, opRows)
  const after = new WritingSide(openAfter, ops, opRows)
  const before = new WritingSide(openBefore, ops, opRows)
  const { cpuRatios } = await inTurns(
    rounds,
    () => after.run(),
    () => before.run(),
    () => after.cpuMs + before.cpuMs,
  )
  if (after.hash !== before.hash) throw new Error('both sides have other rows')
  return {
    rows,
    // The first run does not count.
    afterCpuMs: after.runsCpuMs.slice(1),
    beforeCpuMs: before.runsCpuMs.slice(1),
    ratios: cpuRatios,
    hash: after.hash,
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

const [number, size] = process.argv.slice(2)
process.send?.(await measure(size as Size, CHANGES[Number(number)]))
process.disconnect()
