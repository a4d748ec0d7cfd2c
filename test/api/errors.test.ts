import { describe, expect, test } from 'vitest'
import { errorResponse, problemResponse } from '../../src/api/errors.ts'
import type { AppLog, LogFields } from '../../src/api/ports.ts'
import { STATUS, type StatusCode, StatusError } from '../../src/common/status.ts'
import { TableReplaced } from '../../src/router/read-session.ts'

class Noting implements AppLog {
  readonly errors: LogFields[] = []
  readonly infos: LogFields[] = []

  error(_: string, fields: LogFields): void {
    this.errors.push(fields)
  }

  info(_: string, fields: LogFields = {}): void {
    this.infos.push(fields)
  }
}

const REQUEST = { requestId: 'it', method: 'GET', route: '/r' }
const CODES = Object.keys(STATUS) as StatusCode[]

describe('problemResponse', () => {
  test.each(CODES)('gives %s its status, its title and whether to repeat', async (code) => {
    const response = problemResponse(new StatusError(code, 'what happened'), 'it')

    expect(response.status).toBe(STATUS[code].http)
    expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({
      type: `urn:nyala:error:${code}`,
      title: expect.stringMatching(/^[A-Z][a-z ]+$/),
      status: STATUS[code].http,
      detail: 'what happened',
      instance: 'it',
      code,
      retryable: STATUS[code].retryable,
    })
  })

  test('says when to repeat what can be repeated for lack of room', () => {
    const after = CODES.filter((code) => {
      return problemResponse(new StatusError(code, ''), 'it').headers.has('Retry-After')
    })

    expect(after).toEqual(['THROTTLED', 'SERVICE_UNAVAILABLE'])
    const final = new StatusError('SERVICE_UNAVAILABLE', '', { retryable: false })
    expect(problemResponse(final, 'it').headers.has('Retry-After')).toBe(false)
  })

  test('shows the details that help, and members of its kind', async () => {
    const details = {
      column: 'c',
      row_index: 0,
      line: 3,
      limit: 4,
      tablet_id: 't',
      resource: 'row',
      extra: { rows_applied: 5 },
    } as const
    const response = problemResponse(new StatusError('ABORTED', '', details), 'it')
    const { extra, ...shown } = details

    expect(await response.json()).toMatchObject({ ...shown, ...extra })
  })
})

describe('errorResponse', () => {
  test('hides and logs what nobody expected', async () => {
    const log = new Noting()
    const response = errorResponse(new RangeError('insides'), REQUEST, log)

    expect(await response.json()).toMatchObject({ code: 'INTERNAL', detail: 'internal error' })
    expect(log.errors).toEqual([
      { request_id: 'it', method: 'GET', route: '/r', code: 'INTERNAL', detail: 'internal error' },
    ])
  })

  test('logs corruption, notes what the platform did, and passes over mistakes of clients', () => {
    const log = new Noting()
    errorResponse(new StatusError('CORRUPTION', 'block 3'), REQUEST, log)
    errorResponse(new StatusError('SERVICE_UNAVAILABLE', '', {}, new Error('lost')), REQUEST, log)
    errorResponse(new StatusError('NOT_FOUND', ''), REQUEST, log)

    expect(log.errors.map(({ code }) => code)).toEqual(['CORRUPTION'])
    expect(log.infos.map(({ cause }) => cause)).toEqual(['Error: lost'])
  })

  test('of a table that changes again and again asks to repeat', () => {
    expect(errorResponse(new TableReplaced(), REQUEST, new Noting()).status).toBe(503)
  })
})
