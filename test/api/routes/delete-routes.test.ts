import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
})

function insert(rows: readonly NumberedRow[]): Promise<{ timestamp: number }> {
  return app.must('POST', '/t/rows', { body: { rows } })
}

function deleteRows(body: unknown, key?: string, query = ''): Promise<LocalAnswer> {
  const named: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
  const headers = { 'content-type': 'application/json', ...named }
  const path = `/api/v1/tables/t/rows/delete${query}`
  return app.send('POST', path, { body: JSON.stringify(body), headers })
}

async function stored(at?: number): Promise<NumberedRow[]> {
  const time = at === undefined ? {} : { snapshot_timestamp: at }
  return (
    await app.must('POST', '/t/scan', { body: { order: 'ORDERED', page_size: 10_000, ...time } })
  ).rows
}

const BELOW_20 = [{ column: 'id', op: '<', value: 20 }]

afterEach(() => {
  expect(app.logged).toEqual([])
})

describe('POST rows/delete', () => {
  test('deletes and counts the rows that all predicates hold for, in all tablets', async () => {
    const { timestamp: before } = await insert(numberedRows(0, 50))
    const predicates = [...BELOW_20, { column: 'n', op: 'IS NOT NULL' }]
    const answer = await deleteRows({ predicates })

    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ deleted: 13, timestamp: expect.any(Number) })
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.timestamp))
    expect(answer.headers.has('Idempotency-Replayed')).toBe(false)
    const left = numberedRows(0, 50).filter(({ id }) => id >= 20 || id % 3 === 0)
    expect(await stored()).toEqual(left)
    expect(await stored(answer.json.timestamp)).toEqual(left)
    expect(await stored(before)).toHaveLength(50)
  })

  test('deletes between bounds of the key, the lower one included', async () => {
    await insert(numberedRows(0, 50))
    const bounds = { primary_key_lower: { id: 10 }, primary_key_upper: { id: 15 } }
    const odd = [{ column: 'id', op: 'IN', values: [1, 11, 13, 15] }]

    expect((await deleteRows({ ...bounds, predicates: odd })).json.deleted).toBe(2)
    expect((await deleteRows(bounds)).json.deleted).toBe(3)
    const left = numberedRows(0, 50).filter(({ id }) => id < 10 || id >= 15)
    expect(await stored()).toEqual(left)
  })

  test('deletes every row only where that is said', async () => {
    await insert(numberedRows(0, 10))
    for (const body of [{}, { predicates: [] }, { predicates: [], all: false }]) {
      const answer = await deleteRows(body)
      expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect(answer.json.detail).toContain('"all"')
    }
    expect(await stored()).toHaveLength(10)
    expect((await deleteRows({ predicates: [], all: true })).json.deleted).toBe(10)
    expect(await stored()).toEqual([])
  })

  test('of nothing to delete tells a time at which there is nothing', async () => {
    const empty = await deleteRows({ all: true })
    expect(empty.json).toEqual({ deleted: 0, timestamp: expect.any(Number) })

    await insert(numberedRows(0, 10))
    for (const predicates of [
      [{ column: 'id', op: '>', value: 99 }],
      [{ column: 'id', op: 'IN', values: [] }],
    ]) {
      const answer = await deleteRows({ predicates })
      expect(answer.json).toEqual({ deleted: 0, timestamp: expect.any(Number) })
      expect(answer.json.timestamp).toBeGreaterThan(empty.json.timestamp)
    }
    expect(await stored()).toHaveLength(10)
  })

  test.each([
    [[], 'body'],
    [{ predicates: {} }, 'predicates'],
    [{ predicates: [null] }, 'predicates[0]'],
    [{ predicates: [{ column: 'nope', op: '=', value: 1 }] }, 'nope'],
    [{ predicates: [{ column: 'id', op: '=', value: true }] }, 'id'],
    [{ predicates: BELOW_20, limit: 3 }, 'limit'],
    [{ predicates: BELOW_20, all: 'yes' }, 'all'],
    [{ primary_key_lower: { id: 1, n: 2 } }, 'primary_key_lower'],
    [{ primary_key_upper: {} }, 'primary_key_upper'],
  ])('refuses %j and names what is wrong', async (body, named) => {
    await insert(numberedRows(0, 30))
    const answer = await deleteRows(body)

    expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
    expect(answer.json.detail).toContain(named)
    expect(await stored()).toHaveLength(30)
  })

  test('reads values as the query string says', async () => {
    app.makeTable(aNewTable('v', ['at UNIXTIME_MICROS KEY']))
    await app.must('POST', '/v/rows', { body: { rows: [{ at: 1000 }, { at: 2000 }] } })
    const body = { predicates: [{ column: 'at', op: '=', value: 2 }] }

    const answer = await app.must('POST', '/v/rows/delete?timestamps=millis', { body })
    expect(answer.deleted).toBe(1)
  })

  test('of a table that is not there is NOT_FOUND', async () => {
    app.service.dropTable('t')

    expect((await deleteRows({ all: true })).status).toBe(404)
  })

  test('with one front that does not know of a new table of the name', async () => {
    await insert(numberedRows(0, 5))
    app.service.dropTable('t')
    app.makeTable(aNewTable('t', ['key STRING KEY']))
    await app.must('POST', '/t/rows', { body: { rows: [{ key: 'a' }, { key: 'b' }] } })
    const answer = await deleteRows({ predicates: [{ column: 'key', op: '>', value: 'a' }] })

    expect(answer.json.deleted).toBe(1)
  })

  test('deletes more rows than one op takes', async () => {
    app.makeTable(aNewTable('one', NUMBERED_COLUMNS))
    for (const start of [0, 9_000, 18_000]) {
      await app.must('POST', '/one/rows', { body: { rows: numberedRows(start, start + 9_000) } })
    }
    const predicates = [{ column: 'id', op: '>=', value: 100 }]
    const { deleted } = await app.must('POST', '/one/rows/delete', { body: { predicates } })
    const csv = await app.send('POST', '/api/v1/tables/one/scan?format=csv', { body: {} })

    expect(deleted).toBe(26_900)
    expect(csv.text.trim().split('\n')).toHaveLength(101)
  })
})

