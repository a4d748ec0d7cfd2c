import { beforeEach, describe, expect, test } from 'vitest'
import {
  equalityPredicate,
  inListPredicate,
  nonePredicate,
} from '../../../src/common/column-predicate.ts'
import { PAGE_ROWS } from '../../../src/common/limits.ts'
import { StatusError } from '../../../src/common/status.ts'
import { CompactRowSetsTask } from '../../../src/tablet/maintenance/compact-row-sets-task.ts'
import { FlushDeltaTask } from '../../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { GarbageTask } from '../../../src/tablet/maintenance/garbage-task.ts'
import { aSchema } from '../../support/a-schema.ts'
import type { PlainOperation } from '../../support/a-write-block.ts'
import { diffRequest, scanDiff } from '../../support/scan-diff.ts'
import { okValue, TabletHarness } from '../../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT32 KEY', 'a INT32', 'b STRING NULL')
const [K, A, B] = SCHEMA.columns
const PAST_HISTORY_MICROS = 61_000_000

let harness: TabletHarness

beforeEach(() => {
  harness = new TabletHarness(SCHEMA, {
    extraConfigs: { 'kudu.table.history_max_age_sec': '60' },
  })
})

/** Writes an op. Returns its time. */
function write(...operations: PlainOperation[]): number {
  const { timestamp } = harness.write(operations)
  if (timestamp === null) throw new TypeError('something is written')
  return timestamp
}

function flush(): void {
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

function insert(k: number, a = k, b: string | null = null): PlainOperation {
  return ['INSERT', { k, a, b }]
}

/** The rows of a diff, as [key, value of a, whether it is deleted]. */
function shown(diffFrom: number, snapshot: number, predicates = [] as never[] | object[]) {
  const asked = { diffFrom, snapshot, predicates: predicates as never[] }
  return scanDiff(harness, asked).map(({ cells, isDeleted }) => [cells.k, cells.a, isDeleted])
}

function failure(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error instanceof StatusError ? error.code : error
  }
  return null
}

