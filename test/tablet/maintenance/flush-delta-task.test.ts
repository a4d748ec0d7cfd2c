import { describe, expect, test } from 'vitest'
import { FlushDeltaTask } from '../../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { TabletParts } from '../../../src/tablet/tablet-parts.ts'
import { FlushWorld } from '../../support/flush-world.ts'

const flush = (parts: TabletParts, now: number) => new FlushMemRowSetTask(parts, now)
const flushDeltas = (parts: TabletParts, now: number) => new FlushDeltaTask(parts, now)

/** Rows 0 … 5 in three rowsets, of two rows each. */
function aWorld(): FlushWorld {
  const world = new FlushWorld(1, 6)
  for (let k = 0; k < 6; k += 2) {
    world.apply([
      ['INSERT', { k, v: k }],
      ['INSERT', { k: k + 1, v: k }],
    ])
    world.harness.runTask(flush)
  }
  return world
}

describe('FlushDeltaTask', () => {
  test('writes the changes of all rowsets to one file', () => {
    const world = aWorld()
    const { parts, store } = world.harness
    const filesBefore = store.files()
    world.apply([
      ['UPDATE', { k: 0, v: 7 }],
      ['UPDATE', { k: 3, v: 8, t: 'x' }],
    ])
    world.apply([
      ['UPDATE', { k: 3, v: 9 }],
      ['DELETE', { k: 2 }],
    ])
    world.harness.runTask(flushDeltas)

    const files = store.files().filter((file) => !filesBefore.includes(file))
    expect(files).toHaveLength(1)
    expect(parts.rowSets.map(({ meta }) => meta)).toMatchObject([
      { mark: world.times[4], liveRowCount: 2, redos: [{ file: files[0], recordCount: 1 }] },
      {
        mark: world.times[4],
        liveRowCount: 1,
        redos: [{ file: files[0], recordCount: 3, deleteCount: 1 }],
      },
      { mark: world.times[2], liveRowCount: 2, redos: [] },
    ])
    expect([parts.oldestAnchor, parts.deltaBytes]).toEqual([null, 0])
    world.check()
    world.checkFiles()
    world.checkRowSets()
    world.harness.evict()
    world.check()
  })

  test('is a no-op when nothing was changed', () => {
    const world = aWorld()
    const written = world.harness.store.rowsWritten
    const task = flushDeltas(world.harness.parts, 0)

    expect(world.harness.step(task)).toBe(true)
    expect(world.harness.store.rowsWritten).toBe(written)
    expect(task.summary.rowSetsIn).toBe(0)
  })

  test('tells what it did', () => {
    const world = aWorld()
    world.apply([
      ['UPDATE', { k: 0, v: 7 }],
      ['UPDATE', { k: 4, v: 7 }],
    ])
    const task = flushDeltas(world.harness.parts, 0)
    while (!world.harness.step(task));

    expect(task.summary).toMatchObject({ rowSetsIn: 2, rowSetsOut: 2, rowsIn: 2, rowsOut: 2 })
    expect(task.summary.bytesOut).toBeGreaterThan(10)
  })

  test('leaves a rowset alone that another op works on', () => {
    const world = aWorld()
    world.apply([
      ['UPDATE', { k: 0, v: 7 }],
      ['UPDATE', { k: 2, v: 7 }],
    ])
    const { rowSets } = world.harness.parts
    rowSets[0].isBusy = true
    world.harness.runTask(flushDeltas)

    expect(rowSets.map(({ meta }) => meta.redos.length)).toEqual([0, 1, 0])
    expect(rowSets.map(({ isBusy }) => isBusy)).toEqual([true, false, false])
    expect(world.harness.parts.oldestAnchor).toBe(world.times[3])
    world.check()
    world.harness.evict()
    world.check()
  })

  test('keeps its rowsets busy while it runs, and what is changed then for the next', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 0, v: 7 }]])
    const [rowSet] = world.harness.parts.rowSets
    const between: boolean[] = []
    world.run(world.deltaTask(), () => {
      between.push(rowSet.isBusy)
      world.apply([['UPDATE', { k: 0, t: `${between.length}` }]])
      world.check(2)
    })

    expect(between.length).toBeGreaterThan(0)
    expect(between).not.toContain(false)
    expect(rowSet.isBusy).toBe(false)
    expect(rowSet.meta.redos).toMatchObject([{ recordCount: 1 }])
    expect(rowSet.deltas.recordCount).toBe(between.length)
    world.check()
  })

  test('leaves the changes in memory when it is aborted, for the next one to take', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 0, v: 7 }]])
    const first = world.deltaTask()
    world.harness.step(first)
    first.abort()
    world.apply([
      ['UPDATE', { k: 0, v: 8 }],
      ['UPDATE', { k: 1, v: 9 }],
    ])
    world.check()
    world.harness.runTask(flushDeltas)

    const [rowSet] = world.harness.parts.rowSets
    expect(rowSet.isBusy).toBe(false)
    expect(rowSet.meta.redos).toMatchObject([{ recordCount: 3 }])
    world.check()
    world.checkFiles()
    world.checkRowSets()
  })

  test('lets the log before it go, which only its changes held', () => {
    const world = aWorld()
    const { wal } = world.harness.parts
    for (let i = 0; i < 20; i++) world.apply([['UPDATE', { k: 1, v: i }]])
    const before = [...wal.generations]
    world.harness.runTask(flushDeltas)

    expect(wal.generations).toHaveLength(1)
    expect(before).not.toContain(wal.generations[0])
    world.check()
    world.harness.evict()
    world.check()
  })

  test.each([1, 2, 3])(
    'loses nothing by a crash behind any of its transactions (seed %i)',
    (seed) => {
      let crashCount = 0
      for (let crashAt = 0; ; crashAt++) {
        const world = new FlushWorld(seed, 20)
        for (let i = 0; i < 3; i++) {
          for (let op = 0; op < 4; op++) world.write()
          world.run(world.flushTask())
        }
        for (let op = 0; op < 6; op++) world.write()
        const task = world.deltaTask()
        let isDone = false
        for (let i = 0; i < crashAt && !isDone; i++) {
          isDone = world.harness.step(task)
          if (!isDone && world.prng.chance(0.3)) world.write()
        }
        const { committedCount, releasedCount } = world.harness.store
        world.harness.crash(world.prng.between(releasedCount, committedCount))
        world.check()
        world.run(world.deltaTask(), () => world.write())
        world.check()
        world.checkFiles()
        if (isDone) break
        crashCount++
      }

      expect(crashCount).toBeGreaterThan(1)
    },
  )
})
