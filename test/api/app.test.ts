import { describe, expect, test } from 'vitest'
import { URL_BYTES_MAX } from '../../src/common/limits.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalApp } from '../support/local-app.ts'

function anApp(): LocalApp {
  const app = new LocalApp()
  app.makeTable(aNewTable('t'))
  return app
}

describe('paths', () => {
  test.each([
    '//',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/tables/',
    '/api/v1/tables/t/',
    '/api/v1/tables//tablets',
    '/api/v1/tables/t/rows/1/',
    '/api/v1/tables/t/row/',
    '/healthz/',
    '/API/V1/tables',
  ])('%s is not found', async (path) => {
    const answer = await anApp().send('GET', path)

    expect(answer.status).toBe(404)
    expect(answer.json).toMatchObject({
      code: 'NOT_FOUND',
      detail: 'there is nothing at this path',
    })
  })

  test.each([
    ['PUT', '/api/v1/tables', 'GET, HEAD, OPTIONS, POST'],
    ['POST', '/api/v1/tables/t', 'DELETE, GET, HEAD, OPTIONS'],
    ['GET', '/api/v1/tables/t/scan', 'OPTIONS, POST'],
    ['HEAD', '/api/v1/tables/t/locate_row', 'OPTIONS, POST'],
    ['POST', '/api/v1/tables/t/rows/1', 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
    ['DELETE', '/healthz', 'GET, HEAD, OPTIONS'],
  ])('%s %s is answered with the methods there are', async (method, path, allow) => {
    const answer = await anApp().send(method, path)

    expect(answer.status).toBe(405)
    expect(answer.headers.get('Allow')).toBe(allow)
    if (method !== 'HEAD') expect(answer.json.code).toBe('METHOD_NOT_ALLOWED')
  })

  test.each([
    ['/api/v1/tables', 'GET, HEAD, OPTIONS, POST'],
    ['/api/v1/tables/anything/rows/get', 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'],
    ['/api/v1/spec', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s lists its methods', async (path, allow) => {
    const answer = await anApp().send('OPTIONS', path)

    expect(answer.status).toBe(204)
    expect(answer.headers.get('Allow')).toBe(allow)
    expect(answer.text).toBe('')
  })

  test('OPTIONS of an unknown path is not found', async () => {
    expect((await anApp().send('OPTIONS', '/api/v1/nothing')).status).toBe(404)
  })
})

describe('HEAD', () => {
  test.each([
    '/healthz',
    '/api/v1/version',
    '/api/v1/tables',
    '/api/v1/tables/t',
    '/api/v1/tables/t/rows',
    '/api/v1/tables/t/rows?format=csv',
    '/api/v1/tables/t/rows/1',
    '/api/v1/tables/none',
  ])('of %s has the status and the headers of GET, and no body', async (path) => {
    const app = anApp()
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1, value: 'a' }] } })
    const headers = { 'Nyala-Request-Id': 'same' }

    const get = await app.send('GET', path, { headers })
    const head = await app.send('HEAD', path, { headers })

    expect(head.status).toBe(get.status)
    expect([...head.headers]).toEqual([...get.headers])
    expect(head.text).toBe('')
    expect(head.headers.has('Content-Length')).toBe(false)
  })

  test('of rows reads no tablet', async () => {
    const app = anApp()
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1 }] } })
    for (const tablet of app.service.tablets.values()) tablet.resets = Array(9).fill('before')

    expect((await app.send('HEAD', '/api/v1/tables/t/rows')).status).toBe(200)
  })
})

describe('headers of every response', () => {
  test('say not to keep it, what it depends on, and that ranges are ignored', async () => {
    const answer = await anApp().send('GET', '/api/v1/tables', { headers: { Range: 'bytes=0-3' } })

    expect(answer.status).toBe(200)
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(answer.headers.get('Vary')).toBe('Accept, Authorization')
    expect(answer.headers.get('Accept-Ranges')).toBe('none')
  })

  test.each(['x', '!~a1', 'a'.repeat(128)])('name the request %s as its client did', async (id) => {
    const answer = await anApp().send('GET', '/nothing', { headers: { 'Nyala-Request-Id': id } })

    expect(answer.headers.get('Nyala-Request-Id')).toBe(id)
    expect(answer.json.instance).toBe(id)
  })

  test.each(['a'.repeat(129), 'a b', 'é', ''])(
    'name the request themselves when its client named it "%s"',
    async (id) => {
      const answer = await anApp().send('GET', '/healthz', { headers: { 'Nyala-Request-Id': id } })

      expect(answer.headers.get('Nyala-Request-Id')).toMatch(/^[0-9a-f]{32}$/)
    },
  )
})

