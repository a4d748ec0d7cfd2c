/** The load generator's rows going into the service and into its rivals, ready to be measured. */

import { createHash } from 'node:crypto'
import type { Side } from './contest.ts'
import { rivalQuery } from './lineitem-table.ts'
import { type Answer, type Latencies, type Request, requestOf, sendAll } from './load.ts'
import {
  LOADGEN_COLUMNS,
  LOADGEN_FORMATS,
  LOADGEN_SQL,
  type LoadgenFormat,
  loadgenBody,
} from './loadgen-bodies.ts'
import { ask, send } from './rest.ts'
import type { BenchService } from './service.ts'

const REQUEST_ROWS = 1000
const CLIENTS = 8

/** Bodies of a thousand rows each. */
export interface Bodies {
  readonly rows: number
  readonly contentType: string
  readonly bytes: readonly Uint8Array[]
}

/** Makes the bodies of rows `[start, start + rowCount)`. Requires: these are thousands. */
export function bodiesOf(format: LoadgenFormat, rowCount: number, start = 0): Bodies {
  const bytes = Array.from({ length: rowCount / REQUEST_ROWS }, (_, i) =>
    Buffer.from(loadgenBody(format, start + i * REQUEST_ROWS, REQUEST_ROWS)),
  )
  return { rows: rowCount, contentType: LOADGEN_FORMATS[format], bytes }
}

/** The first rows of some. */
export function firstRows({ contentType, bytes }: Bodies, rowCount: number): Bodies {
  return { rows: rowCount, contentType, bytes: bytes.slice(0, rowCount / REQUEST_ROWS) }
}

/** What all rows come to. */
const SUMS_SQL =
  'SELECT count(*) AS row_count, sum(key) AS key_sum, sum(int_val) AS int_sum, ' +
  'min(string_val) AS string_min, max(string_val) AS string_max FROM loadgen'
const SUMS_BODY = {
  aggregates: [
    { op: 'COUNT', as: 'row_count' },
    { op: 'SUM', column: 'key', as: 'key_sum' },
    { op: 'SUM', column: 'int_val', as: 'int_sum' },
    { op: 'MIN', column: 'string_val', as: 'string_min' },
    { op: 'MAX', column: 'string_val', as: 'string_max' },
  ],
}

/** See the file's header. */
export class LoadgenSides {
  readonly #service: BenchService
  /** Hashes of what was found in the end, by the number of rows. */
  readonly #found = new Map<number, string>()

  constructor(service: BenchService) {
    this.#service = service
  }

  /** A hash of the rows that all sides ended up with. */
  hashOf(rowCount: number): string {
    return this.#found.get(rowCount) ?? ''
  }

  /** A table of the service, made and dropped around each run. */
  ours(table: string, bodies: Bodies, tabletCount: number): Side {
    return {
      name: table,
      rows: bodies.rows,
      before: () => this.createTable(table, tabletCount),
      run: this.writer(table, bodies),
      after: async () => {
        await this.checkTable(table, bodies.rows)
        await this.dropTable(table)
      },
    }
  }

  /** Sends all rows to a table of the service. */
  writer(table: string, bodies: Bodies): () => Promise<Latencies> {
    const path = `/api/v1/tables/${table}/rows`
    const query = bodies.contentType === 'application/json' ? '' : '?operation=INSERT'
    const taken = `"inserted":${REQUEST_ROWS},`
    return poster(this.#service.address, `${path}${query}`, bodies, taken)
  }

  async createTable(table: string, tabletCount: number): Promise<void> {
    const hash = { hash_schema: [{ columns: ['key'], num_buckets: tabletCount }] }
    await ask(this.#service.address, 'POST', '/tables', {
      name: table,
      schema: { columns: LOADGEN_COLUMNS },
      ...(tabletCount > 1 ? { partition_schema: hash } : {}),
    })
  }

  async dropTable(table: string): Promise<void> {
    await send(this.#service.address, 'DELETE', `/tables/${table}`)
  }

  /** Throws when a table has other rows than those sent. */
  async checkTable(table: string, rowCount: number): Promise<void> {
    const path = `/tables/${table}/aggregate`
    const { address } = this.#service
    const { rows } = await ask<{ rows: object[] }>(address, 'POST', path, SUMS_BODY)
    this.#check(rowCount, table, rows)
  }

  /** D1, by one of its two ways. */
  d1(name: string, way: 'json' | 'batch', bodies: Bodies): Side {
    const address = this.#service.addressOf('d1')
    return {
      name,
      rows: bodies.rows,
      before: async () => {
        await rivalQuery(address, 'DROP TABLE IF EXISTS loadgen')
        await rivalQuery(address, LOADGEN_SQL)
      },
      run: poster(address, `/loadgen/${way}`, bodies, `"rows":${REQUEST_ROWS}}`),
      after: async () => this.#check(bodies.rows, name, await rivalQuery(address, SUMS_SQL)),
    }
  }

  /** A hand-written object, by one of its two ways. */
  object(name: string, way: 'json' | 'rows', bodies: Bodies): Side {
    const address = `${this.#service.addressOf('object')}/${way}-object`
    return {
      name,
      rows: bodies.rows,
      run: poster(address, `/${way}-object/${way}`, bodies, `"rows":${REQUEST_ROWS}}`),
      after: async () => {
        await this.checkObject(`${way}-object`, bodies.rows)
        await fetch(`${address}/all`, { method: 'DELETE' })
      },
    }
  }

  /** Throws when a hand-written object has other rows than those sent. */
  async checkObject(object: string, rowCount: number): Promise<void> {
    const address = `${this.#service.addressOf('object')}/${object}/query`
    const response = await fetch(address, { method: 'POST', body: SUMS_SQL })
    this.#check(rowCount, object, (await response.json()) as object[])
  }

  /** Keeps the rows of a hand-written object. */
  writeObject(object: string, bodies: Bodies): Promise<Latencies> {
    const taken = `"rows":${REQUEST_ROWS}}`
    return poster(this.#service.addressOf('object'), `/${object}/json`, bodies, taken)()
  }

  /** No engine at all. */
  bare(name: string, way: 'parse' | 'store', bodies: Bodies): Side {
    const address = this.#service.addressOf('bare')
    const run = poster(address, `/${way}/bodies`, bodies, `"rows":${REQUEST_ROWS}}`)
    return { name, rows: bodies.rows, run }
  }

  #check(rowCount: number, side: string, [sums]: readonly object[]): void {
    const hash = createHash('sha256').update(JSON.stringify(sums)).digest('hex').slice(0, 12)
    const known = this.#found.get(rowCount) ?? hash
    this.#found.set(rowCount, known)
    if (hash !== known) throw new Error(`${side} has other rows: ${JSON.stringify(sums)}`)
  }
}

/** Sends bodies to a path. Throws when one is not answered as if all its rows were taken. */
function poster(
  address: string,
  path: string,
  { bytes, contentType }: Bodies,
  taken: string,
): () => Promise<Latencies> {
  const requests: Request[] = bytes.map((body) =>
    requestOf(address, { method: 'POST', path, body, contentType }),
  )
  const check = ({ body }: Answer): void => {
    if (!body.includes(taken)) throw new Error(`${path}: ${body.toString('utf8', 0, 300)}`)
  }
  return () => sendAll(address, CLIENTS, requests, check)
}
