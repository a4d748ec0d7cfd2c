import { tableFromIPC } from 'apache-arrow'
import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp } from '../../support/local-app.ts'
import { NUMBERED_COLUMNS, numberedRow, numberedRows } from '../../support/numbered-rows.ts'

interface DiffRow {
  readonly id: number
  readonly name: string | null
  readonly n: number | null
  readonly is_deleted: boolean
}

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
})

async function apply(...operations: (readonly [string, object])[]): Promise<number> {
  const body = { operations: operations.map(([operation, row]) => ({ operation, row })) }
  return (await app.must('POST', '/t/rows', { body })).timestamp
}

function insert(start: number, end: number): Promise<number> {
  return apply(...numberedRows(start, end).map((row) => ['INSERT', row] as const))
}

function scan(body: object, query = ''): Promise<LocalAnswer> {
  return app.send('POST', `/api/v1/tables/t/scan${query}`, { body })
}

async function rowsOf(body: object): Promise<DiffRow[]> {
  return (await app.must('POST', '/t/scan', { body })).rows
}

/** Walks through all pages, with something done in between. */
async function walk(body: object, between = async () => {}): Promise<DiffRow[]> {
  const rows: DiffRow[] = []
  const snapshots = new Set<number>()
  let token: string | undefined
  do {
    const request = token === undefined ? body : { ...body, page_token: token }
    const page = await app.must('POST', '/t/scan', { body: request })
    rows.push(...page.rows)
    snapshots.add(page.snapshot_timestamp)
    token = page.next_page_token
    await between()
  } while (token !== undefined)
  expect(snapshots.size).toBe(1)
  return rows
}

/** A table in which 30 rows were there, and 10 of each then inserted, changed and deleted. */
async function changed(): Promise<{ before: number; after: number; rows: DiffRow[] }> {
  const before = await insert(0, 30)
  const changes = Array.from({ length: 10 }, (_, i) => [
    ['DELETE', { id: i }] as const,
    ['UPDATE', { id: 10 + i, name: `changed ${i}` }] as const,
    ['INSERT', numberedRow(30 + i)] as const,
  ])
  const after = await apply(...changes.flat())
  const rows: DiffRow[] = [
    ...Array.from({ length: 10 }, (_, id) => ({ id, name: null, n: null, is_deleted: true })),
    ...numberedRows(10, 20).map((row) => shownRow({ ...row, name: `changed ${row.id - 10}` })),
    ...numberedRows(30, 40).map(shownRow),
  ]
  return { before, after, rows }
}

function shownRow(row: object): DiffRow {
  return { ...row, is_deleted: false } as DiffRow
}

