import { beforeAll, describe, expect, test } from 'vitest'
import { LocalApp } from '../support/local-app.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly enum?: string[] }
}

interface Operation {
  readonly name: string
  readonly operationId: string
  readonly security?: object[]
  readonly parameters: Parameter[]
  readonly requestBody?: { readonly content: object }
  readonly responses: Record<string, { readonly headers: object; readonly content?: object }>
}

const OPEN = ['/', '/healthz', '/readyz', '/api/docs', '/api/v1/version', '/api/v1/spec']

describe('documentRoute', () => {
  const app = new LocalApp()
  let operations: Operation[]

  beforeAll(async () => {
    const { paths } = (await app.send('GET', '/api/v1/spec')).json
    operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, item]) => {
      return Object.entries(item).map(([method, operation]) => {
        return { ...operation, name: `${method.toUpperCase()} ${path}` }
      })
    })
  })

  function named(name: string): Operation {
    const found = operations.find((operation) => operation.name === name)
    if (found === undefined) throw new Error(`${name} is not documented`)
    return found
  }

  function parameters(name: string, place: string): string[] {
    const found = named(name).parameters.filter((parameter) => parameter.in === place)
    return found.map((parameter) => parameter.name)
  }

  test('gives every operation a name of its own', () => {
    const ids = operations.map(({ operationId }) => operationId)

    expect(new Set(ids).size).toBe(operations.length)
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/)
  })

  test('asks no token where none is needed', () => {
    const open = operations.filter(({ security }) => security?.length === 0)

    expect(open.map(({ name }) => name.split(' ')[1]).sort()).toEqual(OPEN.toSorted())
  })

  test('has the headers that every request and answer may have', () => {
    for (const { name, responses } of operations) {
      const isOpen = OPEN.includes(name.split(' ')[1])
      const headers = parameters(name, 'header')
      expect(headers).toContain('Nyala-Request-Id')
      expect(headers.includes('Nyala-Propagated-Timestamp')).toBe(!isOpen)
      for (const response of Object.values(responses)) {
        expect(response.headers).toHaveProperty('Nyala-Request-Id')
      }
      expect(responses.default.headers).toHaveProperty('Retry-After')
    }
  })

  test('has the headers of writes where rows are written', () => {
    const keyed = operations.filter(({ name }) => {
      return parameters(name, 'header').includes('Idempotency-Key')
    })

    expect(keyed.map(({ operationId }) => operationId).sort()).toEqual([
      'deleteRow',
      'deleteRowByQuery',
      'deleteRows',
      'patchRow',
      'patchRowByQuery',
      'putRow',
      'putRowByQuery',
      'writeRows',
    ])
    for (const { responses } of keyed) {
      for (const [status, { headers }] of Object.entries(responses)) {
        if (status !== 'default') expect(headers).toHaveProperty('Idempotency-Replayed')
      }
    }
  })

  test.each([
    ['GET /api/v1/tables/{table}', ['If-None-Match']],
    ['DELETE /api/v1/tables/{table}', ['If-Match', 'If-None-Match']],
    ['PUT /api/v1/tables/{table}/rows/{key}', ['If-Match', 'If-None-Match']],
    ['GET /api/v1/tables', []],
  ])('has the conditions of %s', (name, conditions) => {
    const headers = parameters(name, 'header').filter((header) => header.startsWith('If-'))

    expect(headers.sort()).toEqual(conditions)
  })

  test('has a format where there is a choice, and what there is to choose from', () => {
    const chosen = operations.flatMap(({ operationId, parameters: all }) => {
      const format = all.find(({ name }) => name === 'format')
      return format === undefined ? [] : [[operationId, format.schema.enum]]
    })

    const all = ['json', 'ndjson', 'csv', 'arrow', 'parquet']
    expect(Object.fromEntries(chosen)).toEqual({ scan: all, listRows: all, aggregate: all })
  })

  test.each([
    ['GET', '/api/v1/tables/t/rows/1'],
    ['PUT', '/api/v1/tables/t/rows/1'],
    ['POST', '/api/v1/tables/t/rows/get'],
    ['POST', '/api/v1/tables/t/rows'],
  ])('leaves format=json to %s %s all the same', async (method, path) => {
    const body = method === 'GET' ? {} : { body: {} }
    const answer = await app.send(method, `${path}?format=json`, body)

    expect(answer.text).not.toContain('format')
  })

  test('has bodies under every name of their media types', () => {
    const content = named('POST /api/v1/tables/{table}/rows').requestBody?.content ?? {}

    expect(Object.keys(content)).toEqual([
      'application/json',
      'application/x-ndjson',
      'application/ndjson',
      'application/jsonl',
      'text/csv',
      'application/vnd.apache.arrow.stream',
    ])
  })

  test.each(['GET', 'DELETE', 'POST', 'PUT', 'PATCH'])(
    'a time that is none is refused by every %s that documents it',
    async (method) => {
      await app.send('POST', '/api/v1/tables', {
        body: { name: 't', schema: { columns: [{ name: 'k', type: 'STRING', is_key: true }] } },
      })
      const bodies: Record<string, object> = {
        createTable: { name: 'u', schema: { columns: [] } },
        locateRow: { row: { k: 'a' } },
        writeRows: { rows: [] },
        getRows: { keys: [] },
      }
      const tried = operations.filter(({ name }) => {
        const isHeard = parameters(name, 'header').includes('Nyala-Propagated-Timestamp')
        return isHeard && name.startsWith(`${method} `)
      })

      expect(tried.length).toBeGreaterThan(0)
      for (const { name, operationId } of tried) {
        const path = name.split(' ')[1].replace('{table}', 't').replace('{key}', 'a')
        const headers = {
          'Nyala-Propagated-Timestamp': 'garbage',
          'content-type': 'application/json',
        }
        const body = /POST|PUT|PATCH/.test(method) ? { body: bodies[operationId] ?? {} } : {}
        const answer = await app.send(method, path, { ...body, headers })
        expect(answer.json, name).toMatchObject({
          code: 'INVALID_ARGUMENT',
          detail: 'header Nyala-Propagated-Timestamp must be an integer of microseconds',
        })
      }
    },
  )
})
