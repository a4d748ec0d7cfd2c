/**
 * Kudu's full-stack test over REST: ten clients insert rows of ten columns (an INT64 key, a string,
 * four INT32, four INT64), one row a request and five thousand a request; then scans of none of the
 * columns, the key, all, the string, the four INT32 and the four INT64, as NDJSON, each checked to
 * have every row.
 */

import { request as httpRequest } from 'node:http'
import { Prng } from '../src/util/prng.ts'
import { Latencies, requestOf, timed, withClients } from './support/load.ts'
import { Report } from './support/report.ts'
import { ask } from './support/rest.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable } from './support/tables.ts'

const SEED = 41
const CLIENTS = 10
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const STRING_LENGTH_MIN = 16
const STRING_LENGTH_MAX = 31
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const INT32_RANGE = 2 ** 31

const FOUR = [0, 1, 2, 3]
const INT32S = FOUR.map((i) => `int32_${i}`)
const INT64S = FOUR.map((i) => `int64_${i}`)
const COLUMNS = [
  { name: 'key', type: 'INT64', is_key: true },
  { name: 'string_val', type: 'STRING' },
  ...INT32S.map((name) => ({ name, type: 'INT32' })),
  ...INT64S.map((name) => ({ name, type: 'INT64' })),
]
const PROJECTIONS = [
  { name: 'no column', columns: [] },
  { name: 'the key', columns: ['key'] },
  { name: 'all columns', columns: COLUMNS.map(({ name }) => name) },
  { name: 'one string', columns: ['string_val'] },
  { name: 'four INT32', columns: INT32S },
  { name: 'four INT64', columns: INT64S },
]

/** How rows come. */
interface Inserts {
  readonly table: string
  readonly requestRows: number
  /** Rows of each client. */
  readonly clientRows: Readonly<Record<Size, number>>
}

const INSERTS: readonly Inserts[] = [
  { table: 'one', requestRows: 1, clientRows: { smoke: 20, full: 2_000 } },
  { table: 'many', requestRows: 5_000, clientRows: { smoke: 5_000, full: 50_000 } },
]

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('full-stack-insert-scan', size)
  const service = await startService()
  try {
    for (const inserts of INSERTS) {
      await reportInserts(report, service, inserts, size)
      const rowCount = inserts.clientRows[size] * CLIENTS
      await reportScans(report, service, inserts, rowCount, size)
    }
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

async function reportInserts(
  report: Report,
  { address, cpuMs }: BenchService,
  { table, requestRows, clientRows }: Inserts,
  size: Size,
): Promise<void> {
  await ask(address, 'POST', '/tables', { name: table, schema: { columns: COLUMNS } })
  const rowsEach = clientRows[size]
  const latencies = new Latencies()
  const bodies = Array.from({ length: CLIENTS }, (_, i) => bodiesOf(i, rowsEach, requestRows))
  const [begun, cpuBegun] = [performance.now(), cpuMs()]
  await withClients(address, CLIENTS, async (connection, client) => {
    const path = `/api/v1/tables/${table}/rows`
    for (const body of bodies[client]) {
      const request = requestOf(address, { method: 'POST', path, body })
      const answer = await timed(connection, request, [200], latencies)
      if (!answer.body.includes('"failed":0')) throw new Error(answer.body.toString())
    }
  })
  const [ended, cpuEnded] = [performance.now(), cpuMs()]
  report.add({
    name: `inserts of ${requestRows} a request, ${latencies.text()}`,
    rows: rowsEach * CLIENTS,
    milliseconds: [ended - begun],
    cpuMs: cpuEnded - cpuBegun,
  })
}

/** Bodies of a client's rows, whose keys are its own. */
function bodiesOf(client: number, rowCount: number, requestRows: number): Buffer[] {
  const prng = new Prng(SEED + client)
  return Array.from({ length: rowCount / requestRows }, (_, i) => {
    const first = client * rowCount + i * requestRows
    const rows = Array.from({ length: requestRows }, (_, j) => rowOf(first + j, prng))
    return Buffer.from(JSON.stringify({ rows }))
  })
}

function rowOf(key: number, prng: Prng): Record<string, unknown> {
  const length = prng.between(STRING_LENGTH_MIN, STRING_LENGTH_MAX)
  const letters = Array.from({ length }, () => LETTERS[prng.below(LETTERS.length)])
  const row: Record<string, unknown> = { key, string_val: letters.join('') }
  for (const name of INT32S) row[name] = prng.below(INT32_RANGE)
  for (const name of INT64S) row[name] = prng.below(INT32_RANGE) * 2 ** 21 + prng.below(2 ** 21)
  return row
}

async function reportScans(
  report: Report,
  { address, cpuMs }: BenchService,
  { table, requestRows }: Inserts,
  rowCount: number,
  size: Size,
): Promise<void> {
  // Small tables are scanned from memory, as they would be.
  if (size === 'full') await maintainTable(address, table)
  const count = { aggregates: [{ op: 'COUNT', as: 'n' }] }
  const { rows } = await ask<{ rows: { n: number }[] }>(
    address,
    'POST',
    `/tables/${table}/aggregate`,
    count,
  )
  mustBe(rows[0].n, rowCount)
  for (const { name, columns } of PROJECTIONS) {
    const milliseconds: number[] = []
    const cpus: number[] = []
    for (let round = -1; round < ROUNDS[size]; round++) {
      const [begun, cpuBegun] = [performance.now(), cpuMs()]
      mustBe(await countLines(address, table, columns), rowCount)
      if (round < 0) continue
      milliseconds.push(performance.now() - begun)
      cpus.push(cpuMs() - cpuBegun)
    }
    report.add({
      name: `scan of ${name}, inserted by ${requestRows}`,
      rows: rowCount,
      milliseconds,
      cpuMs: cpus.reduce((sum, cpu) => sum + cpu, 0) / cpus.length,
    })
  }
}

function mustBe(found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} rows, not ${expected}`)
}

const NEWLINE = 10

/** Scans a table as NDJSON. Returns: the lines of the answer. */
function countLines(address: string, table: string, columns: readonly string[]): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: 'application/x-ndjson' }
  const url = `${address}/api/v1/tables/${table}/scan`
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers }, (response) => {
      let lines = 0
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
          lines++
        }
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(lines)
        else reject(new Error(`the scan is answered ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ columns }))
  })
}
