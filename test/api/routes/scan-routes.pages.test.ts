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

interface Page {
  readonly rows: readonly NumberedRow[]
  readonly snapshot_timestamp: number
  readonly next_page_token?: string
}

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

async function walk(body: object): Promise<Page[]> {
  const pages: Page[] = []
  let token: string | undefined
  do {
    const next = token === undefined ? body : { ...body, page_token: token }
    const page: Page = await app.must('POST', '/t/scan', { body: next })
    pages.push(page)
    token = page.next_page_token
  } while (token !== undefined)
  return pages
}

const rowsOf = (pages: readonly Page[]): NumberedRow[] => pages.flatMap((page) => page.rows)

describe('pages', () => {
  test.each(['UNORDERED', 'ORDERED', 'DESCENDING'])(
    'walk through all rows once, %s',
    async (order) => {
      await insert(numberedRows(0, 250))
      const pages = await walk({ order, page_size: 7 })

      expect(byNumber(rowsOf(pages))).toEqual(numberedRows(0, 250))
      for (const page of pages) expect(page.rows.length).toBeLessThanOrEqual(7)
      if (order === 'ORDERED') expect(rowsOf(pages)).toEqual(numberedRows(0, 250))
      if (order === 'DESCENDING') expect(rowsOf(pages)).toEqual(numberedRows(0, 250).reverse())
    },
  )

  test('show the snapshot of the first, whatever was written since', async () => {
    await insert(numberedRows(0, 20))
    const first: Page = (await scan({ page_size: 5, order: 'ORDERED' })).json
    await app.must('POST', '/t/rows', {
      body: {
        operations: [
          { operation: 'DELETE', row: { id: 10 } },
          { operation: 'UPDATE', row: { id: 11, name: 'changed' } },
          { operation: 'INSERT', row: { id: 100, name: 'new' } },
        ],
      },
    })
    for (const tablet of app.service.tablets.values()) tablet.evict()
    const rows: NumberedRow[] = [...first.rows]
    let token = first.next_page_token
    while (token !== undefined) {
      const page: Page = (await scan({ page_size: 50, order: 'ORDERED', page_token: token })).json
      expect(page.snapshot_timestamp).toBe(first.snapshot_timestamp)
      rows.push(...page.rows)
      token = page.next_page_token
    }

    expect(rows).toEqual(numberedRows(0, 20))
  })

  test('count a limit over all of them', async () => {
    await insert(numberedRows(0, 100))
    for (const order of ['UNORDERED', 'ORDERED']) {
      const pages = await walk({ limit: 20, page_size: 8, order })

      expect(pages.map((page) => page.rows.length)).toEqual([8, 8, 4])
    }
    expect(await walk({ limit: 16, page_size: 8 })).toHaveLength(2)
  })

  test('that end with the last row of the last tablet are the last', async () => {
    app.makeTable(aNewTable('one'))
    await app.must('POST', '/one/rows', { body: { rows: [{ id: 1 }, { id: 2 }] } })
    const page = await app.must('POST', '/one/scan', { body: { page_size: 2 } })

    expect(page).not.toHaveProperty('next_page_token')
  })

  test('end at eight megabytes, but hold one row at least', async () => {
    app.makeTable(aNewTable('wide', ['id INT64 KEY', 'text STRING']))
    const text = 'x'.repeat(60_000)
    for (let start = 0; start < 160; start += 40) {
      const rows = Array.from({ length: 40 }, (_, i) => ({ id: start + i, text }))
      await app.must('POST', '/wide/rows', { body: { rows } })
    }
    const answer = await app.send('POST', '/api/v1/tables/wide/scan', { body: {} })

    expect(answer.text.length).toBeLessThan(8 * 1024 * 1024 + 2000)
    expect(answer.json.rows.length).toBe(139)
    const rest = await app.must('POST', '/wide/scan', {
      body: { page_token: answer.json.next_page_token },
    })
    expect(rest.rows.map(({ id }: NumberedRow) => id)).toEqual(
      numberedRows(139, 160).map(({ id }) => id),
    )
  })

  test('end when they took ten seconds, even without a row', async () => {
    await insert(numberedRows(0, 40))
    const { front } = slowFront()
    const predicates = [{ column: 'name', op: '=', value: 'row 39' }]
    const rows: NumberedRow[] = []
    let pages = 0
    let page_token: string | undefined
    do {
      const body = page_token === undefined ? { predicates } : { predicates, page_token }
      const page: Page = await front.must('POST', '/t/scan', { body })
      rows.push(...page.rows)
      page_token = page.next_page_token
      pages++
    } while (page_token !== undefined)

    expect(rows).toEqual([numberedRow(39)])
    expect(pages).toBeGreaterThan(1)
  })

  /** A front whose every call to a tablet takes six seconds. */
  function slowFront(): { front: LocalApp } {
    const { service } = app
    const fast = service.tablet.bind(service)
    service.tablet = (tabletId) => {
      const tablet = fast(tabletId)
      const read = tablet.read.bind(tablet)
      tablet.read = (call) => {
        service.time.micros += 6_000_000
        return read(call)
      }
      return tablet
    }
    return { front: new LocalApp({}, service) }
  }
})