describe('openDiffScan', () => {
  const stores = [
    ['in memory', () => {}],
    ['after a flush', () => flush()],
  ] as const

  test.each(stores)('shows what was inserted, changed and deleted %s', (_, settle) => {
    const before = write(insert(1), insert(2), insert(3), insert(4))
    settle()
    const between = write(['UPDATE', { k: 2, a: 20 }], ['DELETE', { k: 3 }], insert(5))
    settle()
    const after = write(['UPDATE', { k: 5, a: 50 }], ['DELETE', { k: 1 }])

    expect(shown(before, between)).toEqual([
      [2, 20, false],
      [3, null, true],
      [5, 5, false],
    ])
    expect(shown(before, after)).toEqual([
      [1, null, true],
      [2, 20, false],
      [3, null, true],
      [5, 50, false],
    ])
    expect(shown(between, after)).toEqual([
      [1, null, true],
      [5, 50, false],
    ])
  })

  test.each(stores)('shows nothing of a row that came and went %s', (_, settle) => {
    const before = write(insert(1))
    write(insert(2))
    settle()
    const after = write(['DELETE', { k: 2 }])

    expect(shown(before, after)).toEqual([])
  })

  test.each(stores)('shows nothing of a row that one op inserted and deleted %s', (_, settle) => {
    const before = write(insert(1))
    const after = write(insert(2), ['DELETE', { k: 2 }], insert(3))
    settle()

    expect(shown(before, after)).toEqual([[3, 3, false]])
  })

  test('shows nothing between a time and itself', () => {
    const at = write(insert(1))

    expect(shown(at, at)).toEqual([])
  })

  // on disk   1 (deleted)   2 (deleted)
  // memory    1 (new life)
  test('shows a key that ended in one rowset and lives on in another once, as it lives', () => {
    const before = write(insert(1), insert(2))
    flush()
    write(['DELETE', { k: 1 }], ['DELETE', { k: 2 }])
    const after = write(insert(1, 10))

    const expected = [
      [1, 10, false],
      [2, null, true],
    ]
    expect(shown(before, after)).toEqual(expected)
    flush()
    expect(shown(before, after)).toEqual(expected)
    harness.runTask((parts, now) => new CompactRowSetsTask(parts, parts.rowSets, now))
    expect(shown(before, after)).toEqual(expected)
  })

  test('hides a key that lives on, but fails a predicate, also where it ended', () => {
    const before = write(insert(1), insert(2))
    flush()
    write(['DELETE', { k: 1 }], ['DELETE', { k: 2 }])
    const after = write(insert(1, 10), insert(3, 11))

    expect(shown(before, after, [equalityPredicate(A, 11)])).toEqual([
      [2, null, true],
      [3, 11, false],
    ])
  })

  test('shows deleted rows whatever predicates on other columns say', () => {
    const before = write(insert(1), insert(2), insert(3))
    const after = write(['DELETE', { k: 1 }], ['UPDATE', { k: 2, a: 5 }])

    expect(shown(before, after, [nonePredicate(A)])).toEqual([[1, null, true]])
    expect(shown(before, after, [equalityPredicate(K, 2)])).toEqual([[2, 5, false]])
    expect(shown(before, after, [nonePredicate(K)])).toEqual([])
  })

  test.each(stores)('asks key columns of deleted and other rows alike %s', (_, settle) => {
    harness = new TabletHarness(aSchema('k INT32 KEY', 'l INT32 KEY', 'a INT32 NULL'))
    const pairs = Array.from({ length: 40 }, (_, k) => ({ k, l: k % 5 }))
    const before = write(...pairs.map((row) => ['INSERT', row] as const))
    settle()
    const after = write(
      ...pairs.map((row): PlainOperation => {
        return row.k % 3 === 0 ? ['DELETE', row] : ['UPDATE', { ...row, a: 1 }]
      }),
    )

    const isInL = [inListPredicate(harness.schema.columns[1], [1, 3])]
    const expected = pairs
      .filter(({ l }) => l === 1 || l === 3)
      .map(({ k }) => (k % 3 === 0 ? [k, null, true] : [k, 1, false]))
    expect(shown(before, after, isInL)).toEqual(expected)
  })

  test('shows a column that may not be null as null where the row is deleted', () => {
    const before = write(insert(1, 7, 'x'))
    const after = write(['DELETE', { k: 1 }])

    const [row] = scanDiff(harness, { diffFrom: before, snapshot: after })
    expect(row.cells).toEqual({ k: 1, a: null, b: null })
  })

  test('shows rows that changed in a column that is not asked for', () => {
    const before = write(insert(1), insert(2))
    flush()
    const after = write(['UPDATE', { k: 2, b: 'x' }])

    const columnIds = [A.id]
    const asked = { diffFrom: before, snapshot: after, columnIds }
    expect(scanDiff(harness, asked)).toEqual([{ cells: { a: 2 }, isDeleted: false, key: null }])
    harness.runTask((parts, now) => new FlushDeltaTask(parts, now))
    expect(scanDiff(harness, asked)).toHaveLength(1)
  })

  test('reads columns of predicates that are not asked for', () => {
    const before = write(insert(1, 1, 'x'), insert(2, 2, 'y'))
    const after = write(['UPDATE', { k: 1, a: 5 }], ['UPDATE', { k: 2, a: 6 }])

    const predicates = [equalityPredicate(B, new TextEncoder().encode('y'))]
    const asked = { diffFrom: before, snapshot: after, columnIds: [A.id], predicates }
    expect(scanDiff(harness, asked)).toEqual([{ cells: { a: 6 }, isDeleted: false, key: null }])
  })
})

