/**
 * A table of four tablets is loaded, changed at random, and held against what it should be: at the
 * end and at the snapshots remembered on the way, by full scans, point reads and statistics.
 *
 * Not a race: it says of every row whether it is right, and how high the rowsets are stacked when
 * maintenance has come to rest.
 */

import { Prng } from '../src/util/prng.ts'
import { MIXED_COLUMNS, mixedRow, shuffled } from './support/mixed-rows.ts'
import { ask, send } from './support/rest.ts'
import { startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable, statisticsOf, tabletPages } from './support/tables.ts'

const SEED = 20_261_130
const TABLET_COUNT = 4
const BATCH_ROWS = 1000
const CONCURRENCY = 4
const POINT_READS = 1000
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 2_000_000 }

/** What each row is at a moment: 0 when it is not there, else which version of it. */
interface Moment {
  readonly name: string
  readonly timestamp: number
  readonly versions: Uint8Array
}

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const service = await startService()
  try {
    for (const order of ['random', 'ascending'] as const) {
      await runHistory(service.address, ROW_COUNTS[size], order)
    }
  } finally {
    await service.close()
  }
}

/** Loads a table in an order of rows, changes it, and throws where it is not what it should be. */
export async function runHistory(
  address: string,
  rowCount: number,
  order: 'random' | 'ascending',
): Promise<void> {
  const table = `histories_${order}`
  await ask(address, 'POST', '/tables', {
    name: table,
    schema: { columns: MIXED_COLUMNS },
    partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: TABLET_COUNT }] },
  })
  const numbers = order === 'random' ? shuffled(SEED, rowCount) : ascending(rowCount)
  const versions = new Uint8Array(rowCount)
  const moments: Moment[] = []
  const load = new Loader(address, table, versions)

  await load.apply('INSERT', numbers, 1)
  moments.push(load.remember('loaded'))
  if (order === 'random') {
    const chosen = shuffled(SEED + 1, rowCount)
    await load.apply('UPDATE', chosen.subarray(0, rowCount * 0.1), 2)
    moments.push(load.remember('updated'))
    const deleted = shuffled(SEED + 2, rowCount).subarray(0, rowCount * 0.05)
    await load.apply('DELETE', deleted, 0)
    moments.push(load.remember('deleted'))
    await load.apply('INSERT', deleted.subarray(0, rowCount * 0.02), 3)
    moments.push(load.remember('reinserted'))
  }
  await checkStatistics(address, table, versions, 'before rest')
  await maintainTable(address, table)
  await checkStatistics(address, table, versions, 'at rest')
  for (const moment of moments) await checkScan(address, table, moment)
  for (const moment of moments) await checkPoints(address, table, moment)
  const pages = await tabletPages(address, table)
  for (const page of pages) {
    process.stdout.write(
      `  ${order}: tablet ${page.tablet_id.slice(0, 8)}: ${page.rowsets.length} rowsets, ` +
        `average height ${page.average_rowset_height.toFixed(2)}\n`,
    )
  }
}

function ascending(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => index)
}

/** Sends rows in batches and keeps what they should have become. */
class Loader {
  readonly #address: string
  readonly #table: string
  readonly #versions: Uint8Array
  #timestamp = 0

  constructor(address: string, table: string, versions: Uint8Array) {
    this.#address = address
    this.#table = table
    this.#versions = versions
  }

  async apply(operation: string, numbers: Uint32Array, version: number): Promise<void> {
    const begun = performance.now()
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < numbers.length) {
        const batch = numbers.subarray(next, Math.min(numbers.length, next + BATCH_ROWS))
        next += batch.length
        await this.#send(operation, batch, version)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    const seconds = (performance.now() - begun) / 1000
    process.stdout.write(
      `  ${operation} ${numbers.length} rows: ${seconds.toFixed(1)} s, ` +
        `${Math.round(numbers.length / seconds)} rows/s\n`,
    )
  }

