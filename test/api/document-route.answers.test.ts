import { beforeAll, describe, expect, test } from 'vitest'
import { type JsonSchema, schemaProblems } from '../support/json-schema.ts'
import { LocalApp, type LocalRequest } from '../support/local-app.ts'

const TABLE = {
  schema: {
    columns: [
      { name: 'host', type: 'STRING', is_key: true },
      { name: 'n', type: 'INT32', is_key: true },
      { name: 'price', type: 'DECIMAL', type_attributes: { precision: 5, scale: 2 }, default: '1' },
      { name: 'note', type: 'VARCHAR', type_attributes: { length: 9 }, is_nullable: true },
    ],
  },
  partition_schema: {
    hash_schema: [{ columns: ['host'], num_buckets: 2 }],
    range_schema: {
      columns: ['n'],
      ranges: [
        { upper: { n: 0 } },
        { lower: { n: 0 }, hash_schema: [{ columns: ['host'], num_buckets: 3 }] },
      ],
    },
  },
  extra_configs: { 'kudu.table.history_max_age_sec': '600' },
}

/** An operation, `{table}` of it being `t`, or a path of its own behind a second space. */
type Exchange = readonly [operation: string, status: number, request?: LocalRequest]

const ROW = '/api/v1/tables/{table}/rows/{key}'
const ROW_BY_QUERY = '/api/v1/tables/{table}/row /api/v1/tables/t/row?key=["a",2]'
const ROWS = '/api/v1/tables/{table}/rows'
const SCAN = 'POST /api/v1/tables/{table}/scan'
const AGGREGATE = 'POST /api/v1/tables/{table}/aggregate'
const TABLE_MAINTENANCE = '/api/v1/tables/{table}/maintenance'
const TABLET_MAINTENANCE = '/api/v1/tablets/{tablet_id}/maintenance'
const JSON_TYPE = { 'content-type': 'application/json' }
const KEYED = { ...JSON_TYPE, 'Idempotency-Key': 'k' }
const KEYED_DELETION = { ...JSON_TYPE, 'Idempotency-Key': 'd' }
const NEGATIVE = [{ column: 'n', op: '<', value: 0 }]
const PUT_ONCE = { ...JSON_TYPE, 'Idempotency-Key': 'p' }