describe('what a diff scan reads', () => {
  /** Reads a diff to its end and tells what was read for it. */
  function statsOf(diffFrom: number, snapshot: number) {
    const request = diffRequest(harness, { diffFrom, snapshot })
    const { scanner } = okValue(harness.tablet.openScan(request))
    let rowCount = 0
    for (;;) {
      const batch = scanner.nextBatch(1000, 1 << 20)
      if (batch === null) break
      rowCount += batch.block.rowCount
    }
    const pagesRead = scanner.stats.columns.map((column) => column.pagesRead)
    const { rowSetsRead, rowSetsSkipped, rowsScanned } = scanner.stats
    const unchangedCount = rowSetsSkipped.unchanged
    const { pages, pagesSkipped } = scanner.stats.columns[0]
    const enteredCount = pages - pagesSkipped.no_rows_left
    return { rowCount, pagesRead, enteredCount, rowSetsRead, unchangedCount, rowsScanned }
  }

  test('is the pages in which a row changed, in a rowset of many', () => {
    for (let first = 0; first < 30_000; first += 5000) {
      write(...Array.from({ length: 5000 }, (_, i) => insert(first + i)))
    }
    flush()
    const before = write(insert(-1))
    const after = write(
      ['UPDATE', { k: 9, a: 0 }],
      ['UPDATE', { k: 20_001, a: 0 }],
      ['UPDATE', { k: 20_002, a: 0 }],
      ['DELETE', { k: 29_999 }],
    )

    const { rowCount, rowsScanned, pagesRead, enteredCount } = statsOf(before, after)

    expect(rowCount).toBe(4)
    expect(pagesRead[0]).toBe(3)
    expect(enteredCount).toBe(3)
    expect(rowsScanned).toBeLessThan(3 * PAGE_ROWS)
  })

  test('is no rowset in which nothing changed', () => {
    write(insert(1), insert(5))
    flush()
    const before = write(insert(2), insert(6))
    flush()
    const after = write(insert(3), insert(7))
    flush()
    write(insert(4))

    expect(statsOf(before, after)).toMatchObject({
      rowCount: 2,
      rowSetsRead: 1,
      unchangedCount: 3,
    })
  })
})

describe('a diff scan that begins', () => {
  test('below the history that is kept is refused', () => {
    const before = write(insert(1))
    const after = write(insert(2))
    harness.clock.advance(PAST_HISTORY_MICROS)
    const later = write(insert(3))

    expect(failure(() => shown(before, later))).toBe('INVALID_SNAPSHOT')
    expect(failure(() => shown(before, after))).toBe('INVALID_SNAPSHOT')
    expect(failure(() => shown(later, later))).toBe(null)
  })

  test('before it, and goes on while history is dropped, is read to its end', () => {
    const before = write(insert(1), insert(2), insert(3))
    flush()
    const after = write(['UPDATE', { k: 1, a: 5 }], ['DELETE', { k: 2 }])
    harness.runTask((parts, now) => new FlushDeltaTask(parts, now))
    let batchCount = 0

    const rows = scanDiff(
      harness,
      { diffFrom: before, snapshot: after },
      {
        limits: () => ({ rowCountMax: 1, bytesMax: 1 << 20 }),
        between: () => {
          batchCount++
          harness.clock.advance(PAST_HISTORY_MICROS)
          write(insert(100 + batchCount))
          flush()
          harness.runTask((parts, now) => new CompactRowSetsTask(parts, parts.rowSets, now))
          harness.runTask((parts, now) => new GarbageTask(parts, now))
          return false
        },
      },
    )

    expect(rows.map(({ cells, isDeleted }) => [cells.k, isDeleted])).toEqual([
      [1, false],
      [2, true],
    ])
    expect(batchCount).toBeGreaterThan(1)
    expect(failure(() => shown(before, after))).toBe('INVALID_SNAPSHOT')
  })

  test('behind its snapshot is refused', () => {
    const before = write(insert(1))
    const after = write(insert(2))

    expect(failure(() => shown(after, before))).toBe('INVALID_ARGUMENT')
  })
})