describe('a diff scan', () => {
  test('gives the rows of all tablets that changed, by key, each with is_deleted', async () => {
    const { before, after, rows } = await changed()

    const answer = await scan({ diff_from: before })

    expect(answer.json.rows).toEqual(rows)
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(after)
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.snapshot_timestamp))
    expect(await rowsOf({ diff_from: answer.json.snapshot_timestamp })).toEqual([])
  })

  test('ends at the snapshot that is asked for', async () => {
    const { before, after, rows } = await changed()
    await apply(['DELETE', { id: 25 }], ['INSERT', numberedRow(90)])

    expect(await rowsOf({ diff_from: before, snapshot_timestamp: after })).toEqual(rows)
    expect(await rowsOf({ diff_from: before, snapshot_timestamp: before })).toEqual([])
  })

  test('takes times as RFC 3339', async () => {
    const before = await insert(0, 2)
    await apply(['DELETE', { id: 1 }])
    const micros = String(before % 1_000_000).padStart(6, '0')
    const time = new Date(Math.floor(before / 1_000_000) * 1000).toISOString()

    const rows = await rowsOf({ diff_from: time.replace('000Z', `${micros}Z`) })
    expect(rows.map(({ id }) => id)).toEqual([1])
  })

  test('gives no more rows than its limit, over all pages', async () => {
    const { before, rows } = await changed()

    expect(await rowsOf({ diff_from: before, limit: 12 })).toEqual(rows.slice(0, 12))
    expect(await walk({ diff_from: before, limit: 12, page_size: 5 })).toEqual(rows.slice(0, 12))
    expect(await rowsOf({ diff_from: before, limit: 0 })).toEqual([])
  })

  test('walks in pages through one diff, whatever is written since', async () => {
    const { before, rows } = await changed()
    let next = 100

    const walked = await walk({ diff_from: before, page_size: 4 }, async () => {
      await apply(['INSERT', numberedRow(next++)], ['UPSERT', { id: 35, name: `${next}` }])
      await app.must('POST', '/t/maintenance', { body: { op: 'FLUSH_MRS' } })
      if (next % 2 === 0) await app.must('POST', '/t/maintenance', { body: { op: 'COMPACT' } })
    })

    expect(walked).toEqual(rows)
  })

  test('gives only the columns asked for, and is_deleted behind them', async () => {
    const { before } = await changed()

    const named = await rowsOf({ diff_from: before, columns: ['name', 'id'], limit: 11 })
    expect(JSON.stringify(named.at(-1))).toBe('{"name":"changed 0","id":10,"is_deleted":false}')
    const [none] = await rowsOf({ diff_from: before, columns: [], limit: 1 })
    expect(none).toEqual({ is_deleted: true })
  })

  test('decides of deleted rows by predicates on the key alone', async () => {
    const { before, rows } = await changed()
    const where = (column: string, op: string, value: unknown) => [{ column, op, value }]

    const byName = { diff_from: before, predicates: where('name', '=', 'changed 3') }
    expect((await rowsOf(byName)).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13])
    const byNothing = { diff_from: before, predicates: where('n', '>', 1000) }
    expect((await rowsOf(byNothing)).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const byKey = { diff_from: before, predicates: where('id', '=', 7) }
    expect(await rowsOf(byKey)).toEqual([rows[7]])
    const bounds = { primary_key_lower: { id: 8 }, primary_key_upper: { id: 11 } }
    expect(await rowsOf({ diff_from: before, ...bounds })).toEqual(rows.slice(8, 11))
  })

  test('begins ahead of the clock, if not too far, and then has no rows', async () => {
    await insert(0, 3)
    const { body } = { body: { diff_from: app.service.time.micros + 5_000_000 } }

    const answer = await scan(body)

    expect(answer.json.rows).toEqual([])
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(body.diff_from)
    const empty = new LocalApp()
    empty.makeTable(aNewTable('t', NUMBERED_COLUMNS))
    const { rows } = await empty.must('POST', '/t/scan', { body })
    expect(rows).toEqual([])
  })

  test('is explained', async () => {
    const { before } = await changed()
    const predicates = [{ column: 'id', op: '=', value: 7 }]

    const { json } = await scan({ diff_from: before, predicates, explain: true })

    expect(json.tablets).toHaveLength(1)
    expect(json.tablets_pruned).toBe(3)
  })

  test('is analyzed', async () => {
    const { before, rows } = await changed()

    const { json } = await scan({ diff_from: before, analyze: true })

    const returned = json.tablets.map((tablet: { rows_returned: number }) => tablet.rows_returned)
    expect(returned.reduce((sum: number, count: number) => sum + count)).toBe(rows.length)
  })

  test('is cut into scan tokens, whose rows together are its own', async () => {
    const { before, rows } = await changed()
    const body = { diff_from: before, is_deleted_as: 'gone', target_bytes: 1 }
    const { tokens } = await app.must('POST', '/t/scan_tokens', { body })
    await insert(100, 110)

    const found: (DiffRow & { readonly gone: boolean })[] = []
    for (const { scan_token } of tokens)
      found.push(...((await walk({ scan_token, page_size: 2 })) as typeof found))
    const sorted = found.sort((a, b) => a.id - b.id)
    expect(sorted.map(({ gone, ...row }) => ({ ...row, is_deleted: gone }))).toEqual(rows)
  })
})

describe('a diff scan in other formats', () => {
  test('is the same, as NDJSON', async () => {
    const { before, rows } = await changed()
    const { text } = await scan({ diff_from: before }, '?format=ndjson')
    const lines = text.trimEnd().split('\n')

    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
  })

  test('is the same, as CSV', async () => {
    const { before, rows } = await changed()
    const { text } = await scan({ diff_from: before }, '?format=csv')
    const lines = rows.map((row) => [row.id, row.name, row.n, row.is_deleted].join(','))

    expect(text).toBe(['id,name,n,is_deleted', ...lines, ''].join('\n'))
  })

  test('is the same, as Arrow: all columns but the key may be null', async () => {
    const { before, rows } = await changed()
    const response = await app.app.request('http://localhost/api/v1/tables/t/scan?format=arrow', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ diff_from: before }),
    })
    const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()))

    const isNullable = table.schema.fields.map(({ name, nullable }) => [name, nullable])
    expect(isNullable).toEqual([
      ['id', false],
      ['name', true],
      ['n', true],
      ['is_deleted', false],
    ])
    const found = table.toArray().map((row) => ({ ...row.toJSON(), id: Number(row.id) }))
    expect(found).toEqual(rows)
  })

  test('has a header when nothing changed', async () => {
    const before = await insert(0, 3)
    const { text } = await scan({ diff_from: before, is_deleted_as: 'gone' }, '?format=csv')

    expect(text).toBe('id,name,n,gone\n')
  })
})