describe('the URL', () => {
  const withBytes = (bytes: number) => {
    const path = '/api/v1/tables?name_prefix='
    return path + 'a'.repeat(bytes - 'http://localhost'.length - path.length)
  }

  test('may have as many bytes as the limit', async () => {
    expect((await anApp().send('GET', withBytes(URL_BYTES_MAX))).status).toBe(200)
  })

  test('may not have more', async () => {
    const answer = await anApp().send('GET', withBytes(URL_BYTES_MAX + 1))

    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({
      code: 'INVALID_ARGUMENT',
      detail: 'URL is 16385 bytes, limit is 16384',
      limit: 16384,
    })
  })
})

describe('origins', () => {
  const settings = {
    isAuthDisabled: false,
    adminToken: 'secret',
    corsOrigins: ['https://a.example', 'https://b.example'],
  }
  const authorization = { Authorization: 'Bearer secret' }

  test('a configured one may read the answer and its headers', async () => {
    const answer = await new LocalApp(settings).send('GET', '/api/v1/tables', {
      headers: { ...authorization, Origin: 'https://b.example' },
    })

    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://b.example')
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('Nyala-Timestamp')
    expect(answer.headers.get('Vary')).toBe('Accept, Authorization, Origin')
  })

  test('a configured one may ask what it may send, without a token', async () => {
    const answer = await new LocalApp(settings).send('OPTIONS', '/api/v1/tables', {
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' },
    })

    expect(answer.status).toBe(204)
    expect(answer.headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD, OPTIONS, POST')
    expect(answer.headers.get('Access-Control-Allow-Headers')).toContain('Idempotency-Key')
  })

  test('a configured one may read errors', async () => {
    const answer = await new LocalApp(settings).send('GET', '/api/v1/tables', {
      headers: { Origin: 'https://a.example' },
    })

    expect(answer.status).toBe(401)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://a.example')
  })

  test.each(['https://c.example', 'https://a.example.evil', 'null'])(
    '%s may not',
    async (origin) => {
      const answer = await new LocalApp(settings).send('GET', '/api/v1/tables', {
        headers: { ...authorization, Origin: origin },
      })

      expect(answer.status).toBe(200)
      expect(answer.headers.has('Access-Control-Allow-Origin')).toBe(false)
    },
  )
})

describe('an error that nobody expected', () => {
  test('is answered without its insides, and logged with the id of the request', async () => {
    const app = anApp()
    app.service.catalogStub.getTable = async () => {
      throw new TypeError('secret insides')
    }

    const answer = await app.send('GET', '/api/v1/tables/t', {
      headers: { 'Nyala-Request-Id': 'it' },
    })

    expect(answer.json).toMatchObject({ code: 'INTERNAL', detail: 'catalog failed' })
    expect(answer.text).not.toContain('insides')
    expect(app.logged[0].fields).toMatchObject({ request_id: 'it', route: '/api/v1/tables/:table' })
  })

  test('in the program itself is INTERNAL', async () => {
    const app = anApp()
    app.service.tablet = () => {
      throw new TypeError('secret insides')
    }

    const answer = await app.send('GET', '/api/v1/tables/t/rows', {
      headers: { 'Nyala-Request-Id': 'it' },
    })

    expect(answer.json).toEqual({
      type: 'urn:nyala:error:INTERNAL',
      title: 'Internal error',
      status: 500,
      detail: 'tablet failed',
      instance: 'it',
      code: 'INTERNAL',
      retryable: false,
      tablet_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(app.logged).toHaveLength(1)
    expect(app.logged[0].fields).toMatchObject({
      request_id: 'it',
      method: 'GET',
      route: '/api/v1/tables/:table/rows',
      code: 'INTERNAL',
    })
    expect(String(app.logged[0].cause)).toContain('secret insides')
  })
})
