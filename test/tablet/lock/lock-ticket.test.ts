import { describe, expect, test } from 'vitest'
import { LockTicket } from '../../../src/tablet/lock/lock-ticket.ts'

describe('LockTicket', () => {
  test('waits until it is settled, once', () => {
    const ticket = new LockTicket(7, 1, 100, 0)
    expect([ticket.state, ticket.outcome]).toEqual(['waiting', null])

    ticket.settle({ ok: true, value: null })

    expect([ticket.state, ticket.outcome]).toEqual(['held', { ok: true, value: null }])
    expect(() => ticket.settle({ ok: true, value: null })).toThrow('twice')
  })

  test('keeps the failure that it ended with', () => {
    const ticket = new LockTicket(7, 1, 100, 0)
    const failure = { ok: false, code: 'ABORTED', message: 'cancelled', details: {} } as const

    ticket.settle(failure)

    expect([ticket.state, ticket.outcome]).toEqual(['ended', failure])
  })
})
