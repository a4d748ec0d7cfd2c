import { describe, expect, test } from 'vitest'
import { TABLET_FAN_OUT_MAX } from '../../src/common/limits.ts'
import { failure, type Outcome, StatusError } from '../../src/common/status.ts'
import { Log } from '../../src/server/log.ts'
import { tellTablets } from '../../src/server/tell-tablets.ts'
import type { TabletControlStub } from '../../src/wire/tablet-protocol.ts'

const OK: Outcome<null> = { ok: true, value: null }

class QuietLog extends Log {
  override error(): void {}
  override info(): void {}
}

/** Tablets that answer `answer(tabletId, attempt)`, and what happened to them. */
function tablets(count: number, answer: (tabletId: string, attempt: number) => Outcome<null>) {
  const attempts = new Map<string, number>()
  let open = 0
  let openMax = 0
  const refuse = async (tabletId: string): Promise<Outcome<null>> => {
    open++
    openMax = Math.max(openMax, open)
    await Promise.resolve()
    open--
    const attempt = (attempts.get(tabletId) ?? 0) + 1
    attempts.set(tabletId, attempt)
    return answer(tabletId, attempt)
  }
  const stub = (tabletId: string) =>
    ({ refuse: () => refuse(tabletId) }) as unknown as TabletControlStub
  const tabletIds = Array.from({ length: count }, (_, index) => `t${index}`)
  const say = (it: TabletControlStub) => it.refuse('table')
  const tell = () => tellTablets({ tabletIds, stub, say, log: new QuietLog('error') })
  return { tell, tabletIds, attempts, openMax: () => openMax }
}

describe('tellTablets', () => {
  test('tells every tablet once, a bounded number at a time', async () => {
    const { tell, tabletIds, attempts, openMax } = tablets(100, () => OK)

    expect(await tell()).toEqual(tabletIds)
    expect([...attempts.values()].every((count) => count === 1)).toBe(true)
    expect(openMax()).toBe(TABLET_FAN_OUT_MAX)
  })

  test('tells nobody when there is nobody', async () => {
    expect(await tablets(0, () => OK).tell()).toEqual([])
  })

  test('tries a tablet again that was not reached, and gives up after that', async () => {
    const { tell, attempts } = tablets(3, (tabletId, attempt) => {
      if (tabletId === 't1' && attempt === 1) throw new Error('reset')
      if (tabletId === 't2') throw new Error('gone')
      return OK
    })

    expect(await tell()).toEqual(['t0', 't1'])
    expect(Object.fromEntries(attempts)).toEqual({ t0: 1, t1: 2, t2: 2 })
  })

  test('does not press a tablet that is overloaded', async () => {
    const { tell, attempts } = tablets(1, () => {
      throw Object.assign(new Error('busy'), { overloaded: true })
    })

    expect(await tell()).toEqual([])
    expect(attempts.get('t0')).toBe(1)
  })

  test('leaves out a tablet that answers with a failure', async () => {
    const { tell } = tablets(2, (tabletId) =>
      tabletId === 't0' ? failure(new StatusError('CORRUPTION', 'bad')) : OK,
    )

    expect(await tell()).toEqual(['t1'])
  })
})
