/**
 * What it costs to insert keys that are not there, in random order: into an empty tablet, and into
 * one of many flushed rows whose Bloom filters and keys have to say so. CPU of the write path
 * alone, in turns in one run: rows are prepared before, the tablet is at rest, nothing is flushed
 * meanwhile. The first round, not counted, reads the filters in.
 */

import type { RowBlock } from '../src/common/row-block.ts'
import { decodeRowBlock, encodeRowBlock } from '../src/common/row-block.ts'
import { InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { median, spread } from './support/in-turns.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './support/loadgen.ts'
import { shuffled } from './support/mixed-rows.ts'
import { Report } from './support/report.ts'
import type { Size } from './support/size.ts'
import { openSqliteStore } from './support/sqlite-store.ts'

const SEED = 5
const STORED_ROWS: Readonly<Record<Size, number>> = { smoke: 40_000, full: 2_000_000 }
const BLOCK_ROWS = 1000
const ROUNDS = 5
const BLOCKS_A_ROUND = 20
const RATIO_MAX = 3

/** See the file's header. */
export function run(size: Size): Promise<void> {
  const storedRows = STORED_ROWS[size]
  // Every other key is stored: the rest are absent, and lie between those that are there.
  const stored = shuffled(SEED, storedRows)
  const absent = shuffled(SEED + 1, storedRows)
  const full = new BenchTablet(openSqliteStore(':memory:').store, LOADGEN_SCHEMA)
  for (let start = 0; start < storedRows; start += BLOCK_ROWS) {
    full.write(blockOf(stored.subarray(start, start + BLOCK_ROWS), 0))
    full.maintain()
  }
  full.rest()
  const ratios: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const empty = new BenchTablet(openSqliteStore(':memory:').store, LOADGEN_SCHEMA)
    const first = (round + 1) * BLOCKS_A_ROUND * BLOCK_ROWS
    const blocks: RowBlock[] = []
    for (let i = 0; i < BLOCKS_A_ROUND; i++) {
      const start = first + i * BLOCK_ROWS
      blocks.push(blockOf(absent.subarray(start, start + BLOCK_ROWS), 1))
    }
    const emptyMicros = cpuMicros(() => writeAll(empty, blocks))
    const fullMicros = cpuMicros(() => writeAll(full, blocks))
    // The first round warms up.
    if (round < 0) continue
    const rows = BLOCKS_A_ROUND * BLOCK_ROWS
    ratios.push(fullMicros / emptyMicros)
    process.stdout.write(
      `  empty ${((emptyMicros * 1000) / rows).toFixed(0)} ns a row, ` +
        `${storedRows} rows stored ${((fullMicros * 1000) / rows).toFixed(0)} ns a row\n`,
    )
  }
  const report = new Report('absent-keys', size)
  report.add({
    name: `CPU of inserts into ${storedRows} rows against an empty tablet, ${spread(ratios)}`,
    rows: BLOCKS_A_ROUND * BLOCK_ROWS,
    value: { amount: median(ratios), unit: 'times as long' },
    bar: { atMost: RATIO_MAX },
  })
  report.close()
  return Promise.resolve()
}

function blockOf(numbers: Uint32Array, offset: number): RowBlock {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const number of numbers) appendLoadgenRow(blocks, number * 2 + offset)
  return decodeRowBlock(encodeRowBlock(blocks.take()))
}

function writeAll(tablet: BenchTablet, blocks: readonly RowBlock[]): void {
  for (const block of blocks) tablet.write(block)
}

function cpuMicros(work: () => void): number {
  const begun = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begun)
  return user + system
}
