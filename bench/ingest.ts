/**
 * Rows of Kudu's load generator over REST, a thousand a request, eight requests at a time, into one
 * tablet and into eight; flushes and maintenance run as their alarms want them. Against
 *
 *   store, parse     a Worker that parses the same bodies and stores 48 KiB for each, or nothing
 *   D1               its `json_each`, and its `batch()` of one INSERT a row
 *   object           a hand-written Durable Object: `json_each`, or row by row in a transaction
 *
 * in turns in the same process, each round on an empty table. What ended up in each is compared.
 * Then the same rows as NDJSON and Arrow, the CPU until maintenance rests, the rows that the
 * platform bills for a million of them, and the functions that take most of the time.
 */

import { type Course, contest, medianCpuMs, rivalFigure } from './support/contest.ts'
import type { Latencies } from './support/load.ts'
import { type Bodies, bodiesOf, firstRows, LoadgenSides } from './support/loadgen-sides.ts'
import { Report } from './support/report.ts'
import { reportSelfTimes } from './support/report-self-times.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable, tabletPages, untilAtRest } from './support/tables.ts'

const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 8_000, full: 1_000_000 }
/** Rivals that take one row at a time get fewer of them: their rate hardly depends on it. */
const FEWER_ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 4_000, full: 100_000 }
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const TABLET_COUNTS = [1, 8] as const
const MILLION = 1_000_000
const BILLED_MAX = 2500

/** Rivals, and what ours is to reach of each. */
const RIVALS = [
  { name: 'store only', least: 0.4 },
  { name: 'parse only', least: null },
  { name: 'D1 json_each', least: 1.5 },
  { name: 'D1 batch', least: 3 },
  { name: 'object json_each', least: 1 },
  { name: 'object row by row', least: 2.5 },
] as const
type RivalSide = (typeof RIVALS)[number]['name']

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('ingest', size)
  const service = await startService({ rivals: ['d1', 'object', 'bare'] })
  const sides = new LoadgenSides(service)
  try {
    const bodies = bodiesOf('json', ROW_COUNTS[size])
    await reportRivals(report, service, sides, bodies, size)
    await reportFormats(report, service, sides, size)
    for (const tabletCount of TABLET_COUNTS) {
      await reportRest(report, service, sides, bodies, tabletCount)
    }
    await sides.createTable('profiled', 1)
    await reportSelfTimes(report, service, 'ingest', sides.writer('profiled', bodies))
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

async function reportRivals(
  report: Report,
  { cpuMs }: BenchService,
  sides: LoadgenSides,
  bodies: Bodies,
  size: Size,
): Promise<void> {
  const fewer = firstRows(bodies, FEWER_ROW_COUNTS[size])
  const rivals = {
    'store only': sides.bare('store only', 'store', bodies),
    'parse only': sides.bare('parse only', 'parse', bodies),
    'D1 json_each': sides.d1('D1 json_each', 'json', bodies),
    'D1 batch': sides.d1('D1 batch', 'batch', fewer),
    'object json_each': sides.object('object json_each', 'json', bodies),
    'object row by row': sides.object('object row by row', 'rows', fewer),
  } satisfies Record<RivalSide, unknown>
  const ours = TABLET_COUNTS.map((count) => sides.ours(tableOf(count), bodies, count))
  const all = [...ours, ...Object.values(rivals)]
  const courses = await contest(ROUNDS[size], all, cpuMs)
  const courseOf = (name: string): Course => {
    const course = courses.get(name)
    if (course === undefined) throw new Error(`nothing is known of ${name}`)
    return course
  }
  for (const tabletCount of TABLET_COUNTS) {
    const own = courseOf(tableOf(tabletCount))
    for (const { name, least } of RIVALS) {
      report.add({
        name: `JSON into ${tablets(tabletCount)}`,
        rows: own.rows,
        milliseconds: own.milliseconds,
        cpuMs: medianCpuMs(own),
        hash: sides.hashOf(own.rows),
        rival: rivalFigure(name, own, courseOf(name)),
        ...(least === null ? {} : { bar: { atLeast: least } }),
      })
    }
  }
}

function tableOf(tabletCount: number): string {
  return `ingest_${tabletCount}`
}

function tablets(count: number): string {
  return count === 1 ? 'one tablet' : `${count} tablets`
}

/** The same rows in the formats that are streams, against JSON. */
async function reportFormats(
  report: Report,
  { cpuMs }: BenchService,
  sides: LoadgenSides,
  size: Size,
): Promise<void> {
  const formats = ['json', 'ndjson', 'arrow'] as const
  const courses = await contest(
    ROUNDS[size],
    formats.map((format) => sides.ours(format, bodiesOf(format, ROW_COUNTS[size]), 1)),
    cpuMs,
  )
  const [json, ...others] = courses.values()
  for (const [i, course] of others.entries()) {
    report.add({
      name: `${formats[i + 1]} into one tablet`,
      rows: course.rows,
      milliseconds: course.milliseconds,
      cpuMs: medianCpuMs(course),
      hash: sides.hashOf(course.rows),
      rival: rivalFigure('JSON', course, json),
    })
  }
}

/** One load and all the maintenance that follows from it. */
async function reportRest(
  report: Report,
  { address, cpuMs }: BenchService,
  sides: LoadgenSides,
  bodies: Bodies,
  tabletCount: number,
): Promise<void> {
  const table = `rested_${tabletCount}`
  await sides.createTable(table, tabletCount)
  const begun = cpuMs()
  const latencies: Latencies = await sides.writer(table, bodies)()
  const loaded = cpuMs()
  await untilAtRest(address, table)
  await maintainTable(address, table)
  const rested = cpuMs()
  const pages = await tabletPages(address, table)
  await sides.checkTable(table, bodies.rows)
  await sides.dropTable(table)
  const into = `into ${tablets(tabletCount)}`
  const billed = pages.reduce((sum, page) => sum + page.billed_rows_written, 0)
  report.add({ name: `${into}, a request`, ...inUnits(latencies.percentile(0.5), 'ms, p50') })
  report.add({ name: `${into}, a request`, ...inUnits(latencies.percentile(0.99), 'ms, p99') })
  report.add({ name: `${into}, loading`, rows: bodies.rows, cpuMs: loaded - begun })
  report.add({ name: `${into}, until rest`, rows: bodies.rows, cpuMs: rested - begun })
  report.add({
    name: `${into}, billed for a million rows`,
    ...inUnits((billed / bodies.rows) * MILLION, 'rows written'),
    ...(tabletCount === 1 ? { bar: { atMost: BILLED_MAX } } : {}),
  })
}

function inUnits(amount: number, unit: string) {
  return { value: { amount, unit } }
}
