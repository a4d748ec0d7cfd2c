import { describe, expect, test } from 'vitest'
import type { MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import { checkTablet } from '../../../src/tablet/invariants.ts'
import { chooseAskedGone, chooseGone } from '../../../src/tablet/maintenance/gone-rows.ts'
import type { RequestReport } from '../../../src/tablet/maintenance/maintenance-status.ts'
import { aSchema } from '../../support/a-schema.ts'
import { TabletHarness } from '../../support/tablet-harness.ts'

const SECOND = 1_000_000
const MAX_AGE_SEC = 600
const NONE: ReadonlySet<number> = new Set()

/** A tablet whose table keeps ten minutes of history. */
function aTablet(extraConfigs: Record<string, string> = {}): TabletHarness {
  return new TabletHarness(aSchema('k INT64 KEY', 'v STRING NULL'), {
    extraConfigs: { 'kudu.table.history_max_age_sec': `${MAX_AGE_SEC}`, ...extraConfigs },
  })
}

function insert(harness: TabletHarness, start: number, end: number): void {
  harness.write(
    Array.from({ length: end - start }, (_, i) => ['INSERT', { k: start + i, v: `row ${i}` }]),
  )
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

function dueIn(harness: TabletHarness): number | null {
  const now = harness.clock.nowMicros()
  const due = harness.tablet.maintenance.due(now)
  return due === null ? null : Math.floor((due - now) / SECOND)
}

function rowCounts(harness: TabletHarness): number[] {
  return harness.parts.rowSets.map(({ rowCount }) => rowCount)
}

function lastOps(harness: TabletHarness): string[] {
  const { lastRuns } = harness.tablet.maintenance.status(harness.clock.nowMicros())
  return lastRuns.map(({ op }) => op)
}

/** A lone rowset of so many rows whose UNDOs are gone, the first of which are deleted on disk. */
function aLoneRowSet(rowCount: number, deleted: number, configs = {}): TabletHarness {
  const harness = aTablet(configs)
  insert(harness, 0, rowCount)
  run(harness, 'FLUSH_MRS')
  pass(harness, MAX_AGE_SEC + 5)
  settle(harness)
  remove(harness, 0, deleted)
  run(harness, 'FLUSH_DMS')
  settle(harness)
  return harness
}

describe('chooseGone', () => {
  const choose = ({ parts, clock }: TabletHarness) =>
    chooseGone(parts, NONE, clock.nowMicros(), MAX_AGE_SEC * SECOND)

  test('chooses a rowset when a fifth of its rows is gone, and tells when that will be', () => {
    const harness = aLoneRowSet(100, 20)
    const { choice, nextAt } = choose(harness)

    expect(choice).toBe(null)
    const { newest } = harness.parts.rowSets[0].meta.redos[0]
    expect(nextAt).toBe(newest + MAX_AGE_SEC * SECOND)
    pass(harness, MAX_AGE_SEC + 5)
    expect(choose(harness)).toMatchObject({ choice: { value: 0.2 }, nextAt: null })
  })

  test('leaves one alone of which less is gone, though by hand it is chosen', () => {
    const harness = aLoneRowSet(100, 19)
    pass(harness, MAX_AGE_SEC + 5)

    expect(choose(harness)).toEqual({ choice: null, nextAt: null })
    expect(chooseAskedGone(harness.parts, harness.clock.nowMicros())?.value).toBe(0.19)
  })

  test('counts only deletes of files that are ancient as a whole', () => {
    const harness = aLoneRowSet(100, 10)
    pass(harness, 300)
    remove(harness, 10, 30)
    run(harness, 'FLUSH_DMS')
    pass(harness, 305)

    expect(choose(harness)).toMatchObject({ choice: null })
    expect(choose(harness).nextAt).not.toBe(null)
    expect(chooseAskedGone(harness.parts, harness.clock.nowMicros())?.value).toBe(0.1)
  })

  test('chooses none that is busy, cannot be read, or has no live row', () => {
    const harness = aLoneRowSet(10, 5)
    pass(harness, MAX_AGE_SEC + 5)
    const now = harness.clock.nowMicros()
    const [rowSet] = harness.parts.rowSets
    const failed = new Set([rowSet.id])
    expect(chooseGone(harness.parts, failed, now, SECOND).choice).toBe(null)
    rowSet.isBusy = true
    expect(choose(harness).choice).toBe(null)
    expect(chooseAskedGone(harness.parts, now)).toBe(null)
    rowSet.isBusy = false
    expect(choose(harness).choice).not.toBe(null)
    remove(harness, 5, 10)
    expect(choose(harness).choice).toBe(null)
  })
})

describe('rows that are gone', () => {
  test('are left out by a tablet by itself when they have become ancient, once', () => {
    const harness = aLoneRowSet(8000, 7999)
    const bytes = harness.tablet.figures().onDiskBytes
    expect(dueIn(harness)).toBeGreaterThan(MAX_AGE_SEC - 5)
    expect(dueIn(harness)).toBeLessThanOrEqual(MAX_AGE_SEC)
    pass(harness, MAX_AGE_SEC + 5)
    expect(dueIn(harness)).toBe(0)
    settle(harness)

    expect(lastOps(harness)[0]).toBe('COMPACT')
    expect(rowCounts(harness)).toEqual([1])
    expect(harness.tablet.figures().onDiskBytes).toBeLessThan(bytes / 10)
    expect(harness.rows()).toHaveLength(1)
    checkTablet(harness.tablet)
    const runCount = lastOps(harness).length
    pass(harness, 10 * MAX_AGE_SEC)
    settle(harness)
    expect(lastOps(harness)).toHaveLength(runCount)
    expect(dueIn(harness)).toBe(null)
  })

  test('are left out by hand where any is, in every rowset, and not twice', () => {
    const harness = aTablet({ 'kudu.table.disable_compaction': 'true' })
    for (let part = 0; part < 3; part++) {
      // Full enough not to be merged with each other.
      insert(harness, part * 1000, part * 1000 + 1000)
      run(harness, 'FLUSH_MRS')
    }
    run(harness, 'COMPACT')
    remove(harness, 0, 1)
    remove(harness, 2500, 2502)
    run(harness, 'FLUSH_DMS')
    expect(run(harness, 'COMPACT')).toMatchObject({ runCount: 0 })
    pass(harness, MAX_AGE_SEC + 5)
    settle(harness)
    expect(lastOps(harness)[0]).toBe('GC')

    const before = rowCounts(harness).reduce((a, b) => a + b)
    const { runCount, summary } = run(harness, 'COMPACT')
    expect(runCount).toBeGreaterThan(0)
    expect(summary.rowsIn - summary.rowsOut).toBe(3)
    expect(rowCounts(harness).reduce((a, b) => a + b)).toBe(before - 3)
    expect(run(harness, 'COMPACT')).toMatchObject({ runCount: 0 })
    checkTablet(harness.tablet)
  })

  test('leave nothing by hand when no row is left', () => {
    const harness = aLoneRowSet(100, 100, { 'kudu.table.disable_compaction': 'true' })
    pass(harness, MAX_AGE_SEC + 5)

    expect(run(harness, 'COMPACT')).toMatchObject({ runCount: 1, summary: { rowSetsOut: 0 } })
    expect(rowCounts(harness)).toEqual([])
    checkTablet(harness.tablet)
  })

  test('come to an end while rows are deleted a few at a time', () => {
    const harness = aLoneRowSet(2000, 100)
    let compactionCount = 0
    for (let start = 100; start < 1900; start += 100) {
      remove(harness, start, start + 100)
      run(harness, 'FLUSH_DMS')
      for (let i = 0; i < 4; i++) {
        pass(harness, MAX_AGE_SEC / 4)
        const id = harness.parts.rowSets[0].id
        settle(harness)
        if (harness.parts.rowSets[0].id !== id) compactionCount++
      }
    }
    pass(harness, MAX_AGE_SEC + 5)
    settle(harness)

    expect(harness.rows()).toHaveLength(100)
    expect(rowCounts(harness)[0]).toBeLessThan(125)
    // Each leaves out a fifth or more: 2000 × 0.8^14 < 100.
    expect(compactionCount).toBeLessThanOrEqual(14)
    expect(compactionCount).toBeGreaterThan(3)
    checkTablet(harness.tablet)
  })

  test('stay in a table that has compaction switched off', () => {
    const harness = aLoneRowSet(100, 99, { 'kudu.table.disable_compaction': 'true' })
    pass(harness, MAX_AGE_SEC + 5)
    settle(harness)

    expect(rowCounts(harness)).toEqual([100])
    expect(dueIn(harness)).toBe(null)
  })
})
