import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { MergeFeed, type RowFeed, SequentialFeed } from '../../src/router/row-feed.ts'
import type { TabletCursor } from '../../src/router/tablet-cursor.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { Prng } from '../../src/util/prng.ts'
import type { ScanFrameBatch } from '../../src/wire/scan-frame.ts'

/** What a tablet gives: batches of rows, or nothing for a while. */
type Steps = readonly (readonly number[] | 'nothing')[]

/** A tablet of rows that are their own keys. */
class ScriptedCursor implements TabletCursor {
  readonly index: number
  readonly snapshot = 7
  doneKey: Uint8Array | null = null
  isClosed = false
  asked = 0
  readonly #steps: Steps
  readonly #log: number[]

  constructor(index: number, steps: Steps, log: number[] = []) {
    this.index = index
    this.#steps = steps
    this.#log = log
  }

  get isExhausted(): boolean {
    return this.asked >= this.#steps.length
  }

  get isDone(): boolean {
    return this.isExhausted
  }

  async next(): Promise<ScanFrameBatch | null> {
    this.#log.push(this.index)
    const step = this.#steps[this.asked++]
    if (step === undefined) return null
    if (step !== 'nothing') return batchOf(step)
    this.doneKey = Uint8Array.of(this.index, this.asked)
    return null
  }

  recycle(): void {}

  async close(): Promise<void> {
    this.isClosed = true
  }
}

function batchOf(rows: readonly number[]): ScanFrameBatch {
  const builder = new RowBlockBuilder([{ id: 0, physical: PHYSICAL.int16 }], false)
  const keys = new KeyArena()
  for (const row of rows) {
    builder.setNumber(0, row)
    builder.endRow()
    keys.append(Uint8Array.of(row >> 8, row & 0xff), 0, 2)
    keys.endKey()
  }
  return { block: builder.view(), keys }
}

async function drain(feed: RowFeed): Promise<number[]> {
  const rows: number[] = []
  do {
    for (let run = feed.take(); run !== null; run = feed.take()) {
      for (let row = run.start; row < run.end; row++) {
        rows.push(run.batch.block.columns[0].lanes[row])
      }
    }
  } while (await feed.more())
  return rows
}

function sequential(...tablets: readonly Steps[]): SequentialFeed {
  return new SequentialFeed(tablets.map((steps, index) => new ScriptedCursor(index, steps)))
}

describe('SequentialFeed', () => {
  test('gives tablet after tablet', async () => {
    const feed = sequential([[5, 6], [9]], [], ['nothing', [1]], [[2], 'nothing'])

    expect(await drain(feed)).toEqual([5, 6, 9, 1, 2])
    expect(feed.snapshot).toBe(7)
  })

  test('says where to go on when nothing was found for a while', async () => {
    const feed = sequential(['nothing', [1]], ['nothing'])

    expect(await feed.step()).toBe('nothing')
    expect(feed.position).toEqual({ tablet: 0, afterKey: Uint8Array.of(0, 1) })
    expect(await feed.step()).toBe('rows')
    feed.take()
    expect(await feed.step()).toBe('nothing')
    expect(feed.position).toEqual({ tablet: 1, afterKey: null })
  })

  test('never skips what a tablet that was asked ahead has at hand', async () => {
    const feed = sequential([], [], ['nothing', [1]])
    await feed.step()
    await feed.step()

    // The third tablet looked in vain already, but nobody took that in yet.
    expect(feed.position).toEqual({ tablet: 2, afterKey: null })
    await feed.step()
    expect(feed.position).toEqual({ tablet: 2, afterKey: Uint8Array.of(2, 1) })
  })

  test('is at its end once it is closed, also while it fetches', async () => {
    for (const steps of [[[1], [2]], [], ['nothing' as const, [1]]]) {
      const feed = sequential(steps, [[3]])
      const step = feed.step()
      await feed.close()

      expect(await step).toBe('end')
      expect(feed.take()).toBe(null)
      expect(await feed.more()).toBe(false)
    }
  })

  async function aheadOf(tablets: readonly Steps[]): Promise<number[]> {
    const log: number[] = []
    const cursors = tablets.map((steps, index) => new ScriptedCursor(index, steps, log))
    const feed = new SequentialFeed(cursors)
    const ahead: number[] = []
    while (await feed.more()) {
      const run = feed.take()
      if (run !== null) ahead.push(Math.max(...log) - run.tablet)
    }
    return ahead
  }

  test('asks more and more tablets ahead while they hold little', async () => {
    const ahead = await aheadOf(Array(80).fill([[1]]))

    expect(ahead.slice(0, 5)).toEqual([0, 1, 3, 7, 15])
    expect(Math.max(...ahead)).toBe(31)
  })

  test('asks none ahead while one holds much', async () => {
    const ahead = await aheadOf([[[1], [2], [3], [4]], [[5]], [[6]]])

    expect(ahead.slice(0, 4)).toEqual([0, 0, 0, 0])
  })

  test('knows that it is ended when the last tablet is done', async () => {
    const feed = sequential([[1]], [[2]])
    await feed.more()
    expect(feed.isEnded).toBe(false)
    feed.take()
    expect(feed.isEnded).toBe(false)
    await feed.more()
    expect(feed.isEnded).toBe(false)
    feed.take()
    expect(feed.isEnded).toBe(true)
    expect(await feed.step()).toBe('end')
  })

  test('of no tablets is at its end', async () => {
    const feed = sequential()

    expect(feed.isEnded).toBe(true)
    expect(await feed.more()).toBe(false)
  })
})

describe('MergeFeed', () => {
  function merged(isDescending: boolean, tablets: readonly Steps[]): MergeFeed {
    const cursors = tablets.map((steps, index) => new ScriptedCursor(index, steps))
    return new MergeFeed(cursors, isDescending)
  }

  test.each([false, true])(
    'gives all rows in order, descending: %s (seeds 1–60)',
    async (isDown) => {
      for (let seed = 1; seed <= 60; seed++) {
        const prng = new Prng(seed)
        const tablets: (number[] | 'nothing')[][] = Array.from(
          { length: prng.between(1, 8) },
          () => [],
        )
        const rows = Array.from({ length: prng.below(120) }, (_, row) => row)
        if (isDown) rows.reverse()
        for (const row of rows) {
          const steps = prng.pick(tablets)
          if (prng.chance(0.2)) steps.push('nothing')
          const last = steps.at(-1)
          if (last === undefined || last === 'nothing' || prng.chance(0.3)) steps.push([row])
          else last.push(row)
        }

        expect(await drain(merged(isDown, tablets)), `seed ${seed}`).toEqual(rows)
      }
    },
  )

  test('gives no row while a tablet may hold one before it', async () => {
    const feed = merged(false, [[[1, 5]], ['nothing', [3]]])

    expect(await feed.step()).toBe('nothing')
    expect(feed.take()).toBeNull()
    expect(feed.isEnded).toBe(false)
    expect(await feed.step()).toBe('rows')
    expect(await drain(feed)).toEqual([1, 3, 5])
    expect(feed.isEnded).toBe(true)
  })
})
