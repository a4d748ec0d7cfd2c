import { describe, expect, test } from 'vitest'
import type { LocalAnswer } from '../support/local-app.ts'
import { LocalApp } from '../support/local-app.ts'

const WITH_TOKEN = { isAuthDisabled: false, adminToken: 'the-token' }
const OPEN = ['/healthz', '/readyz', '/api/v1/version', '/api/v1/spec', '/api/docs']

function list(app: LocalApp, headers: Record<string, string>): Promise<LocalAnswer> {
  return app.send('GET', '/api/v1/tables', { headers })
}

describe('without configuration', () => {
  const settings = { isAuthDisabled: false, adminToken: '' }

  test('data requests are refused, for good', async () => {
    const answer = await list(new LocalApp(settings), { Authorization: 'Bearer ' })

    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false })
    expect(answer.json.detail).toContain('not configured')
    expect(answer.headers.has('Retry-After')).toBe(false)
  })

  test.each(OPEN)('%s is open', async (path) => {
    expect((await new LocalApp(settings).send('GET', path)).status).toBe(200)
  })
})

describe('with a token', () => {
  test.each([
    'Bearer the-token',
    'bearer the-token',
    'BEARER   the-token ',
    `Basic ${btoa('anybody:the-token')}`,
    `Basic ${btoa(':the-token')}`,
  ])('%s is let in', async (authorization) => {
    const answer = await list(new LocalApp(WITH_TOKEN), { Authorization: authorization })

    expect(answer.status).toBe(200)
  })

  test.each([
    undefined,
    'the-token',
    'Bearer',
    'Bearer the-toke',
    'Bearer the-token2',
    'Bearer the token',
    'Digest the-token',
    `Basic ${btoa('the-token')}`,
    `Basic ${btoa('the-token:')}`,
    'Basic %%%',
    `Basic ${btoa('a:\xff\xfe')}`,
  ])('%s is not', async (authorization) => {
    const headers: Record<string, string> =
      authorization === undefined ? {} : { Authorization: authorization }
    const answer = await list(new LocalApp(WITH_TOKEN), headers)

    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('UNAUTHENTICATED')
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(answer.text).not.toContain('the-token')
  })

  test.each(OPEN)('%s is open', async (path) => {
    expect((await new LocalApp(WITH_TOKEN).send('GET', path)).status).toBe(200)
  })

  test.each(['/api/v1/nothing', '/api/v1/tables/', '/api/v1/version/', '/api/v1'])(
    'whether there is anything at %s is nobody else’s business',
    async (path) => {
      expect((await new LocalApp(WITH_TOKEN).send('GET', path)).status).toBe(401)
    },
  )

  test('a token in the URL is a parameter that nobody knows', async () => {
    const answer = await new LocalApp(WITH_TOKEN).send('GET', '/api/v1/tables?token=the-token')

    expect(answer.status).toBe(401)
  })
})

describe('with authentication off', () => {
  async function status(url: string, headers: Record<string, string> = {}): Promise<number> {
    const { app } = new LocalApp()
    return (await app.request(url, { headers })).status
  }

  test.each([
    ['http://localhost/api/v1/tables', {}],
    ['http://localhost:8787/api/v1/tables', { Host: 'localhost:8787' }],
    ['http://127.0.0.1:8787/api/v1/tables', {}],
    ['http://127.1.2.3/api/v1/tables', {}],
    ['http://[::1]:8787/api/v1/tables', {}],
    ['http://localhost:8787/api/v1/tables', { Origin: 'http://localhost:8787' }],
    [
      'http://localhost:8787/api/v1/tables',
      { Origin: 'http://localhost:8787', 'Sec-Fetch-Site': 'same-origin' },
    ],
    ['http://localhost:8787/api/v1/tables', { 'Sec-Fetch-Site': 'none' }],
  ])('%s with %j is answered', async (url, headers) => {
    expect(await status(url, headers)).toBe(200)
  })

  test.each([
    ['http://nyala.example/api/v1/tables', {}],
    ['http://127.0.0.1.example/api/v1/tables', {}],
    ['http://localhost.example/api/v1/tables', {}],
    ['http://localhost/api/v1/tables', { Host: 'nyala.example' }],
    ['http://10.0.0.1/api/v1/tables', {}],
    ['http://localhost:8787/api/v1/tables', { Origin: 'http://localhost:8788' }],
    ['http://localhost:8787/api/v1/tables', { Origin: 'https://localhost:8787' }],
    ['http://localhost:8787/api/v1/tables', { Origin: 'http://nyala.example' }],
    ['http://localhost:8787/api/v1/tables', { Origin: 'null' }],
    // A proxy has put its own origin in the place of https://localhost:8787.
    [
      'http://localhost:8787/api/v1/tables',
      { Origin: 'http://localhost:8787', 'Sec-Fetch-Site': 'cross-site' },
    ],
    [
      'http://localhost:8787/api/v1/tables',
      { Origin: 'http://localhost:8787', 'Sec-Fetch-Site': 'same-site' },
    ],
  ])('%s with %j is refused', async (url, headers) => {
    expect(await status(url, headers)).toBe(403)
  })

  test('no other origin is let in by being configured', async () => {
    const app = new LocalApp({ corsOrigins: ['https://a.example'] })

    expect((await list(app, { Origin: 'https://a.example' })).status).toBe(403)
  })
})