describe('Idempotency-Key of a deletion', () => {
  test('a repeat is answered with the first result, whatever came since', async () => {
    await insert(numberedRows(0, 50))
    const first = await deleteRows({ predicates: BELOW_20 }, 'k')
    await insert(numberedRows(0, 5))
    const second = await deleteRows({ predicates: BELOW_20 }, 'k')

    expect(second.json).toEqual(first.json)
    expect(second.json.deleted).toBe(20)
    expect(first.headers.has('Idempotency-Replayed')).toBe(false)
    expect(second.headers.get('Idempotency-Replayed')).toBe('true')
    expect(byNumber(await stored())).toEqual([...numberedRows(0, 5), ...numberedRows(20, 50)])
  })

  test('a repeat of what found no row finds none either', async () => {
    const first = await deleteRows({ all: true }, 'k')
    await insert(numberedRows(0, 50))
    const second = await deleteRows({ all: true }, 'k')

    expect(second.json).toEqual(first.json)
    expect(second.headers.get('Idempotency-Replayed')).toBe('true')
    expect(await stored()).toHaveLength(50)
  })

  test('is remembered by tablets that lose their memory', async () => {
    await insert(numberedRows(0, 50))
    const first = await deleteRows({ predicates: BELOW_20 }, 'k')
    await insert([numberedRow(3)])
    for (const tablet of app.service.tablets.values()) tablet.evict()

    expect((await deleteRows({ predicates: BELOW_20 }, 'k')).json).toEqual(first.json)
  })

  test('is forgotten after ten minutes', async () => {
    await insert(numberedRows(0, 50))
    await deleteRows({ predicates: BELOW_20 }, 'k')
    await insert(numberedRows(0, 5))
    app.service.time.micros += 601_000_000

    expect((await deleteRows({ predicates: BELOW_20 }, 'k')).json.deleted).toBe(5)
  })

  test('goes with one request only', async () => {
    await insert(numberedRows(0, 50))
    await deleteRows({ predicates: BELOW_20 }, 'k')
    const other = await deleteRows({ predicates: [{ column: 'id', op: '<', value: 21 }] }, 'k')
    const sameInOtherWords = await deleteRows(
      { predicates: [{ op: '<', value: 20, column: 'id' }] },
      'k',
    )

    expect(other.json).toMatchObject({ code: 'INVALID_ARGUMENT', rows_applied: 0 })
    expect(other.json.detail).toContain('idempotency key')
    expect(sameInOtherWords.status).toBe(200)
    expect(await stored()).toHaveLength(30)
  })

  test('is not shared with writes of rows', async () => {
    const headers = { 'content-type': 'application/json', 'Idempotency-Key': 'k' }
    await app.must('POST', '/t/rows', { body: { rows: numberedRows(0, 50) }, headers })

    expect((await deleteRows({ all: true }, 'k')).json.code).toBe('INVALID_ARGUMENT')
    expect(await stored()).toHaveLength(50)
  })

  test('that is no key is refused', async () => {
    expect((await deleteRows({ all: true }, 'a key')).json.code).toBe('INVALID_ARGUMENT')
  })
})

describe('a deletion that meets failures', () => {
  test('counts each row once when tablets are reset before or after they worked', async () => {
    await insert(numberedRows(0, 2000))
    for (const [reset, times] of [
      ['before', 2],
      ['after', 3],
      ['after', 5],
    ] as const) {
      for (const tablet of app.service.tablets.values()) {
        tablet.resets = [...Array(times - 1).fill(undefined), reset]
      }
      const predicates = [{ column: 'id', op: '<', value: times * 300 }]
      const answer = await deleteRows({ predicates }, times === 3 ? 'key' : undefined)

      expect(answer.json.deleted).toBe(times === 2 ? 600 : times === 3 ? 300 : 600)
    }
    expect(await stored()).toEqual(numberedRows(1500, 2000))
  })

  test('tells how many rows are gone, and goes on with the rest under its key', async () => {
    await insert(numberedRows(0, 1000))
    const [broken] = [...app.service.tablets.values()]
    const reset = Object.assign(new Error('reset'), { durableObjectReset: true })
    broken.deleteRows = () => Promise.reject(reset)
    const failed = await deleteRows({ all: true }, 'k')
    Reflect.deleteProperty(broken, 'deleteRows')
    const left = await stored()

    expect(failed.status).toBe(500)
    expect(failed.json.rows_applied).toBe(1000 - left.length)
    expect(left.length).toBeGreaterThan(0)
    expect(left.length).toBeLessThan(1000)
    const again = await deleteRows({ all: true }, 'k')
    expect(again.json.deleted).toBe(1000)
    expect(again.headers.has('Idempotency-Replayed')).toBe(false)
    expect(await stored()).toEqual([])
    await insert([numberedRow(1)])
    expect((await deleteRows({ all: true }, 'k')).json).toEqual(again.json)
    expect(app.logged.splice(0)).toHaveLength(1)
  })
})

describe('privileges of a deletion', () => {
  test('without a token it is UNAUTHENTICATED', async () => {
    const guarded = new LocalApp({ isAuthDisabled: false, adminToken: 'x' }, app.service)

    expect((await guarded.send('POST', '/api/v1/tables/t/rows/delete', { body: {} })).status).toBe(
      401,
    )
  })
})