describe('a diff scan of a table with a column is_deleted', () => {
  beforeEach(() => {
    app = new LocalApp()
    app.makeTable(aNewTable('t', ['id INT64 KEY', 'is_deleted STRING NULL']))
  })

  test('names its own as it is told', async () => {
    const before = await apply(['INSERT', { id: 1, is_deleted: 'no' }], ['INSERT', { id: 2 }])
    await apply(['DELETE', { id: 2 }], ['UPDATE', { id: 1, is_deleted: 'yes' }])

    expect(await rowsOf({ diff_from: before, is_deleted_as: 'is_gone' })).toEqual([
      { id: 1, is_deleted: 'yes', is_gone: false },
      { id: 2, is_deleted: null, is_gone: true },
    ])
  })

  test('is refused without another name, whatever columns it asks for', async () => {
    const before = await apply(['INSERT', { id: 1 }])
    const detail = 'the table has a column "is_deleted": is_deleted_as must be another name'

    const requests = [{}, { columns: ['id'] }, { is_deleted_as: 'is_deleted' }, { explain: true }]
    for (const members of requests) {
      const { status, json } = await scan({ diff_from: before, ...members })
      expect([status, json.detail]).toEqual([400, detail])
    }
    const { json } = await scan({ diff_from: before, is_deleted_as: 'id' })
    expect(json.detail).toBe('the table has a column "id": is_deleted_as must be another name')
  })
})

describe('a diff scan is refused', () => {
  const NOW = 'integer of microseconds or RFC 3339'

  test.each([
    [{ diff_from: 'yesterday' }, `diff_from must be an ${NOW}`],
    [{ diff_from: null }, `diff_from must be an ${NOW}`],
    [{ diff_from: 1.5 }, `diff_from must be an ${NOW}`],
    [{ is_deleted_as: 'gone' }, 'is_deleted_as is for scans with diff_from'],
    [{ diff_from: 0, order: 'UNORDERED' }, 'rows of a diff come ORDERED, not UNORDERED'],
    [{ diff_from: 0, order: 'descending' }, 'rows of a diff come ORDERED, not DESCENDING'],
    [{ diff_from: 0, read_mode: 'READ_LATEST' }, 'a diff is a READ_AT_SNAPSHOT, not READ_LATEST'],
    [
      { diff_from: 0, read_mode: 'READ_YOUR_WRITES' },
      'a diff is a READ_AT_SNAPSHOT, not READ_YOUR_WRITES',
    ],
    [{ diff_from: 0, is_deleted_as: '' }, 'column name is empty'],
  ])('with %j', async (body, detail) => {
    await insert(0, 1)
    const { status, json } = await scan(body)

    expect([status, json.code, json.detail]).toEqual([400, 'INVALID_ARGUMENT', detail])
  })

  test('that ends before it begins', async () => {
    const first = await insert(0, 1)
    const second = await insert(1, 2)
    const { json } = await scan({ diff_from: second, snapshot_timestamp: first })

    expect(json.detail).toBe('diff_from is later than snapshot_timestamp')
  })

  test('that begins too far ahead', async () => {
    const { json } = await scan({ diff_from: app.service.time.micros + 30_000_000 })

    expect(json.code).toBe('INVALID_ARGUMENT')
    expect(json.detail).toContain('diff_from is more than 20 s ahead')
  })

  test('that begins below the history that is kept, also in the midst of its pages', async () => {
    app.makeTable({
      ...aNewTable('u', NUMBERED_COLUMNS, 2),
      extraConfigs: { 'kudu.table.history_max_age_sec': '60' },
    })
    const body = { rows: numberedRows(0, 20) }
    const before = app.service.time.micros - 1000
    const { timestamp: after } = await app.must('POST', '/u/rows', { body })
    const request = { diff_from: before, snapshot_timestamp: after, page_size: 5 }
    const first = await app.must('POST', '/u/scan', { body: request })
    app.service.time.micros += 59_999_500 - (app.service.time.micros - before)
    const second = await app.must('POST', '/u/scan', {
      body: { ...request, page_token: first.next_page_token },
    })
    app.service.time.micros += 1500

    const third = await app.send('POST', '/api/v1/tables/u/scan', {
      body: { ...request, page_token: second.next_page_token },
    })
    const ancient = await scan({ diff_from: 0 })

    expect(third.json.code).toBe('INVALID_SNAPSHOT')
    expect(ancient.json.code).toBe('INVALID_SNAPSHOT')
  })

  test('when a page is asked for with another beginning or name', async () => {
    const { before } = await changed()
    const first = await scan({ diff_from: before, page_size: 5 })
    const token = { page_size: 5, page_token: first.json.next_page_token }

    for (const members of [{}, { diff_from: before + 1 }, { is_deleted_as: 'gone' }]) {
      const { json } = await scan({ diff_from: before, ...members, ...token })
      const isRefused = Object.keys(members).length > 0
      expect(json.code).toBe(isRefused ? 'INVALID_ARGUMENT' : undefined)
    }
  })
})
