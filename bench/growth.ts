/**
 * How a tablet and a table grow. One tablet with ever more rows: rows a second while they come,
 * and what a point read costs then, of a hot set and of any row. And one client load on tables of
 * more and more tablets: all of them share one thread of one machine here, so this shows what a
 * tablet more costs, not what it brings where each has a machine of its own.
 */

import { Prng } from '../src/util/prng.ts'
import { Latencies, requestOf, timed, withClients } from './support/load.ts'
import {
  LOADGEN_COLUMNS,
  LOADGEN_FORMATS,
  loadgenBody,
  loadgenKey,
} from './support/loadgen-bodies.ts'
import { Report } from './support/report.ts'
import { ask, send } from './support/rest.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable, statisticsOf, tabletPages } from './support/tables.ts'

const SEED = 11
/** Rows of the tablet at which it is looked at. */
const ROW_COUNTS: Readonly<Record<Size, readonly number[]>> = {
  smoke: [2000, 10_000],
  full: [100_000, 1_000_000, 4_000_000, 10_000_000],
}
const TABLET_COUNTS: Readonly<Record<Size, readonly number[]>> = {
  smoke: [1, 4],
  full: [1, 2, 4, 8, 16, 32],
}
/** Rows that each table takes. */
const SPREAD_ROWS: Readonly<Record<Size, number>> = { smoke: 8000, full: 800_000 }
const READ_COUNTS: Readonly<Record<Size, number>> = { smoke: 50, full: 5000 }
const REQUEST_ROWS = 1000
const CLIENT_COUNT = 8
/** Reads that come again and again. */
const HOT_ROWS = 1000
const TABLE = 'growth'

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('growth', size)
  const service = await startService()
  try {
    await oneTablet(service, size, report)
    for (const count of TABLET_COUNTS[size]) await manyTablets(service, count, size, report)
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

async function oneTablet(service: BenchService, size: Size, report: Report): Promise<void> {
  const { address } = service
  await createTable(address, TABLE, 1)
  let done = 0
  for (const rowCount of ROW_COUNTS[size]) {
    const added = rowCount - done
    const [begun, cpuBegun] = [performance.now(), service.cpuMs()]
    await insert(address, TABLE, done, rowCount)
    const [ended, cpuEnded] = [performance.now(), service.cpuMs()]
    done = rowCount
    report.add({
      name: `one tablet, up to ${rowCount} rows, maintenance meanwhile included`,
      rows: added,
      milliseconds: [ended - begun],
      cpuMs: cpuEnded - cpuBegun,
    })
    await maintainTable(address, TABLE)
    const { live_row_count: live } = await statisticsOf(address, TABLE)
    if (live !== rowCount) throw new Error(`the tablet has ${live} rows, not ${rowCount}`)
    await pointReads(service, rowCount, size, report)
  }
}

/** Reads rows one after the other: of a few, and of all. */
async function pointReads(
  service: BenchService,
  rowCount: number,
  size: Size,
  report: Report,
): Promise<void> {
  const { address } = service
  const count = READ_COUNTS[size]
  const prng = new Prng(SEED)
  const hot = Array.from({ length: HOT_ROWS }, () => prng.below(rowCount))
  for (const [what, draw] of [
    [`${HOT_ROWS} hot rows`, () => prng.pick(hot)],
    ['any row', () => prng.below(rowCount)],
  ] as const) {
    const requests = Array.from({ length: count }, () =>
      requestOf(address, {
        method: 'GET',
        path: `/api/v1/tables/${TABLE}/rows/${loadgenKey(draw())}`,
      }),
    )
    const latencies = new Latencies()
    await withClients(address, 1, async (connection) => {
      // The first ones meet what is not compiled yet, and an empty cache.
      for (const request of requests.slice(0, count / 5)) {
        await timed(connection, request, [200], new Latencies())
      }
      const [begun, cpuBegun] = [performance.now(), service.cpuMs()]
      const [{ billed_rows_read: billedBegun }] = await tabletPages(address, TABLE)
      for (const request of requests) await timed(connection, request, [200], latencies)
      const [ended, cpuEnded] = [performance.now(), service.cpuMs()]
      const [{ billed_rows_read: billedEnded }] = await tabletPages(address, TABLE)
      report.add({
        name: `point reads of ${what} among ${rowCount}, ${latencies.text()}`,
        rows: count,
        milliseconds: [ended - begun],
        cpuMs: cpuEnded - cpuBegun,
        billedRows: billedEnded - billedBegun,
      })
    })
  }
}

async function manyTablets(
  service: BenchService,
  tabletCount: number,
  size: Size,
  report: Report,
): Promise<void> {
  const { address } = service
  const table = `growth_${tabletCount}`
  const rowCount = SPREAD_ROWS[size]
  await createTable(address, table, tabletCount)
  const [begun, cpuBegun] = [performance.now(), service.cpuMs()]
  await insert(address, table, 0, rowCount)
  report.add({
    name: `${tabletCount} tablets, ${CLIENT_COUNT} clients`,
    rows: rowCount,
    milliseconds: [performance.now() - begun],
    cpuMs: service.cpuMs() - cpuBegun,
  })
  await send(address, 'DELETE', `/tables/${table}`)
}

async function createTable(address: string, name: string, tabletCount: number): Promise<void> {
  const buckets = { columns: ['key'], num_buckets: tabletCount }
  await ask(address, 'POST', '/tables', {
    name,
    schema: { columns: LOADGEN_COLUMNS },
    ...(tabletCount === 1 ? {} : { partition_schema: { hash_schema: [buckets] } }),
  })
}

/** Writes rows `[start, end)` of the load generator, a client a part of them at a time. */
async function insert(address: string, table: string, start: number, end: number): Promise<void> {
  let next = start
  await withClients(address, CLIENT_COUNT, async (connection) => {
    const latencies = new Latencies()
    while (next < end) {
      const first = next
      next = Math.min(end, first + REQUEST_ROWS)
      const request = requestOf(address, {
        method: 'POST',
        path: `/api/v1/tables/${table}/rows?operation=INSERT`,
        body: loadgenBody('ndjson', first, next - first),
        contentType: LOADGEN_FORMATS.ndjson,
      })
      await timed(connection, request, [200], latencies)
    }
  })
}
