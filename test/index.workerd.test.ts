import { env, exports } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'

describe('Worker entry', () => {
  test('reaches an object of each class through its binding', async () => {
    expect(await env.CATALOG.getByName('a').ping()).toEqual({ ok: true, value: null })
    expect(await env.TABLET.getByName('a').counters()).toMatchObject({ ok: true })
  })

  test('answers a request', async () => {
    const response = await exports.default.fetch('http://nyala/healthz')

    expect(response.status).toBe(200)
  })
})
