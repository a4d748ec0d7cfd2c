/**
 * CPU until a tablet that lost its memory has answered its first read: with a full MemRowSet in its
 * WAL, with as much unflushed as memory may hold in the middle of a flush, and with many rows on
 * disk and an empty WAL, where the rows that were read count too.
 */

import { STORE_MEMORY_BYTES_MAX } from '../src/common/limits.ts'
import { InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from './support/loadgen.ts'
import { shuffled } from './support/mixed-rows.ts'
import type { Size } from './support/size.ts'
import { openSqliteStore } from './support/sqlite-store.ts'

const SEED = 9
const BLOCK_ROWS = 1000
const FULL_MEM_ROW_SET_BYTES = 8 * 1024 * 1024
const DISK_ROWS: Readonly<Record<Size, number>> = { smoke: 50_000, full: 10_000_000 }

/** See the file's header. */
export function run(size: Size): Promise<void> {
  memRowSetInWal('a full MemRowSet in the WAL', FULL_MEM_ROW_SET_BYTES, false, 500)
  memRowSetInWal('the hard limit, in mid-flush', STORE_MEMORY_BYTES_MAX * 0.95, true, 1500)
  rowsOnDisk(DISK_ROWS[size])
  return Promise.resolve()
}

function memRowSetInWal(
  what: string,
  bytes: number,
  isFlushing: boolean,
  mostMillis: number,
): void {
  const { store, database } = openSqliteStore(':memory:')
  const bench = new BenchTablet(store, LOADGEN_SCHEMA)
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
    bench.tablet.maintenance.request('FLUSH_MRS', 'bench')
    bench.tablet.stepMaintenance()
    fill(bytes)
  }
  const millis = firstAnswerMillis(bench)
  process.stdout.write(
    `  ${what}, ${rows} rows, ${bench.tablet.figures().walBytes} bytes of WAL: ` +
      `${millis.toFixed(0)} ms CPU (at most ${mostMillis}: ${millis <= mostMillis ? 'holds' : 'MISSED'})\n`,
  )
  database.close()
}

function rowsOnDisk(rowCount: number): void {
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
  process.stdout.write(
    `  ${rowCount} rows on disk, an empty WAL: ${millis.toFixed(1)} ms CPU ` +
      `(at most 50: ${millis <= 50 ? 'holds' : 'MISSED'}), ${read} rows read ` +
      `(at most 10: ${read <= 10 ? 'holds' : 'MISSED'})\n`,
  )
  database.close()
}

function write(bench: BenchTablet, keys: Uint32Array): void {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const key of keys) appendLoadgenRow(blocks, key)
  bench.write(blocks.take())
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
