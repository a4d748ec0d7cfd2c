import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp, type LocalRequest } from '../../support/local-app.ts'

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', ['host STRING KEY', 'n INT32 KEY', 'a STRING', 'b DOUBLE NULL'], 3))
})

function row(method: string, key: string, request: LocalRequest = {}): Promise<LocalAnswer> {
  return app.send(method, `/api/v1/tables/t/${key}`, request)
}

describe('GET of a row', () => {
  test('answers the row, with the time it was read at', async () => {
    const put = await row('PUT', 'rows/web-1/-5', { body: { a: 'x' } })
    const answer = await row('GET', 'rows/web-1/-5')

    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ host: 'web-1', n: -5, a: 'x', b: null })
    expect(Number(answer.headers.get('Nyala-Timestamp'))).toBeGreaterThanOrEqual(put.json.timestamp)
  })

  test('says when it was that there was none', async () => {
    const answer = await row('GET', 'rows/nobody/1')

    expect(answer.status).toBe(404)
    expect(Number(answer.headers.get('Nyala-Timestamp'))).toBeGreaterThan(0)
  })

  test('answers the columns asked for', async () => {
    await row('PUT', 'rows/h/1', { body: { a: 'x', b: 2.5 } })

    expect((await row('GET', 'rows/h/1?columns=b,a')).json).toEqual({ b: 2.5, a: 'x' })
    expect((await row('GET', 'rows/h/1?columns=')).json).toEqual({})
    expect((await row('GET', 'rows/h/1?columns="b"')).json).toEqual({ b: 2.5 })
  })

  test('answers the row as it was', async () => {
    const first = await row('PUT', 'rows/h/1', { body: { a: 'x' } })
    await row('PUT', 'rows/h/1', { body: { a: 'y' } })
    const then = await row('GET', `rows/h/1?snapshot_timestamp=${first.json.timestamp}`)

    expect(then.json.a).toBe('x')
    expect(then.headers.get('Nyala-Timestamp')).toBe(String(first.json.timestamp))
    expect((await row('GET', 'rows/h/1')).json.a).toBe('y')
  })

  test.each([
    ['a/b', 'a%2Fb'],
    ['a%b', 'a%25b'],
    ['a%2Fb', 'a%252Fb'],
    ['ü ', '%C3%BC%20'],
    ['a+b', 'a+b'],
    ['a?b#c', 'a%3Fb%23c'],
    ['get', 'get'],
    ['...', '...'],
  ])('finds the key %s at %s', async (host, segment) => {
    await app.must('POST', '/t/rows', { body: { rows: [{ host, n: 1, a: 'x' }] } })
    const answer = await row('GET', `rows/${segment}/1`)

    expect(answer.status).toBe(200)
    expect(answer.json.host).toBe(host)
  })

  test.each(['', '.', '..', 'a/b', '"', '\u0000', 'ü'])(
    'finds the key "%s" by a query',
    async (host) => {
      await app.must('POST', '/t/rows', { body: { rows: [{ host, n: 1, a: 'x' }] } })
      const key = encodeURIComponent(JSON.stringify([host, 1]))
      const answer = await row('GET', `row?key=${key}`)

      expect(answer.status).toBe(200)
      expect(answer.json.host).toBe(host)
    },
  )

  test('finds a 64-bit key exactly, in a path and in a query', async () => {
    app.makeTable(aNewTable('wide', ['id INT64 KEY', 'a STRING']))
    await app.must('PUT', '/wide/rows/9007199254740993', { body: { a: 'x' } })
    const urls = [
      'rows/9007199254740993',
      'row?key=[9007199254740993]',
      'row?key=["9007199254740993"]',
    ]

    for (const url of urls) {
      const answer = await app.send('GET', `/api/v1/tables/wide/${url}`)
      expect(answer.text).toBe('{"id":9007199254740993,"a":"x"}')
    }
    expect((await app.send('GET', '/api/v1/tables/wide/rows/9007199254740992')).status).toBe(404)
  })

  test('reads times in the forms of text', async () => {
    app.makeTable(aNewTable('times', ['at UNIXTIME_MICROS KEY', 'a STRING']))
    await app.must('PUT', '/times/rows/2026-01-15T00:00:00Z', { body: { a: 'x' } })
    const texts = ['2026-01-15%2001:00:00+01', '1768435200000000', '2026-01-15T00:00:00.000Z']

    for (const text of texts) {
      expect((await app.send('GET', `/api/v1/tables/times/rows/${text}`)).json.a).toBe('x')
    }
    const millis = '/api/v1/tables/times/rows/1768435200000?timestamps=millis'
    expect((await app.send('GET', millis)).json).toEqual({ at: 1768435200000, a: 'x' })
  })
})

