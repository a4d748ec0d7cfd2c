import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp, type LocalRequest } from '../../support/local-app.ts'
import {
  byNumber,
  NUMBERED_COLUMNS,
  type NumberedRow,
  numberedRow,
  numberedRows,
} from '../../support/numbered-rows.ts'

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
})

function insert(rows: readonly NumberedRow[]): Promise<{ timestamp: number }> {
  return app.must('POST', '/t/rows', { body: { rows } })
}

function scan(body: object, request: LocalRequest = {}, query = ''): Promise<LocalAnswer> {
  return app.send('POST', `/api/v1/tables/t/scan${query}`, { ...request, body })
}

describe('POST scan', () => {
  test('answers all rows of all tablets, at one snapshot', async () => {
    const { timestamp } = await insert(numberedRows(0, 50))
    const answer = await scan({})

    expect(answer.status).toBe(200)
    expect(byNumber(answer.json.rows)).toEqual(numberedRows(0, 50))
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(timestamp)
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.snapshot_timestamp))
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(answer.json).not.toHaveProperty('next_page_token')
  })

  test('answers rows in the order of their key, either way', async () => {
    await insert(numberedRows(0, 50))

    expect((await scan({ order: 'ordered' })).json.rows).toEqual(numberedRows(0, 50))
    expect((await scan({ order: 'DESCENDING' })).json.rows).toEqual(numberedRows(0, 50).reverse())
  })

  test('answers the columns asked for, in that order', async () => {
    await insert(numberedRows(1, 2))

    expect((await scan({ columns: ['n', 'id'] })).text).toContain('"rows":[{"n":1,"id":1}]')
    expect((await scan({ columns: [] })).json.rows).toEqual([{}])
  })

  test('answers the rows that all predicates hold for, between the bounds', async () => {
    await insert(numberedRows(0, 50))
    const predicates = [
      { column: 'n', op: 'IS NOT NULL' },
      { column: 'id', op: 'in', values: [1, 2, 3, 30, 31, '32', 1000] },
      { column: 'name', op: 'STARTS WITH', value: 'row 3' },
    ]
    const bounds = { primary_key_lower: { id: 31 }, primary_key_upper: { id: 40 } }

    expect(byNumber((await scan({ predicates })).json.rows)).toEqual([
      numberedRow(31),
      numberedRow(32),
    ])
    expect((await scan({ predicates, ...bounds, limit: 1 })).json.rows).toHaveLength(1)
    expect(byNumber((await scan({ ...bounds })).json.rows)).toEqual(numberedRows(31, 40))
  })

  test('of what nothing can match reads no tablet, and still knows the table', async () => {
    await insert(numberedRows(0, 5))
    const predicates = [{ column: 'id', op: 'IN', values: [] }]

    expect((await scan({ predicates })).json).toEqual({
      rows: [],
      snapshot_timestamp: expect.any(Number),
    })
    expect((await scan({ limit: 0 })).json.rows).toEqual([])
    app.service.dropTable('t')
    expect((await scan({ predicates })).status).toBe(404)
    expect((await scan({})).status).toBe(404)
  })

  test('of a table without rows is answered', async () => {
    expect((await scan({})).json.rows).toEqual([])
  })

  test('keeps what the value options say', async () => {
    app.makeTable(aNewTable('v', ['id INT64 KEY', 'at UNIXTIME_MICROS']))
    await app.must('POST', '/v/rows', { body: { rows: [{ id: 1, at: '2026-01-15T00:00:00Z' }] } })
    const query = '/api/v1/tables/v/scan?int64=string&timestamps=millis'
    const predicates = [{ column: 'at', op: '=', value: 1768435200000 }]
    const answer = await app.send('POST', query, { body: { predicates } })

    expect(answer.text).toContain('{"id":"1","at":1768435200000}')
  })
})

