import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp, type LocalRequest } from '../../support/local-app.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }
const CSV = { 'content-type': 'text/csv' }
const COLUMNS = ['id INT64 KEY', 'name STRING', 'n INT8 NULL']

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', COLUMNS, 4))
})

function write(request: LocalRequest, query = ''): Promise<LocalAnswer> {
  return app.send('POST', `/api/v1/tables/t/rows${query}`, request)
}

async function stored(): Promise<object[]> {
  return (await app.must('POST', '/t/scan', { body: { order: 'ORDERED' } })).rows
}

const row = (id: number, n: number | null = null) => ({ id, name: `row ${id}`, n })
const rowLines = (count: number): string[] =>
  Array.from({ length: count }, (_, id) => JSON.stringify(row(id)))

describe('POST rows of JSON', () => {
  test('inserts unless told otherwise, and counts', async () => {
    const answer = await write({ body: { rows: [row(1), row(2), row(1)] } })

    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      timestamp: expect.any(Number),
      rows: 3,
      inserted: 2,
      upserted: 0,
      updated: 0,
      deleted: 0,
      ignored: 0,
      failed: 1,
      row_errors: [{ row_index: 2, code: 'ALREADY_PRESENT', message: 'key already present' }],
    })
    expect(answer.headers.get('Nyala-Rows-Failed')).toBe('1')
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.timestamp))
    expect(answer.headers.has('Idempotency-Replayed')).toBe(false)
    expect(await stored()).toEqual([row(1), row(2)])
  })

  test('takes an operation for all rows, in any case', async () => {
    await write({ body: { rows: [row(1)] } })
    const answer = await write({ body: { operation: 'upsert_ignore', rows: [row(1, 5), row(2)] } })

    expect(answer.json).toMatchObject({ rows: 2, upserted: 2, failed: 0 })
    expect(await stored()).toEqual([row(1, 5), row(2)])
  })

  test('takes an operation for each row', async () => {
    await write({ body: { rows: [row(1), row(2)] } })
    const operations = [
      { row: row(3) },
      { operation: 'INSERT_IGNORE', row: row(1) },
      { operation: 'UPDATE', row: { id: 1, n: 7 } },
      { operation: 'UPDATE', row: { id: 9, n: 7 } },
      { operation: 'UPDATE_IGNORE', row: { id: 9, n: 7 } },
      { operation: 'UPSERT', row: row(4) },
      { operation: 'DELETE', row: { id: 2 } },
      { operation: 'DELETE_IGNORE', row: { id: 2 } },
      { operation: 'DELETE', row: { id: 2 } },
    ]
    const answer = await write({ body: { operations } })

    expect(answer.json).toMatchObject({
      rows: 9,
      inserted: 1,
      upserted: 1,
      updated: 1,
      deleted: 1,
      ignored: 3,
      failed: 2,
    })
    expect(answer.json.row_errors).toEqual([
      { row_index: 3, code: 'NOT_FOUND', message: 'key not found' },
      { row_index: 8, code: 'NOT_FOUND', message: 'key not found' },
    ])
    expect(await stored()).toEqual([row(1, 7), row(3), row(4)])
  })

  test('applies what it can, and says what is wrong with the rest in row order', async () => {
    const rows = [
      { id: 1.5, name: 'a' },
      row(1),
      'text',
      { id: 2 },
      { id: 3, name: null },
      { id: 4, name: 'a', wat: 1 },
      { name: 'a' },
      { id: null, name: 'a' },
      { id: 5, name: 'a', n: 128 },
      row(6),
    ]
    const answer = await write({ body: { rows } })

    expect(answer.json).toMatchObject({ rows: 10, inserted: 2, failed: 8 })
    expect(answer.json.row_errors.map(({ row_index }: { row_index: number }) => row_index)).toEqual(
      [0, 2, 3, 4, 5, 6, 7, 8],
    )
    for (const error of answer.json.row_errors) expect(error.code).toBe('INVALID_ARGUMENT')
    expect(answer.json.row_errors[0]).toMatchObject({
      message: 'column "id": 1.5 is not an integer, as INT64 needs',
      column: 'id',
    })
    expect(answer.json.row_errors[7].message).toBe('column "n": 128 is out of range for INT8')
    expect(await stored()).toEqual([row(1), row(6)])
  })

  test('spells out the first 1,000 errors and counts all', async () => {
    const rows = Array.from({ length: 2500 }, (_, id) => (id % 2 === 0 ? { id } : { name: 'a' }))
    const answer = await write({ body: { rows } })

    expect(answer.json).toMatchObject({ rows: 2500, failed: 2500, timestamp: null })
    expect(answer.json.row_errors_truncated).toBe(true)
    expect(answer.json.row_errors).toHaveLength(1000)
    const indexes = answer.json.row_errors.map(({ row_index }: { row_index: number }) => row_index)
    expect(indexes).toEqual(Array.from({ length: 1000 }, (_, index) => index))
    expect(answer.headers.get('Nyala-Rows-Failed')).toBe('2500')
    expect(answer.headers.has('Nyala-Timestamp')).toBe(false)
  })

  test('keeps 64-bit integers exact both ways', async () => {
    const body =
      '{"rows":[{"id":9007199254740993,"name":"a"},{"id":"-9223372036854775808","name":"b"}]}'
    await write({ body, headers: { 'content-type': 'application/json' } })

    const scan = { body: { order: 'ORDERED', columns: ['id'] } }
    const numbers = await app.send('POST', '/api/v1/tables/t/scan', scan)
    expect(numbers.text).toContain('{"id":-9223372036854775808},{"id":9007199254740993}')
    const strings = await app.send('POST', '/api/v1/tables/t/scan?int64=string', scan)
    expect(strings.text).toContain('{"id":"-9223372036854775808"},{"id":"9007199254740993"}')
  })

  test('writes nothing when the body is not JSON to its end', async () => {
    const body = `{"rows":[${rowLines(3000).join(',')}`
    const answer = await write({ body, headers: { 'content-type': 'application/json' } })

    expect(answer.status).toBe(400)
    expect(await stored()).toEqual([])
  })

  test('of no rows is answered', async () => {
    const answer = await write({ body: { rows: [] } })

    expect(answer.json).toMatchObject({ rows: 0, timestamp: null, row_errors: [] })
  })

  test('takes the body unzipped', async () => {
    const text = JSON.stringify({ rows: [row(1)] })
    const gzip = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
    const body = new Uint8Array(await new Response(gzip).arrayBuffer())
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const answer = await write({ body, headers })

    expect(answer.json).toMatchObject({ inserted: 1 })
  })
})

