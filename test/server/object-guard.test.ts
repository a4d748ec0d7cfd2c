import { describe, expect, test, vi } from 'vitest'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { Log } from '../../src/server/log.ts'
import { ObjectGuard } from '../../src/server/object-guard.ts'
import { AssertionError } from '../../src/util/assert.ts'

function guarded() {
  const reasons: (string | undefined)[] = []
  const log = new Log('error')
  const logged = vi.spyOn(log, 'error').mockImplementation(() => undefined)
  const guard = new ObjectGuard({ abort: (reason) => reasons.push(reason) }, log)
  return { guard, reasons, logged }
}

describe('ObjectGuard', () => {
  test('gives the value of a section', () => {
    const { guard, reasons } = guarded()

    expect(guard.run('read', () => 7)).toEqual({ ok: true, value: 7 })
    expect(reasons).toEqual([])
  })

  test('turns an expected failure into data and leaves the object alone', () => {
    const { guard, reasons, logged } = guarded()
    const outcome = guard.run('read', () => {
      throw new StatusError('NOT_FOUND', 'no', { resource: 'table' })
    })

    expect(outcome).toEqual({
      ok: false,
      code: 'NOT_FOUND',
      message: 'no',
      details: { resource: 'table' },
    })
    expect(reasons).toEqual([])
    expect(logged).not.toHaveBeenCalled()
  })

  test('logs corruption, which somebody must look at', () => {
    const { guard, reasons, logged } = guarded()
    guard.run('read', () => {
      throw new CorruptionError('block 3')
    })

    expect(reasons).toEqual([])
    expect(logged).toHaveBeenCalledOnce()
  })

  test.each([
    ['an assertion', new AssertionError('impossible')],
    ['an error of the platform', new TypeError('x is not a function')],
    ['something that is no error', 'text'],
  ])('ends the object on %s, after logging it with its context', (_, error) => {
    const { guard, reasons, logged } = guarded()
    const section = () =>
      guard.run(
        'write',
        () => {
          throw error
        },
        { tabletId: 't' },
      )

    expect(section).toThrow(error instanceof Error ? error.message : error)
    expect(reasons).toEqual(['internal error in write'])
    expect(logged).toHaveBeenCalledExactlyOnceWith(
      'object ends',
      { operation: 'write', tabletId: 't' },
      error,
    )
  })
})
