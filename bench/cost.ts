/**
 * What rows cost: billed rows and stored bytes of a million rows of three kinds, here and in D1,
 * and what that comes to in dollars a month by the platform's public prices.
 *
 * Both sides take the same rows in requests of a thousand; D1 by `json_each`. Here all is counted
 * until maintenance rests: WAL, flushes, compactions, superblocks, alarms. Then a full scan, an
 * aggregation of one column, and point reads of rows drawn from all; both sides' sums are compared.
 *
 * The month: a billion rows come and are kept, a hundred million are read by key, a hundred
 * aggregations go through all of them. What is included in the plan, and the requests and CPU of
 * Workers, are the same for both and left out. Objects are paid for as long as they are in memory:
 * as long as their CPU takes at least, and all the month at most.
 */

import { Prng } from '../src/util/prng.ts'
import { type CostRows, LINEITEM_ROWS, LOADGEN_ROWS, YCSB_ROWS } from './support/cost-rows.ts'
import { rivalQuery, SQL_TYPES } from './support/lineitem-table.ts'
import { D1_PRICES, dollarsOf, OBJECT_PRICES, type Usage } from './support/prices.ts'
import { Report } from './support/report.ts'
import { ask, countLines, send } from './support/rest.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable, statisticsOf, tabletPages, untilAtRest } from './support/tables.ts'

const KINDS: readonly {
  readonly rows: CostRows
  readonly counts: Readonly<Record<Size, number>>
}[] = [
  { rows: LOADGEN_ROWS, counts: { smoke: 5_000, full: 1_000_000 } },
  { rows: LINEITEM_ROWS, counts: { smoke: 5_000, full: 1_000_000 } },
  { rows: YCSB_ROWS, counts: { smoke: 1_000, full: 200_000 } },
]
const REQUEST_ROWS = 1000
const POINT_READS = 100
const SEED = 29
const MILLION = 1_000_000

/** The month that is paid for. */
const MONTH = { rows: 1e9, pointReads: 1e8, aggregations: 100, seconds: 30 * 24 * 3600 }
/** Rows of a tablet in that month. */
const TABLET_ROWS = 10e6