describe('page tokens', () => {
  async function aToken(body: object = {}): Promise<string> {
    await insert(numberedRows(0, 20))
    return (await scan({ page_size: 5, ...body })).json.next_page_token
  }

  test('are taken with another page size, and with members in another order', async () => {
    const token = await aToken({ limit: 100, columns: ['id'] })

    expect((await scan({ page_token: token, columns: ['id'], limit: 100 })).status).toBe(200)
    const wide = { page_size: 1000, columns: ['id'], limit: 100, page_token: token }
    expect((await scan(wide)).status).toBe(200)
  })

  test.each([
    { limit: 101, columns: ['id'] },
    { columns: ['id'] },
    { limit: 100, columns: ['id', 'n'] },
    { limit: 100 },
    { limit: 100, columns: ['id'], order: 'ORDERED' },
    { limit: 100, columns: ['id'], predicates: [] },
    { limit: 100, columns: ['id'], read_mode: 'READ_YOUR_WRITES' },
  ])('are not taken with another request: %j', async (body) => {
    const token = await aToken({ limit: 100, columns: ['id'] })
    const answer = await scan({ ...body, page_token: token })

    expect(answer.status).toBe(400)
    expect(answer.json.detail).toBe(
      'page_token is of another request: all of its members but page_size must be equal',
    )
  })

  test('are taken with enum values and operators in another case', async () => {
    const first = { order: 'ordered', predicates: [{ column: 'id', op: 'in', values: [1, 2, 3] }] }
    await insert(numberedRows(0, 20))
    const { json } = await scan({ ...first, page_size: 1, read_mode: 'read_latest' })
    const again = { order: 'ORDERED', predicates: [{ ...first.predicates[0], op: 'IN' }] }
    const page = await scan({ ...again, page_token: json.next_page_token })

    expect(page.json.rows.map((row: { id: number }) => row.id)).toEqual([2, 3])
  })

  test('are not taken with other value options', async () => {
    const token = await aToken()

    expect((await scan({ page_token: token }, {}, '?timestamps=millis')).status).toBe(400)
  })

  test('are not taken when a single character was changed', async () => {
    const token = await aToken()
    for (let i = 0; i < token.length; i += 7) {
      const other = token[i] === 'A' ? 'B' : 'A'
      const changed = token.slice(0, i) + other + token.slice(i + 1)
      expect((await scan({ page_token: changed })).json.code).toBe('INVALID_ARGUMENT')
    }
    expect((await scan({ page_token: token.slice(0, -1) })).status).toBe(400)
    expect((await scan({ page_token: `${token}A` })).status).toBe(400)
  })

  test('are not taken by another table', async () => {
    const token = await aToken()
    app.makeTable(aNewTable('u', NUMBERED_COLUMNS, 4))
    const answer = await app.send('POST', '/api/v1/tables/u/scan', { body: { page_token: token } })

    expect(answer.json.detail).toBe('page_token is not one that this table gave out')
  })

  test('are taken by another front', async () => {
    const token = await aToken()
    const other = new LocalApp({}, app.service)
    const page = await other.must('POST', '/t/scan', { body: { page_token: token } })

    expect(page.rows).toHaveLength(15)
  })

  test('grow old with the history of their table', async () => {
    const token = await aToken()
    app.service.time.micros += 8 * 24 * 3600 * 1_000_000
    const answer = await scan({ page_token: token })

    expect(answer.status).toBe(410)
    expect(answer.json.code).toBe('INVALID_SNAPSHOT')
  })
})
