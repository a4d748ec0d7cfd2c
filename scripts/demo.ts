/**
 * `npm run demo`: starts the real service on a free port, loads real data that ships with the
 * package
 * `vega-datasets`, asks what a person would ask, and ends by itself.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cyan, dim, Progress, printRows, say } from './demo-print.ts'
import { type DevServer, startDevServer } from './dev-server.ts'

const DATA = join(dirname(dirname(fileURLToPath(import.meta.resolve('vega-datasets')))), 'data')
const LINES_A_CHUNK = 2000

type Row = Readonly<Record<string, unknown>>

/** The service, as a client sees it. */
class Service {
  readonly #address: string

  constructor(address: string) {
    this.#address = `${address}/api/v1`
  }

  async send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${this.#address}${path}`, { ...init, method })
    if (response.ok) return response
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers have the shape of their request.
  async json(method: string, path: string, body?: object, headers = {}): Promise<any> {
    const init = { headers: { 'content-type': 'application/json', ...headers } }
    const response = await this.send(method, path, {
      ...init,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.status === 204 ? null : response.json()
  }
}

async function createTables(service: Service): Promise<void> {
  say('Two tables, cut into tablets by hash and range of their keys; each tablet is an object.')
  await service.json('POST', '/tables', {
    name: 'zipcodes',
    schema: {
      columns: [
        { name: 'state', type: 'STRING', is_key: true },
        { name: 'zip_code', type: 'STRING', is_key: true },
        { name: 'city', type: 'STRING' },
        { name: 'county', type: 'STRING', is_nullable: true },
        { name: 'latitude', type: 'DECIMAL', type_attributes: { precision: 9, scale: 6 } },
        { name: 'longitude', type: 'DECIMAL', type_attributes: { precision: 9, scale: 6 } },
      ],
    },
    partition_schema: {
      hash_schema: [{ columns: ['zip_code'], num_buckets: 2 }],
      range_schema: { columns: ['state'], split_rows: [{ state: 'H' }, { state: 'N' }] },
    },
  })
  await service.json('POST', '/tables', {
    name: 'flights',
    schema: {
      columns: [
        { name: 'hour', type: 'INT8', is_key: true },
        { name: 'id', type: 'INT32', is_key: true },
        { name: 'delay', type: 'INT16' },
        { name: 'distance', type: 'INT16' },
        { name: 'time', type: 'DOUBLE' },
      ],
    },
    partition_schema: {
      hash_schema: [{ columns: ['id'], num_buckets: 4 }],
      range_schema: {
        columns: ['hour'],
        split_rows: [{ hour: 6 }, { hour: 12 }, { hour: 18 }],
      },
    },
  })
  const { tables } = await service.json('GET', '/tables')
  for (const { table_name: name } of tables as { table_name: string }[]) {
    const table = await service.json('GET', `/tables/${name}`)
    console.log(`  ${cyan(name.padEnd(9))} ${table.num_tablets} tablets, version ${table.version}`)
  }
}

/** A body made as it is sent: chunks of bytes, and how many rows each holds. */
function streamOf(
  chunks: Iterable<{ readonly text: string; readonly rows: number }>,
  progress: Progress,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done) {
        controller.close()
        return
      }
      controller.enqueue(encoder.encode(value.text))
      progress.add(value.rows)
    },
  })
}

function* csvChunks(path: string): Generator<{ text: string; rows: number }> {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  for (let from = 0; from < lines.length; from += LINES_A_CHUNK) {
    const piece = lines.slice(from, from + LINES_A_CHUNK)
    yield { text: `${piece.join('\n')}\n`, rows: piece.length - (from === 0 ? 1 : 0) }
  }
}

function* flightChunks(path: string): Generator<{ text: string; rows: number }> {
  const flights = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>[]
  for (let from = 0; from < flights.length; from += LINES_A_CHUNK) {
    const piece = flights.slice(from, from + LINES_A_CHUNK)
    const lines = piece.map((flight, index) =>
      JSON.stringify({ hour: Math.floor(flight.time), id: from + index, ...flight }),
    )
    yield { text: `${lines.join('\n')}\n`, rows: piece.length }
  }
}