describe('POST rows as a stream', () => {
  test('takes a row a line, passes blank lines over, and counts rows from 0', async () => {
    const lines = ['', ...rowLines(3), '  ', '[1]', '{"id":3,"name":"row 3"}']
    const answer = await write({ body: lines.join('\r\n'), headers: NDJSON })

    expect(answer.json).toMatchObject({ rows: 5, inserted: 4, failed: 1 })
    expect(answer.json.row_errors).toEqual([
      { row_index: 3, code: 'INVALID_ARGUMENT', message: 'row is not an object' },
    ])
    expect(await stored()).toHaveLength(4)
  })

  test.each(['application/ndjson', 'application/jsonl; charset=utf-8'])(
    'takes %s for NDJSON',
    async (type) => {
      const body = rowLines(1).join('')
      const answer = await write({ body, headers: { 'content-type': type } })

      expect(answer.json.inserted).toBe(1)
    },
  )

  test('takes an operation in the query', async () => {
    await write({ body: { rows: [row(0)] } })
    const answer = await write(
      { body: rowLines(2).join('\n'), headers: NDJSON },
      '?operation=upsert',
    )

    expect(answer.json).toMatchObject({ upserted: 2 })
  })

  test('cuts a large one into shares and sends all of it', async () => {
    const lines = rowLines(40_000)
    const bytes = new TextEncoder().encode(lines.join('\n'))
    let offset = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (offset >= bytes.length) controller.close()
        else controller.enqueue(bytes.slice(offset, offset + 7001))
        offset += 7001
      },
    })
    const answer = await write({ body, headers: NDJSON })

    expect(answer.json).toMatchObject({ rows: 40_000, inserted: 40_000, failed: 0 })
    const scan = { body: { columns: [] }, headers: { accept: 'application/x-ndjson' } }
    const { text } = await app.send('POST', '/api/v1/tables/t/scan', scan)
    expect(text.split('\n')).toHaveLength(40_001)
  })

  test('ends at a line that is not JSON: all before it is applied, nothing after', async () => {
    const lines = rowLines(3000)
    lines[10] = '{"id":10}'
    lines[2000] = '{"id":2000,'
    const answer = await write({ body: lines.join('\n'), headers: NDJSON })

    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({
      code: 'INVALID_ARGUMENT',
      line: 2001,
      retryable: false,
      rows_applied: 1999,
    })
    expect(answer.json.row_errors).toEqual([
      {
        row_index: 10,
        code: 'INVALID_ARGUMENT',
        message: 'no value provided for required column "name"',
        column: 'name',
      },
    ])
    expect(await stored()).toHaveLength(1000)
    const count = { body: { columns: [] }, headers: { accept: 'application/x-ndjson' } }
    const { text } = await app.send('POST', '/api/v1/tables/t/scan', count)
    expect(text.split('\n')).toHaveLength(2000)
  })

  test('ends where its gzip is broken', async () => {
    const gzip = new Blob([rowLines(5000).join('\n')])
      .stream()
      .pipeThrough(new CompressionStream('gzip'))
    const whole = new Uint8Array(await new Response(gzip).arrayBuffer())
    const body = whole.slice(0, whole.length - 2000)
    const answer = await write({ body, headers: { ...NDJSON, 'content-encoding': 'gzip' } })

    expect(answer.status).toBe(400)
    expect(answer.json.detail).toBe('body is not valid gzip')
    expect(answer.json.rows_applied).toBeGreaterThanOrEqual(0)
  })

  test('takes CSV: a header, null as the empty field, quotes, CRLF, a BOM', async () => {
    const body = '\ufeffn,id,name\r\n,1,"a ""b"", c"\r\n5,2,""\r\n'
    const answer = await write({ body, headers: CSV })

    expect(answer.json).toMatchObject({ rows: 2, inserted: 2 })
    expect(await stored()).toEqual([
      { id: 1, name: 'a "b", c', n: null },
      { id: 2, name: '', n: 5 },
    ])
  })

  test('takes another text for null', async () => {
    await write({ body: 'id,name,n\n1,,NULL\n', headers: CSV }, '?null=NULL')

    expect(await stored()).toEqual([{ id: 1, name: '', n: null }])
  })
})

