import { afterEach, describe, expect, test, vi } from 'vitest'
import { Log } from '../../src/server/log.ts'

function captured(level: string | undefined): { log: Log; lines: () => unknown[] } {
  const out = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const err = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const lines = () => [...err.mock.calls, ...out.mock.calls].map(([line]) => JSON.parse(line))
  return { log: new Log(level, { object: 'tablet' }), lines }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('Log', () => {
  test('writes an event with its context and fields as one line of JSON', () => {
    const { log, lines } = captured('info')
    log.info('table created', { tableId: 'a\nb', tablets: 4 })

    expect(lines()).toEqual([
      { level: 'info', event: 'table created', object: 'tablet', tableId: 'a\nb', tablets: 4 },
    ])
  })

  test('tells the cause of an error', () => {
    const { log, lines } = captured('error')
    log.error('object ends', { operation: 'write' }, new RangeError('too far'))

    expect(lines()).toMatchObject([{ level: 'error', cause: 'RangeError: too far' }])
  })

  test.each([
    ['error', ['error']],
    ['info', ['error', 'info']],
    ['debug', ['error', 'info', 'debug']],
    ['loud', ['error', 'info']],
    [undefined, ['error', 'info']],
  ])('at level %s writes %j', (level, expected) => {
    const { log, lines } = captured(level)
    log.error('e', {})
    log.info('i')
    log.debug('d')

    expect(lines().map((line) => (line as { level: string }).level)).toEqual(expected)
  })
})
