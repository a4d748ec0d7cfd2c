import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { FrontMemory, type Holding } from '../../../src/api/front-memory.ts'
import { AGGREGATE_GROUP_COUNT_MAX } from '../../../src/common/limits.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { aNewTable } from '../../support/a-table.ts'
import { LocalApp } from '../../support/local-app.ts'
import { jsonOf, writableCell } from '../../support/random-rows.ts'
import { readArrow } from '../../support/read-arrow.ts'
import { ParquetFile } from '../../support/read-parquet.ts'

const COLUMNS = [
  'key INT64 KEY',
  'flag BOOL NULL',
  'i8 INT8 NULL',
  'i16 INT16 NULL',
  'i32 INT32 NULL',
  'i64 INT64 NULL',
  'single FLOAT NULL',
  'double DOUBLE NULL',
  '__proto__ STRING NULL',
  'bytes BINARY NULL',
  'time UNIXTIME_MICROS NULL',
  'naïve DATE NULL',
  'quo"te VARCHAR(4)',
  'd9 DECIMAL(9,4) NULL',
  'd18 DECIMAL(18,2) NULL',
  'd38 DECIMAL(38,3) NULL',
]
const SCHEMA = aSchema(...COLUMNS)
const NAMES = SCHEMA.columns.map(({ name }) => name)
const ROW_COUNT = 300
const SEED = 5

