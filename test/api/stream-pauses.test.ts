import { describe, expect, test } from 'vitest'
import { Arrivals, StreamPauses } from '../../src/api/stream-pauses.ts'

/** Milliseconds of a rest. */
const REST = 3

function somePauses() {
  const slept: number[] = []
  const arrivals = new Arrivals()
  const sleep = async (milliseconds: number) => {
    slept.push(milliseconds)
  }
  const pauses = new StreamPauses({ sleep }, arrivals)
  /** Takes so many pauses. Returns: how long each slept, without the looks begun for later ones. */
  const take = async (count: number) => {
    const rests: number[] = []
    for (let i = 0; i < count; i++) {
      slept.length = 0
      await pauses.next()
      rests.push(slept.reduce((sum, milliseconds) => sum + milliseconds, 0))
    }
    return rests
  }
  return { arrivals, take }
}

describe('StreamPauses', () => {
  test('only look while nobody comes', async () => {
    const { take } = somePauses()
    expect(await take(5)).toEqual([0, 0, 0, 0, 0])
  })

  test('rest for a while once somebody has come', async () => {
    const { arrivals, take } = somePauses()
    await take(1)
    arrivals.add()
    expect(await take(6)).toEqual([REST, REST, REST, REST, 0, 0])
  })

  test('rest as long as others keep coming', async () => {
    const { arrivals, take } = somePauses()
    for (let i = 0; i < 10; i++) {
      arrivals.add()
      expect(await take(2)).toEqual([REST, REST])
    }
    expect(await take(3)).toEqual([REST, REST, 0])
  })

  test('leave less work between them while others keep coming', async () => {
    const arrivals = new Arrivals()
    const pauses = new StreamPauses({ sleep: async () => undefined }, arrivals)
    const quiet = await pauses.next()
    arrivals.add()
    const busy = [await pauses.next(), await pauses.next(), await pauses.next()]
    const last = await pauses.next()

    expect(busy).toEqual(Array(3).fill(quiet / 32))
    expect(last).toBe(quiet)
  })

  test('rest at once for who came while they looked', async () => {
    const arrivals = new Arrivals()
    const rests: number[] = []
    const looks: (() => void)[] = []
    const sleep = async (milliseconds: number) => {
      if (milliseconds === 0) await new Promise<void>((resolve) => looks.push(resolve))
      else rests.push(milliseconds)
    }
    const pauses = new StreamPauses({ sleep }, arrivals)
    const paused = pauses.next()
    arrivals.add()
    looks[0]()
    await paused

    expect(rests).toEqual([REST])
  })

  test('what came before the stream is nobody to rest for', async () => {
    const arrivals = new Arrivals()
    arrivals.add()
    const slept: number[] = []
    const sleep = async (milliseconds: number) => {
      slept.push(milliseconds)
    }
    const pauses = new StreamPauses({ sleep }, arrivals)
    await pauses.next()
    expect(slept).toEqual([0, 0])
  })

  test('a pause is over when what it sleeps for is', async () => {
    const arrivals = new Arrivals()
    const wakers: (() => void)[] = []
    const sleep = () => new Promise<void>((resolve) => wakers.push(resolve))
    const pauses = new StreamPauses({ sleep }, arrivals)
    arrivals.add()
    let isOver = false
    const paused = pauses.next().then(() => {
      isOver = true
    })
    await Promise.resolve()
    expect(isOver).toBe(false)
    wakers[0]()
    await paused
  })
})