  async #send(operation: string, batch: Uint32Array, version: number): Promise<void> {
    const lines: string[] = []
    for (const number of batch) {
      lines.push(
        JSON.stringify(operation === 'DELETE' ? { id: number } : plainRow(number, version)),
      )
    }
    const answer = await ask<{ timestamp: number; failed: number; row_errors: unknown[] }>(
      this.#address,
      'POST',
      `/tables/${this.#table}/rows?operation=${operation}`,
      lines.join('\n'),
      { 'content-type': 'application/x-ndjson' },
    )
    if (answer.failed > 0) throw new Error(`rows failed: ${JSON.stringify(answer.row_errors[0])}`)
    for (const number of batch) this.#versions[number] = version
    this.#timestamp = Math.max(this.#timestamp, answer.timestamp)
  }

  remember(name: string): Moment {
    return { name, timestamp: this.#timestamp, versions: this.#versions.slice() }
  }
}

function plainRow(number: number, version: number): Record<string, unknown> {
  return { ...mixedRow(SEED + version * 15_485_863, number), id: number }
}

async function checkStatistics(
  address: string,
  table: string,
  versions: Uint8Array,
  when: string,
): Promise<void> {
  const expected = countLive(versions)
  const { live_row_count: found, on_disk_size: bytes } = await statisticsOf(address, table)
  if (found !== expected) throw new Error(`${when}: ${found} live rows, ${expected} expected`)
  process.stdout.write(`  statistics ${when}: ${found} live rows, ${bytes} bytes on disk\n`)
}

function countLive(versions: Uint8Array): number {
  let live = 0
  for (const version of versions) if (version !== 0) live++
  return live
}

async function checkScan(address: string, table: string, moment: Moment): Promise<void> {
  const begun = performance.now()
  const response = await send(
    address,
    'POST',
    `/tables/${table}/scan?timestamps=micros`,
    { snapshot_timestamp: moment.timestamp },
    { accept: 'application/x-ndjson' },
  )
  const seen = new Uint8Array(moment.versions.length)
  let rows = 0
  for await (const line of linesOf(response)) {
    const row = JSON.parse(line) as Record<string, unknown>
    checkRow(row, moment)
    const number = Number(row.id)
    if (seen[number] !== 0) throw new Error(`at ${moment.name}: row ${number} comes twice`)
    seen[number] = 1
    rows++
  }
  const expected = countLive(moment.versions)
  if (rows !== expected) throw new Error(`at ${moment.name}: ${rows} rows, ${expected} expected`)
  const seconds = (performance.now() - begun) / 1000
  process.stdout.write(`  scan at ${moment.name}: ${rows} rows right, ${seconds.toFixed(1)} s\n`)
}

function checkRow(row: Record<string, unknown>, moment: Moment): void {
  const number = Number(row.id)
  const version = moment.versions[number]
  const expected = JSON.stringify(version === 0 ? null : plainRow(number, version))
  const found = JSON.stringify(row)
  if (found === expected) return
  throw new Error(`at ${moment.name}: row ${number} is ${found}, expected ${expected}`)
}

async function checkPoints(address: string, table: string, moment: Moment): Promise<void> {
  const prng = new Prng(SEED + moment.timestamp)
  const keys = Array.from({ length: POINT_READS }, () => prng.below(moment.versions.length))
  const { rows } = await ask<{ rows: (Record<string, unknown> | null)[] }>(
    address,
    'POST',
    `/tables/${table}/rows/get?timestamps=micros`,
    { keys: keys.map((id) => ({ id })), snapshot_timestamp: moment.timestamp },
  )
  for (let index = 0; index < keys.length; index++) {
    const row = rows[index]
    if (row !== null) checkRow(row, moment)
    else if (moment.versions[keys[index]] !== 0) {
      throw new Error(`at ${moment.name}: row ${keys[index]} is not found`)
    }
  }
  process.stdout.write(`  ${POINT_READS} point reads at ${moment.name}: right\n`)
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