describe('read modes', () => {
  test('READ_AT_SNAPSHOT reads at the time of a write and shows it', async () => {
    const { timestamp } = await insert([numberedRow(1)])
    await insert([numberedRow(2)])

    for (const time of [timestamp, new Date(timestamp / 1000).toISOString()]) {
      const page = (await scan({ snapshot_timestamp: time, columns: ['id'] })).json
      expect(page.rows.length).toBeLessThanOrEqual(1)
    }
    const page = (await scan({ snapshot_timestamp: timestamp })).json
    expect(page.rows).toEqual([numberedRow(1)])
    expect(page.snapshot_timestamp).toBe(timestamp)
  })

  test('READ_AT_SNAPSHOT without a time reads what is there now', async () => {
    await insert(numberedRows(0, 10))

    expect((await scan({ read_mode: 'read_at_snapshot' })).json.rows).toHaveLength(10)
  })

  test('READ_YOUR_WRITES reads at the time that the client has seen', async () => {
    const { timestamp } = await insert(numberedRows(0, 10))
    const headers = {
      'content-type': 'application/json',
      'Nyala-Propagated-Timestamp': String(timestamp),
    }
    const other = new LocalApp({}, app.service)
    const body = { read_mode: 'READ_YOUR_WRITES' }
    const answer = await other.send('POST', '/api/v1/tables/t/scan', { body, headers })

    expect(answer.json.rows).toHaveLength(10)
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(timestamp)
  })

  test('READ_LATEST of another front sees what this one wrote', async () => {
    await insert(numberedRows(0, 10))
    const other = new LocalApp({}, app.service)

    expect((await other.must('POST', '/t/scan', { body: {} })).rows).toHaveLength(10)
  })

  test('a scan is never shown less than the time that the client has seen', async () => {
    await insert(numberedRows(0, 3))
    const seen = app.service.time.micros + 15_000_000
    const headers = {
      'content-type': 'application/json',
      'Nyala-Propagated-Timestamp': String(seen),
    }
    const page = (await scan({}, { headers })).json

    expect(page.snapshot_timestamp).toBeGreaterThanOrEqual(seen)
  })

  test('neither is a read of one tablet', async () => {
    app.makeTable(aNewTable('one'))
    await app.must('POST', '/one/rows', { body: { rows: [{ id: 1 }] } })
    for (const [method, path] of [
      ['GET', 'rows'],
      ['GET', 'rows/1'],
    ]) {
      const seen = app.service.time.micros + 15_000_000
      const headers = { 'Nyala-Propagated-Timestamp': String(seen) }
      const other = new LocalApp({}, app.service)
      const answer = await other.send(method, `/api/v1/tables/one/${path}`, { headers })

      expect(Number(answer.headers.get('Nyala-Timestamp'))).toBeGreaterThanOrEqual(seen)
    }
  })
})

describe('streams', () => {
  test('of NDJSON have a row a line', async () => {
    await insert(numberedRows(0, 50))
    const headers = { 'content-type': 'application/json', accept: 'application/jsonl' }
    const answer = await scan({ order: 'ORDERED', limit: 30 }, { headers })

    expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson')
    expect(answer.headers.get('Nyala-Timestamp')).toMatch(/^\d{16}$/)
    expect(answer.text.endsWith('\n')).toBe(true)
    const rows = answer.text.trimEnd().split('\n')
    expect(rows.map((line) => JSON.parse(line))).toEqual(numberedRows(0, 30))
  })

  test('of CSV have a header, also without rows', async () => {
    expect((await scan({}, {}, '?format=csv')).text).toBe('id,name,n\n')
    await insert([numberedRow(3), numberedRow(4)])
    const body = { order: 'ORDERED', columns: ['n', 'name'] }
    expect((await scan(body, {}, '?format=csv&null=-')).text).toBe('n,name\n-,row 3\n4,row 4\n')
  })

  test('hold large results', async () => {
    for (let start = 0; start < 20_000; start += 5000)
      await insert(numberedRows(start, start + 5000))
    for (const order of ['UNORDERED', 'ORDERED']) {
      const { text } = await scan({ order }, {}, '?format=ndjson')
      const rows = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))

      expect(byNumber(rows)).toEqual(numberedRows(0, 20_000))
    }
  })

  test('that fail before the first row have a status', async () => {
    app.service.dropTable('t')

    expect((await scan({}, {}, '?format=ndjson')).status).toBe(404)
  })

  test('that fail midway break the transfer', async () => {
    await insert(numberedRows(0, 100))
    const [, second] = app.service.tablets.values()
    second.read = async () => {
      throw new Error('gone')
    }
    const response = await app.app.request('http://localhost/api/v1/tables/t/rows?format=ndjson')

    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(app.logged[0].event).toBe('scan broke off')
  })
})

