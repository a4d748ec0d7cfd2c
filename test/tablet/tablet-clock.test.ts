import { describe, expect, test } from 'vitest'
import {
  ACTIVATION_AHEAD_MICROS,
  FRONT_AHEAD_MICROS_MAX,
  SNAPSHOT_AHEAD_MICROS_MAX,
} from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { aSchema } from '../support/a-schema.ts'
import { TABLET_ID } from '../support/a-table-entry.ts'
import { aShare, type PlainOperation } from '../support/a-write-block.ts'
import { okValue, TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT32 KEY', 'v STRING NULL')
const SECOND = 1_000_000

function inserts(count: number, first = 0): PlainOperation[] {
  return Array.from({ length: count }, (_, index): PlainOperation => {
    return ['INSERT', { k: first + index, v: 'value' }]
  })
}

function failureOf(work: () => unknown): StatusError {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('nothing failed')
}

describe('TabletClock', () => {
  test('begins half a second ahead, and says so to nobody', () => {
    const harness = new TabletHarness(SCHEMA)
    const now = harness.clock.nowMicros()
    const result = harness.write(inserts(1))

    expect(result.timestamp).toBe(now + ACTIVATION_AHEAD_MICROS + 1)
    const fresh = new TabletHarness(SCHEMA)
    expect(fresh.scan(null).snapshot).toBe(now)
    expect(fresh.tablet.newestTime).toBe(now)
  })

  test('reads at its present what it has applied and what the caller has seen', () => {
    const harness = new TabletHarness(SCHEMA)
    const { timestamp } = harness.write(inserts(1))
    const heard = harness.clock.nowMicros() + 2 * SECOND

    expect(harness.scan(null).snapshot).toBe(timestamp)
    expect(harness.scan(null, heard).snapshot).toBe(heard)
  })

  test('refuses a caller whose clock is too far ahead and is not raised by it', () => {
    const harness = new TabletHarness(SCHEMA)
    const limit = harness.clock.nowMicros() + FRONT_AHEAD_MICROS_MAX
    const block = aShare(SCHEMA, ...inserts(1))

    for (const clock of [limit + 1, -1, 0.5, Number.NaN, 2 ** 60]) {
      const error = failureOf(() => harness.writeBlock(block, null, clock))
      expect(error.code).toBe('INVALID_ARGUMENT')
    }
    expect(harness.writeBlock(block).timestamp).toBeLessThan(limit)
    expect(harness.scan(null, limit).snapshot).toBe(limit)
  })

  test('gives no op a time at or below a snapshot that was offered', () => {
    const harness = new TabletHarness(SCHEMA)
    const { tablet } = harness
    const snapshot = harness.clock.nowMicros() + 5 * SECOND
    const offered = okValue(tablet.offerSnapshot({ ...harness.request(), snapshot }))
    const { timestamp } = harness.write(inserts(1))

    expect(offered.lastApplied).toBe(0)
    expect(timestamp).toBe(snapshot + 1)
    const again = okValue(tablet.offerSnapshot({ ...harness.request(), snapshot }))
    expect(again.lastApplied).toBe(timestamp)
  })

  test('stores a clock mark only for a snapshot that a restart could undo, and once', () => {
    const harness = new TabletHarness(SCHEMA)
    const now = harness.clock.nowMicros()
    const bills: number[] = []
    for (const ahead of [0, SNAPSHOT_AHEAD_MICROS_MAX, 2 * SECOND, 2 * SECOND, SECOND]) {
      const before = harness.store.rowsWritten
      harness.scan(now + ahead)
      bills.push(harness.store.rowsWritten - before)
    }

    expect(bills).toEqual([0, 0, 1, 0, 0])
  })

  test('stores no clock mark when an op at or above the snapshot is logged', () => {
    const harness = new TabletHarness(SCHEMA)
    const { timestamp } = harness.write(inserts(1))
    const before = harness.store.rowsWritten
    harness.scan(null)
    harness.scan(timestamp)

    expect(timestamp).toBeGreaterThan(harness.clock.nowMicros() + SNAPSHOT_AHEAD_MICROS_MAX)
    expect(harness.store.rowsWritten).toBe(before)
  })

  // now ── +250 ms ────────── +500 ms          the clock steps back 250 ms at the restart
  //   └ read here, twice         └ first op after the restart
  test('keeps a snapshot what it was over a restart with the clock stepped back', () => {
    for (const ahead of [0, SNAPSHOT_AHEAD_MICROS_MAX, 3 * SECOND, FRONT_AHEAD_MICROS_MAX]) {
      const harness = new TabletHarness(SCHEMA)
      harness.write(inserts(1))
      const snapshot = harness.clock.nowMicros() + ahead
      const rows = harness.rows(snapshot)
      harness.clock.advance(-SNAPSHOT_AHEAD_MICROS_MAX)
      harness.crash()
      harness.write(inserts(1, 1))

      if (ahead <= FRONT_AHEAD_MICROS_MAX - SECOND) expect(harness.rows(snapshot)).toEqual(rows)
      expect(harness.tablet.lastApplied).toBeGreaterThan(snapshot)
      checkTablet(harness.tablet)
    }
  })

  test('refuses a snapshot older than the history of its table', () => {
    const harness = new TabletHarness(SCHEMA, {
      extraConfigs: { 'kudu.table.history_max_age_sec': '60' },
    })
    const oldest = harness.clock.nowMicros() - 60 * SECOND

    expect(failureOf(() => harness.rows(oldest - 1)).code).toBe('INVALID_SNAPSHOT')
    expect(harness.rows(oldest)).toEqual([])
  })

  test('refuses a snapshot too far ahead', () => {
    const harness = new TabletHarness(SCHEMA)
    const limit = harness.clock.nowMicros() + FRONT_AHEAD_MICROS_MAX

    expect(failureOf(() => harness.rows(limit + 1)).code).toBe('INVALID_ARGUMENT')
    expect(harness.rows(limit)).toEqual([])
  })

  test('asks to be initialized for a snapshot that a restart could undo', () => {
    const harness = new TabletHarness(SCHEMA, { isNew: true })
    const { tablet } = harness
    const request = () => harness.request()
    const now = harness.clock.nowMicros()
    const near = now + SNAPSHOT_AHEAD_MICROS_MAX

    expect(tablet.offerSnapshot({ ...request(), snapshot: near })).toEqual({
      kind: 'uninitialized',
      clock: now,
      mustInitialize: false,
    })
    expect(tablet.offerSnapshot({ ...request(), snapshot: near + 1 })).toMatchObject({
      mustInitialize: true,
    })
  })

  test('keeps the snapshots that it served before it was initialized', () => {
    const harness = new TabletHarness(SCHEMA, { isNew: true })
    const { tablet } = harness
    const snapshot = harness.clock.nowMicros() + SNAPSHOT_AHEAD_MICROS_MAX
    tablet.offerSnapshot({ ...harness.request(), snapshot })
    harness.clock.advance(-SNAPSHOT_AHEAD_MICROS_MAX)
    harness.crash()
    harness.tablet.initialize(harness.table, TABLET_ID)

    expect(harness.write(inserts(1)).timestamp).toBeGreaterThan(snapshot)
  })
})
