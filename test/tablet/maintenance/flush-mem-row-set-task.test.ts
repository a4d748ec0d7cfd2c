import { describe, expect, test } from 'vitest'
import { MAINTENANCE_STEP_BYTES, MEM_ROW_SET_FLUSH_BYTES } from '../../../src/common/limits.ts'
import { FlushMemRowSetTask } from '../../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { DEFAULT_TABLET_LAYOUT } from '../../../src/tablet/tablet-layout.ts'
import type { TabletParts } from '../../../src/tablet/tablet-parts.ts'
import { EMPTY_BYTES } from '../../../src/util/bytes.ts'
import { FlushWorld } from '../../support/flush-world.ts'
import { okValue } from '../../support/tablet-harness.ts'
import type { ModelOperation } from '../../support/tablet-model.ts'

const flush = (parts: TabletParts, now: number) => new FlushMemRowSetTask(parts, now)

function aWorld(...ops: readonly (readonly ModelOperation[])[]): FlushWorld {
  const world = new FlushWorld(1, 10)
  for (const operations of ops) world.apply(operations)
  return world
}

describe('FlushMemRowSetTask', () => {
  test('moves all rows to a rowset on disk', () => {
    const world = aWorld([
      ['INSERT', { k: 2, v: 2 }],
      ['INSERT', { k: 1, t: 'x' }],
    ])
    world.harness.runTask(flush)

    const { memRowSet, frozen, rowSets, flushedMark, oldestAnchor } = world.harness.parts
    expect([memRowSet.rowCount, frozen, flushedMark]).toEqual([0, null, world.times[0]])
    expect(oldestAnchor).toBe(null)
    expect(rowSets.map(({ meta }) => meta)).toMatchObject([
      {
        rowCount: 2,
        liveRowCount: 2,
        mark: world.times[0],
        newestUndo: world.times[0],
        undos: [{ recordCount: 2, deleteCount: 2 }],
        redos: [],
      },
    ])
    world.check()
    world.checkFiles()
    world.checkRowSets()
  })

  test('tells what it did', () => {
    const world = aWorld([
      ['INSERT', { k: 1 }],
      ['INSERT', { k: 2 }],
      ['DELETE', { k: 2 }],
    ])
    const { parts, clock } = world.harness
    const bytesIn = parts.memRowSet.heldBytes
    const task = flush(parts, clock.nowMicros())
    expect(task.summary.rowsIn).toBe(0)
    while (!world.harness.step(task));

    expect(task.summary).toMatchObject({
      rowSetsIn: 1,
      rowSetsOut: 1,
      rowsIn: 2,
      rowsOut: 1,
      bytesIn,
    })
    expect(task.summary.bytesOut).toBeGreaterThan(100)
  })

  test('is a no-op when there is no row', () => {
    const world = aWorld()
    const { store } = world.harness
    const written = store.rowsWritten
    const task = flush(world.harness.parts, 0)

    expect(world.harness.step(task)).toBe(true)
    expect([store.rowsWritten - written, task.summary.rowSetsIn]).toEqual([0, 0])
    expect(store.files()).toEqual([])
  })

  test('writes no file when no op left a row, and the log goes all the same', () => {
    const world = aWorld(
      [
        ['INSERT', { k: 1 }],
        ['DELETE', { k: 1 }],
      ],
      [
        ['INSERT', { k: 1 }],
        ['DELETE', { k: 1 }],
      ],
    )
    const { harness } = world
    const generations = harness.parts.wal.generations.length
    harness.runTask(flush)

    expect(harness.store.files()).toEqual([])
    expect([...harness.parts.orphanFiles]).toEqual([])
    expect(harness.parts.rowSets).toEqual([])
    expect(harness.parts.wal.generations.length).toBe(generations)
    expect(harness.parts.flushedMark).toBe(world.times[1])
    world.check()
    harness.evict()
    world.check()
  })

  test('flushes a row that is gone with a delete, so that it is seen at earlier times', () => {
    const world = aWorld(
      [['INSERT', { k: 1, v: 1 }]],
      [['UPDATE', { k: 1, v: 2 }]],
      [['DELETE', { k: 1 }]],
    )
    world.harness.runTask(flush)

    expect(world.harness.parts.rowSets[0].meta).toMatchObject({
      rowCount: 1,
      liveRowCount: 0,
      newestUndo: world.times[1],
      redos: [{ recordCount: 1, deleteCount: 1 }],
    })
    world.check()
    world.checkRowSets()
  })

  test('flushes all lives of a row as one', () => {
    const world = aWorld(
      [['INSERT', { k: 1, v: 1, t: 'a' }]],
      [['DELETE', { k: 1 }]],
      [['INSERT', { k: 1, v: 2 }]],
      [
        ['DELETE', { k: 1 }],
        ['INSERT', { k: 1, t: 'b' }],
      ],
    )
    world.harness.runTask(flush)

    expect(world.harness.parts.rowSets[0].meta).toMatchObject({
      rowCount: 1,
      liveRowCount: 1,
      undos: [{ recordCount: 4, deleteCount: 2, reinsertCount: 1 }],
      redos: [],
    })
    world.check()
    world.checkRowSets()
  })

  test('lets a key come back while its ghost is flushed', () => {
    const world = aWorld([['INSERT', { k: 1, v: 1 }]], [['DELETE', { k: 1 }]])
    let isAgain = false
    world.run(world.flushTask(), () => {
      if (!isAgain) world.apply([['INSERT', { k: 1, v: 2 }]])
      isAgain = true
      world.check()
    })
    world.run(world.flushTask())

    expect(world.harness.parts.rowSets).toHaveLength(2)
    world.check()
    world.harness.evict()
    world.check()
  })

  test('moves changes of rows under way to the new rowset', () => {
    const world = aWorld([
      ['INSERT', { k: 1, v: 1 }],
      ['INSERT', { k: 2, v: 2 }],
      ['INSERT', { k: 3, v: 3 }],
    ])
    let v = 10
    world.run(world.flushTask(), () => {
      v++
      world.apply([
        ['UPDATE', { k: 2, v }],
        ['UPDATE', { k: 2, t: `t${v}` }],
        ['UPSERT', { k: 3, v }],
      ])
    })
    world.apply([['DELETE', { k: 3 }]])

    const [rowSet] = world.harness.parts.rowSets
    expect(rowSet.deltas.recordCount).toBe((v - 10) * 3 + 1)
    expect(rowSet.oldestUnflushed).toBe(world.times[1])
    expect(world.harness.parts.oldestAnchor).toBe(world.times[1])
    world.check()
    world.harness.evict()
    world.check()
  })

  test('leaves the rows frozen when it is aborted, for the next one to take', () => {
    const world = aWorld([
      ['INSERT', { k: 1 }],
      ['INSERT', { k: 2 }],
    ])
    const first = world.flushTask()
    for (let i = 0; i < 4; i++) world.harness.step(first)
    first.abort()
    world.apply([
      ['UPDATE', { k: 1, v: 7 }],
      ['DELETE', { k: 2 }],
      ['INSERT', { k: 3 }],
    ])
    world.check()
    world.harness.runTask(flush)

    const { parts } = world.harness
    expect(parts.rowSets.map(({ meta }) => meta)).toMatchObject([
      { rowCount: 2, liveRowCount: 1, mark: world.times[1] },
    ])
    expect([parts.flushedMark, parts.memRowSet.rowCount]).toEqual([world.times[0], 1])
    world.check()
    world.checkFiles()
    world.harness.evict()
    world.check()
  })

  test('lets go of the rows in memory that a scan reads, and shows it what it showed', () => {
    const world = aWorld([
      ['INSERT', { k: 1, v: 1 }],
      ['INSERT', { k: 2, v: 2 }],
      ['INSERT', { k: 3, v: 3 }],
    ])
    const { harness } = world
    const { scanner } = okValue(
      harness.tablet.openScan({
        ...harness.request(),
        columnIds: [10],
        predicates: [],
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
        order: 'ORDERED',
        snapshot: null,
        withKeys: false,
      }),
    )
    const keys = [scanner.nextBatch(1, 1)!.block.columns[0].cell(0)]
    harness.runTask(flush)
    world.apply([
      ['DELETE', { k: 2 }],
      ['UPDATE', { k: 3, v: 9 }],
    ])
    const whileRead = harness.parts.heldBytes
    for (let batch = scanner.nextBatch(1, 1); batch !== null; batch = scanner.nextBatch(1, 1)) {
      keys.push(batch.block.columns[0].cell(0))
    }

    expect(keys).toEqual([1, 2, 3])
    expect(harness.parts.heldBytes).toBe(whileRead)
    world.check()
  })

  test('flushes a row changed thousands of times, and one with megabytes of older cells', () => {
    const world = aWorld([
      ['INSERT', { k: 1, v: 0 }],
      ['INSERT', { k: 2, t: '' }],
    ])
    for (let v = 1; v < 3000; v++) world.apply([['UPDATE', { k: 1, v }]])
    for (let i = 0; i < 40; i++) {
      const words = Array.from({ length: 7500 }, () => world.prng.uint32().toString(36))
      world.apply([['UPDATE', { k: 2, t: words.join('').slice(0, 40_000) }]])
    }
    world.harness.runTask(flush)

    const [{ meta }] = world.harness.parts.rowSets
    expect(meta.undos).toMatchObject([{ recordCount: 3041, deleteCount: 2 }])
    expect(meta.undos[0].firstOrdinals.length).toBeGreaterThan(1)
    world.check(40)
    world.checkRowSets()
  })

  test('makes rowsets of even size of more than one and a half', () => {
    // With steps this large no write ever owes one, so nothing is flushed before it is asked for.
    const world = new FlushWorld(1, 10, { ...DEFAULT_TABLET_LAYOUT, stepBytes: 1 << 30 })
    const text = 'x'.repeat(2500)
    const { parts } = world.harness
    for (let k = 0; parts.memRowSet.heldBytes < MEM_ROW_SET_FLUSH_BYTES * 1.6; k += 500) {
      world.apply(
        Array.from({ length: 500 }, (_, i) => [
          'INSERT',
          { k: ((k + i) * 7919) % 65_536, t: text },
        ]),
      )
    }
    const rowCount = parts.memRowSet.rowCount
    const stepCount = world.harness.runTask(
      (parts, now) => new FlushMemRowSetTask(parts, now, { stepBytes: MAINTENANCE_STEP_BYTES }),
    )

    const metas = parts.rowSets.map(({ meta }) => meta)
    expect(metas.map((meta) => meta.rowCount)).toEqual([
      Math.floor(rowCount / 2),
      Math.ceil(rowCount / 2),
    ])
    expect(Buffer.compare(metas[0].upperKey, metas[1].lowerKey)).toBeLessThanOrEqual(0)
    expect(metas[0].baseFiles).not.toEqual(metas[1].baseFiles)
    expect(stepCount).toBeGreaterThan(10)
    world.check(0)
    world.checkFiles()
    world.checkRowSets()
  })
})
