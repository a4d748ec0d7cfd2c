import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp } from '../../support/local-app.ts'
import {
  byNumber,
  NUMBERED_COLUMNS,
  type NumberedRow,
  numberedRow,
  numberedRows,
} from '../../support/numbered-rows.ts'

interface ShownToken {
  readonly scan_token: string
  readonly tablet_id: string
  readonly estimated_bytes: number
}

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
})

function insert(rows: readonly NumberedRow[]): Promise<{ timestamp: number }> {
  return app.must('POST', '/t/rows', { body: { rows } })
}

function make(body: object, table = 't'): Promise<LocalAnswer> {
  return app.send('POST', `/api/v1/tables/${table}/scan_tokens`, { body })
}

async function tokensOf(body: object): Promise<ShownToken[]> {
  const answer = await make(body)
  expect(answer.status, answer.text).toBe(200)
  return answer.json.tokens
}

function read(token: string, more: object = {}): Promise<LocalAnswer> {
  return app.send('POST', '/api/v1/tables/t/scan', { body: { scan_token: token, ...more } })
}

async function readAll(tokens: readonly ShownToken[]): Promise<NumberedRow[]> {
  const rows: NumberedRow[] = []
  for (const { scan_token: token } of tokens) {
    const answer = await read(token, { page_size: 10_000 })
    expect(answer.status, answer.text).toBe(200)
    rows.push(...answer.json.rows)
  }
  return rows
}