/** What was counted on one side. */
interface Counts {
  readonly written: number
  readonly storedBytes: number
  readonly scanRead: number
  readonly aggregateRead: number
  readonly pointRead: number
  readonly aggregateSum: number
}

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('cost', size)
  const service = await startService({ rivals: ['d1'] })
  try {
    for (const { rows, counts } of KINDS) {
      const count = counts[size]
      const sample = sampleOf(rows, count)
      const cpuBegun = service.cpuMs()
      const ours = await countOurs(service, rows, count, sample)
      const cpuMs = service.cpuMs() - cpuBegun
      const rival = await countRival(service.addressOf('d1'), rows, count, sample)
      if (Math.abs(ours.aggregateSum - rival.aggregateSum) > 1e-6 * Math.abs(rival.aggregateSum)) {
        throw new Error(`${rows.name}: sums are ${ours.aggregateSum} and ${rival.aggregateSum}`)
      }
      reportCounts(report, rows.name, count, ours, rival)
      reportMonth(report, rows.name, count, ours, rival, cpuMs / 1000)
    }
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

/** Rows to be read by their keys. */
function sampleOf(rows: CostRows, count: number): readonly (readonly (string | number)[])[] {
  const prng = new Prng(SEED)
  const wanted = new Set(Array.from({ length: POINT_READS }, () => prng.below(count)))
  const found: (readonly (string | number)[])[] = []
  let row = 0
  for (const batch of rows.batches(count, REQUEST_ROWS)) {
    for (const cells of batch) if (wanted.has(row++)) found.push(cells)
  }
  return found
}

async function countOurs(
  { address }: BenchService,
  rows: CostRows,
  count: number,
  sample: readonly (readonly (string | number)[])[],
): Promise<Counts> {
  const { name: table, columns, summed } = rows
  await ask(address, 'POST', '/tables', { name: table, schema: { columns } })
  const names = columns.map(({ name }) => name)
  const headers = { 'content-type': 'application/x-ndjson' }
  for (const batch of rows.batches(count, REQUEST_ROWS)) {
    const lines = batch.map((cells) =>
      JSON.stringify(Object.fromEntries(names.map((name, i) => [name, cells[i]]))),
    )
    const path = `/tables/${table}/rows?operation=UPSERT`
    const { failed } = await ask<{ failed: number }>(
      address,
      'POST',
      path,
      `${lines.join('\n')}\n`,
      headers,
    )
    if (failed > 0) throw new Error(`${failed} rows were refused`)
  }
  await untilAtRest(address, table)
  await maintainTable(address, table)
  const loaded = await billed(address, table)
  const { on_disk_size: storedBytes, live_row_count: live } = await statisticsOf(address, table)
  if (live !== count) throw new Error(`${live} rows, not ${count}`)
  const scan = await send(address, 'POST', `/tables/${table}/scan`, {}, NDJSON)
  if ((await countLines(scan)) !== count) throw new Error('the scan has other rows')
  const scanned = await billed(address, table)
  const isText = columns.some(({ name, type }) => name === summed && type === 'STRING')
  const op = isText ? { op: 'COUNT', column: summed } : { op: 'SUM', column: summed }
  const { rows: sums } = await ask<{ rows: readonly { readonly it: number | string }[] }>(
    address,
    'POST',
    `/tables/${table}/aggregate`,
    { aggregates: [{ ...op, as: 'it' }] },
  )
  const aggregated = await billed(address, table)
  for (const cells of sample)
    await ask(address, 'GET', `/tables/${table}/rows/${rows.keyOf(cells).path}`)
  const read = await billed(address, table)
  return {
    written: loaded.written,
    storedBytes,
    scanRead: scanned.read - loaded.read,
    aggregateRead: aggregated.read - scanned.read,
    pointRead: (read.read - aggregated.read) / sample.length,
    aggregateSum: Number(sums[0].it),
  }
}

const NDJSON = { accept: 'application/x-ndjson' }

async function billed(address: string, table: string): Promise<{ read: number; written: number }> {
  const pages = await tabletPages(address, table)
  return {
    read: pages.reduce((sum, page) => sum + page.billed_rows_read, 0),
    written: pages.reduce((sum, page) => sum + page.billed_rows_written, 0),
  }
}

/** What D1 tells of a statement. */
interface Meta {
  readonly rows_read: number
  readonly rows_written: number
  readonly size_after: number
}

async function countRival(
  address: string,
  rows: CostRows,
  count: number,
  sample: readonly (readonly (string | number)[])[],
): Promise<Counts> {
  const { name: table, columns, summed } = rows
  const definitions = columns.map(({ name, type }) => `${name} ${sqlTypeOf(type)} NOT NULL`)
  const key = columns.filter(({ is_key }) => is_key === true).map(({ name }) => name)
  const before = await metaOf(address, 'SELECT 1')
  await rivalQuery(
    address,
    `CREATE TABLE ${table} (${definitions.join(', ')}, PRIMARY KEY (${key.join(', ')}))`,
  )
  const cells = columns.map((_, i) => `value->>${i}`).join(', ')
  const sql = `INSERT INTO ${table} SELECT ${cells} FROM json_each(?)`
  let written = 0
  let storedBytes = 0
  for (const batch of rows.batches(count, REQUEST_ROWS)) {
    const body = JSON.stringify({ sql, rows: batch })
    const response = await fetch(`${address}/insert`, { method: 'POST', body })
    if (!response.ok) throw new Error(`D1 refused rows: ${await response.text()}`)
    const { meta } = (await response.json()) as { meta: Meta }
    written += meta.rows_written
    storedBytes = meta.size_after - before.size_after
  }
  const isText = columns.some(({ name, type }) => name === summed && type === 'STRING')
  const aggregate = isText ? `count(${summed})` : `sum(${summed})`
  const [{ it }] = await rivalQuery(address, `SELECT ${aggregate} AS it FROM ${table}`)
  const aggregateMeta = await metaOf(address, `SELECT ${aggregate} FROM ${table}`)
  const last = columns[columns.length - 1].name
  const scanMeta = await metaOf(address, `SELECT max(length(${last})) FROM ${table}`)
  let pointRead = 0
  for (const one of sample) {
    const where = `SELECT * FROM ${table} WHERE ${rows.keyOf(one).sql}`
    pointRead += (await metaOf(address, where)).rows_read
  }
  return {
    written,
    storedBytes,
    scanRead: scanMeta.rows_read,
    aggregateRead: aggregateMeta.rows_read,
    pointRead: pointRead / sample.length,
    aggregateSum: Number(it),
  }
}

function sqlTypeOf(type: string): string {
  return (SQL_TYPES as Readonly<Record<string, string>>)[type] ?? 'TEXT'
}

async function metaOf(address: string, sql: string): Promise<Meta> {
  const response = await fetch(`${address}/meta`, { method: 'POST', body: sql })
  if (!response.ok) throw new Error(`D1 refused ${sql}: ${await response.text()}`)
  return (await response.json()) as Meta
}

function reportCounts(
  report: Report,
  kind: string,
  count: number,
  ours: Counts,
  rival: Counts,
): void {
  const scale = MILLION / count
  for (const [what, unit, amount, other] of [
    ['a million rows, billed', 'rows written', ours.written * scale, rival.written * scale],
    ['a million rows, stored', 'bytes', ours.storedBytes * scale, rival.storedBytes * scale],
    ['a full scan of a million', 'rows read', ours.scanRead * scale, rival.scanRead * scale],
    ['a sum over a million', 'rows read', ours.aggregateRead * scale, rival.aggregateRead * scale],
    ['a point read', 'rows read', ours.pointRead, rival.pointRead],
  ] as const) {
    const round = (number: number) => Math.round(number * 100) / 100
    report.add({
      name: `${kind}, ${what}`,
      rows: count,
      value: { amount: round(amount), unit: `${unit}; ${round(other)} in D1` },
    })
  }
}

function reportMonth(
  report: Report,
  kind: string,
  count: number,
  ours: Counts,
  rival: Counts,
  cpuSeconds: number,
): void {
  const scale = MONTH.rows / count
  const usageOf = (counts: Counts, requests: number, seconds: number): Usage => ({
    rowsRead:
      counts.pointRead * MONTH.pointReads + counts.aggregateRead * scale * MONTH.aggregations,
    rowsWritten: counts.written * scale,
    storedBytes: counts.storedBytes * scale,
    requests,
    seconds,
  })
  const tablets = MONTH.rows / TABLET_ROWS
  const requests = MONTH.rows / REQUEST_ROWS + MONTH.pointReads + MONTH.aggregations * tablets
  // Loading, scanning and reading back a sample: more than loading alone.
  const least = dollarsOf(OBJECT_PRICES, usageOf(ours, requests, cpuSeconds * scale))
  const most = dollarsOf(OBJECT_PRICES, usageOf(ours, requests, MONTH.seconds * tablets))
  const other = dollarsOf(D1_PRICES, usageOf(rival, 0, 0))
  const dollars = (amount: number) => amount.toFixed(2)
  report.add({
    name: `${kind}, a billion rows for a month`,
    value: {
      amount: Math.round(least * 100) / 100,
      unit:
        `dollars, or ${dollars(most)} with ${tablets} tablets always in memory; ` +
        `${dollars(other)} in D1, which holds 10 GB a database`,
    },
  })
}
