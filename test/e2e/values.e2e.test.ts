import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevServer, startDevServer } from '../../scripts/dev-server.ts'
import { RestClient } from '../support/rest-client.ts'

const COLUMNS = [
  { name: 'id', type: 'INT32', is_key: true },
  { name: 'big', type: 'INT64', is_nullable: true },
  {
    name: 'exact',
    type: 'DECIMAL',
    type_attributes: { precision: 38, scale: 10 },
    is_nullable: true,
  },
  { name: 'real', type: 'DOUBLE', is_nullable: true },
  { name: 'small', type: 'FLOAT', is_nullable: true },
  { name: 'at', type: 'UNIXTIME_MICROS', is_nullable: true },
  { name: 'day', type: 'DATE', is_nullable: true },
  { name: 'text', type: 'STRING', is_nullable: true },
  { name: 'raw', type: 'BINARY', is_nullable: true },
]

// What goes in as the literal text of a JSON row, and what must come out as one.
const CASES = [
  ['"big":9007199254740993', '"big":9007199254740993'],
  ['"big":-9223372036854775808', '"big":-9223372036854775808'],
  ['"big":"9223372036854775807"', '"big":9223372036854775807'],
  ['"big":9007199254740993.0', '"big":9007199254740993'],
  [
    '"exact":"-9999999999999999999999999999.0123456789"',
    '"exact":"-9999999999999999999999999999.0123456789"',
  ],
  ['"exact":0.1', '"exact":"0.1000000000"'],
  ['"real":"NaN"', '"real":"NaN"'],
  ['"real":"-Infinity"', '"real":"-Infinity"'],
  ['"real":-0', '"real":-0'],
  ['"real":1e300', '"real":1e+300'],
  ['"small":0.1', '"small":0.1'],
  ['"at":"2026-01-01T00:00:00.000001+02:00"', '"at":"2025-12-31T22:00:00.000001Z"'],
  ['"at":1767225600000000', '"at":"2026-01-01T00:00:00.000000Z"'],
  ['"day":"0001-01-01"', '"day":"0001-01-01"'],
  ['"text":"“ü”\\n\\u0000,\\""', '"text":"“ü”\\n\\u0000,\\""'],
  ['"text":""', '"text":""'],
  ['"raw":"_-8"', '"raw":"/+8="'],
] as const

describe('values of every kind', () => {
  let server: DevServer
  let client: RestClient

  beforeAll(async () => {
    server = await startDevServer()
    client = new RestClient(server.address)
    await client.must('POST', '/tables', { name: 'values', schema: { columns: COLUMNS } })
  })

  afterAll(async () => {
    await server.close()
  })

  /** What a scan gives of one row, as literal text without nulls and the key. */
  async function shown(id: number, accept: string): Promise<string> {
    const scan = { predicates: [{ column: 'id', op: '=', value: id }] }
    const answer = await client.send('POST', '/tables/values/scan', scan, { accept })
    const row = /\{[^{}]*"id":[^{}]*\}/.exec(answer.text)?.[0] ?? answer.text
    return row
      .replace(/"id":\d+,?/, '')
      .replaceAll(/"\w+":null,?/g, '')
      .replace(/,\}$/, '}')
  }

  test('go in as JSON and come out exactly, as JSON and as NDJSON', async () => {
    const rows = CASES.map(([into], id) => `{"id":${id}.0,${into}}`)
    const body = `{"rows":[${rows.join(',')}]}`
    const headers = { 'content-type': 'application/json' }
    const written = await client.send('POST', '/tables/values/rows', body, headers)
    expect(written.json).toMatchObject({ inserted: CASES.length, failed: 0 })

    for (let id = 0; id < CASES.length; id++) {
      expect(await shown(id, 'application/json')).toBe(`{${CASES[id][1]}}`)
      expect(await shown(id, 'application/x-ndjson')).toBe(`{${CASES[id][1]}}`)
    }
  })

  test('come back unchanged when NDJSON and CSV that were read are written again', async () => {
    const formats = ['application/x-ndjson', 'text/csv']
    for (const accept of formats) {
      const scan = { order: 'ORDERED' }
      const first = await client.send('POST', '/tables/values/scan', scan, { accept })
      const type = { 'content-type': accept }
      const upsert = '/tables/values/rows?operation=UPSERT'
      const again = await client.send('POST', upsert, first.text, type)
      expect(again.json).toMatchObject({ upserted: CASES.length, failed: 0 })

      const second = await client.send('POST', '/tables/values/scan', scan, { accept })
      expect(second.text).toBe(first.text)
    }
  })
})