async function bytesOf(app: LocalApp, path: string, body: object): Promise<Uint8Array> {
  const response = await app.app.request(`http://localhost/api/v1/tables/t/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

describe('a result with a row for each row of a table of all types', () => {
  const app = new LocalApp()
  // With one row a group each extreme is the cell itself, so that a scan tells what is right.
  const BODY = {
    group_by: ['key'],
    aggregates: NAMES.slice(1).map((name, i) => {
      return { op: i % 2 === 0 ? 'MIN' : 'MAX', column: name, as: name }
    }),
  }
  const SCAN = { order: 'ORDERED' }

  beforeAll(async () => {
    app.makeTable(aNewTable('t', COLUMNS, 4))
    const prng = new Prng(SEED)
    const rows = Array.from({ length: ROW_COUNT }, (_, key) => {
      const cells = SCHEMA.columns.map((column) => {
        if (column.isKey) return key - 100
        if (column.isNullable && prng.chance(0.2)) return 'null'
        // Among extremes −0 is 0.
        return jsonOf(column, writableCell(prng, column)).replace(/^-0$/, '0')
      })
      return `{${cells.map((cell, i) => `${JSON.stringify(NAMES[i])}:${cell}`).join()}}`
    })
    const headers = { 'content-type': 'application/x-ndjson' }
    const result = await app.must('POST', '/t/rows', { body: rows.join('\n'), headers })
    expect(result, `seed ${SEED}`).toMatchObject({ inserted: ROW_COUNT, failed: 0 })
  })

  const QUERIES = [
    'format=ndjson',
    'format=csv',
    'format=csv&null=NULL&int64=string',
    'format=ndjson&int64=string&timestamps=micros',
  ]

  test.each(QUERIES)('is the same as a scan of it, with %s', async (query) => {
    const found = await bytesOf(app, `aggregate?${query}`, BODY)
    const expected = await bytesOf(app, `scan?${query}`, SCAN)

    expect(Buffer.from(found).toString(), `seed ${SEED}`).toBe(Buffer.from(expected).toString())
  })

  test('is the same in JSON', async () => {
    const found = Buffer.from(await bytesOf(app, 'aggregate', BODY)).toString()
    const expected = Buffer.from(await bytesOf(app, 'scan', { ...SCAN, page_size: 1000 }))
    const withoutTime = (text: string) => text.replace(/"snapshot_timestamp":\d+}$/, '')

    expect(withoutTime(found), `seed ${SEED}`).toBe(withoutTime(expected.toString()))
  })

  test.each(['', '&dictionary=true'])('is the same in Arrow%s', async (more) => {
    const found = readArrow(await bytesOf(app, `aggregate?format=arrow${more}`, BODY))
    const expected = readArrow(await bytesOf(app, `scan?format=arrow${more}`, SCAN))

    expect(found.names).toEqual(NAMES)
    expect(found.types).toEqual(expected.types)
    expect(found.nullable).toEqual(expected.nullable)
    expect(found.rows, `seed ${SEED}`).toEqual(expected.rows)
  })

  test('is the same in Parquet', async () => {
    const found = await ParquetFile.open(await bytesOf(app, 'aggregate?format=parquet', BODY))
    const expected = await ParquetFile.open(await bytesOf(app, 'scan?format=parquet', SCAN))

    expect(await found.types()).toEqual(await expected.types())
    expect(await found.cells(SCHEMA.columns), `seed ${SEED}`).toEqual(
      await expected.cells(SCHEMA.columns),
    )
    await found.close()
    await expected.close()
  })

  test('has the types of what was computed', async () => {
    const aggregates = [
      { op: 'COUNT' },
      { op: 'SUM', column: 'i8' },
      { op: 'SUM', column: 'd9' },
      { op: 'AVG', column: 'd9' },
      { op: 'MAX', expr: ['*', 'd9', 'd18'] },
      { op: 'MIN', expr: ['/', 'd9', 'd18'] },
      { op: 'MAX', column: 'flag' },
    ]
    const { types, nullable } = readArrow(
      await bytesOf(app, 'aggregate?format=arrow', { aggregates }),
    )

    expect(types).toEqual([
      'Int64',
      'Int64',
      'Decimal[38e+4]',
      'Float64',
      'Decimal[38e+6]',
      'Float64',
      'Bool',
    ])
    expect(nullable).toEqual([false, true, true, true, true, true, true])
  })

  test('of no groups has its columns in every format', async () => {
    const body = { group_by: ['flag'], aggregates: [{ op: 'COUNT' }], limit: 0 }
    const text = async (format: string) => {
      return Buffer.from(await bytesOf(app, `aggregate?format=${format}`, body)).toString()
    }

    expect(await text('csv')).toBe('flag,count\n')
    expect(await text('ndjson')).toBe('')
    expect(await text('json')).toMatch(/^\{"rows":\[\],"snapshot_timestamp":\d{16}\}$/)
    const { names, rowCount } = readArrow(await bytesOf(app, 'aggregate?format=arrow', body))
    expect([names, rowCount]).toEqual([['flag', 'count'], 0])
  })

  test('is in the format that Accept asks for', async () => {
    const accept = 'text/csv;q=0.5, application/x-ndjson'
    const headers = { 'content-type': 'application/json', accept }
    const body = { aggregates: [{ op: 'COUNT' }] }
    const answer = await app.send('POST', '/api/v1/tables/t/aggregate', { body, headers })

    expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson')
    expect(answer.headers.get('Nyala-Timestamp')).toMatch(/^\d{16}$/)
    expect(answer.text).toBe(`{"count":${ROW_COUNT}}\n`)
  })
})

describe('many groups', () => {
  let app: LocalApp

  beforeEach(async () => {
    app = new LocalApp()
    app.makeTable(aNewTable('t', ['id INT64 KEY', 'text STRING'], 4))
    await fill(0, AGGREGATE_GROUP_COUNT_MAX)
  })

  async function fill(start: number, end: number): Promise<void> {
    const headers = { 'content-type': 'application/x-ndjson' }
    const lines = Array.from({ length: end - start }, (_, i) => `{"id":${start + i},"text":"x"}`)
    await app.must('POST', '/t/rows', { body: lines.join('\n'), headers })
  }

  test('come whole and in order up to the limit, and beyond it are refused', async () => {
    const body = { group_by: ['id'], order_by: [{ column: 'id', descending: true }] }
    const bytes = await bytesOf(app, 'aggregate?format=csv', body)
    const ids = Buffer.from(bytes).toString().trimEnd().split('\n').slice(1).map(Number)

    expect(ids).toEqual(
      Array.from({ length: AGGREGATE_GROUP_COUNT_MAX }, (_, i) => {
        return AGGREGATE_GROUP_COUNT_MAX - 1 - i
      }),
    )
    await fill(AGGREGATE_GROUP_COUNT_MAX, AGGREGATE_GROUP_COUNT_MAX + 1)
    const answer = await app.send('POST', '/api/v1/tables/t/aggregate', { body })
    expect([answer.status, answer.json.code, answer.json.limit]).toEqual([
      400,
      'INVALID_ARGUMENT',
      AGGREGATE_GROUP_COUNT_MAX,
    ])
    const bounded = { ...body, predicates: [{ column: 'id', op: '<', value: 2 }] }
    expect((await app.must('POST', '/t/aggregate', { body: bounded })).rows).toHaveLength(2)
  })
})

test('a result takes room of the front until it was read, or nobody wants it', async () => {
  const app = new LocalApp()
  app.makeTable(aNewTable('t', COLUMNS, 2))
  const holdFor = vi.spyOn(FrontMemory.prototype, 'holdFor')
  const open = () => {
    return app.app.request('http://localhost/api/v1/tables/t/aggregate?format=ndjson', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ aggregates: [{ op: 'COUNT' }] }),
    })
  }
  const read = await open()
  const cancelled = await open()
  const holdings = holdFor.mock.results.map(({ value }) => value as Holding)
  holdFor.mockRestore()

  expect(holdings.map(({ isEmpty }) => isEmpty)).toEqual([false, false])
  expect(await read.text()).toBe('{"count":0}\n')
  expect(holdings.map(({ isEmpty }) => isEmpty)).toEqual([true, false])
  await cancelled.body?.cancel()
  expect(holdings.map(({ isEmpty }) => isEmpty)).toEqual([true, true])
})