describe('POST scan_tokens', () => {
  test('gives a token for each tablet, which together give each row once', async () => {
    const { timestamp } = await insert(numberedRows(0, 500))
    const answer = await make({})
    const { tokens, snapshot_timestamp: snapshot } = answer.json

    expect(tokens).toHaveLength(4)
    expect(new Set(tokens.map((token: ShownToken) => token.tablet_id)).size).toBe(4)
    for (const { estimated_bytes: bytes } of tokens) expect(bytes).toBeGreaterThan(100)
    expect(snapshot).toBeGreaterThanOrEqual(timestamp)
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(snapshot))
    expect(byNumber(await readAll(tokens))).toEqual(numberedRows(0, 500))
  })

  test('tokens show the snapshot that they were made at', async () => {
    await insert(numberedRows(0, 100))
    const { tokens, snapshot_timestamp: snapshot } = (await make({})).json
    await insert(numberedRows(100, 200))
    await app.must('POST', '/t/rows/delete', {
      body: { predicates: [{ column: 'id', op: '<', value: 50 }] },
    })

    expect(byNumber(await readAll(tokens))).toEqual(numberedRows(0, 100))
    const page = await read(tokens[0].scan_token)
    expect(page.json.snapshot_timestamp).toBe(snapshot)
    expect(page.headers.get('Nyala-Timestamp')).toBe(String(snapshot))
  })

  test('are made at the snapshot asked for', async () => {
    const { timestamp } = await insert(numberedRows(0, 10))
    await insert(numberedRows(10, 20))
    const { tokens, snapshot_timestamp: snapshot } = (await make({ snapshot_timestamp: timestamp }))
      .json

    expect(snapshot).toBe(timestamp)
    expect((await readAll(tokens)).length).toBeLessThanOrEqual(10)
  })

  test('carry columns, predicates, bounds, order and limit', async () => {
    await insert(numberedRows(0, 500))
    const body = {
      columns: ['n', 'id'],
      predicates: [
        { column: 'n', op: 'IS NOT NULL' },
        { column: 'name', op: 'STARTS WITH', value: 'row 2' },
      ],
      primary_key_lower: { id: 210 },
      primary_key_upper: { id: 290 },
      order: 'DESCENDING',
    }
    const expected = numberedRows(210, 290)
      .filter(({ n }) => n !== null)
      .map(({ id, n }) => ({ n, id }))
    const tokens = await tokensOf(body)
    const [first] = tokens
    const page = (await read(first.scan_token)).json.rows as NumberedRow[]

    expect(byNumber(await readAll(tokens))).toEqual(expected)
    expect(page).toEqual(byNumber(page).reverse())
    expect(Object.keys(page[0])).toEqual(['n', 'id'])
    const [limited] = await tokensOf({ ...body, limit: 3 })
    expect((await read(limited.scan_token)).json.rows).toEqual(page.slice(0, 3))
  })

  test('cut tablets to parts of about the size asked for', async () => {
    app.makeTable(aNewTable('one', NUMBERED_COLUMNS))
    await app.must('POST', '/one/rows', { body: { rows: numberedRows(0, 8000) } })
    const [whole] = (await make({}, 'one')).json.tokens
    const size = Math.ceil(whole.estimated_bytes / 10)
    const { tokens } = (await make({ target_bytes: size }, 'one')).json
    const counts: number[] = []
    const ids: number[] = []
    for (const { scan_token: token, estimated_bytes: bytes } of tokens) {
      const { rows } = await app.must('POST', '/one/scan', {
        body: { scan_token: token, page_size: 10_000 },
      })
      counts.push(rows.length)
      ids.push(...rows.map(({ id }: NumberedRow) => id))
      expect(bytes / size).toBeGreaterThan(0.8)
      expect(bytes / size).toBeLessThan(1.2)
    }

    expect(tokens).toHaveLength(10)
    for (const count of counts) expect(count).toBeGreaterThan(600)
    expect(ids).toEqual(numberedRows(0, 8000).map(({ id }) => id))
  })

  test('are only for the tablets that the scan needs', async () => {
    await insert(numberedRows(0, 100))
    expect(await tokensOf({ predicates: [{ column: 'id', op: '=', value: 7 }] })).toHaveLength(1)
    expect(await tokensOf({ predicates: [{ column: 'id', op: 'IN', values: [] }] })).toEqual([])
    expect(await tokensOf({ limit: 0 })).toEqual([])
  })

  test('of lists hold only what their tablet can', async () => {
    await insert(numberedRows(0, 3000))
    const values = Array.from({ length: 1000 }, (_, i) => i * 2)
    const tokens = await tokensOf({ predicates: [{ column: 'id', op: 'IN', values }] })
    const length = tokens.reduce((sum, { scan_token: token }) => sum + token.length, 0)

    expect(length).toBeLessThan(4 * (await tokensOf({}))[0].scan_token.length + 1000 * 20)
    expect(byNumber(await readAll(tokens))).toEqual(values.map(numberedRow))
  })

  test('of a table without rows give none', async () => {
    const tokens = await tokensOf({ target_bytes: 1 })

    expect(tokens.map(({ estimated_bytes: bytes }) => bytes)).toEqual([0, 0, 0, 0])
    await insert(numberedRows(0, 10))
    expect(await readAll(tokens)).toEqual([])
  })

  test('of a diff scan give what changed, deleted rows too', async () => {
    const { timestamp } = await insert(numberedRows(0, 50))
    await app.must('POST', '/t/rows/delete', {
      body: { predicates: [{ column: 'id', op: '<', value: 3 }] },
    })
    await insert([numberedRow(99)])
    const tokens = await tokensOf({
      diff_from: timestamp,
      is_deleted_as: 'gone',
      columns: ['id', 'name'],
    })
    const rows = byNumber(await readAll(tokens))

    expect(rows).toEqual([
      ...[0, 1, 2].map((id) => ({ id, name: null, gone: true })),
      { id: 99, name: 'row 99', gone: false },
    ])
  })

  test.each([
    [{ page_size: 3 }, 'page_size'],
    [{ page_token: 'x' }, 'page_token'],
    [{ scan_token: 'x' }, 'scan_token'],
    [{ explain: true }, 'explain'],
    [{ target_bytes: 0 }, 'target_bytes'],
    [{ target_bytes: 'much' }, 'target_bytes'],
    [{ columns: ['nope'] }, 'nope'],
    [{ snapshot_timestamp: 1, read_mode: 'READ_LATEST' }, 'READ_LATEST'],
  ])('refuses %j and names what is wrong', async (body, named) => {
    const answer = await make(body)

    expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
    expect(answer.json.detail).toContain(named)
  })
})

