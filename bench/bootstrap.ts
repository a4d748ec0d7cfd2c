/**
 * CPU until a tablet that lost its memory has answered its first read: with a full MemRowSet in its
 * WAL, with as much unflushed as memory may hold in the middle of a flush, with changes of rows on
 * disk in its WAL, and with many rows on disk and an empty WAL, where the rows that were read count
 * too.
 */

import { DELTA_MEM_STORE_FLUSH_BYTES, STORE_MEMORY_BYTES_MAX } from '../src/common/limits.ts'
import { InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './support/loadgen.ts'
import { shuffled } from './support/mixed-rows.ts'
import { Report } from './support/report.ts'
import type { Size } from './support/size.ts'
import { openSqliteStore } from './support/sqlite-store.ts'

const SEED = 9
const BLOCK_ROWS = 1000
const FULL_MEM_ROW_SET_BYTES = 8 * 1024 * 1024
const CHANGED_ROWS = 200_000
const DISK_ROWS: Readonly<Record<Size, number>> = { smoke: 50_000, full: 10_000_000 }

/** See the file's header. */
export function run(size: Size): Promise<void> {
  const report = new Report('bootstrap', size)
  memRowSetInWal(report, 'a full MemRowSet in the WAL', FULL_MEM_ROW_SET_BYTES, 500)
  memRowSetInWal(report, 'the hard limit, in mid-flush', STORE_MEMORY_BYTES_MAX * 0.95, 1500)
  changesInWal(report, CHANGED_ROWS)
  rowsOnDisk(report, DISK_ROWS[size])
  report.close()
  return Promise.resolve()
}

function memRowSetInWal(report: Report, what: string, bytes: number, mostMillis: number): void {
  const isFlushing = bytes > FULL_MEM_ROW_SET_BYTES
  const { store, database } = openSqliteStore(':memory:')
  // Writes that help would flush long before so much is in memory.
  const bench = new BenchTablet(store, LOADGEN_SCHEMA, false)
  const keys = shuffled(SEED, 2_000_000)
  let rows = 0
  const fill = (limit: number): void => {
    while (bench.tablet.figures().memoryBytes < limit) {
      write(bench, keys.subarray(rows, rows + BLOCK_ROWS))
      rows += BLOCK_ROWS
    }
  }
  fill(isFlushing ? bytes / 2 : bytes)
  if (isFlushing) {
    bench.beginFlush()
    fill(bytes)
  }
  const millis = firstAnswerMillis(bench)
  report.add({
    name: `${what}, ${bench.tablet.figures().walBytes} bytes of WAL`,
    rows,
    value: { amount: millis, unit: 'ms of CPU' },
    bar: { atMost: mostMillis },
  })
  database.close()
}

/** Changes of rows on disk, as many as DeltaMemStores may hold, each in its own place. */
function changesInWal(report: Report, rowCount: number): void {
  const { store, database } = openSqliteStore(':memory:')
  const bench = new BenchTablet(store, LOADGEN_SCHEMA)
  const keys = shuffled(SEED, rowCount)
  for (let row = 0; row < rowCount; row += BLOCK_ROWS) {
    write(bench, keys.subarray(row, row + BLOCK_ROWS))
  }
  bench.rest()
  const idleBytes = bench.tablet.figures().memoryBytes
  let changes = 0
  while (bench.tablet.figures().memoryBytes - idleBytes < DELTA_MEM_STORE_FLUSH_BYTES) {
    const start = changes % rowCount
    write(bench, keys.subarray(start, start + BLOCK_ROWS), 'UPDATE')
    changes += BLOCK_ROWS
  }
  const before = store.rowsRead
  const millis = firstAnswerMillis(bench)
  report.add({
    name: `changes of rows on disk, ${bench.tablet.figures().walBytes} bytes of WAL`,
    rows: changes,
    value: { amount: millis, unit: 'ms of CPU' },
    billedRows: store.rowsRead - before,
  })
  database.close()
}

function rowsOnDisk(report: Report, rowCount: number): void {
  const { store, database } = openSqliteStore(':memory:')
  const bench = new BenchTablet(store, LOADGEN_SCHEMA)
  const ordinals = new Uint32Array(BLOCK_ROWS)
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    for (let i = 0; i < BLOCK_ROWS; i++) ordinals[i] = start + i
    write(bench, ordinals)
    bench.maintain()
  }
  bench.rest()
  const before = store.rowsRead
  const millis = firstAnswerMillis(bench)
  const read = store.rowsRead - before
  const name = 'rows on disk, an empty WAL'
  const cpu = { amount: millis, unit: 'ms of CPU' }
  report.add({ name, rows: rowCount, value: cpu, bar: { atMost: 50 } })
  report.add({ name, value: { amount: read, unit: 'billed rows read' }, bar: { atMost: 10 } })
  database.close()
}

function write(
  bench: BenchTablet,
  keys: Uint32Array,
  operation: 'INSERT' | 'UPDATE' = 'INSERT',
): void {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const key of keys) appendLoadgenRow(blocks, key)
  bench.write(blocks.take(operation))
}

/** Opens the tablet anew and reads one row of it. */
function firstAnswerMillis(bench: BenchTablet): number {
  const begun = process.cpuUsage()
  bench.reopen()
  const key = new Uint8Array(8)
  key.set([0x80, 0, 0, 0, 0, 0, 0, 7])
  const reply = bench.tablet.lookup({
    ...bench.request,
    columnIds: [],
    keyBytes: key,
    keyEnds: Uint32Array.of(key.length),
    snapshot: null,
  })
  if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}