// In order: later ones see what earlier ones did.
const EXCHANGES: readonly Exchange[] = [
  ['GET /', 302],
  ['GET /healthz', 200],
  ['GET /readyz', 200],
  ['GET /api/docs', 200],
  ['GET /api/v1/version', 200],
  ['GET /api/v1/spec', 200],
  ['POST /api/v1/tables', 201, { body: { name: 't', ...TABLE } }],
  ['POST /api/v1/tables', 201, { body: { name: 'u', schema: TABLE.schema } }],
  ['POST /api/v1/tables', 409, { body: { name: 'u', schema: TABLE.schema } }],
  ['GET /api/v1/tables', 200],
  ['GET /api/v1/tables /api/v1/tables?page_size=1', 200],
  ['GET /api/v1/tables /api/v1/tables?wat', 400],
  ['GET /api/v1/tables/{table}', 200],
  ['GET /api/v1/tables/{table}', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET /api/v1/tables/{table} /api/v1/tables/none', 404],
  ['GET /api/v1/tables/{table}/tablets', 200],
  ['GET /api/v1/tables/{table}/tablets /api/v1/tables/u/tablets', 200],
  ['POST /api/v1/tables/{table}/locate_row', 200, { body: { row: { host: 'a', n: 1 } } }],
  [`POST ${ROWS}`, 200, { body: { rows: [{ host: 'a', n: 1, note: 'x' }] } }],
  [`POST ${ROWS}`, 200, { body: { rows: [{ host: 'a', n: 1 }, { host: 'b' }] }, headers: KEYED }],
  [`POST ${ROWS}`, 200, { body: { rows: [{ host: 'a', n: 1 }, { host: 'b' }] }, headers: KEYED }],
  [`POST ${ROWS}`, 200, { body: { rows: [] } }],
  [`POST ${ROWS}`, 400, { body: '{}\nno', headers: { 'content-type': 'application/jsonl' } }],
  [`GET ${ROWS}`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?page_size=1&limit=1`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?columns=host`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?format=csv`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?format=ndjson`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?format=arrow`, 200],
  [`GET ${ROWS} /api/v1/tables/t/rows?format=parquet`, 200],
  [`GET ${ROWS}`, 406, { headers: { accept: 'image/png' } }],
  [
    `POST ${ROWS}/get`,
    200,
    {
      body: {
        keys: [
          { host: 'a', n: 1 },
          { host: 'none', n: 1 },
        ],
      },
    },
  ],
  ['GET /api/v1/tables/{table}/statistics', 200],
  ['GET /api/v1/tablets/{tablet_id}', 200],
  [`POST ${TABLE_MAINTENANCE}`, 200, { body: { op: 'flush_mrs' } }],
  [`POST ${TABLET_MAINTENANCE}`, 200, { body: { op: 'COMPACT' } }],
  [`POST ${TABLET_MAINTENANCE}`, 400, { body: { op: 'SLEEP' } }],
  ['GET /api/v1/tablets/{tablet_id}', 200],
  [`GET /api/v1/tablets/{tablet_id} /api/v1/tablets/${'0'.repeat(32)}`, 404],
  ['GET /api/v1/tablets/{tablet_id} /api/v1/tablets/x', 400],
  ['GET /api/v1/tables/{table}/statistics', 200],
  [SCAN, 200, { body: {} }],
  [SCAN, 200, { body: { explain: true } }],
  [SCAN, 200, { body: { explain: true, predicates: [{ column: 'n', op: '<', value: 0 }] } }],
  [SCAN, 410, { body: { snapshot_timestamp: 1 } }],
  [AGGREGATE, 200, { body: { group_by: ['note'], aggregates: [{ op: 'AVG', column: 'n' }] } }],
  [AGGREGATE, 400, { body: {} }],
  [`POST ${ROWS}/delete`, 200, { body: { predicates: NEGATIVE }, headers: KEYED_DELETION }],
  [`POST ${ROWS}/delete`, 200, { body: { predicates: NEGATIVE }, headers: KEYED_DELETION }],
  [`POST ${ROWS}/delete`, 400, { body: {} }],
  ['POST /api/v1/tables/{table}/scan_tokens', 200, { body: { target_bytes: 1 } }],
  ['POST /api/v1/tables/{table}/scan_tokens', 400, { body: { explain: true } }],
  [`PUT ${ROW}`, 201, { body: { note: 'x' }, headers: PUT_ONCE }],
  [`PUT ${ROW}`, 201, { body: { note: 'x' }, headers: PUT_ONCE }],
  [`PUT ${ROW}`, 200, { body: { note: 'y' } }],
  [`PUT ${ROW}`, 412, { body: {}, headers: { ...JSON_TYPE, 'If-None-Match': '*' } }],
  [`PATCH ${ROW}`, 200, { body: { note: null } }],
  [`GET ${ROW}`, 200],
  [`DELETE ${ROW}`, 204],
  [`DELETE ${ROW}`, 404],
  [`PUT ${ROW_BY_QUERY}`, 201, { body: {} }],
  [`PUT ${ROW_BY_QUERY}`, 200, { body: {} }],
  [`PATCH ${ROW_BY_QUERY}`, 200, { body: { price: 1 } }],
  [`GET ${ROW_BY_QUERY}`, 200],
  [`DELETE ${ROW_BY_QUERY}`, 204, { headers: { 'Idempotency-Key': 'd' } }],
  ['DELETE /api/v1/tables/{table}', 412, { headers: { 'If-Match': '"x"' } }],
  ['DELETE /api/v1/tables/{table}', 204],
]

const HEADERS = /^(etag|location|link|retry-after|www-authenticate|nyala-.*|idempotency-replayed)$/

interface Answer {
  readonly description: string
  readonly headers: object
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  readonly components: { schemas: Record<string, JsonSchema> }
}

describe('answers are what the document says', () => {
  const app = new LocalApp()
  let document: Document

  beforeAll(async () => {
    document = (await app.send('GET', '/api/v1/spec')).json
  })

  async function writtenTablet(): Promise<string> {
    const row = { host: 'a', n: 1 }
    const { json } = await app.send('POST', '/api/v1/tables/t/locate_row', { body: { row } })
    return json.tablet_id
  }

  test.each([...EXCHANGES])('%s %i', async (...exchange) => {
    const [name, status, request = {}] = exchange as unknown as Exchange
    const [method, template, path = template] = name.split(' ')
    const url = path
      .replace('{table}', 't')
      .replace('{key}', 'a/2')
      .replace('{tablet_id}', path.includes('{tablet_id}') ? await writtenTablet() : '')
    const answer = await app.send(method, url, request)
    const { responses } = document.paths[template][method.toLowerCase()]
    const documented = responses[status] ?? responses.default

    expect(answer.status, answer.text).toBe(status)
    if (status >= 400) expect(documented).toBe(responses.default)
    const [mediaType] = (answer.headers.get('Content-Type') ?? 'none').split(';')
    expect(documented.content === undefined ? ['none'] : Object.keys(documented.content)).toContain(
      mediaType,
    )
    const schema = documented.content?.[mediaType].schema ?? {}
    const value = /[/+]json$/.test(mediaType) ? answer.json : answer.text
    expect(schemaProblems(document.components.schemas, schema, value)).toEqual([])
    const headers = Object.keys(documented.headers).map((header) => header.toLowerCase())
    const sent = [...answer.headers.keys()].filter((header) => HEADERS.test(header))
    expect(headers).toEqual(expect.arrayContaining(sent))
  })

  test('every answer but problems was seen', () => {
    const documented = Object.entries(document.paths).flatMap(([path, item]) => {
      return Object.entries(item).flatMap(([method, { responses }]) => {
        const statuses = Object.keys(responses).filter((status) => status !== 'default')
        return statuses.map((status) => `${method.toUpperCase()} ${path} ${status}`)
      })
    })
    const seen = EXCHANGES.filter(([, status]) => status < 400).map(([name, status]) => {
      const [method, template] = name.split(' ')
      return `${method} ${template} ${status}`
    })

    expect([...new Set(seen)].sort()).toEqual(documented.sort())
  })
})