describe('Idempotency-Key', () => {
  const keyed = (key: string, body: object): LocalRequest => {
    return { body, headers: { 'content-type': 'application/json', 'Idempotency-Key': key } }
  }

  test('a repeat is answered with the first result, and says so', async () => {
    const request = keyed('k', { rows: [row(1), row(1), row(2)] })
    const first = await write(request)
    await app.must('POST', '/t/rows', { body: { operation: 'DELETE', rows: [{ id: 1 }] } })
    const second = await write(request)

    expect(second.json).toEqual(first.json)
    expect(first.headers.has('Idempotency-Replayed')).toBe(false)
    expect(second.headers.get('Idempotency-Replayed')).toBe('true')
    expect(await stored()).toEqual([row(2)])
  })

  test('another key is another request', async () => {
    await write(keyed('k', { rows: [row(1)] }))
    const answer = await write(keyed('K', { rows: [row(1)] }))

    expect(answer.json).toMatchObject({ inserted: 0, failed: 1 })
  })

  test('another body under the same key is refused', async () => {
    await write(keyed('k', { rows: [row(1)] }))
    const answer = await write(keyed('k', { rows: [{ ...row(1), n: 3 }] }))

    expect(answer.status).toBe(400)
    expect(answer.json.code).toBe('INVALID_ARGUMENT')
  })

  test('a tablet that was reset in mid-call is asked again, and applies once', async () => {
    await write({ body: { rows: [row(1)] } })
    for (const tablet of app.service.tablets.values()) tablet.resets = ['after']
    const answer = await write({ body: { rows: [row(1), row(2)] } })

    expect(answer.json).toMatchObject({ inserted: 1, failed: 1 })
    expect(await stored()).toEqual([row(1), row(2)])
  })
})

