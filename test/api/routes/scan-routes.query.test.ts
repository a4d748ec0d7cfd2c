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

let app: LocalApp

beforeEach(async () => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
  await app.must('POST', '/t/rows', { body: { rows: numberedRows(0, 60) } })
})

/** Reads rows by a query string of these pairs. */
function get(...pairs: [string, string][]): Promise<LocalAnswer> {
  return app.send('GET', `/api/v1/tables/t/rows?${new URLSearchParams(pairs)}`)
}

async function rowsOf(...pairs: [string, string][]): Promise<NumberedRow[]> {
  const answer = await get(...pairs, ['page_size', '10000'])
  expect(answer.status, answer.text).toBe(200)
  return byNumber(answer.json.rows)
}

describe('GET rows', () => {
  test.each<[string, (row: NumberedRow) => boolean]>([
    ['id,=,7', ({ id }) => id === 7],
    ['id,<,7', ({ id }) => id < 7],
    ['id,<=,7', ({ id }) => id <= 7],
    ['id,>,7.5', ({ id }) => id > 7],
    ['id,>=,1e1', ({ id }) => id >= 10],
    ['id,IN,1,2,"3",1000', ({ id }) => id === 1 || id === 2 || id === 3],
    ['id,in', () => false],
    ['name,in,row 3,"row 30",""', ({ id }) => id === 3 || id === 30],
    ['n,is null', ({ n }) => n === null],
    ['n,IS NOT NULL', ({ n }) => n !== null],
    ['n,>,300', () => false],
    ['n,<,300', ({ n }) => n !== null],
    ['name,Starts With,row 5', ({ id }) => id === 5 || id >= 50],
    ['"name",=,"row 1"', ({ id }) => id === 1],
  ])('takes where=%s', async (where, matches) => {
    expect(await rowsOf(['where', where])).toEqual(numberedRows(0, 60).filter(matches))
  })

  test('takes several predicates, all of which must hold', async () => {
    const rows = await rowsOf(['where', 'id,>=,10'], ['where', 'id,<,20'], ['where', 'n,IS NULL'])

    expect(rows.map(({ id }) => id)).toEqual([12, 15, 18])
  })

  test('takes columns, in their order; none where that is said', async () => {
    const one: [string, string] = ['where', 'id,=,4']

    expect((await get(['columns', 'n,id'], one)).text).toContain('"rows":[{"n":4,"id":4}]')
    expect((await get(['columns', '"n"'], one)).json.rows).toEqual([{ n: 4 }])
    expect((await get(['columns', ''], one)).json.rows).toEqual([{}])
  })

  test('takes an order and a limit', async () => {
    const rows = (await get(['order', 'descending'], ['limit', '3'])).json.rows

    expect(rows).toEqual([numberedRow(59), numberedRow(58), numberedRow(57)])
    expect((await get(['limit', '0'])).json.rows).toEqual([])
  })

  test('walks pages by token, at one snapshot, in any order', async () => {
    for (const order of ['ordered', 'DESCENDING', 'unordered']) {
      const rows: NumberedRow[] = []
      let more: [string, string][] = []
      for (;;) {
        const answer = await get(
          ['order', order],
          ['page_size', '7'],
          ['where', 'id,<,60'],
          ...more,
        )
        expect(answer.status, answer.text).toBe(200)
        rows.push(...answer.json.rows)
        const { next_page_token: next } = answer.json
        if (next === undefined) break
        more = [['page_token', next]]
        await app.must('POST', '/t/rows', {
          body: {
            operation: 'UPSERT',
            rows: [
              { id: 59, name: 'late' },
              { id: -1, name: 'new' },
            ],
          },
        })
      }
      const expected = order === 'DESCENDING' ? numberedRows(0, 60).reverse() : numberedRows(0, 60)
      expect(order === 'unordered' ? byNumber(rows) : rows, order).toEqual(expected)
      await app.must('POST', '/t/rows', { body: { operation: 'UPSERT', rows: [numberedRow(59)] } })
      await app.must('POST', '/t/rows', {
        body: { operation: 'DELETE_IGNORE', rows: [{ id: -1 }] },
      })
    }
  })

  test('takes a snapshot as integer or RFC 3339, plus encoded', async () => {
    const { timestamp } = await app.must('POST', '/t/rows', { body: { rows: [numberedRow(60)] } })
    await app.must('POST', '/t/rows', { body: { rows: [numberedRow(61)] } })
    const milliseconds = new Date(Math.floor(timestamp / 1000)).toISOString().slice(0, -1)
    const text = `${milliseconds}${String(timestamp % 1000).padStart(3, '0')}`

    for (const time of [String(timestamp), `${text}Z`, `${text}+00:00`]) {
      const answer = await get(['snapshot_timestamp', time], ['page_size', '100'])
      expect(answer.json.snapshot_timestamp).toBe(timestamp)
      expect(answer.json.rows).toHaveLength(61)
    }
  })

  test.each(['ndjson', 'csv', 'json'])('answers in %s', async (format) => {
    const answer = await get(
      ['format', format],
      ['order', 'ORDERED'],
      ['limit', '2'],
      ['columns', 'id'],
    )
    const texts: Record<string, string> = { ndjson: '{"id":0}\n{"id":1}\n', csv: 'id\n0\n1\n' }

    if (format === 'json') expect(answer.json.rows).toEqual([{ id: 0 }, { id: 1 }])
    else expect(answer.text).toBe(texts[format])
  })

  test.each<[[string, string][], string]>([
    [[['where', 'nope,=,1']], 'nope'],
    [[['where', 'id']], 'where[0]'],
    [
      [
        ['where', 'id,=,1'],
        ['where', 'id,~,1'],
      ],
      'where[1]',
    ],
    [[['where', 'id,=']], 'takes one value'],
    [[['where', 'n,IS NULL,1']], 'takes no value'],
    [[['where', 'id,=,x']], 'id'],
    [[['where', 'id,STARTS WITH,1']], 'STARTS WITH'],
    [[['where', 'name,=,"open']], 'where[0]'],
    [[['columns', 'id,id']], 'twice'],
    [[['columns', 'nope']], 'nope'],
    [[['order', 'sideways']], 'order'],
    [[['limit', '-1']], 'limit'],
    [[['limit', '1.5']], 'limit'],
    [[['page_size', '0']], 'page_size'],
    [[['page_size', '10001']], 'page_size'],
    [[['page_token', 'x']], 'page_token'],
    [[['snapshot_timestamp', 'soon']], 'snapshot_timestamp'],
    [
      [
        ['page_size', '5'],
        ['format', 'csv'],
      ],
      'page_size',
    ],
    [
      [
        ['limit', '1'],
        ['limit', '2'],
      ],
      'limit',
    ],
    [[['read_mode', 'READ_LATEST']], 'read_mode'],
    [[['scan_token', 'x']], 'scan_token'],
  ])('refuses %j and names what is wrong', async (pairs, named) => {
    const answer = await get(...pairs)

    expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
    expect(answer.json.detail).toContain(named)
  })
})
