import { describe, expect, test } from 'vitest'
import { StatusError } from '../../../src/common/status.ts'
import { CompactRowSetsTask } from '../../../src/tablet/maintenance/compact-row-sets-task.ts'
import { CompactionWorld, HISTORY_MICROS } from '../../support/compaction-world.ts'

/**
 * Two rowsets that overlap:
 *
 *   [0 ─── 2 ─── 4]
 *       [1 ─── 3 ─── 5]
 */
function aWorld(): CompactionWorld {
  const world = new CompactionWorld(1, 6)
  for (const first of [0, 1]) {
    world.apply([0, 2, 4].map((k) => ['INSERT', { k: k + first, v: k, t: `t${k}` }] as const))
    world.flush()
  }
  return world
}

/** Lets everything so far become history that nobody may read. */
function age(world: CompactionWorld): void {
  world.flushDeltas()
  world.wait(HISTORY_MICROS + 1_000_000)
}

function isCorruption(error: unknown): boolean {
  return error instanceof StatusError && error.code === 'CORRUPTION'
}

describe('CompactRowSetsTask', () => {
  test('makes one rowset of two that overlap, and tells so', () => {
    const world = aWorld()
    const task = world.compactTask()
    world.run(task)

    expect(world.metas).toMatchObject([{ rowCount: 6, liveRowCount: 6, redos: [] }])
    expect(task.summary).toMatchObject({ rowSetsIn: 2, rowSetsOut: 1, rowsIn: 6, rowsOut: 6 })
    expect(task.summary.bytesOut).toBeGreaterThan(0)
    world.check()
    world.checkRowSets()
  })

  test('drops the files of its inputs', () => {
    const world = aWorld()
    const before = world.harness.store.files()
    world.run(world.compactTask())

    const after = world.harness.store.files()
    expect(after.filter((file) => before.includes(file))).toEqual([])
    expect(world.harness.parts.orphanFiles).toEqual([])
    world.checkFiles()
  })

  test('leaves what a scan reads until the scan is closed', () => {
    const world = aWorld()
    const { harness } = world
    const pins = harness.parts.rowSets.map((rowSet) => rowSet.pin())
    const before = harness.store.files()
    world.run(world.compactTask())

    expect(harness.store.files().filter((file) => before.includes(file))).toEqual(before)
    for (const pin of pins) pin.release()
    world.run(world.garbageTask())
    world.checkFiles()
  })

  test('cuts its outputs alike', () => {
    const world = new CompactionWorld(1, 100)
    for (const first of [0, 1]) {
      world.apply(Array.from({ length: 50 }, (_, i) => ['INSERT', { k: i * 2 + first, v: i }]))
      world.flush()
    }
    world.rowSetRows = 30
    world.run(world.compactTask())

    expect(world.metas.map(({ rowCount }) => rowCount)).toEqual([34, 34, 32])
    world.check()
    world.checkRowSets()
  })

  test('begins all files in one go, one of them for the delta records of all outputs', () => {
    const world = new CompactionWorld(1, 100)
    for (const first of [0, 1]) {
      world.apply(Array.from({ length: 50 }, (_, i) => ['INSERT', { k: i * 2 + first, v: i }]))
      world.flush()
    }
    world.apply([...Array(10).keys()].map((k) => ['DELETE', { k: k * 10 }]))
    world.flushDeltas()
    world.rowSetRows = 30
    const { store } = world.harness
    const before = store.rowsWritten
    world.run(world.compactTask())

    const deltaFiles = world.metas.flatMap(({ undos, redos }) => [...undos, ...redos])
    expect(deltaFiles).toHaveLength(6)
    expect(new Set(deltaFiles.map(({ file }) => file)).size).toBe(1)
    const blockCount = store.files().reduce((sum, file) => sum + store.blocks(file).length, 0)
    expect(store.rowsWritten - before).toBe(2 + 2 * 4 + blockCount)
    world.check()
    world.checkRowSets()
    world.checkFiles()
  })

  test('ends an output at a key where it is told to', () => {
    const world = aWorld()
    const cuts = [world.metas[0].lowerKey, world.metas[1].lowerKey]
    const { parts, clock } = world.harness
    world.run(new CompactRowSetsTask(parts, [parts.rowSets[0]], clock.nowMicros(), { cuts }))

    expect(world.metas.map(({ rowCount }) => rowCount).sort()).toEqual([1, 2, 3])
    world.check()
    world.checkRowSets()
    world.checkFiles()
  })

  test('brings changes into the base, and keeps the way back', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 2, v: 20 }]])
    world.flushDeltas()
    world.apply([['UPDATE', { k: 2, v: 21 }]])
    world.run(world.compactTask())

    // Six inserts and two updates of one column.
    expect(world.metas).toMatchObject([{ redos: [], undos: [{ recordCount: 8 }] }])
    expect(world.metas[0].newestUndo).toBe(world.times[3])
    expect(world.harness.parts.oldestAnchor).toBe(null)
    world.check()
  })

  test('makes one history of all lives of a key', () => {
    const world = aWorld()
    for (let life = 0; life < 3; life++) {
      world.apply([['DELETE', { k: 2 }]])
      world.apply([['INSERT', { k: 2, v: 100 + life }]])
      world.flush()
    }
    world.apply([['DELETE', { k: 2 }]])
    expect(world.metas).toHaveLength(5)
    world.run(world.compactTask())

    expect(world.metas).toMatchObject([
      { rowCount: 6, liveRowCount: 5, redos: [{ deleteCount: 1 }] },
    ])
    expect(world.metas[0].undos[0].reinsertCount).toBe(3)
    world.check()
    world.checkRowSets()
  })

  test('keeps what an op did to a row that it deleted and inserted again', () => {
    const world = aWorld()
    world.apply([
      ['UPDATE', { k: 2, v: 7 }],
      ['DELETE', { k: 2 }],
      ['INSERT', { k: 2, v: 8 }],
      ['UPDATE', { k: 2, t: 'z' }],
    ])
    world.flush()
    world.run(world.compactTask())

    expect(world.metas).toMatchObject([{ rowCount: 6, liveRowCount: 6, redos: [] }])
    expect(world.metas[0].undos[0].reinsertCount).toBe(0)
    world.check()
  })

  test('keeps a row that was deleted above the mark, and no row that was deleted below', () => {
    const world = aWorld()
    world.apply([['DELETE', { k: 1 }]])
    age(world)
    world.apply([['DELETE', { k: 2 }]])
    world.flushDeltas()
    world.run(world.compactTask())

    expect(world.metas).toMatchObject([{ rowCount: 5, liveRowCount: 4 }])
    expect(world.metas[0].undos).toEqual([])
    world.check()
  })

  test('keeps no history at or below the mark', () => {
    const world = aWorld()
    world.apply([['UPDATE', { k: 2, v: 20 }]])
    age(world)
    world.apply([['UPDATE', { k: 2, v: 21 }]])
    world.flushDeltas()
    world.run(world.compactTask())

    const at = world.times.at(-1)
    expect(world.metas[0].undos).toMatchObject([{ recordCount: 1, oldest: at, newest: at }])
    expect(world.harness.parts.historyMark).toBeGreaterThanOrEqual(world.times[2])
    world.check()
  })

  test('leaves nothing of rowsets whose rows were all deleted below the mark', () => {
    const world = aWorld()
    world.apply([0, 1, 2, 3, 4, 5].map((k) => ['DELETE', { k }] as const))
    age(world)
    world.run(world.compactTask())

    expect(world.metas).toEqual([])
    expect(world.harness.store.files()).toEqual([])
    world.check()
  })

  test('keeps history that the log may need to be replayed', () => {
    const world = aWorld()
    world.apply([['DELETE', { k: 2 }]])
    world.wait(HISTORY_MICROS + 1_000_000)
    world.run(world.compactTask())

    // The delete was in memory only, so its log is live.
    expect(world.metas).toMatchObject([{ rowCount: 6, liveRowCount: 5 }])
    world.harness.evict()
    world.check()
  })

  test('carries over what is changed while it runs', () => {
    const world = aWorld()
    world.run(world.compactTask(), () => world.write())

    expect(world.harness.parts.oldestAnchor).not.toBe(null)
    world.check()
    world.harness.evict()
    world.check()
    world.checkRowSets()
  })

  test('leaves all as it was when it is aborted', () => {
    const world = aWorld()
    const before = JSON.stringify(world.metas)
    const task = world.compactTask()
    for (let i = 0; i < 4; i++) world.harness.step(task)
    task.abort()
    task.abort()

    expect(JSON.stringify(world.metas)).toBe(before)
    world.checkRowSets()
    world.run(world.garbageTask())
    world.checkFiles()
    world.check()
  })

  test('leaves a rowset alone that another task works on', () => {
    const world = aWorld()
    const first = world.compactTask()
    world.harness.step(first)
    const second = world.compactTask()

    expect(world.harness.step(second)).toBe(true)
    expect(second.summary.rowSetsIn).toBe(0)
    world.run(first)
    world.check()
  })

  test('tells of damage and leaves all as it was', () => {
    const world = aWorld()
    const { store, parts } = world.harness
    const [file] = parts.rowSets[0].meta.baseFiles
    for (const { block } of store.blocks(file)) store.flipBlockBit(file, block, 999)
    const before = JSON.stringify(world.metas)
    let failure: unknown = null
    try {
      world.run(world.compactTask())
    } catch (error) {
      failure = error
    }

    expect(isCorruption(failure)).toBe(true)
    expect(JSON.stringify(world.metas)).toBe(before)
    expect(parts.rowSets.map(({ isBusy, isPinned }) => isBusy || isPinned)).toEqual([false, false])
  })

  test('is a no-op without rowsets', () => {
    const world = new CompactionWorld(1, 6)
    const written = world.harness.store.rowsWritten
    const task = world.compactTask([])

    expect(world.harness.step(task)).toBe(true)
    expect(world.harness.store.rowsWritten).toBe(written)
  })

  test('merges thousands of rows over many pages, with changes all over', () => {
    const world = new CompactionWorld(1, 20_000)
    const { prng } = world
    for (let round = 0; round < 3; round++) {
      for (let op = 0; op < 3; op++) {
        world.apply(
          Array.from({ length: 2000 }, () => {
            const k = prng.below(20_000)
            return ['UPSERT', { k, v: prng.below(1000), t: 'x'.repeat(prng.below(9)) }] as const
          }),
        )
      }
      world.apply(Array.from({ length: 300 }, () => ['DELETE_IGNORE', { k: prng.below(20_000) }]))
      world.flush()
      world.flushDeltas()
    }
    world.rowSetRows = 6000
    const { parts, clock } = world.harness
    const limits = { rowSetRows: 6000 }
    world.run(new CompactRowSetsTask(parts, parts.rowSets, clock.nowMicros(), limits), () => {
      world.write(20)
    })

    expect(world.metas.length).toBeGreaterThan(1)
    world.check(4)
    world.checkRowSets()
  })
})
