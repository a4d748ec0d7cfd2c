import { afterEach, describe, expect, test, vi } from 'vitest'
import type { MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import { checkTablet } from '../../../src/tablet/invariants.ts'
import { GarbageTask } from '../../../src/tablet/maintenance/garbage-task.ts'
import type { RequestReport } from '../../../src/tablet/maintenance/maintenance-status.ts'
import { aSchema } from '../../support/a-schema.ts'
import { TabletHarness } from '../../support/tablet-harness.ts'

const SECOND = 1_000_000
const MEBIBYTE = 1024 * 1024

/** A tablet whose rows are `k INT64` and a text. */
function aTablet(extraConfigs: Record<string, string> = {}, memoryBytesMax?: number) {
  const schema = aSchema('k INT64 KEY', 'v STRING NULL')
  const options = memoryBytesMax === undefined ? {} : { memoryBytesMax }
  return new TabletHarness(schema, { extraConfigs, ...options })
}

/** Inserts rows `[start, end)`, each a step apart, in one op. */
function insert(harness: TabletHarness, start: number, end: number, step = 1, text = 'x'): void {
  harness.write(
    Array.from({ length: end - start }, (_, i) => ['INSERT', { k: (start + i) * step, v: text }]),
  )
}

/** Flushes rowsets one on another, whose keys stand between those of the others. */
function stack(harness: TabletHarness, count: number, first = 0): void {
  for (let flush = first; flush < first + count; flush++) {
    harness.write(Array.from({ length: 500 }, (_, i) => ['INSERT', { k: i * 8 + flush, v: 'x' }]))
    run(harness, 'FLUSH_MRS')
  }
}

function update(harness: TabletHarness, start: number, end: number, text: string): void {
  harness.write(
    Array.from({ length: end - start }, (_, i) => ['UPDATE', { k: start + i, v: text }]),
  )
}

function dueIn(harness: TabletHarness): number | null {
  const now = harness.clock.nowMicros()
  const due = harness.tablet.maintenance.due(now)
  // The clock of a tablet that has just woken is half a second ahead.
  return due === null ? null : Math.floor((due - now) / SECOND)
}

/** Makes steps until nothing is to be done at once. Returns how many. */
function settle(harness: TabletHarness): number {
  let count = 1
  while (harness.tablet.stepMaintenance()) {
    if (++count > 10_000) throw new Error('maintenance does not come to an end')
  }
  harness.store.release()
  return count
}

afterEach(() => {
  vi.restoreAllMocks()
})

let requestCount = 0

/** Asks for an op and runs it to its end. */
function run(harness: TabletHarness, op: MaintenanceOp): RequestReport {
  const id = `request ${requestCount++}`
  const { maintenance } = harness.tablet
  for (let step = 0; step < 10_000; step++) {
    const report = maintenance.request(op, id)
    if (report.isDone) {
      harness.store.release()
      return report
    }
    harness.tablet.stepMaintenance()
  }
  throw new Error('the request does not come to an end')
}

function lastOps(harness: TabletHarness): string[] {
  const { lastRuns } = harness.tablet.maintenance.status(harness.clock.nowMicros())
  return lastRuns.map(({ op }) => op)
}

describe('MaintenanceManager.due', () => {
  test('is never for a tablet with little WAL', () => {
    const harness = aTablet()

    expect(dueIn(harness)).toBe(null)
    for (let op = 0; op < 256; op++) insert(harness, op, op + 1)
    expect(dueIn(harness)).toBe(null)
    expect(harness.tablet.stepMaintenance()).toBe(false)
    expect(harness.parts.rowSets).toEqual([])
  })

  test('is 30 s after the last write when the WAL has more than 256 stored rows', () => {
    const harness = aTablet()
    for (let op = 0; op < 257; op++) insert(harness, op, op + 1)

    expect(dueIn(harness)).toBe(30)
    harness.clock.advance(20 * SECOND)
    expect(dueIn(harness)).toBe(10)
    insert(harness, 1000, 1001)
    expect(dueIn(harness)).toBe(30)
    expect(harness.tablet.stepMaintenance()).toBe(false)
    harness.clock.advance(31 * SECOND)
    settle(harness)
    expect(lastOps(harness)).toEqual(['FLUSH_MRS'])
    expect(dueIn(harness)).toBe(7 * 86_400 - 31)
    expect(harness.parts.wal.rowCount).toBe(0)
    expect(harness.rows()).toHaveLength(258)
  })

  test('is 30 s after the last write when the WAL is above 1 MiB', () => {
    const harness = aTablet()
    const large = 'x'.repeat(60_000)
    for (let i = 0; i < 17; i++) insert(harness, i, i + 1, 1, large)

    expect(dueIn(harness)).toBe(null)
    insert(harness, 17, 18, 1, large)
    expect(dueIn(harness)).toBe(30)
  })

  test('is at once when the MemRowSet is full', () => {
    const harness = aTablet()
    const large = 'x'.repeat(60_000)
    for (let i = 0; i < 3; i++) insert(harness, i * 20, i * 20 + 20, 1, large)
    expect(dueIn(harness)).toBe(30)
    insert(harness, 60, 150, 1, large)

    expect(harness.parts.memRowSet.heldBytes).toBeGreaterThan(8 * MEBIBYTE)
    expect(dueIn(harness)).toBe(0)
    settle(harness)
    expect(harness.parts.memRowSet.rowCount).toBe(0)
    expect(harness.rows()).toHaveLength(150)
  })

  test('is at once when memory is short and the tablet holds a part of it', () => {
    const harness = aTablet({}, 600_000)
    insert(harness, 0, 6, 1, 'x'.repeat(60_000))

    expect(harness.accountant.isOverSoft()).toBe(true)
    expect(dueIn(harness)).toBe(0)
    settle(harness)
    expect(harness.accountant.isOverSoft()).toBe(false)
  })

  test('is for changes to flushed rows as it is for rows', () => {
    const harness = aTablet()
    insert(harness, 0, 10)
    run(harness, 'FLUSH_MRS')
    for (let op = 0; op < 257; op++) update(harness, op % 10, (op % 10) + 1, `${op}`)

    expect(dueIn(harness)).toBe(30)
    harness.clock.advance(31 * SECOND)
    settle(harness)
    expect(lastOps(harness)).toContain('FLUSH_DMS')
    expect(harness.parts.wal.rowCount).toBe(0)
  })

  test('is for a WAL of nothing but refused rows', () => {
    const harness = aTablet()
    insert(harness, 0, 1)
    run(harness, 'FLUSH_MRS')
    for (let op = 0; op < 257; op++) {
      const key = { key: `${op}`, share: 0, digest: 'd', isInternal: true }
      harness.write([['INSERT', { k: 0, v: 'again' }]], key)
    }

    expect(dueIn(harness)).toBe(30)
    harness.clock.advance(31 * SECOND)
    settle(harness)
    expect(harness.parts.wal.rowCount).toBe(0)
    expect(dueIn(harness)).not.toBe(0)
  })

  test('is when history becomes ancient, and then it goes', () => {
    const harness = aTablet({ 'kudu.table.history_max_age_sec': '600' })
    insert(harness, 0, 10)
    run(harness, 'FLUSH_MRS')

    expect(harness.parts.rowSets[0].meta.undos).toHaveLength(1)
    expect(dueIn(harness)).toBe(600)
    harness.clock.advance(600 * SECOND)
    expect(harness.tablet.stepMaintenance()).toBe(false)
    harness.clock.advance(2 * SECOND)
    settle(harness)
    expect(lastOps(harness)[0]).toBe('GC')
    expect(harness.parts.rowSets[0].meta.undos).toEqual([])
    expect(dueIn(harness)).toBe(null)
  })

  test('is again what it was after memory vanished in the middle of an op', () => {
    const harness = aTablet()
    const large = 'x'.repeat(60_000)
    for (let op = 0; op < 5; op++) insert(harness, op * 20, op * 20 + 20, 1, large)
    harness.clock.advance(31 * SECOND)
    harness.tablet.stepMaintenance()
    expect(harness.parts.frozen).not.toBe(null)
    harness.store.release()
    harness.crash()
    harness.clock.advance(31 * SECOND)

    expect(dueIn(harness)).toBe(0)
    settle(harness)
    checkTablet(harness.tablet)
    expect(harness.parts.wal.rowCount).toBe(0)
    expect(harness.rows()).toHaveLength(100)
  })
})

describe('MaintenanceManager.step', () => {
  test('compacts flushes that overlap, by itself', () => {
    const harness = aTablet()
    for (let flush = 0; flush < 4; flush++) {
      harness.write(Array.from({ length: 500 }, (_, i) => ['INSERT', { k: i * 4 + flush, v: 'x' }]))
      run(harness, 'FLUSH_MRS')
    }
    settle(harness)

    expect(lastOps(harness)[0]).toBe('COMPACT')
    expect(harness.parts.rowSets).toHaveLength(1)
    expect(harness.rows()).toHaveLength(2000)
    checkTablet(harness.tablet)
  })

  test('merges a little on much only when the tablet is at rest for five seconds', () => {
    const harness = aTablet()
    insert(harness, 0, 6000, 2)
    run(harness, 'FLUSH_MRS')
    harness.write(Array.from({ length: 300 }, (_, i) => ['INSERT', { k: i * 40 + 1, v: 'x' }]))
    run(harness, 'FLUSH_MRS')
    settle(harness)
    expect(lastOps(harness)[0]).toBe('FLUSH_MRS')
    expect(dueIn(harness)).toBe(5)

    harness.clock.advance(3 * SECOND)
    insert(harness, 20_000, 20_001)
    expect(dueIn(harness)).toBe(5)
    harness.clock.advance(6 * SECOND)
    settle(harness)
    expect(lastOps(harness)[0]).toBe('COMPACT')
    expect(harness.parts.rowSets).toHaveLength(1)
    expect(dueIn(harness)).toBeGreaterThan(30)
    checkTablet(harness.tablet)
  })

  test('merges for good after a minute when writes never pause, but nothing is flushed', () => {
    const harness = aTablet()
    insert(harness, 0, 6000, 2)
    run(harness, 'FLUSH_MRS')
    harness.write(Array.from({ length: 300 }, (_, i) => ['INSERT', { k: i * 40 + 1, v: 'x' }]))
    run(harness, 'FLUSH_MRS')
    for (let second = 0; second < 58; second++) {
      harness.clock.advance(SECOND)
      insert(harness, 20_000 + second, 20_001 + second)
      expect(harness.tablet.stepMaintenance()).toBe(false)
    }
    harness.clock.advance(3 * SECOND)
    settle(harness)

    expect(lastOps(harness)[0]).toBe('COMPACT')
  })

  test('flushes what is in memory before it merges at rest', () => {
    const harness = aTablet()
    insert(harness, 0, 6000, 2)
    run(harness, 'FLUSH_MRS')
    harness.write(Array.from({ length: 300 }, (_, i) => ['INSERT', { k: i * 40 + 1, v: 'x' }]))
    run(harness, 'FLUSH_MRS')
    for (let op = 0; op < 257; op++) insert(harness, 20_000 + op, 20_001 + op)

    expect(dueIn(harness)).toBe(5)
    harness.clock.advance(6 * SECOND)
    settle(harness)
    expect(lastOps(harness).slice(0, 2)).toEqual(['COMPACT', 'FLUSH_MRS'])
    expect(harness.parts.memRowSet.rowCount).toBe(0)
  })

  test('compacts nothing while memory is short, and looks again soon', () => {
    const harness = aTablet()
    stack(harness, 5)
    const other = {}
    harness.accountant.hold(other, 'other', harness.accountant.hardBytes)

    expect(dueIn(harness)).toBe(10)
    expect(harness.tablet.stepMaintenance()).toBe(false)
    harness.accountant.hold(other, 'other', 0)
    expect(dueIn(harness)).toBe(0)
    settle(harness)
    expect(lastOps(harness)[0]).toBe('COMPACT')
  })

  test('lets a low stack wait for more, and merges a high one at once', () => {
    const harness = aTablet()
    stack(harness, 3)
    expect(dueIn(harness)).toBe(5)
    stack(harness, 2, 3)
    settle(harness)
    expect(lastOps(harness)[0]).toBe('COMPACT')
  })

  test('merges a low stack after ten seconds though rows keep coming', () => {
    const harness = aTablet()
    stack(harness, 2)
    for (let second = 0; second < 9; second += 3) {
      harness.clock.advance(3 * SECOND)
      insert(harness, 5000 + second, 5001 + second)
      settle(harness)
    }
    expect(harness.parts.rowSets).toHaveLength(2)
    expect(dueIn(harness)).toBe(1)
    harness.clock.advance(1 * SECOND)
    settle(harness)
    expect(harness.parts.rowSets).toHaveLength(1)
  })

  test('compacts nothing by itself in a table that has it switched off', () => {
    const harness = aTablet({ 'kudu.table.disable_compaction': 'true' })
    for (let flush = 0; flush < 4; flush++) {
      harness.write(Array.from({ length: 500 }, (_, i) => ['INSERT', { k: i * 4 + flush, v: 'x' }]))
      run(harness, 'FLUSH_MRS')
    }
    settle(harness)
    harness.clock.advance(100 * SECOND)
    settle(harness)

    expect(harness.parts.rowSets).toHaveLength(4)
    expect(run(harness, 'COMPACT')).toMatchObject({ runCount: 1, summary: { rowSetsIn: 4 } })
  })

  test('begins a flush in the middle of a compaction, and then goes on with that', () => {
    const harness = aTablet()
    for (let flush = 0; flush < 2; flush++) {
      for (let part = 0; part < 10; part++) {
        harness.write(
          Array.from({ length: 2000 }, (_, i) => {
            return ['INSERT', { k: (part * 2000 + i) * 2 + flush, v: `value ${i} of ${part}` }]
          }),
        )
      }
      run(harness, 'FLUSH_MRS')
    }
    harness.tablet.maintenance.request('COMPACT', 'c')
    harness.tablet.stepMaintenance()
    const large = 'x'.repeat(60_000)
    for (let i = 0; i < 15; i++) insert(harness, 10_000_000 + i * 10, 10_000_010 + i * 10, 1, large)
    const running = () => {
      const { running: ops } = harness.tablet.maintenance.status(harness.clock.nowMicros())
      return ops.map(({ op }) => op)
    }

    expect(running()).toEqual(['COMPACT'])
    harness.tablet.stepMaintenance()
    expect(running()).toEqual(['FLUSH_MRS', 'COMPACT'])
    settle(harness)
    expect(lastOps(harness).slice(0, 2)).toEqual(['COMPACT', 'FLUSH_MRS'])
    expect(harness.rows()).toHaveLength(40_150)
    checkTablet(harness.tablet)
  })

  test('ends an op on a damaged rowset, holds it back, and leaves the tablet as it was', () => {
    const harness = aTablet()
    stack(harness, 5)
    const [file] = harness.parts.rowSets[0].meta.baseFiles
    for (const { block, bytes } of harness.store.blocks(file)) {
      harness.store.flipBlockBit(file, block, bytes * 4)
    }
    harness.evict()
    settle(harness)
    const now = harness.clock.nowMicros()
    const { lastRuns, scores } = harness.tablet.maintenance.status(now)

    expect(lastRuns[0]).toMatchObject({ op: 'COMPACT', failure: { code: 'CORRUPTION' } })
    const compact = scores.find(({ op }) => op === 'COMPACT')
    expect(compact?.heldBackUntil).toBe(now + 30 * SECOND)
    expect(harness.parts.rowSets.map(({ isBusy }) => isBusy)).toEqual(Array(5).fill(false))
    insert(harness, 5000, 5001)
    expect(() => run(harness, 'COMPACT')).toThrow(/rowset/)
    insert(harness, 5001, 5002)
  })
})

describe('MaintenanceManager', () => {
  test('holds back an op that ends and leaves what it was for, longer each time', () => {
    vi.spyOn(GarbageTask.prototype, 'step').mockReturnValue(true)
    const harness = aTablet({ 'kudu.table.history_max_age_sec': '600' })
    insert(harness, 0, 10)
    run(harness, 'FLUSH_MRS')
    harness.clock.advance(602 * SECOND)
    settle(harness)

    expect(lastOps(harness)).toEqual(['GC', 'FLUSH_MRS'])
    expect(dueIn(harness)).toBe(30)
    harness.clock.advance(30 * SECOND)
    settle(harness)
    expect(dueIn(harness)).toBe(60)
    vi.restoreAllMocks()
    harness.clock.advance(60 * SECOND)
    settle(harness)
    expect(dueIn(harness)).toBe(null)
  })
})

describe('MaintenanceManager.request', () => {
  test('runs an op until there is none of it left, and tells what it did', () => {
    const harness = aTablet()
    insert(harness, 0, 100)

    expect(run(harness, 'FLUSH_MRS')).toMatchObject({
      runCount: 1,
      summary: { rowSetsIn: 1, rowSetsOut: 1, rowsIn: 100, rowsOut: 100 },
    })
    expect(run(harness, 'FLUSH_MRS')).toMatchObject({ runCount: 0, summary: { rowsOut: 0 } })
    expect(harness.tablet.figures()).toMatchObject({ liveRowCount: 100, rowSetCount: 1 })
  })

  test('asked again with the same id it begins nothing', () => {
    const harness = aTablet()
    insert(harness, 0, 100)
    const { maintenance } = harness.tablet
    maintenance.request('FLUSH_MRS', 'a')
    settle(harness)
    insert(harness, 100, 200)
    const again = maintenance.request('FLUSH_MRS', 'a')

    expect(again).toMatchObject({ isDone: true, runCount: 1, summary: { rowsIn: 100 } })
    expect(harness.parts.memRowSet.rowCount).toBe(100)
  })

  test('a flush that was asked for takes the rows that were there, beside one under way', () => {
    const harness = aTablet()
    const large = 'x'.repeat(60_000)
    for (let op = 0; op < 5; op++) insert(harness, op * 20, op * 20 + 20, 1, large)
    const { maintenance } = harness.tablet
    maintenance.request('FLUSH_MRS', 'a')
    harness.tablet.stepMaintenance()
    expect(harness.parts.frozen).not.toBe(null)
    insert(harness, 100, 200)
    maintenance.request('FLUSH_MRS', 'b')
    settle(harness)

    expect(maintenance.request('FLUSH_MRS', 'b')).toMatchObject({ isDone: true, runCount: 1 })
    expect(harness.parts.memRowSet.rowCount).toBe(0)
    expect(harness.parts.rowSets.map(({ rowCount }) => rowCount)).toEqual([100, 100])
  })

  test('compacts deltas of every rowset', () => {
    const harness = aTablet({ 'kudu.table.disable_compaction': 'true' })
    for (let part = 0; part < 2; part++) {
      insert(harness, part * 100, part * 100 + 100)
      run(harness, 'FLUSH_MRS')
    }
    for (const text of ['a', 'b', 'c']) {
      update(harness, 0, 200, text)
      expect(run(harness, 'FLUSH_DMS')).toMatchObject({ runCount: 1, summary: { rowSetsIn: 2 } })
    }
    const redoCounts = () => harness.parts.rowSets.map(({ meta }) => meta.redos.length)

    expect(redoCounts()).toEqual([3, 3])
    expect(run(harness, 'MINOR_DELTA_COMPACT').runCount).toBe(2)
    expect(redoCounts()).toEqual([1, 1])
    expect(run(harness, 'MAJOR_DELTA_COMPACT').runCount).toBe(2)
    expect(redoCounts()).toEqual([0, 0])
    expect(harness.rows().every(({ v }) => v === 'c')).toBe(true)
    checkTablet(harness.tablet)
  })

  test('remembers the last eight runs, newest first', () => {
    const harness = aTablet({ 'kudu.table.disable_compaction': 'true' })
    for (let flush = 0; flush < 10; flush++) {
      insert(harness, flush * 10, flush * 10 + flush + 1)
      run(harness, 'FLUSH_MRS')
    }
    const { lastRuns } = harness.tablet.maintenance.status(harness.clock.nowMicros())

    expect(lastRuns.map(({ summary }) => summary.rowsIn)).toEqual([10, 9, 8, 7, 6, 5, 4, 3])
    expect(lastRuns.every(({ isRequested, endedAt }) => isRequested && endedAt !== null)).toBe(true)
  })
})

describe('MaintenanceManager.status', () => {
  test('raises what ops gain by the priority of the table, within bounds', () => {
    const gains = ['0', '1', '5', '100'].map((priority) => {
      const harness = aTablet({ 'kudu.table.maintenance_priority': priority })
      for (let flush = 0; flush < 2; flush++) {
        harness.write([
          ['INSERT', { k: flush, v: 'x' }],
          ['INSERT', { k: 10 - flush, v: 'x' }],
        ])
        run(harness, 'FLUSH_MRS')
      }
      const { scores } = harness.tablet.maintenance.status(harness.clock.nowMicros())
      return scores.find(({ op }) => op === 'COMPACT')?.performance ?? 0
    })

    expect(gains[0]).toBeGreaterThan(0.5)
    expect(gains[1] / gains[0]).toBeCloseTo(1.1)
    expect(gains[2] / gains[0]).toBeCloseTo(1.1 ** 5)
    expect(gains[3]).toBeCloseTo(gains[2])
  })
})