describe('explain', () => {
  test('tells which tablets are left, the bounds, and what is left of the predicates', async () => {
    const predicates = [
      { column: 'id', op: '=', value: 5 },
      { column: 'n', op: '>', value: 3 },
      { column: 'n', op: '<=', value: 200 },
      { column: 'name', op: 'IS NOT NULL' },
    ]
    const answer = await scan({ predicates, explain: true })

    expect(answer.json).toEqual({
      tablets: [
        {
          tablet_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          hash_buckets: [expect.any(Number)],
          range_lower: null,
          range_upper: null,
        },
      ],
      tablets_total: 4,
      tablets_pruned: 3,
      primary_key_lower: '8000000000000005',
      primary_key_upper: '8000000000000006',
      predicates: [{ column: 'n', op: '>=', value: 4 }],
    })
  })

  test('of a whole table has no bounds', async () => {
    const answer = await scan({ explain: true })

    expect(answer.json).toMatchObject({
      tablets_pruned: 0,
      primary_key_lower: null,
      primary_key_upper: null,
      predicates: [],
    })
  })

  test('asks no tablet', async () => {
    await insert(numberedRows(0, 9))
    for (const tablet of app.service.tablets.values()) tablet.resets = Array(9).fill('before')

    expect((await scan({ explain: true })).status).toBe(200)
  })
})

describe('GET rows', () => {
  test('scans by records of CSV', async () => {
    await insert(numberedRows(0, 50))
    const get = (query: string) => app.must('GET', `/t/rows?${query}`)

    const named = await get('columns=id,n&where=id,IN,5,6,7&where=n,IS NOT NULL&order=ordered')
    expect(named.rows).toEqual([
      { id: 5, n: 5 },
      { id: 7, n: 7 },
    ])
    expect((await get('where=name,=,"row 3"')).rows).toEqual([numberedRow(3)])
    expect((await get('where=name,%3D,row+3')).rows).toEqual([numberedRow(3)])
    expect((await get('columns=&limit=2')).rows).toEqual([{}, {}])
  })

  test('links its next page', async () => {
    await insert(numberedRows(0, 25))
    const rows: NumberedRow[] = []
    let path = '/api/v1/tables/t/rows?where=id,%3C,20&page_size=6&order=ORDERED'
    let pages = 0
    for (;;) {
      const answer = await app.send('GET', path)
      rows.push(...answer.json.rows)
      pages++
      const link = /^<([^>]*)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')
      if (link === null) break
      path = link[1]
    }

    expect(rows).toEqual(numberedRows(0, 20))
    expect(pages).toBe(4)
  })

  test('has no link where it would be long', async () => {
    await insert(numberedRows(0, 25))
    const list = Array.from({ length: 900 }, (_, id) => 10_000_000 + id).join(',')
    const query = `page_size=1&where=id,IN,1,2,3,${list}`
    const answer = await app.send('GET', `/api/v1/tables/t/rows?${query}`)

    expect(answer.json.next_page_token).toBeDefined()
    expect(answer.headers.has('Link')).toBe(false)
  })

  test('reads at a time', async () => {
    const { timestamp } = await insert([numberedRow(1)])
    await insert([numberedRow(2)])
    const page = await app.must('GET', `/t/rows?snapshot_timestamp=${timestamp}`)

    expect(page.rows).toEqual([numberedRow(1)])
  })

  test('answers a browser with JSON', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const answer = await app.send('GET', '/api/v1/tables/t/rows', { headers: { accept } })

    expect(answer.headers.get('Content-Type')).toBe('application/json')
  })
})
