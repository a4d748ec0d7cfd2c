/** Clients that do what YCSB's workloads are made of, on a table or on a hand-written object. */

import { Prng } from '../../src/util/prng.ts'
import {
  type Answer,
  type Connection,
  Latencies,
  type Request,
  requestOf,
  timed,
  withClients,
} from './load.ts'
import { ask } from './rest.ts'
import type { BenchService } from './service.ts'
import { statisticsOf } from './tables.ts'
import { RECORD_BYTES, YCSB_COLUMNS, YcsbRecords, ycsbKey } from './ycsb-records.ts'
import { scramble, Zipf } from './zipf.ts'

const SEED = 31
const TABLET_COUNT = 8
const CLIENTS = 8
const LOAD_RECORDS = 500
const SCAN_LENGTH_MAX = 100
const OBJECT = 'ycsb'
const TABLE_PATH = '/api/v1/tables/ycsb'
/** The table. */
export const YCSB_TABLE = 'ycsb'

/** A kind of operation. */
export type Kind = 'read' | 'update' | 'insert' | 'scan' | 'read-modify-write'
/** How records are drawn. */
export type Distribution = 'uniform' | 'zipfian' | 'latest'
/** What is done, with the share of it. */
export type Mix = Readonly<Partial<Record<Kind, number>>>

/** Where records are. */
export interface Place {
  readonly address: string
  /** The path of a record, without its key. */
  readonly path: string
}

/** What one run does. */
export interface Plan {
  readonly mix: Mix
  readonly distribution: Distribution
  readonly operations: number
  /** Another one draws other records. */
  readonly round: number
  /** Takes the times of each kind of operation. */
  readonly latencies: Map<Kind, Latencies>
}

/** See the file's header. */
export class YcsbClient {
  readonly table: Place
  readonly object: Place
  readonly #records = new YcsbRecords(new Prng(SEED))
  /** Records that are there: all numbers below. */
  #count = 0
  /** Numbers that were given to inserts. */
  #insertCount = 0
  /** Numbers from `#count` on that are there before one below. */
  readonly #early = new Set<number>()

  constructor(service: BenchService) {
    this.table = { address: service.address, path: `${TABLE_PATH}/rows/` }
    this.object = { address: service.addressOf('object'), path: `/${OBJECT}/records/` }
  }

  /** Makes the table, and writes all records to both places. */
  async load(recordCount: number): Promise<void> {
    await ask(this.table.address, 'POST', '/tables', {
      name: YCSB_TABLE,
      schema: { columns: YCSB_COLUMNS },
      partition_schema: { hash_schema: [{ columns: ['key'], num_buckets: TABLET_COUNT }] },
    })
    for (let start = 0; start < recordCount; start += LOAD_RECORDS) {
      const count = Math.min(LOAD_RECORDS, recordCount - start)
      const rows = Array.from({ length: count }, (_, i) => this.#records.record(start + i))
      const body = `{"rows":[${rows.join(',')}]}`
      await post(`${this.table.address}${TABLE_PATH}/rows`, body, `"inserted":${count},`)
      await post(`${this.object.address}/${OBJECT}/records`, body, `"rows":${count}}`)
    }
    this.#count = recordCount
    this.#insertCount = recordCount
  }

  /** Throws when the table has other records than were loaded and inserted. Returns: how many. */
  async check(): Promise<number> {
    const { live_row_count: count } = await statisticsOf(this.table.address, YCSB_TABLE)
    if (count !== this.#count) throw new Error(`${count} records, not ${this.#count}`)
    return count
  }

  /** Runs operations, shared out among the clients. */
  async run(place: Place, plan: Plan): Promise<void> {
    // Both sides draw the same in a round, as far as clients come to it in the same order.
    const prng = new Prng(SEED + 1 + plan.round)
    const draw = this.#drawing(prng, plan.distribution)
    let left = plan.operations
    await withClients(place.address, CLIENTS, async (connection) => {
      while (left-- > 0) {
        const kind = drawKind(plan.mix, prng.unit())
        const latencies = plan.latencies.get(kind) ?? new Latencies()
        plan.latencies.set(kind, latencies)
        if (kind === 'insert') await this.#insert(connection, latencies)
        else if (kind === 'scan') await this.#scan(connection, draw(), prng, latencies)
        else await this.#changeOrRead(connection, place, draw(), kind, latencies)
      }
    })
  }

  #drawing(prng: Prng, distribution: Distribution): () => number {
    if (distribution === 'uniform') return () => prng.below(this.#count)
    const zipf = new Zipf(prng)
    if (distribution === 'latest') return () => this.#count - 1 - zipf.next(this.#count)
    return () => scramble(zipf.next(this.#count)) % this.#count
  }

  async #changeOrRead(
    connection: Connection,
    { address, path }: Place,
    number: number,
    kind: 'read' | 'update' | 'read-modify-write',
    latencies: Latencies,
  ): Promise<void> {
    const recordPath = `${path}${ycsbKey(number)}`
    const requests: Request[] = []
    if (kind !== 'update') requests.push(requestOf(address, { method: 'GET', path: recordPath }))
    if (kind !== 'read') {
      const body = this.#records.change()
      requests.push(requestOf(address, { method: 'PATCH', path: recordPath, body }))
    }
    const begun = performance.now()
    for (const request of requests) {
      const { body } = await timed(connection, request, [200])
      if (request.body === null) mustBeRecord(body)
    }
    latencies.add(performance.now() - begun)
  }

  async #insert(connection: Connection, latencies: Latencies): Promise<void> {
    const number = this.#insertCount++
    const { address, path } = this.table
    const request = requestOf(address, {
      method: 'PUT',
      path: `${path}${ycsbKey(number)}`,
      body: this.#records.record(number),
      headers: { 'If-None-Match': '*' },
    })
    await timed(connection, request, [201], latencies)
    this.#early.add(number)
    while (this.#early.delete(this.#count)) this.#count++
  }

  async #scan(
    connection: Connection,
    number: number,
    prng: Prng,
    latencies: Latencies,
  ): Promise<void> {
    const limit = 1 + prng.below(SCAN_LENGTH_MAX)
    const request = requestOf(this.table.address, {
      method: 'POST',
      path: `${TABLE_PATH}/scan`,
      body: JSON.stringify({
        primary_key_lower: { key: ycsbKey(number) },
        order: 'ORDERED',
        limit,
      }),
    })
    const { body } = await timed(connection, request, [200], latencies)
    const bytes = limit * RECORD_BYTES
    // Near the end of all keys there are fewer.
    const isNearEnd = ycsbKey(number) > NEAR_END
    if (body.length < bytes && !isNearEnd) throw new Error(`${body.length} bytes, not ${bytes}`)
  }
}

/** Behind it there may be fewer records than a scan asks for. */
const NEAR_END = `user${Math.floor(2 ** 32 * 0.9)}`

function drawKind(mix: Mix, unit: number): Kind {
  let left = unit
  const kinds = Object.keys(mix) as Kind[]
  for (const kind of kinds) {
    left -= mix[kind] ?? 0
    if (left < 0) return kind
  }
  return kinds[kinds.length - 1]
}

function mustBeRecord({ length }: Answer['body']): void {
  if (length !== RECORD_BYTES) throw new Error(`a record of ${length} bytes, not ${RECORD_BYTES}`)
}

async function post(url: string, body: string, taken: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', body, headers })
  const text = await response.text()
  if (!text.includes(taken)) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`)
}
