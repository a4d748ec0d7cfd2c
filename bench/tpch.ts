/**
 * TPC-H's Q1 and Q6 over LINEITEM, with the key (l_orderkey, l_linenumber): the service's
 * `aggregate` against the same SQL on D1, in turns, over the same rows in the same process. What
 * both questions come to is checked against DuckDB, to the cent.
 *
 * Then Q6 on a table whose key begins with l_shipdate: which share of the pages of its four columns
 * is decoded, just flushed and at rest, and what a predicate on the whole key decodes.
 */

import { rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { inTurns, median } from './support/in-turns.ts'
import {
  csvOf,
  duckDbColumns,
  lineItems,
  loadRival,
  loadService,
  rivalQuery,
} from './support/lineitem-table.ts'
import { hashOf, Report, rivalOf } from './support/report.ts'
import { ask } from './support/rest.ts'
import { startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable } from './support/tables.ts'
import { Q1, Q6, Q6_PREDICATES, type Question } from './support/tpch-questions.ts'

const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 7 }
const RATIO_MIN = 5
const PAGE_SHARE_MAX = 0.2
const TABLE = 'lineitem'
const BY_DATE = 'lineitem_by_date'
const Q6_COLUMNS = ['l_shipdate', 'l_discount', 'l_quantity', 'l_extendedprice'] as const

type Row = Readonly<Record<string, unknown>>

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const rowCount = ROW_COUNTS[size]
  const expected = await duckDbAnswers(rowCount)
  const report = new Report('tpch', size)
  const service = await startService({ hasRival: true })
  const { address, rivalAddress } = service
  try {
    const key = ['l_orderkey', 'l_linenumber'] as const
    await loadRival(rivalAddress, TABLE, key, rowCount)
    await loadService(address, TABLE, key, rowCount)
    await maintainTable(address, TABLE)
    for (const question of [Q1, Q6]) {
      const { rows } = await aggregate(address, question)
      checkAnswer(question, rows, expected.get(question.name) ?? [])
      const turns = await inTurns(
        ROUNDS[size],
        () => aggregate(address, question),
        () => rivalQuery(rivalAddress, question.sql),
        service.cpuMs,
      )
      report.add({
        name: `${question.name}, right to the cent`,
        rows: rowCount,
        milliseconds: turns.ours,
        cpuMs: median(turns.ownCpuMs),
        hash: hashOf(JSON.stringify(rows)),
        rival: rivalOf('D1', turns),
        bar: { atLeast: RATIO_MIN },
      })
    }
    await pagesByDate(address, rowCount, report)
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

function aggregate(address: string, { body }: Question): Promise<{ rows: Row[] }> {
  return ask(address, 'POST', `/tables/${TABLE}/aggregate`, body)
}

/** What DuckDB says, by the question's name: cells as text. */
async function duckDbAnswers(rowCount: number): Promise<Map<string, string[][]>> {
  const path = join(tmpdir(), `nyala-bench-${process.pid}.csv`)
  const file = await open(path, 'w')
  let isFirst = true
  for (const rows of lineItems(rowCount, 50_000)) {
    const text = csvOf(rows)
    await file.write(isFirst ? text : text.slice(text.indexOf('\n') + 1))
    isFirst = false
  }
  await file.close()
  try {
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    const source = `read_csv('${path}', header = true, columns = ${duckDbColumns()})`
    await connection.run(`CREATE TABLE lineitem AS SELECT * FROM ${source}`)
    const answers = new Map<string, string[][]>()
    for (const { name, sql } of [Q1, Q6]) {
      const reader = await connection.runAndReadAll(sql)
      answers.set(
        name,
        reader.getRows().map((cells) => cells.map(String)),
      )
    }
    return answers
  } finally {
    rmSync(path, { force: true })
  }
}

/** Sums and counts to the last digit, averages, which are floating point, nearly. */
function checkAnswer(
  { name, members }: Question,
  rows: readonly Row[],
  expected: string[][],
): void {
  const isRight =
    rows.length === expected.length &&
    rows.every((row, i) =>
      members.every((member, j) => isEqual(member, String(row[member]), expected[i][j])),
    )
  if (isRight) return
  throw new Error(`${name} is wrong:\n${JSON.stringify(rows)}\n${JSON.stringify(expected)}`)
}

function isEqual(member: string, ours: string, theirs: string): boolean {
  if (!member.startsWith('avg')) return ours === theirs
  return Math.abs(Number(ours) - Number(theirs)) <= Math.abs(Number(theirs)) * 1e-12
}

/** The part of an analysis that is looked at. */
interface Analysis {
  readonly tablets: readonly {
    readonly columns: readonly {
      readonly column: string
      readonly pages: number
      readonly pages_read: number
    }[]
    readonly rows_returned: number
    readonly billed_rows_read: number
  }[]
}

async function pagesByDate(address: string, rowCount: number, report: Report): Promise<void> {
  await loadService(address, BY_DATE, ['l_shipdate', 'l_orderkey', 'l_linenumber'], rowCount)
  await ask(address, 'POST', `/tables/${BY_DATE}/maintenance`, { op: 'FLUSH_MRS' })
  await reportPages(address, 'just flushed', report)
  await maintainTable(address, BY_DATE)
  await reportPages(address, 'at rest', report)
  const { rows } = await ask<{ rows: Row[] }>(address, 'POST', `/tables/${BY_DATE}/scan`, {
    columns: ['l_shipdate', 'l_orderkey', 'l_linenumber'],
    primary_key_lower: { l_shipdate: '1995-06-17', l_orderkey: 0, l_linenumber: 0 },
    page_size: 1,
  })
  const predicates = Object.entries(rows[0]).map(([column, value]) => ({ column, op: '=', value }))
  const found = await analyze(address, { predicates })
  const read = found.tablets.flatMap(({ columns }) => columns.map((column) => column.pages_read))
  const returned = found.tablets.reduce((sum, { rows_returned }) => sum + rows_returned, 0)
  if (returned !== 1) throw new Error(`${returned} rows have a whole key`)
  report.add({
    name: 'a predicate on the whole key, 16 columns',
    rows: returned,
    value: { amount: Math.max(...read), unit: 'pages decoded of a column' },
    bar: { atMost: 1 },
  })
}

async function reportPages(address: string, when: string, report: Report): Promise<void> {
  const { tablets } = await analyze(address, {
    columns: ['l_extendedprice', 'l_discount'],
    predicates: Q6_PREDICATES,
  })
  let all = 0
  let read = 0
  let others = 0
  for (const { columns } of tablets) {
    for (const { column, pages, pages_read } of columns) {
      if (!Q6_COLUMNS.some((name) => name === column)) {
        others += pages_read
        continue
      }
      all += pages
      read += pages_read
    }
  }
  if (others !== 0) throw new Error(`Q6 decodes ${others} pages of other columns`)
  report.add({
    name: `Q6 by date, ${when}, ${read} of ${all} pages of its four columns and none of others`,
    value: { amount: read / all, unit: 'of the pages' },
    bar: { atMost: PAGE_SHARE_MAX },
  })
}

function analyze(address: string, body: object): Promise<Analysis> {
  return ask(address, 'POST', `/tables/${BY_DATE}/scan`, { ...body, analyze: true })
}
