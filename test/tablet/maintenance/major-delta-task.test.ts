import { describe, expect, test } from 'vitest'
import { CompactionWorld, HISTORY_MICROS } from '../../support/compaction-world.ts'

const V = 11
const T = 12

/** A rowset of four rows with changes to both columns, and a delete, in two REDO files. */
function aWorld(): CompactionWorld {
  const world = new CompactionWorld(1, 4)
  world.apply([0, 1, 2, 3].map((k) => ['INSERT', { k, v: 0, t: 'a' }] as const))
  world.flush()
  for (let v = 1; v <= 2; v++) {
    world.apply([
      ['UPDATE', { k: 1, v }],
      ['UPDATE', { k: 2, v, t: `t${v}` }],
    ])
    if (v === 2) world.apply([['DELETE', { k: 1 }]])
    world.flushDeltas()
  }
  return world
}

describe('MajorDeltaTask', () => {
  test('rewrites the columns named, and carries deletes and the cells of others over', () => {
    const world = aWorld()
    const { base } = world.harness.parts.rowSets[0]
    const before = base.blockIdsOf(T)
    const task = world.majorTask(0, [V])
    world.run(task)

    const [rowSet] = world.harness.parts.rowSets
    expect(rowSet.meta.redos).toMatchObject([
      { recordCount: 3, deleteCount: 1, columns: [{ columnId: T, cellCount: 2 }] },
    ])
    expect(rowSet.meta.undos[1]).toMatchObject({
      recordCount: 4,
      columns: [{ columnId: V, cellCount: 4 }],
    })
    expect(rowSet.meta.newestUndo).toBe(world.times[2])
    expect(rowSet.base.blockIdsOf(T)).toEqual(before)
    expect(rowSet.base.blockIdsOf(V)).not.toEqual(before)
    expect(task.summary).toMatchObject({ rowSetsIn: 1, rowSetsOut: 1, rowsIn: 4, rowsOut: 4 })
    world.check()
    world.checkRowSets()
    world.checkFiles()
  })

  test('leaves no REDO file when every change went into the base', () => {
    const world = aWorld()
    world.run(world.majorTask(0, [V, T]))
    expect(world.metas).toMatchObject([{ redos: [{ recordCount: 1, deleteCount: 1 }] }])

    world.apply([['UPDATE', { k: 2, v: 5 }]])
    world.flushDeltas()
    world.run(world.majorTask(0, [V]))
    expect(world.metas).toMatchObject([
      { redos: [{ recordCount: 1, deleteCount: 1, columns: [] }] },
    ])
    world.check()
    world.checkRowSets()
  })

  test('keeps no way back to times below the mark', () => {
    const world = aWorld()
    world.wait(HISTORY_MICROS + 1_000_000)
    world.apply([['UPDATE', { k: 2, v: 7 }]])
    world.flushDeltas()
    world.run(world.majorTask(0, [V]))

    const at = world.times.at(-1)
    expect(world.metas[0].undos.at(-1)).toMatchObject({ recordCount: 1, oldest: at })
    world.check()
  })

  test('gives back the blocks of the columns that it replaces', () => {
    const world = new CompactionWorld(1, 4000)
    for (let k = 0; k < 4000; k += 1000) {
      const text = () => Array.from({ length: 7 }, () => world.prng.uint32().toString(36)).join('')
      world.apply(Array.from({ length: 1000 }, (_, i) => ['INSERT', { k: k + i, v: i, t: text() }]))
    }
    world.flush()
    const before = world.storedBytes
    for (let round = 0; round < 4; round++) {
      world.apply(Array.from({ length: 40 }, (_, k) => ['UPDATE', { k, t: `${round}` }]))
      world.flushDeltas()
      world.run(world.majorTask(0, [T]))
    }

    expect(world.storedBytes).toBeLessThan(before * 1.2)
    world.check(3)
    world.checkRowSets()
    world.checkFiles()
  })

  test('leaves what is in memory where it is', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 3, v: 9 }]])
    world.run(world.majorTask(), () => world.write())

    expect(world.harness.parts.oldestAnchor).toBe(world.times[4])
    world.check()
    world.harness.evict()
    world.check()
    world.checkRowSets()
  })

  test('is a no-op for columns that no REDO file has a cell of', () => {
    const world = aWorld()
    world.run(world.majorTask(0, [V]))
    const written = world.harness.store.rowsWritten
    for (const columnIds of [[], [V], [99]]) {
      const task = world.majorTask(0, columnIds)
      expect(world.harness.step(task)).toBe(true)
      expect(task.summary.rowSetsIn).toBe(0)
    }
    expect(world.harness.store.rowsWritten).toBe(written)
  })
})
