import { describe, expect, test } from 'vitest'
import { failure, StatusError } from '../../src/common/status.ts'
import { callCatalog, callCatalogOnce } from '../../src/router/catalog-caller.ts'
import { LocalService } from '../support/local-service.ts'

/** Calls that fail with these marks, one after the other, and then succeed. */
function failing(...marks: readonly object[]): { calls: number; send: () => Promise<never> } {
  const state = {
    calls: 0,
    send: async (): Promise<never> => {
      const mark = marks[state.calls++]
      if (mark !== undefined) throw Object.assign(new Error('platform'), mark)
      return { ok: true, value: 7 } as never
    },
  }
  return state
}

const RESET = { durableObjectReset: true }
const TRANSIENT = { retryable: true }
const OVERLOADED = { retryable: true, overloaded: true }

describe('callCatalog', () => {
  const ports = new LocalService({ seed: 1 }).front()

  test.each([[[]], [[RESET]], [[TRANSIENT, RESET]], [[TRANSIENT, TRANSIENT]]])(
    'repeats after %j and answers',
    async (marks) => {
      const calls = failing(...marks)

      expect(await callCatalog(ports, calls.send)).toBe(7)
      expect(calls.calls).toBe(marks.length + 1)
    },
  )

  test.each([
    [[TRANSIENT, TRANSIENT, TRANSIENT], 'SERVICE_UNAVAILABLE', 3],
    [[RESET, RESET, RESET], 'INTERNAL', 3],
    [[OVERLOADED], 'SERVICE_UNAVAILABLE', 1],
    [[{}], 'INTERNAL', 1],
  ])('gives up after %j with %s', async (marks, code, count) => {
    const calls = failing(...marks)

    await expect(callCatalog(ports, calls.send)).rejects.toMatchObject({ code })
    expect(calls.calls).toBe(count)
  })

  test('passes the failures of the catalog on', async () => {
    const send = async () => failure(new StatusError('NOT_FOUND', 'no', { resource: 'table' }))

    await expect(callCatalog(ports, send)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { resource: 'table' },
    })
  })
})

describe('callCatalogOnce', () => {
  const ports = new LocalService({ seed: 1 }).front()

  test.each([
    [TRANSIENT, 'TIMED_OUT'],
    [RESET, 'TIMED_OUT'],
    [{}, 'TIMED_OUT'],
    [OVERLOADED, 'SERVICE_UNAVAILABLE'],
  ])('after %j says %s and calls no second time', async (mark, code) => {
    const calls = failing(mark)

    await expect(callCatalogOnce(ports, calls.send)).rejects.toMatchObject({ code })
    expect(calls.calls).toBe(1)
  })
})