describe('a tablet that cannot take its share', () => {
  test('fails the request with what was applied and what is not known', async () => {
    await write({ body: { rows: Array.from({ length: 100 }, (_, id) => row(id)) } })
    const [broken] = app.service.tablets.values()
    broken.resets = Array(9).fill('before')
    const rows = Array.from({ length: 100 }, (_, id) => row(id + 50))
    const answer = await write({ body: { rows } })

    expect(answer.status).toBe(500)
    const { json } = answer
    expect(json).toMatchObject({ code: 'INTERNAL', tablet_id: expect.any(String) })
    expect(json.rows_unknown).toBeGreaterThan(0)
    expect(json.rows_applied + json.rows_unknown + json.row_errors.length).toBe(100)
  })
})

describe('times of the client', () => {
  test('a write is made after the time that the client has seen', async () => {
    const seen = app.service.time.micros + 15_000_000
    const headers = {
      'content-type': 'application/json',
      'Nyala-Propagated-Timestamp': String(seen),
    }
    const answer = await write({ body: { rows: [row(1)] }, headers })

    expect(answer.json.timestamp).toBeGreaterThan(seen)
  })

  test('an unauthenticated client moves no clock', async () => {
    const closed = new LocalApp({ isAuthDisabled: false, adminToken: 's' }, app.service)
    const seen = app.service.time.micros + 15_000_000
    const headers = { 'Nyala-Propagated-Timestamp': String(seen) }
    await closed.send('GET', '/api/v1/tables/t/rows', { headers })
    const answer = await closed.send('POST', '/api/v1/tables/t/rows', {
      body: { rows: [row(1)] },
      headers: { Authorization: 'Bearer s', 'content-type': 'application/json' },
    })

    expect(answer.json.timestamp).toBeLessThan(seen)
  })
})

describe('POST rows/get', () => {
  test('answers rows in the order asked, null where there is none', async () => {
    await write({ body: { rows: [row(1), row(2, 5), row(3)] } })
    const keys = [{ id: 3 }, { id: '2' }, { id: 9 }, { id: 3 }, { id: 1.0 }]
    const answer = await app.send('POST', '/api/v1/tables/t/rows/get', { body: { keys } })

    expect(answer.json.rows).toEqual([row(3), row(2, 5), null, row(3), row(1)])
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.snapshot_timestamp))
  })

  test('answers the columns asked for, at the snapshot asked for', async () => {
    const first = await write({ body: { rows: [row(1), row(2)] } })
    await write({
      body: {
        operation: 'UPDATE',
        rows: [
          { id: 1, n: 9 },
          { id: 2, n: 9 },
        ],
      },
    })
    const keys = [{ id: 1 }, { id: 2 }]
    const get = (more: object) => app.must('POST', '/t/rows/get', { body: { keys, ...more } })

    expect((await get({ columns: ['n'] })).rows).toEqual([{ n: 9 }, { n: 9 }])
    const { timestamp } = first.json
    const then = await get({ columns: ['n', 'id'], snapshot_timestamp: timestamp })
    expect(then.rows).toEqual([
      { n: null, id: 1 },
      { n: null, id: 2 },
    ])
    expect(then.snapshot_timestamp).toBe(timestamp)
  })

  test('of no keys and of a table without rows is answered', async () => {
    expect((await app.must('POST', '/t/rows/get', { body: { keys: [] } })).rows).toEqual([])
    const keys = [{ id: 1 }]
    expect((await app.must('POST', '/t/rows/get', { body: { keys } })).rows).toEqual([null])
  })

  test('of a table that is gone is not found, whatever this front remembers', async () => {
    await app.must('GET', '/t/rows')
    app.service.dropTable('t')
    const answer = await app.send('POST', '/api/v1/tables/t/rows/get', {
      body: { keys: [{ id: 1 }] },
    })

    expect(answer.status).toBe(404)
  })
})