describe('PUT of a row', () => {
  test('inserts, with a place, or changes what it sets', async () => {
    const first = await row('PUT', 'rows/a%2Fb/1', { body: { a: 'x', b: 1 } })
    expect(first.status).toBe(201)
    expect(first.headers.get('Location')).toBe('/api/v1/tables/t/rows/a%2Fb/1')
    expect(first.json).toEqual({ timestamp: expect.any(Number) })
    expect(first.headers.get('Nyala-Timestamp')).toBe(String(first.json.timestamp))

    const second = await row('PUT', 'rows/a%2Fb/1', { body: { a: 'y' } })
    expect(second.status).toBe(200)
    expect(second.headers.has('Location')).toBe(false)
    expect((await row('GET', 'rows/a%2Fb/1')).json).toEqual({ host: 'a/b', n: 1, a: 'y', b: 1 })
  })

  test('by a query tells the place by a query', async () => {
    const answer = await row('PUT', 'row?key=%5B%22%22%2C+1%5D&int64=string', { body: { a: 'x' } })

    expect(answer.status).toBe(201)
    const location = answer.headers.get('Location') ?? ''
    expect(location).toBe('/api/v1/tables/t/row?key=%5B%22%22%2C%201%5D')
    expect((await app.send('GET', location)).json.a).toBe('x')
  })

  test('takes key columns that are those of the path', async () => {
    const body = { host: 'h', n: 1.0, a: 'x' }

    expect((await row('PUT', 'rows/h/1', { body })).status).toBe(201)
  })

  test('inserts a row again after it was deleted', async () => {
    await row('PUT', 'rows/h/1', { body: { a: 'x', b: 1 } })
    await row('DELETE', 'rows/h/1')

    expect((await row('PUT', 'rows/h/1', { body: { a: 'y' } })).status).toBe(201)
    expect((await row('GET', 'rows/h/1')).json.b).toBeNull()
  })

  test('with If-None-Match: * inserts or does nothing', async () => {
    const headers = { 'content-type': 'application/json', 'If-None-Match': '*' }
    const put = (a: string) => row('PUT', 'rows/h/1', { body: { a }, headers })

    expect((await put('x')).status).toBe(201)
    const second = await put('y')
    expect(second.status).toBe(412)
    expect(second.json).toMatchObject({ code: 'PRECONDITION_FAILED', resource: 'row' })
    expect((await row('GET', 'rows/h/1')).json.a).toBe('x')
  })

  test('with If-Match: * updates or does nothing', async () => {
    const headers = { 'content-type': 'application/json', 'If-Match': '*' }
    const put = (a: string) => row('PUT', 'rows/h/1', { body: { a }, headers })

    expect((await put('x')).status).toBe(412)
    await row('PUT', 'rows/h/1', { body: { a: 'x' } })
    expect((await put('y')).status).toBe(200)
    expect((await row('GET', 'rows/h/1')).json.a).toBe('y')
  })

  test('is made once under an idempotency key, and answers as it did', async () => {
    const headers = { 'content-type': 'application/json', 'Idempotency-Key': 'k' }
    const put = () => row('PUT', 'rows/h/1', { body: { a: 'x' }, headers })
    const first = await put()
    const second = await put()

    expect(first.status).toBe(201)
    expect(second.status).toBe(201)
    expect(second.json).toEqual(first.json)
    expect(second.headers.get('Idempotency-Replayed')).toBe('true')
  })
})

describe('PATCH of a row', () => {
  test('changes what it sets, and null is a value', async () => {
    await row('PUT', 'rows/h/1', { body: { a: 'x', b: 1 } })
    const answer = await row('PATCH', 'rows/h/1', { body: { b: null } })

    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ timestamp: expect.any(Number) })
    expect((await row('GET', 'rows/h/1')).json).toEqual({ host: 'h', n: 1, a: 'x', b: null })
  })
})

describe('a condition on a row', () => {
  const body = { a: 'y' }

  test.each(['PUT', 'PATCH', 'DELETE'])('that names nothing is refused by %s', async (method) => {
    await row('PUT', 'rows/h/1', { body: { a: 'x' } })

    for (const name of ['If-Match', 'If-None-Match']) {
      const headers = { 'content-type': 'application/json', [name]: '' }
      const answer = await row(method, 'rows/h/1', { body, headers })
      expect(answer.status).toBe(400)
      expect(answer.json.detail).toContain(`header ${name} is empty`)
    }
    expect((await row('GET', 'rows/h/1')).json.a).toBe('x')
  })

  test.each(['PATCH', 'DELETE'])('that it is absent is never met by %s', async (method) => {
    await row('PUT', 'rows/h/1', { body: { a: 'x' } })
    const headers = { 'content-type': 'application/json', 'If-None-Match': '*' }

    expect((await row(method, 'rows/h/1', { body, headers })).status).toBe(412)
    expect((await row('GET', 'rows/h/1')).json.a).toBe('x')
  })
})

describe('DELETE of a row', () => {
  test('says that a refusal is a remembered one', async () => {
    const headers = { 'Idempotency-Key': 'once' }
    const first = await row('DELETE', 'rows/h/9', { headers })
    await row('PUT', 'rows/h/9', { body: { a: 'x' } })
    const again = await row('DELETE', 'rows/h/9', { headers })

    expect([first.status, again.status]).toEqual([404, 404])
    expect(first.headers.get('Idempotency-Replayed')).toBeNull()
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  })

  test('deletes it', async () => {
    await row('PUT', 'rows/h/1', { body: { a: 'x' } })
    const answer = await row('DELETE', 'rows/h/1')

    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect(answer.headers.get('Nyala-Timestamp')).toMatch(/^\d{16}$/)
    expect((await row('GET', 'rows/h/1')).status).toBe(404)
    expect((await row('DELETE', 'rows/h/1')).status).toBe(404)
  })
})
