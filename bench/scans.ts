/**
 * A full scan of LINEITEM to the client: NDJSON and Arrow against `SELECT *` on D1 answered as
 * JSON, in turns in the same process, rows a second; and the live memory of the Worker's isolate at
 * a tenth and at nine tenths of such a scan.
 *
 * Then how long single writes take while such a scan streams without pause, and while none does.
 */

import { request } from 'node:http'
import { inTurns, median } from './support/in-turns.ts'
import { loadRival, loadService } from './support/lineitem-table.ts'
import { Latencies, type Request, requestOf, timed, withClients } from './support/load.ts'
import { MIXED_COLUMNS, mixedRow } from './support/mixed-rows.ts'
import { Report, rivalOf } from './support/report.ts'
import { ask } from './support/rest.ts'
import { ScanLoop } from './support/scan-loop.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable } from './support/tables.ts'

const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 5 }
const WRITE_COUNTS: Readonly<Record<Size, number>> = { smoke: 20, full: 300 }
const TABLE = 'lineitem'
const WRITTEN = 'written'
const MIB = 1024 * 1024
const WRITE_RATIO_MAX = 3
const FORMATS = [
  { format: 'ndjson', ratioMin: 3 },
  { format: 'arrow', ratioMin: 8 },
] as const

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const rowCount = ROW_COUNTS[size]
  const report = new Report('scans', size)
  const service = await startService({ hasRival: true })
  const { address, rivalAddress } = service
  const rival = () => readAll(`${rivalAddress}/scan?table=${TABLE}`)
  try {
    const key = ['l_orderkey', 'l_linenumber'] as const
    await loadRival(rivalAddress, TABLE, key, rowCount)
    await loadService(address, TABLE, key, rowCount)
    await maintainTable(address, TABLE)
    for (const { format, ratioMin } of FORMATS) {
      const url = scanUrl(address, TABLE, format)
      const turns = await inTurns(ROUNDS[size], () => readAll(url), rival, service.cpuMs)
      report.add({
        name: `${format}, whole`,
        rows: rowCount,
        milliseconds: turns.ours,
        cpuMs: median(turns.ownCpuMs),
        rival: rivalOf('D1 as JSON', turns),
        bar: { atLeast: ratioMin },
      })
      await reportHeap(service, url, format, report)
    }
    await reportWrites(service, WRITE_COUNTS[size], report)
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

function scanUrl(address: string, table: string, format: string): string {
  return `${address}/api/v1/tables/${table}/rows?format=${format}`
}

/** Reads an answer to its end and throws it away. Returns: its bytes. */
function readAll(url: string, onBytes: (bytes: number) => void = () => {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        onBytes(bytes)
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes)
        else reject(new Error(`${url}: ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function reportHeap(
  service: BenchService,
  url: string,
  format: string,
  report: Report,
): Promise<void> {
  const total = await readAll(url)
  const idle = await service.heapBytes()
  const marks = [0.1, 0.9].map((share) => share * total)
  const marksText = ['a tenth', 'nine tenths']
  const heaps: Promise<number>[] = []
  // One after the other: two collections at once may wait for each other.
  let last: Promise<unknown> = Promise.resolve()
  await readAll(url, (bytes) => {
    while (heaps.length < marks.length && bytes >= marks[heaps.length]) {
      const heap = last.then(() => service.heapBytes())
      heaps.push(heap)
      last = heap
    }
  })
  for (const [i, heap] of (await Promise.all(heaps)).entries()) {
    report.add({
      name: `${format}, live heap above idle at ${marksText[i]} of the scan`,
      value: { amount: (heap - idle) / MIB, unit: 'MiB' },
    })
  }
}

async function reportWrites(service: BenchService, count: number, report: Report): Promise<void> {
  const { address } = service
  await ask(address, 'POST', '/tables', { name: WRITTEN, schema: { columns: MIXED_COLUMNS } })
  for (const [where, nextRequest] of [
    ['to another tablet', writerOf(address)],
    ['to the tablet that is scanned', updaterOf(address)],
  ] as const) {
    const alone = new Latencies()
    const scanning = new Latencies()
    const rates: number[] = []
    await withClients(address, 1, async (connection) => {
      const write = async (latencies: Latencies) => {
        for (let i = 0; i < count; i++) await timed(connection, nextRequest(), [200], latencies)
      }
      await write(new Latencies())
      for (let round = 0; round < 3; round++) {
        await write(alone)
        const scan = await ScanLoop.start(scanUrl(address, TABLE, 'ndjson'))
        await write(scanning)
        rates.push(await scan.stop())
      }
    })
    report.add({
      name: `a write ${where}, ${alone.text()} alone, ${scanning.text()} while a full scan streams`,
      value: {
        amount: scanning.percentile(0.5) / alone.percentile(0.5),
        unit: `times as long; the scan at ${(median(rates) / MIB).toFixed(0)} MiB/s`,
      },
      bar: { atMost: WRITE_RATIO_MAX },
    })
  }
}

function writerOf(address: string): () => Request {
  let number = 0
  return () => postOf(address, WRITTEN, { rows: [mixedRow(3, number++)] })
}

function updaterOf(address: string): () => Request {
  let number = 0
  return () => {
    number++
    const row = { l_orderkey: 1 + (number % 7), l_linenumber: 1, l_comment: `changed ${number}` }
    return postOf(address, TABLE, { operation: 'UPDATE', rows: [row] })
  }
}

function postOf(address: string, table: string, body: object): Request {
  const path = `/api/v1/tables/${table}/rows`
  return requestOf(address, { method: 'POST', path, body: JSON.stringify(body) })
}
