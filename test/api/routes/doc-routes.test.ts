import { describe, expect, test } from 'vitest'
import { LocalApp } from '../../support/local-app.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is of every shape.
async function spec(): Promise<any> {
  return (await new LocalApp().send('GET', '/api/v1/spec')).json
}

describe('GET /api/v1/spec', () => {
  test('documents every route of the app, and nothing else', async () => {
    const { app } = new LocalApp()
    const { paths } = await spec()
    const documented = Object.entries(paths).flatMap(([path, item]) => {
      return Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`)
    })
    const routed = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/api/docs/'))
      .map(({ method, path }) => {
        return `${method} ${path.replaceAll(/\{[^}]*\}/g, '').replaceAll(/:(\w+)/g, '{$1}')}`
      })

    expect(documented.sort()).toEqual(routed.sort())
    expect(documented).toContain('PUT /api/v1/tables/{table}/rows/{key}')
  })

  test('is OpenAPI 3.1 in which every reference leads somewhere', async () => {
    const document = await spec()

    expect(document.openapi).toBe('3.1.0')
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name)
    expect(Object.keys(document.components.schemas).length).toBeGreaterThan(15)
  })

  test('names every parameter of a path, and the problem of every route', async () => {
    for (const [path, item] of Object.entries((await spec()).paths)) {
      for (const operation of Object.values(item as Record<string, Record<string, never>>)) {
        const { parameters = [], responses } = operation as unknown as {
          parameters?: { name: string; in: string }[]
          responses: Record<string, { content: object }>
        }
        const named = parameters.filter((it) => it.in === 'path').map((it) => `{${it.name}}`)
        expect(named).toEqual(path.match(/\{\w+\}/g) ?? [])
        expect(responses.default.content).toHaveProperty(['application/problem+json'])
      }
    }
  })

  test('says what the readers of bodies say', async () => {
    const { schemas } = (await spec()).components

    expect(schemas.CreateTable).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['name', 'schema'],
    })
    expect(schemas.Scan.properties.page_size).toMatchObject({ minimum: 1, maximum: 10_000 })
    expect(schemas.Scan.properties.order.enum).toEqual(['UNORDERED', 'ORDERED', 'DESCENDING'])
  })

  test('says what an op by hand does in a table that has compaction switched off', async () => {
    const { paths } = await spec()

    for (const path of ['tables/{table}', 'tablets/{tablet_id}']) {
      const { description } = paths[`/api/v1/${path}/maintenance`].post
      expect(description).toContain('COMPACT runs also where')
      expect(description).toContain('kudu.table.disable_compaction')
    }
  })
})

describe('GET /', () => {
  test.each(['GET', 'HEAD'])('%s leads to the documentation', async (method) => {
    const answer = await new LocalApp({ isAuthDisabled: false }).send(method, '/')

    expect(answer.status).toBe(302)
    expect(answer.headers.get('Location')).toBe('/api/docs')
  })
})

describe('GET /api/docs', () => {
  test('loads nothing from another host, and may not', async () => {
    const app = new LocalApp()
    for (const path of ['/api/docs', '/api/docs/docs.css', '/api/docs/docs.js']) {
      const answer = await app.send('GET', path)

      expect(answer.status).toBe(200)
      expect(answer.text).not.toMatch(/https?:|\/\/[a-z]/i)
      expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
      expect(answer.headers.get('Content-Security-Policy')).not.toContain('unsafe')
    }
  })

  test('has a script that is one, and no script or style in the page', async () => {
    const app = new LocalApp()
    const page = await app.send('GET', '/api/docs')
    const script = await app.send('GET', '/api/docs/docs.js')

    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(page.text).not.toMatch(/<style|style=|<script>|onclick/)
    expect(() => new Function(script.text)).not.toThrow()
    expect(script.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8')
  })
})
