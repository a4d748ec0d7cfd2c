/**
 * Kudu's `tpch_real_world`: rows of LINEITEM are inserted while Q1 is asked again and again. Rows a
 * second and the times of Q1, each alone and both together, on a table of four tablets.
 *
 * Q1 counts the rows that it sums up: every answer must count all that were acknowledged before it
 * was asked, none that were not sent before it came, and never fewer than the one before.
 */

import { cellIndex, createTable, csvOf, lineItems } from './support/lineitem-table.ts'
import {
  type Connection,
  Latencies,
  type Request,
  requestOf,
  timed,
  withClients,
} from './support/load.ts'
import { Report } from './support/report.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { Q1, Q1_DATE } from './support/tpch-questions.ts'

const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 12_000, full: 800_000 }
const QUESTION_COUNTS: Readonly<Record<Size, number>> = { smoke: 3, full: 20 }
const REQUEST_ROWS = 1000
const TABLET_COUNT = 4
const WRITERS = 4
const TABLE = 'lineitem'
const PATH = `/api/v1/tables/${TABLE}`

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('tpch-real-world', size)
  const service = await startService()
  try {
    const { address } = service
    await createTable(address, TABLE, ['l_orderkey', 'l_linenumber'], TABLET_COUNT)
    const batches = batchesOf(address, ROW_COUNTS[size])
    const half = batches.length / 2
    const world = new RealWorld(service)
    await reportInserts(report, world, 'alone', batches.slice(0, half))
    await reportQuestions(report, world, 'alone, half of the rows', QUESTION_COUNTS[size])
    let isInserting = true
    const inserts = reportInserts(report, world, 'while Q1 is asked', batches.slice(half))
    const [latencies] = await Promise.all([
      world.ask(() => isInserting),
      inserts.finally(() => {
        isInserting = false
      }),
    ])
    addLatencies(report, 'while rows are inserted', latencies)
    await reportQuestions(report, world, 'alone, all rows', QUESTION_COUNTS[size])
    world.checkEnd()
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

/** Rows of one request. */
interface Batch {
  readonly request: Request
  /** Those that Q1 counts. */
  readonly counted: number
}

function batchesOf(address: string, rowCount: number): Batch[] {
  const dateIndex = cellIndex('l_shipdate')
  return Array.from(lineItems(rowCount, REQUEST_ROWS), (rows) => ({
    request: requestOf(address, {
      method: 'POST',
      path: `${PATH}/rows?operation=INSERT`,
      body: csvOf(rows),
      contentType: 'text/csv',
    }),
    counted: rows.filter((cells) => String(cells[dateIndex]) <= Q1_DATE).length,
  }))
}

async function reportInserts(
  report: Report,
  world: RealWorld,
  when: string,
  batches: readonly Batch[],
): Promise<void> {
  const [begun, cpuBegun] = [performance.now(), world.cpuMs()]
  await world.insert(batches)
  const [ended, cpuEnded] = [performance.now(), world.cpuMs()]
  report.add({
    name: `inserts ${when}`,
    rows: batches.length * REQUEST_ROWS,
    milliseconds: [ended - begun],
    cpuMs: cpuEnded - cpuBegun,
  })
}

async function reportQuestions(
  report: Report,
  world: RealWorld,
  when: string,
  count: number,
): Promise<void> {
  let left = count
  addLatencies(report, when, await world.ask(() => left-- > 0))
}

function addLatencies(report: Report, when: string, latencies: Latencies): void {
  for (const share of [0.5, 0.95, 1]) {
    const name = `Q1 ${when}, ${latencies.count} times, p${share * 100}`
    report.add({ name, value: { amount: latencies.percentile(share), unit: 'ms' } })
  }
}

/** One that inserts, one that asks, and what each knows of the other. */
class RealWorld {
  readonly cpuMs: () => number
  readonly #address: string
  readonly #question: Request
  /** Rows that Q1 would count, of requests that went out and of those that were answered. */
  #sent = 0
  #acknowledged = 0
  /** What the last answer counted. */
  #counted = 0

  constructor({ address, cpuMs }: BenchService) {
    this.cpuMs = cpuMs
    this.#address = address
    this.#question = requestOf(address, {
      method: 'POST',
      path: `${PATH}/aggregate`,
      body: JSON.stringify(Q1.body),
    })
  }

  /** Inserts all rows. */
  async insert(batches: readonly Batch[]): Promise<void> {
    let next = 0
    await withClients(this.#address, WRITERS, async (connection) => {
      while (next < batches.length) {
        const { request, counted } = batches[next++]
        this.#sent += counted
        const { body } = await timed(connection, request, [200])
        if (!body.includes(`"inserted":${REQUEST_ROWS},`)) throw new Error(body.toString())
        this.#acknowledged += counted
      }
    })
  }

  /** Asks Q1 as long as it is wanted. Throws when an answer is of no moment that there was. */
  async ask(isWanted: () => boolean): Promise<Latencies> {
    const latencies = new Latencies()
    await withClients(this.#address, 1, async (connection) => {
      while (isWanted()) await this.#askOnce(connection, latencies)
    })
    return latencies
  }

  async #askOnce(connection: Connection, latencies: Latencies): Promise<void> {
    const least = Math.max(this.#acknowledged, this.#counted)
    const { body } = await timed(connection, this.#question, [200], latencies)
    const { rows } = JSON.parse(body.toString()) as { rows: { count_order: number }[] }
    const counted = rows.reduce((sum, { count_order }) => sum + count_order, 0)
    if (counted < least || counted > this.#sent) {
      throw new Error(`Q1 counts ${counted} rows, there were ${least} to ${this.#sent}`)
    }
    this.#counted = counted
  }

  /** Throws when the last answer did not count all rows. */
  checkEnd(): void {
    if (this.#counted === this.#sent) return
    throw new Error(`Q1 counts ${this.#counted} rows in the end, not ${this.#sent}`)
  }
}
