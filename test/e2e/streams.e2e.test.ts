import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevServer, startDevServer } from '../../scripts/dev-server.ts'
import { RestClient } from '../support/rest-client.ts'

const MIB = 2 ** 20
const NDJSON = { 'content-type': 'application/x-ndjson' }

/** NDJSON of about `bytes` bytes: a good line, a bad one, and then good ones without end. */
function badBody(bytes: number): Uint8Array {
  const head = '{"id":-1,"text":"first"}\n{"id":-2,"text":\n'
  const line = `{"id":1,"text":"${'x'.repeat(1000)}"}\n`
  return Buffer.from(head + line.repeat(Math.ceil(bytes / line.length)))
}

describe('bodies that stream', () => {
  let server: DevServer
  let client: RestClient

  beforeAll(async () => {
    server = await startDevServer()
    client = new RestClient(server.address)
    await client.must('POST', '/tables', {
      name: 'lines',
      schema: {
        columns: [
          { name: 'id', type: 'INT32', is_key: true },
          { name: 'text', type: 'STRING' },
        ],
      },
      partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: 3 }] },
    })
  })

  afterAll(async () => {
    await server.close()
  })

  test('a body of 50 MB with a bad second line gets its answer, whole', async () => {
    const path = '/tables/lines/rows?operation=UPSERT'
    const answer = await client.send('POST', path, badBody(50 * MIB), NDJSON)

    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT', line: 2, rows_applied: 1 })
    const found = await client.must('GET', '/tables/lines/rows/-1')
    expect(found).toEqual({ id: -1, text: 'first' })
  })

  test('the same sent in chunks without a length', async () => {
    const body = badBody(50 * MIB)
    const status = await new Promise<number>((resolve, reject) => {
      const options = { method: 'POST', headers: NDJSON }
      const sent = request(`${server.address}/api/v1/tables/lines/rows?operation=UPSERT`, options)
      sent.on('response', (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      })
      sent.on('error', reject)
      for (let offset = 0; offset < body.length; offset += MIB) {
        sent.write(body.subarray(offset, offset + MIB))
      }
      sent.end()
    })

    expect(status).toBe(400)
  })

  test('200,000 lines over three tablets are all there, in order', async () => {
    const count = 200_000
    const lines = Array.from({ length: count }, (_, id) => `{"text":"line ${id}","id":${id}}`)
    const answer = await client.send('POST', '/tables/lines/rows', lines.join('\n'), NDJSON)
    expect(answer.json).toMatchObject({ rows: count, inserted: count, failed: 0 })

    const scan = {
      order: 'ORDERED',
      predicates: [{ column: 'id', op: '>=', value: 0 }],
      columns: ['id'],
    }
    const csv = await client.send('POST', '/tables/lines/scan', scan, { accept: 'text/csv' })
    const expected = `id\n${Array.from({ length: count }, (_, id) => id).join('\n')}\n`
    expect(csv.text === expected).toBe(true)
  })
})
