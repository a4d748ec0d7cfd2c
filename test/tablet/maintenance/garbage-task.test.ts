import { describe, expect, test } from 'vitest'
import { CompactionWorld, HISTORY_MICROS } from '../../support/compaction-world.ts'

/** Two rowsets of two rows each. */
function aWorld(): CompactionWorld {
  const world = new CompactionWorld(1, 4)
  for (const k of [0, 2]) {
    world.apply([
      ['INSERT', { k, v: k }],
      ['INSERT', { k: k + 1, v: k }],
    ])
    world.flush()
  }
  return world
}

describe('GarbageTask', () => {
  test('drops UNDO files when all of them are below the mark, and not before', () => {
    const world = aWorld()
    const files = world.harness.store.files().length
    world.run(world.garbageTask())
    expect(world.harness.store.files()).toHaveLength(files)

    world.wait(HISTORY_MICROS + 1_000_000)
    const task = world.garbageTask()
    world.run(task)

    expect(world.metas).toMatchObject([
      { undos: [], newestUndo: 0 },
      { undos: [], newestUndo: 0 },
    ])
    expect(task.summary).toMatchObject({ rowSetsIn: 2, rowSetsOut: 2, rowsIn: 4 })
    expect(world.harness.parts.historyMark).toBeGreaterThanOrEqual(world.times[1])
    world.check()
    world.checkFiles()
  })

  test('drops rowsets whose rows were all deleted below the mark', () => {
    const world = aWorld()
    world.apply([
      ['DELETE', { k: 0 }],
      ['DELETE', { k: 1 }],
    ])
    world.flushDeltas()
    world.run(world.garbageTask())
    expect(world.metas).toHaveLength(2)
    world.check()

    world.wait(HISTORY_MICROS + 1_000_000)
    const task = world.garbageTask()
    world.run(task)

    expect(world.metas).toHaveLength(1)
    expect(task.summary).toMatchObject({ rowSetsIn: 2, rowSetsOut: 1, rowsIn: 4, rowsOut: 0 })
    world.check()
    world.checkFiles()
  })

  test('keeps a rowset of which one row is there, or whose deletes are in memory only', () => {
    const world = aWorld()
    world.apply([['DELETE', { k: 0 }]])
    world.flushDeltas()
    world.apply([
      ['DELETE', { k: 2 }],
      ['DELETE', { k: 3 }],
    ])
    world.wait(HISTORY_MICROS + 1_000_000)
    world.run(world.garbageTask())

    expect(world.metas).toHaveLength(2)
    world.check()
  })

  test('drops the files that an aborted task left', () => {
    const world = aWorld()
    const task = world.compactTask()
    for (let i = 0; i < 3; i++) world.harness.step(task)
    task.abort()
    expect(world.harness.parts.orphanFiles).not.toEqual([])
    world.run(world.garbageTask())

    expect(world.harness.parts.orphanFiles).toEqual([])
    world.checkFiles()
  })

  test('writes nothing when there is nothing to drop', () => {
    const world = aWorld()
    const written = world.harness.store.rowsWritten
    world.run(world.garbageTask())

    expect(world.harness.store.rowsWritten).toBe(written)
  })
})