describe('a scan by token', () => {
  test('walks pages', async () => {
    await insert(numberedRows(0, 500))
    const [{ scan_token: token }] = await tokensOf({ order: 'ORDERED' })
    const whole = (await read(token)).json.rows
    const rows: NumberedRow[] = []
    let page: Record<string, unknown> = {}
    do {
      const next = page.next_page_token === undefined ? {} : { page_token: page.next_page_token }
      page = (await read(token, { page_size: 7, ...next })).json
      rows.push(...(page.rows as NumberedRow[]))
    } while (page.next_page_token !== undefined)

    expect(whole.length).toBeGreaterThan(50)
    expect(rows).toEqual(whole)
  })

  test('comes by GET too, with links', async () => {
    await insert(numberedRows(0, 500))
    const [{ scan_token: token }] = await tokensOf({})
    const whole = (await read(token)).json.rows
    const rows: NumberedRow[] = []
    let path: string | null = `/api/v1/tables/t/rows?scan_token=${token}&page_size=30`
    while (path !== null) {
      const page = await app.send('GET', path)
      rows.push(...page.json.rows)
      path = /<([^>]*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? null
    }

    expect(rows).toEqual(whole)
    expect((await app.send('HEAD', `/api/v1/tables/t/rows?scan_token=${token}`)).status).toBe(200)
  })

  test('comes in other formats', async () => {
    await insert(numberedRows(0, 50))
    const [{ scan_token: token }] = await tokensOf({ columns: ['id'], order: 'ORDERED' })
    const { rows } = (await read(token)).json
    const body = { scan_token: token }
    const csv = await app.send('POST', '/api/v1/tables/t/scan?format=csv', { body })
    const lines = await app.send(
      'GET',
      `/api/v1/tables/t/rows?format=ndjson&int64=string&scan_token=${token}`,
    )

    expect(csv.text).toBe(`id\n${rows.map(({ id }: NumberedRow) => `${id}\n`).join('')}`)
    expect(lines.text).toBe(rows.map(({ id }: NumberedRow) => `{"id":"${id}"}\n`).join(''))
  })

  test.each([
    'columns',
    'predicates',
    'limit',
    'order',
    'snapshot_timestamp',
    'read_mode',
    'explain',
    'diff_from',
  ])('takes no member %s', async (member) => {
    const [{ scan_token: token }] = await tokensOf({})
    const values: Record<string, unknown> = {
      columns: [],
      predicates: [],
      limit: 1,
      order: 'ORDERED',
      snapshot_timestamp: 1,
      read_mode: 'READ_LATEST',
      explain: true,
      diff_from: 1,
    }
    const answer = await read(token, { [member]: values[member] })

    expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(answer.json.detail).toContain(`"${member}"`)
  })

  test.each(['columns=id', 'where=id,=,1', 'limit=1', 'order=ORDERED', 'snapshot_timestamp=1'])(
    'by GET takes no %s',
    async (parameter) => {
      const [{ scan_token: token }] = await tokensOf({})
      const answer = await app.send('GET', `/api/v1/tables/t/rows?scan_token=${token}&${parameter}`)

      expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect(answer.json.detail).toContain(`"${parameter.split('=')[0]}"`)
    },
  )

  test('takes no token of another table, of a page, or that was changed', async () => {
    await insert(numberedRows(0, 50))
    app.makeTable(aNewTable('u', NUMBERED_COLUMNS, 4))
    const { tokens } = (await make({}, 'u')).json
    const page = await app.must('POST', '/t/scan', { body: { page_size: 1 } })
    const [{ scan_token: own }] = await tokensOf({})
    const changed = `${own.slice(0, 40)}${own[40] === 'A' ? 'B' : 'A'}${own.slice(41)}`

    for (const token of [tokens[0].scan_token, page.next_page_token, changed, '', 'x', '!']) {
      const answer = await read(token)
      expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect(answer.json.detail).toContain('scan_token')
    }
    const asPage = await app.send('POST', '/api/v1/tables/t/scan', { body: { page_token: own } })
    expect(asPage.json.code).toBe('INVALID_ARGUMENT')
  })

  test('takes no page token of another token', async () => {
    await insert(numberedRows(0, 50))
    const [first, second] = await tokensOf({})
    const { next_page_token: next } = (await read(first.scan_token, { page_size: 1 })).json

    expect((await read(first.scan_token, { page_token: next })).status).toBe(200)
    expect((await read(second.scan_token, { page_token: next })).json.code).toBe('INVALID_ARGUMENT')
  })

  test('of a snapshot older than the history is INVALID_SNAPSHOT', async () => {
    await insert(numberedRows(0, 50))
    const [{ scan_token: token }] = await tokensOf({})
    app.service.time.micros += 604_801_000_000

    expect((await read(token)).status).toBe(410)
  })

  test('of a table that was dropped is NOT_FOUND, of one made again INVALID_ARGUMENT', async () => {
    await insert(numberedRows(0, 50))
    const [{ scan_token: token }] = await tokensOf({})
    app.service.dropTable('t')
    expect((await read(token)).status).toBe(404)
    app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
    expect((await read(token)).json.code).toBe('INVALID_ARGUMENT')
  })
})
