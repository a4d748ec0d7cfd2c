import { describe, expect, test } from 'vitest'
import { type AlarmStorage, runSteps, TabletAlarm } from '../../src/server/tablet-alarm.ts'

const MILLISECOND = 1000
const SECOND = 1_000_000

/** An alarm as the platform keeps it, and how often it was set and asked for. */
class StoredAlarm implements AlarmStorage {
  scheduledMs: number | null = null
  setCount = 0
  getCount = 0

  async getAlarm(): Promise<number | null> {
    this.getCount++
    return this.scheduledMs
  }

  async setAlarm(scheduledMs: number): Promise<void> {
    this.setCount++
    this.scheduledMs = scheduledMs
  }
}

function anAlarm() {
  const stored = new StoredAlarm()
  return { stored, alarm: new TabletAlarm(stored) }
}

describe('TabletAlarm.arm', () => {
  test('asks and sets nothing while nothing is due', async () => {
    const { stored, alarm } = anAlarm()
    await alarm.arm(null, 5 * SECOND)

    expect(stored).toMatchObject({ setCount: 0, getCount: 0 })
  })

  test('sets one alarm for many calls', async () => {
    const { stored, alarm } = anAlarm()
    await Promise.all([1, 2, 3].map((due) => alarm.arm((30 + due) * SECOND, SECOND)))
    await alarm.arm(60 * SECOND, SECOND)

    expect(stored).toMatchObject({ setCount: 1, scheduledMs: 31_000 })
  })

  test('moves it to an earlier time, and never to a later one', async () => {
    const { stored, alarm } = anAlarm()
    await alarm.arm(30 * SECOND, SECOND)
    await alarm.arm(29_500 * MILLISECOND, SECOND)
    expect(stored).toMatchObject({ setCount: 1, scheduledMs: 30_000 })
    await alarm.arm(SECOND / 2, SECOND)

    expect(stored).toMatchObject({ setCount: 2, scheduledMs: 1000 })
  })

  test('knows one that was set before the object lost its memory', async () => {
    const { stored, alarm } = anAlarm()
    await alarm.arm(30 * SECOND, SECOND)
    await new TabletAlarm(stored).arm(30 * SECOND, SECOND)

    expect(stored.setCount).toBe(1)
  })
})

describe('TabletAlarm.ring', () => {
  test('is set anew when it has gone off, for what is due then', async () => {
    const { stored, alarm } = anAlarm()
    await alarm.arm(SECOND, SECOND)
    stored.scheduledMs = null
    await alarm.ring(
      () => alarm.arm(SECOND, SECOND),
      () => ({ due: 40 * SECOND, now: 2 * SECOND }),
    )

    expect(stored).toMatchObject({ setCount: 2, scheduledMs: 40_000 })
  })

  test('is not set anew when nothing is due, and is when something comes to be', async () => {
    const { stored, alarm } = anAlarm()
    await alarm.ring(
      async () => undefined,
      () => ({ due: null, now: SECOND }),
    )
    expect(stored.setCount).toBe(0)
    await alarm.arm(3 * SECOND, SECOND)

    expect(stored).toMatchObject({ setCount: 1, scheduledMs: 3000 })
  })

  test('that fails can be armed again', async () => {
    const { stored, alarm } = anAlarm()
    const failed = alarm.ring(
      () => Promise.reject(new Error('object ends')),
      () => ({ due: null, now: SECOND }),
    )

    await expect(failed).rejects.toThrow('object ends')
    await alarm.arm(3 * SECOND, SECOND)
    expect(stored.setCount).toBe(1)
  })
})

describe('runSteps', () => {
  test('makes steps until there are no more, and lets others in between', async () => {
    const seen: string[] = []
    await runSteps({
      step: () => seen.push('step') < 5,
      pause: async () => {
        seen.push('pause')
      },
      elapsedMs: () => 0,
      msMax: 10,
    })

    expect(seen).toEqual(['step', 'pause', 'step', 'pause', 'step'])
  })

  test('ends when its time is over', async () => {
    let elapsedMs = 0
    let stepCount = 0
    await runSteps({
      step: () => {
        stepCount++
        elapsedMs += 4
        return true
      },
      pause: async () => undefined,
      elapsedMs: () => elapsedMs,
      msMax: 10,
    })

    expect(stepCount).toBe(3)
  })
})