async function load(
  service: Service,
  table: string,
  contentType: string,
  rowCount: number,
  chunks: Iterable<{ text: string; rows: number }>,
): Promise<void> {
  const progress = new Progress(table, rowCount)
  const response = await service.send('POST', `/tables/${table}/rows`, {
    headers: { 'content-type': contentType },
    body: streamOf(chunks, progress),
    duplex: 'half',
  } as RequestInit)
  const answer = (await response.json()) as Record<string, number>
  progress.end(`${answer.inserted} inserted, ${answer.failed} failed`)
  if (answer.inserted !== rowCount) throw new Error(`${table}: not all rows were inserted`)
}

async function scans(service: Service): Promise<void> {
  say('Which tablets hold late evening flights? Pruned by range, before any is asked.')
  const late = { predicates: [{ column: 'hour', op: '>=', value: 22 }] }
  const plan = await service.json('POST', '/tables/flights/scan', { ...late, explain: true })
  console.log(`  ${plan.tablets.length} of ${plan.tablets_total} tablets are left`)

  say('Long flights that left after 22:00 and came two hours late, in key order.')
  const predicates = [
    ...late.predicates,
    { column: 'delay', op: '>=', value: 120 },
    { column: 'distance', op: '>', value: 1500 },
  ]
  const scan = { predicates, order: 'ORDERED', limit: 5 }
  printRows((await service.json('POST', '/tables/flights/scan', scan)).rows)

  say('The same in the address line of a browser; the places called Springfield.')
  const query = 'where=city,=,Springfield&columns=state,zip_code,county&order=ORDERED&limit=6'
  printRows((await service.json('GET', `/tables/zipcodes/rows?${query}`)).rows)
}

async function timeTravel(service: Service): Promise<void> {
  const row = '/tables/zipcodes/rows/NY/10001'
  say('One row by its key; changed; read as it is and as it was.')
  const before = await service.send('GET', row)
  const timestamp = before.headers.get('nyala-timestamp')
  const old = (await before.json()) as Row
  await service.json('PATCH', row, { city: 'Gotham' })
  const now = (await service.json('GET', row)) as Row
  const then = (await service.json('GET', `${row}?snapshot_timestamp=${timestamp}`)) as Row
  printRows([
    { at: 'now', ...now },
    { at: 'before the update', ...then },
  ])
  if (now.city !== 'Gotham' || then.city !== old.city) throw new Error('history is wrong')
}

async function retry(service: Service): Promise<void> {
  say('A write with an Idempotency-Key, sent twice, as after a lost answer: applied once.')
  const rows = [
    { state: 'XX', zip_code: '00001', city: 'Nowhere', latitude: '0.1', longitude: '0.1' },
    { state: 'AA', zip_code: '00001', city: 'Elsewhere', latitude: '1.25', longitude: '-1' },
  ]
  const send = () =>
    service.send('POST', '/tables/zipcodes/rows', {
      headers: { 'content-type': 'application/json', 'idempotency-key': 'demo-1' },
      body: JSON.stringify({ rows }),
    })
  for (const response of [await send(), await send()]) {
    const { inserted, failed } = (await response.json()) as Record<string, number>
    const isReplayed = response.headers.get('idempotency-replayed') === 'true'
    if (inserted !== 2) throw new Error('the retry was not answered like the first')
    console.log(
      `  inserted ${inserted}, failed ${failed}${isReplayed ? dim('  (remembered)') : ''}`,
    )
  }
}

async function run(server: DevServer): Promise<void> {
  const service = new Service(server.address)
  await createTables(service)
  say('A CSV file as it is, and a stream of NDJSON.')
  await load(service, 'zipcodes', 'text/csv', 42_049, csvChunks(join(DATA, 'zipcodes.csv')))
  const flights = flightChunks(join(DATA, 'flights-200k.json'))
  await load(service, 'flights', 'application/x-ndjson', 200_000, flights)
  await scans(service)
  await timeTravel(service)
  await retry(service)
}

console.log('Starting the service…')
const server = await startDevServer()
console.log(`Nyala is at ${cyan(server.address)}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.close().finally(() => process.exit(130)))
}
try {
  await run(server)
  say('All of it worked. `npm run dev` starts the service for you.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await server.close()
}
