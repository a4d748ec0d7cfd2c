import { describe, expect, test } from 'vitest'
import type { MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import { checkTablet } from '../../../src/tablet/invariants.ts'
import {
  findHeldHistory,
  findUnflushedDeletes,
} from '../../../src/tablet/maintenance/held-history.ts'
import type { RequestReport } from '../../../src/tablet/maintenance/maintenance-status.ts'
import { aSchema } from '../../support/a-schema.ts'
import { TabletHarness } from '../../support/tablet-harness.ts'

const SECOND = 1_000_000
const MAX_AGE_SEC = 600

/** A tablet whose table keeps ten minutes of history, with a rowset of 100 rows. */
function aTablet(extraConfigs: Record<string, string> = {}): TabletHarness {
  const harness = new TabletHarness(aSchema('k INT64 KEY', 'v STRING NULL'), {
    extraConfigs: { 'kudu.table.history_max_age_sec': `${MAX_AGE_SEC}`, ...extraConfigs },
  })
  insert(harness, 0, 100)
  run(harness, 'FLUSH_MRS')
  pass(harness, MAX_AGE_SEC + 5)
  settle(harness)
  return harness
}

function insert(harness: TabletHarness, start: number, end: number): void {
  harness.write(Array.from({ length: end - start }, (_, i) => ['INSERT', { k: start + i, v: 'x' }]))
}

function remove(harness: TabletHarness, start: number, end: number): void {
  harness.write(Array.from({ length: end - start }, (_, i) => ['DELETE', { k: start + i }]))
}

function settle(harness: TabletHarness): void {
  for (let step = 0; harness.tablet.stepMaintenance(); step++) {
    if (step > 10_000) throw new Error('maintenance does not come to an end')
  }
  harness.store.release()
}

let requestCount = 0

function run(harness: TabletHarness, op: MaintenanceOp): RequestReport {
  const id = `request ${requestCount++}`
  for (let step = 0; step < 10_000; step++) {
    const report = harness.tablet.maintenance.request(op, id)
    if (report.isDone) {
      harness.store.release()
      return report
    }
    harness.tablet.stepMaintenance()
  }
  throw new Error('the request does not come to an end')
}

function pass(harness: TabletHarness, seconds: number): void {
  harness.clock.advance(seconds * SECOND)
}

/** Lets what is due by itself be done, as the alarm would, until nothing is. */
function rest(harness: TabletHarness): void {
  for (let alarm = 0; ; alarm++) {
    if (alarm > 20) throw new Error('alarms do not come to an end')
    const due = harness.tablet.maintenance.due(harness.clock.nowMicros())
    if (due === null) return
    harness.clock.advance(Math.max(0, due - harness.clock.nowMicros()))
    settle(harness)
  }
}

function dueIn(harness: TabletHarness): number | null {
  const now = harness.clock.nowMicros()
  const due = harness.tablet.maintenance.due(now)
  return due === null ? null : Math.floor((due - now) / SECOND)
}

describe('deletes in memory', () => {
  test('are flushed a minute after they became ancient, and their rowset goes', () => {
    const harness = aTablet()
    expect(dueIn(harness)).toBe(null)
    remove(harness, 0, 100)

    expect(findUnflushedDeletes(harness.parts)).toBe(harness.tablet.lastApplied)
    expect(dueIn(harness)).toBe(MAX_AGE_SEC + 60)
    rest(harness)
    expect(harness.parts.rowSets).toEqual([])
    expect(harness.parts.wal.rowCount).toBe(0)
    expect(harness.rows()).toEqual([])
    checkTablet(harness.tablet)
  })

  test('are due again after memory vanished', () => {
    const harness = aTablet()
    remove(harness, 0, 100)
    pass(harness, 10)
    harness.crash()

    expect(dueIn(harness)).toBeGreaterThan(MAX_AGE_SEC)
    rest(harness)
    expect(harness.parts.rowSets).toEqual([])
  })

  test('are flushed first by a GC that is asked for, which tells what it dropped', () => {
    const harness = aTablet()
    remove(harness, 0, 100)
    expect(run(harness, 'GC')).toMatchObject({ runCount: 0 })
    expect(findUnflushedDeletes(harness.parts)).not.toBe(null)
    pass(harness, MAX_AGE_SEC + 5)

    const { runCount, summary } = run(harness, 'GC')
    expect({ runCount, summary }).toMatchObject({
      runCount: 1,
      summary: { rowSetsIn: 1, rowSetsOut: 0, rowsIn: 100 },
    })
    expect(summary.bytesIn).toBeGreaterThan(100)
    expect(harness.parts.rowSets).toEqual([])
    expect(run(harness, 'GC')).toMatchObject({ runCount: 0, summary: { bytesIn: 0 } })
  })

  test('are no reason where only cells changed', () => {
    const harness = aTablet()
    harness.write([['UPDATE', { k: 1, v: 'y' }]])

    expect(findUnflushedDeletes(harness.parts)).toBe(null)
    expect(dueIn(harness)).toBe(null)
  })
})

describe('findHeldHistory', () => {
  test('is when rows were deleted after one came that is in memory, which is flushed', () => {
    const harness = aTablet({ 'kudu.table.disable_compaction': 'true' })
    insert(harness, 200, 201)
    pass(harness, 10)
    remove(harness, 0, 100)
    run(harness, 'FLUSH_DMS')

    const { newest } = harness.parts.rowSets[0].meta.redos[0]
    expect(findHeldHistory(harness.parts, false)).toBe(newest)
    pass(harness, MAX_AGE_SEC + 5)
    settle(harness)
    expect(harness.parts.rowSets).toHaveLength(1)
    rest(harness)
    expect(harness.parts.rowSets.map(({ rowCount }) => rowCount)).toEqual([1])
    expect(harness.rows()).toHaveLength(1)
    checkTablet(harness.tablet)
  })

  test('is ended by a GC that is asked for', () => {
    const harness = aTablet()
    insert(harness, 200, 201)
    remove(harness, 0, 100)
    run(harness, 'FLUSH_DMS')
    pass(harness, MAX_AGE_SEC + 5)

    // The rows of a rowset, and the UNDO record of the row that was flushed.
    expect(run(harness, 'GC')).toMatchObject({ runCount: 1, summary: { rowsIn: 101 } })
    expect(harness.parts.rowSets.map(({ rowCount }) => rowCount)).toEqual([1])
  })

  test('is null for a row in memory that came after all that is on disk', () => {
    const harness = aTablet()
    insert(harness, 200, 201)

    expect(findHeldHistory(harness.parts, true)).toBe(null)
    expect(dueIn(harness)).toBe(null)
  })

  test('is when a compaction made history of changes that the WAL still tells', () => {
    const harness = aTablet()
    remove(harness, 0, 30)
    insert(harness, 200, 300)
    run(harness, 'FLUSH_MRS')
    remove(harness, 30, 60)
    run(harness, 'COMPACT')

    expect(findHeldHistory(harness.parts, true)).not.toBe(null)
    rest(harness)
    expect(harness.parts.rowSets.every(({ meta }) => meta.undos.length === 0)).toBe(true)
    expect(harness.parts.rowSets.map(({ rowCount }) => rowCount)).toEqual([140])
    checkTablet(harness.tablet)
  })
})
