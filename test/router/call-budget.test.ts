import { describe, expect, test } from 'vitest'
import { REQUEST_CALL_COUNT_MAX, TABLET_FAN_OUT_MAX } from '../../src/common/limits.ts'
import { CallBudget } from '../../src/router/call-budget.ts'

async function spend(budget: CallBudget, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await budget.run(async () => i)
}

describe('CallBudget', () => {
  test('lets a request make so many calls and no more', async () => {
    const budget = new CallBudget()
    await spend(budget, REQUEST_CALL_COUNT_MAX)

    await expect(spend(budget, 1)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit: REQUEST_CALL_COUNT_MAX },
    })
  })

  test('covers two calls to each tablet of a table however wide', async () => {
    const budget = new CallBudget()
    budget.coverTablets(1024)
    budget.coverTablets(2)

    await spend(budget, 2048)

    expect(budget.count).toBe(2048)
  })

  test('runs only so many calls at once, first come first served', async () => {
    const budget = new CallBudget()
    const order: number[] = []
    const release: (() => void)[] = []
    const calls = Array.from({ length: TABLET_FAN_OUT_MAX + 3 }, (_, index) =>
      budget.run(() => {
        order.push(index)
        return new Promise<void>((resolve) => release.push(resolve))
      }),
    )
    await Promise.resolve()
    expect(order).toHaveLength(TABLET_FAN_OUT_MAX)

    for (let i = 0; i < calls.length; i++) {
      release[i]()
      await calls[i]
    }
    expect(order).toEqual(calls.map((_, index) => index))
  })

  test('gives the room of a call that failed to the next', async () => {
    const budget = new CallBudget()
    const failing = Array.from({ length: TABLET_FAN_OUT_MAX }, () =>
      budget.run(async () => {
        throw new Error('no')
      }),
    )
    const next = budget.run(async () => 'done')

    await Promise.allSettled(failing)
    expect(await next).toBe('done')
  })
})
