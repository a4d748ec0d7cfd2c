import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { LocalApp, type LocalRequest } from '../support/local-app.ts'

/** A request that is refused, as bad-requests.txt writes it. */
interface BadRequest {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly request: LocalRequest
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly more: object
}

const TABLE = {
  name: 't',
  schema: {
    columns: [
      { name: 'host', type: 'STRING', is_key: true },
      { name: 'n', type: 'INT32', is_key: true },
      { name: 'value', type: 'INT8', is_nullable: true },
      { name: 'price', type: 'DECIMAL', type_attributes: { precision: 5, scale: 2 } },
    ],
  },
  partition_schema: {
    hash_schema: [{ columns: ['host'], num_buckets: 2 }],
    range_schema: { columns: ['n'], ranges: [{ lower: { n: 0 }, upper: { n: 100 } }] },
  },
}

function readCases(text: string): BadRequest[] {
  return text
    .split(/\n\n+/)
    .map((block) => block.split('\n').filter((line) => !line.startsWith('#') && line !== ''))
    .filter((lines) => lines.length > 0)
    .map(readCase)
}

function readCase(lines: readonly string[]): BadRequest {
  const dashes = lines.indexOf('----')
  const [name, requestLine, ...rest] = lines.slice(0, dashes)
  const [outcome, detail, more = '{}'] = lines.slice(dashes + 1)
  const [method, path] = requestLine.split(' ')
  const [status, code] = outcome.split(' ')
  const isHeader = (line: string) => /^[A-Za-z-]+: /.test(line)
  const body = rest.find((line) => !isHeader(line))
  const headers = Object.fromEntries(rest.filter(isHeader).map((line) => line.split(': ')))
  const request =
    body === undefined
      ? { headers }
      : {
          headers: { 'content-type': 'application/json', ...headers },
          body: body === '(empty)' ? '' : body,
        }
  return {
    name,
    method,
    path,
    request,
    status: Number(status),
    code,
    detail,
    more: JSON.parse(more),
  }
}

describe('a bad request is refused with what is wrong', () => {
  let app: LocalApp

  beforeAll(async () => {
    app = new LocalApp()
    await app.must('POST', '', { body: TABLE })
  })

  const cases = readCases(readFileSync(`${import.meta.dirname}/bad-requests.txt`, 'utf8'))

  test('there are cases', () => {
    expect(cases.length).toBeGreaterThan(140)
  })

  test.each(cases)('$name: $method $path', async (bad) => {
    const answer = await app.send(bad.method, bad.path, bad.request)

    expect(answer.json).toMatchObject({
      code: bad.code,
      detail: bad.detail,
      status: bad.status,
      type: `urn:nyala:error:${bad.code}`,
      ...bad.more,
    })
    expect(answer.status).toBe(bad.status)
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
    expect(app.logged).toEqual([])
  })

  test.each([
    [1001, { predicates: Array(1001).fill({ column: 'n', op: '>', value: 1 }) }],
    [10_001, { predicates: [{ column: 'n', op: 'IN', values: Array(10_001).fill(1) }] }],
  ])('a scan with %i predicates or values', async (count, body) => {
    const answer = await app.send('POST', '/api/v1/tables/t/scan', { body })

    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ code: 'INVALID_ARGUMENT', limit: count - 1 })
  })

  test('a look-up of more keys than the limit', async () => {
    const body = { keys: Array(1001).fill({ host: 'a', n: 1 }) }
    const answer = await app.send('POST', '/api/v1/tables/t/rows/get', { body })

    expect(answer.status).toBe(400)
    expect(answer.json.detail).toBe('1001 keys are asked for, limit is 1000')
  })

  test('a body that is not UTF-8', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = new Uint8Array([0x22, 0xff, 0x22])
    const answer = await app.send('POST', '/api/v1/tables', { body, headers })

    expect(answer.json.detail).toBe('body is not JSON: not UTF-8 at byte 1')
  })

  test('a body without a Content-Type', async () => {
    const answer = await app.send('POST', '/api/v1/tables', { body: new Uint8Array([0x7b, 0x7d]) })

    expect(answer.status).toBe(415)
    expect(answer.json.detail).toBe('request has no Content-Type, accepted are application/json')
  })
})
