import { beforeEach, describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import { utf8Decode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { aNewTable } from '../../support/a-table.ts'
import { LocalApp } from '../../support/local-app.ts'
import {
  byNumber,
  NUMBERED_COLUMNS,
  type NumberedRow,
  numberedRows,
} from '../../support/numbered-rows.ts'
import { readArrow } from '../../support/read-arrow.ts'
import { ParquetFile } from '../../support/read-parquet.ts'

const ARROW = 'application/vnd.apache.arrow.stream'
const PARQUET = 'application/vnd.apache.parquet'
const { columns: COLUMNS } = aSchema(...NUMBERED_COLUMNS)

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
})

interface BinaryAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

async function send(
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<BinaryAnswer> {
  const response = await app.app.request(`http://localhost/api/v1/tables/t${path}`, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes }
}

async function insert(count: number): Promise<void> {
  for (let start = 0; start < count; start += 5000) {
    const rows = numberedRows(start, Math.min(count, start + 5000))
    await app.must('POST', '/t/rows', { body: { rows } })
  }
}

function numbered(rows: readonly (readonly (Cell | null)[])[]): NumberedRow[] {
  return rows.map(([id, name, n]) => {
    return { id: Number(id), name: utf8Decode(name as Uint8Array), n: n as number | null }
  })
}

async function ofParquet(bytes: Uint8Array): Promise<NumberedRow[]> {
  const file = await ParquetFile.open(bytes)
  const rows = numbered(await file.cells(COLUMNS))
  await file.close()
  return rows
}

const ofArrow = async (bytes: Uint8Array) => numbered(readArrow(bytes).rows)

const FORMATS = [
  ['arrow', ARROW, ofArrow],
  ['parquet', PARQUET, ofParquet],
] as const

describe.each(FORMATS)('a scan as %s', (format, type, read) => {
  test('has all rows of all tablets', async () => {
    await insert(300)

    for (const accept of [type, `text/csv;q=0.5, ${type}`, `application/json;q=0.1, ${type}`]) {
      const answer = await send('POST', '/scan', {}, { accept })

      expect(answer.headers.get('Content-Type')).toBe(type)
      expect(answer.headers.get('Nyala-Timestamp')).toMatch(/^\d{16}$/)
      expect(byNumber(await read(answer.bytes))).toEqual(numberedRows(0, 300))
    }
  })

  test('has rows in the order asked, up to the limit', async () => {
    await insert(300)
    const query = `?format=${format}`

    const first = await send('POST', `/scan${query}`, { order: 'ORDERED', limit: 70 })
    const last = await send('GET', `/rows${query}&order=DESCENDING&limit=70`)

    expect(await read(first.bytes)).toEqual(numberedRows(0, 70))
    expect(await read(last.bytes)).toEqual(numberedRows(230, 300).reverse())
    expect(await read((await send('GET', `/rows${query}&limit=0`)).bytes)).toEqual([])
  })

  test('has the rows and columns asked for', async () => {
    await insert(100)
    const query = `format=${format}&columns=id,name,n&where=n,IS NULL&where=id,<,50&order=ORDERED`

    const answer = await send('GET', `/rows?${query.replaceAll(' ', '%20')}`)

    expect(await read(answer.bytes)).toEqual(numberedRows(0, 50).filter(({ n }) => n === null))
  })

  test('of an empty table has none', async () => {
    expect(await read((await send('GET', `/rows?format=${format}`)).bytes)).toEqual([])
  })

  test('has very many rows, in the order of tablets and of keys', async () => {
    await insert(35_000)
    for (const order of ['UNORDERED', 'ORDERED']) {
      const rows = await read((await send('POST', `/scan?format=${format}`, { order })).bytes)

      expect(byNumber(rows)).toEqual(numberedRows(0, 35_000))
      if (order === 'ORDERED') expect(rows[34_999].id).toBe(34_999)
    }
  })

  test('is only told of to HEAD', async () => {
    const { status, headers, bytes } = await send('HEAD', `/rows?format=${format}`)

    expect([status, headers.get('Content-Type'), bytes.length]).toEqual([200, type, 0])
  })

  test('has a status when it fails before its first row', async () => {
    app.service.dropTable('t')

    const { status, headers } = await send('GET', `/rows?format=${format}`)
    expect([status, headers.get('Content-Type')]).toEqual([404, 'application/problem+json'])
  })

  test('is broken off, and has no end, when it fails midway', async () => {
    await insert(100)
    const [, second] = app.service.tablets.values()
    second.read = async () => {
      throw new Error('gone')
    }
    const response = await app.app.request(`http://localhost/api/v1/tables/t/rows?format=${format}`)

    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
  })
})

describe('a scan as arrow', () => {
  test('of no columns tells how many rows there are', async () => {
    await insert(30)

    const { bytes } = await send('POST', '/scan?format=arrow', { columns: [] })
    const { names, batchRowCounts } = readArrow(bytes)
    expect(names).toEqual([])
    expect(batchRowCounts.reduce((sum, count) => sum + count)).toBe(30)
  })

  test('has dictionaries only if they are asked for', async () => {
    const rows = Array.from({ length: 200 }, (_, id) => ({ id, name: `name ${id % 3}` }))
    await app.must('POST', '/t/rows', { body: { rows } })
    const types = async (query: string) => {
      return readArrow((await send('GET', `/rows?format=arrow${query}`)).bytes).types[1]
    }

    expect(await types('')).toBe('Utf8')
    expect(await types('&dictionary=false')).toBe('Utf8')
    expect(await types('&dictionary=true')).toBe('Dictionary<Int32, Utf8>')
  })

  test('of no rows with dictionaries has all columns', async () => {
    const { bytes } = await send('GET', '/rows?format=arrow&dictionary=TRUE')

    expect(readArrow(bytes).names).toEqual(['id', 'name', 'n'])
  })
})

test('a scan as parquet of no columns is refused', async () => {
  const { status, bytes } = await send('POST', '/scan?format=parquet', { columns: [] })

  expect(status).toBe(400)
  expect(utf8Decode(bytes)).toContain('a Parquet file has one column at least')
})

test('scans as parquet that nobody reads are few at once', async () => {
  await insert(10)
  const open = () => app.app.request('http://localhost/api/v1/tables/t/rows?format=parquet')
  const unread = [await open(), await open(), await open(), await open(), await open()]

  expect(unread.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect((await open()).status).toBe(503)
  await unread[0].body?.cancel()
  await unread[1].arrayBuffer()
  expect([(await open()).status, (await open()).status]).toEqual([200, 200])
  expect((await open()).status).toBe(503)
})
