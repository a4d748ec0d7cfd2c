import { describe, expect, test } from 'vitest'
import { CompactionWorld, HISTORY_MICROS } from '../../support/compaction-world.ts'

/** A rowset of four rows with three REDO files. */
function aWorld(): CompactionWorld {
  const world = new CompactionWorld(1, 4)
  world.apply([0, 1, 2, 3].map((k) => ['INSERT', { k, v: 0, t: 'a' }] as const))
  world.flush()
  for (let v = 1; v <= 3; v++) {
    world.apply([
      ['UPDATE', { k: 1, v }],
      ['UPDATE', { k: 2, t: `t${v}` }],
    ])
    if (v === 3) world.apply([['DELETE', { k: 2 }]])
    world.flushDeltas()
  }
  return world
}

describe('MinorDeltaTask', () => {
  test('makes one REDO file of several, with all that they tell', () => {
    const world = aWorld()
    const task = world.minorTask()
    world.run(task)

    expect(world.metas).toMatchObject([{ redos: [{ recordCount: 7, deleteCount: 1 }] }])
    expect(task.summary).toMatchObject({ rowSetsIn: 1, rowsIn: 7, rowsOut: 7 })
    world.check()
    world.checkRowSets()
    world.checkFiles()
  })

  test('leaves out what later changes below the mark hide', () => {
    const world = aWorld()
    world.wait(HISTORY_MICROS + 1_000_000)
    world.apply([['UPDATE', { k: 1, v: 4 }]])
    world.flushDeltas()
    world.run(world.minorTask())

    // Of key 1 the last change below the mark and the one above; of key 2 its delete.
    expect(world.metas).toMatchObject([{ redos: [{ recordCount: 3, deleteCount: 1 }] }])
    world.check()
  })

  test('leaves what is in memory where it is', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 3, v: 9 }]])
    world.run(world.minorTask(), () => world.write())

    expect(world.metas).toMatchObject([{ redos: [{ recordCount: 7 }] }])
    expect(world.harness.parts.oldestAnchor).not.toBe(null)
    world.check()
    world.harness.evict()
    world.check()
  })

  test('is a no-op for a rowset with one REDO file', () => {
    const world = aWorld()
    world.run(world.minorTask())
    const written = world.harness.store.rowsWritten
    const task = world.minorTask()

    expect(world.harness.step(task)).toBe(true)
    expect([task.summary.rowSetsIn, world.harness.store.rowsWritten]).toEqual([0, written])
  })
})
