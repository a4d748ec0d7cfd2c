/**
 * Single rows by their keys over REST, from a million rows at rest in one tablet, against
 * `SELECT … WHERE key = ?` in a hand-written Durable Object behind a front, in turns in the same
 * process: eight requests at a time for rows a second, one at a time for latencies. Keys are those
 * of ten thousand rows, whose pages stay in memory, or of all rows. The answers of both sides are
 * equal, byte for byte.
 *
 * Then the first reads of a tablet that has nothing in memory, and the functions that take most of
 * the time.
 */

import { crc32 } from 'node:zlib'
import { Prng } from '../src/util/prng.ts'
import { contest, medianCpuMs, rivalFigure, type Side } from './support/contest.ts'
import { type Latencies, type Request, requestOf, sendAll } from './support/load.ts'
import { loadgenJson, loadgenKey } from './support/loadgen-bodies.ts'
import { bodiesOf, LoadgenSides } from './support/loadgen-sides.ts'
import { Report } from './support/report.ts'
import { reportSelfTimes } from './support/report-self-times.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable } from './support/tables.ts'

const SEED = 23
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const HOT_ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 2_000, full: 10_000 }
const READ_COUNTS: Readonly<Record<Size, number>> = { smoke: 400, full: 5_000 }
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const LOAD_ROWS = 100_000
const CLIENTS = 8
const RATIO_MIN = 0.8
const TABLE = 'points'
const OBJECT = 'points'
/** An object that nobody called for ten seconds leaves memory. */
const LEAVE_MEMORY_MS = 15_000
const COLD_READS = 20

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('point-reads', size)
  const service = await startService({ rivals: ['object'] })
  try {
    await load(service, ROW_COUNTS[size])
    // A small table is read from memory: whether all works shows there as well.
    if (size === 'full') await maintainTable(service.address, TABLE)
    const hot = rowsOf(SEED, HOT_ROW_COUNTS[size], READ_COUNTS[size], ROW_COUNTS[size] / 3)
    const uniform = rowsOf(SEED + 1, ROW_COUNTS[size], READ_COUNTS[size], 0)
    await reportReads(report, service, size, { name: 'keys that fit', rows: hot, least: RATIO_MIN })
    await reportReads(report, service, size, { name: 'all keys', rows: uniform, least: null })
    if (size === 'full') await reportCold(report, service, uniform)
    const { requests } = readsOf(service, 'ours', hot)
    await reportSelfTimes(report, service, 'point reads', async () => {
      await sendAll(service.address, CLIENTS, requests, () => {})
    })
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

async function load(service: BenchService, rowCount: number): Promise<void> {
  const sides = new LoadgenSides(service)
  await sides.createTable(TABLE, 1)
  for (let start = 0; start < rowCount; start += LOAD_ROWS) {
    const bodies = bodiesOf('json', Math.min(LOAD_ROWS, rowCount - start), start)
    await sides.writer(TABLE, bodies)()
    await sides.writeObject(OBJECT, bodies)
  }
  await sides.checkTable(TABLE, rowCount)
  await sides.checkObject(OBJECT, rowCount)
}

/** Numbers of rows, drawn from `rowCount` of them beginning with `first`. */
function rowsOf(seed: number, rowCount: number, count: number, first: number): Uint32Array {
  const prng = new Prng(seed)
  return Uint32Array.from({ length: count }, () => Math.floor(first) + prng.below(rowCount))
}

interface Reads {
  readonly address: string
  readonly requests: Request[]
}

function readsOf(service: BenchService, side: 'ours' | 'rival', rows: Uint32Array): Reads {
  const address = side === 'ours' ? service.address : service.addressOf('object')
  const path = side === 'ours' ? `/api/v1/tables/${TABLE}/rows` : `/${OBJECT}/rows`
  const requests = Array.from(rows, (row) =>
    requestOf(address, { method: 'GET', path: `${path}/${loadgenKey(row)}` }),
  )
  return { address, requests }
}

interface Question {
  readonly name: string
  readonly rows: Uint32Array
  readonly least: number | null
}

async function reportReads(
  report: Report,
  service: BenchService,
  size: Size,
  { name, rows, least }: Question,
): Promise<void> {
  // Checksums of the answers, summed up: they come in any order.
  const expected = sumOf(Array.from(rows, loadgenJson))
  for (const clientCount of [CLIENTS, 1]) {
    const latencies: Partial<Record<'ours' | 'rival', Latencies>> = {}
    const sideOf = (side: 'ours' | 'rival'): Side => {
      const { address, requests } = readsOf(service, side, rows)
      return {
        name: side,
        rows: rows.length,
        run: async () => {
          let sum = 0
          latencies[side] = await sendAll(address, clientCount, requests, ({ body }) => {
            sum = (sum + crc32(body)) >>> 0
          })
          if (sum !== expected) throw new Error(`${side} answered other rows`)
        },
      }
    }
    const sides = [sideOf('ours'), sideOf('rival')]
    const courses = await contest(ROUNDS[size], sides, service.cpuMs)
    const [ours, rival] = courses.values()
    report.add({
      name: `${name}, ${clientCount} at a time`,
      rows: rows.length,
      milliseconds: ours.milliseconds,
      cpuMs: medianCpuMs(ours),
      hash: expected.toString(16).padStart(8, '0'),
      rival: rivalFigure('object', ours, rival),
      ...(least === null ? {} : { bar: { atLeast: least } }),
    })
    if (clientCount === 1) reportLatencies(report, name, latencies)
  }
}

function sumOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => (sum + crc32(text)) >>> 0, 0)
}

function reportLatencies(
  report: Report,
  name: string,
  latencies: Partial<Record<string, Latencies>>,
): void {
  for (const [side, times] of Object.entries(latencies)) {
    for (const share of [0.5, 0.95, 0.99]) {
      const amount = times?.percentile(share) ?? Number.NaN
      const what = `${name}, ${side}, p${share * 100}`
      report.add({ name: what, value: { amount, unit: 'ms' } })
    }
  }
}

/** The first reads of objects that have left memory, one at a time. */
async function reportCold(report: Report, service: BenchService, rows: Uint32Array): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, LEAVE_MEMORY_MS))
  for (const side of ['ours', 'rival'] as const) {
    const { address, requests } = readsOf(service, side, rows)
    const first = await sendAll(address, 1, requests.slice(0, 1), () => {})
    const next = await sendAll(address, 1, requests.slice(1, COLD_READS), () => {})
    const amount = first.percentile(1)
    report.add({ name: `cold, ${side}, the first read`, value: { amount, unit: 'ms' } })
    report.add({
      name: `cold, ${side}, the next ${COLD_READS - 1}`,
      value: { amount: next.percentile(0.5), unit: 'ms, p50' },
    })
  }
}
