import { describe, expect, test } from 'vitest'
import { WAL_GENERATION_BYTES_MAX } from '../../src/common/limits.ts'
import { Schema } from '../../src/common/schema.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushDeltaTask } from '../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import { noCounts } from '../../src/tablet/row-outcome.ts'
import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import type { ResultKey } from '../../src/tablet/tablet-request.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { StorageFault } from '../support/memory-tablet-store.ts'
import { okValue, TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 11),
])
const DAY_MICROS = 86_400_000_000

function inserts(count: number, start = 0): PlainOperation[] {
  return Array.from({ length: count }, (_, i) => ['INSERT', { k: start + i, v: i }])
}

function update(k: number, v: number): PlainOperation {
  return ['UPDATE', { k, v }]
}

function flush(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

function flushDeltas(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushDeltaTask(parts, now))
}

/** A tablet with one rowset on disk, in one file. */
function aFlushedTablet(): TabletHarness {
  const harness = new TabletHarness(SCHEMA)
  harness.write(inserts(10))
  flush(harness)
  harness.store.release()
  return harness
}

/** One step of work on the parts, as of a task. */
class OneStep implements MaintenanceTask {
  readonly op = 'GC'
  readonly summary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }
  readonly #work: () => void
  isAborted = false

  constructor(work: () => void) {
    this.#work = work
  }

  step(): boolean {
    this.#work()
    return true
  }

  abort(): void {
    this.isAborted = true
  }
}

function run(harness: TabletHarness, work: (parts: TabletParts) => void): OneStep {
  const task = new OneStep(() => work(harness.parts))
  harness.step(task)
  return task
}

function openScan(harness: TabletHarness) {
  const { scanner } = okValue(
    harness.tablet.openScan({
      ...harness.request(),
      columnIds: [10, 11],
      predicates: [],
      lowerKey: EMPTY_BYTES,
      upperKey: EMPTY_BYTES,
      order: 'ORDERED',
      snapshot: null,
      withKeys: false,
    }),
  )
  return scanner
}

describe('TabletParts.swapMemRowSet', () => {
  test('does nothing when there is no row', () => {
    const harness = new TabletHarness(SCHEMA)
    const before = harness.store.rowsWritten
    flush(harness)

    expect(harness.parts.frozen).toBeNull()
    expect(harness.store.rowsWritten).toBe(before)
  })

  test('bills three rows, and takes writes at once', () => {
    const harness = new TabletHarness(SCHEMA)
    const at = harness.write(inserts(2)).timestamp
    const before = harness.store.rowsWritten
    run(harness, (parts) => parts.swapMemRowSet())

    expect(harness.store.rowsWritten - before).toBe(3)
    expect(harness.parts.frozen?.at).toBe(at)
    expect(harness.parts.wal.generations).toEqual([1, 2])
    expect(harness.write([...inserts(2, 2), update(0, 7)])).toMatchObject({ failed: 0 })
    expect(harness.parts.memRowSet.rowCount).toBe(2)
    expect(harness.parts.liveRowCount).toBe(4)
    checkTablet(harness.tablet)
  })

  test('gives the one that is frozen already', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1))
    run(harness, (parts) => parts.swapMemRowSet())
    harness.write(inserts(1, 1))
    const { frozen } = harness.parts
    run(harness, (parts) => expect(parts.swapMemRowSet()).toBe(frozen))

    expect(harness.parts.memRowSet.rowCount).toBe(1)
  })
})

describe('TabletParts.beginFlush', () => {
  test('begins files with the swap, for two rows each', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(2))
    const before = harness.store.rowsWritten
    run(harness, (parts) => {
      const begun = parts.beginFlush(({ rowCount }) => rowCount)
      expect(begun?.frozen).toBe(parts.frozen)
      expect(begun?.files.map(({ file }) => file)).toEqual([1, 2])
    })

    expect(harness.store.rowsWritten - before).toBe(3 + 2 * 2)
    expect(harness.parts.orphanFiles).toEqual([1, 2])
    checkTablet(harness.tablet)
  })

  test('begins files for one that is frozen already, in a superblock of their own', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(2))
    run(harness, (parts) => parts.swapMemRowSet())
    const before = harness.store.rowsWritten
    run(harness, (parts) => parts.beginFlush(() => 3))

    expect(harness.store.rowsWritten - before).toBe(1 + 3 * 2)
    expect(harness.parts.orphanFiles).toEqual([1, 2, 3])
  })
})

describe('TabletParts.beginFile', () => {
  test('makes an orphan until a commit names it, which after a crash the next commit drops', () => {
    const harness = new TabletHarness(SCHEMA)
    run(harness, (parts) => parts.beginFile().append(Uint8Array.of(1)))
    expect(harness.parts.orphanFiles).toEqual([1])
    run(harness, (parts) => parts.commitStorage({}))
    expect(harness.store.files()).toEqual([1])

    harness.crash()
    expect(harness.parts.orphanFiles).toEqual([1])
    run(harness, (parts) => parts.commitStorage({}))

    expect(harness.parts.orphanFiles).toEqual([])
    expect(harness.store.files()).toEqual([])
    run(harness, (parts) => expect(parts.beginFile().file).toBe(2))
  })

  test('leaves a file to the next commit when its step is undone', () => {
    const harness = new TabletHarness(SCHEMA)
    const failing = () =>
      run(harness, (parts) => {
        parts.beginFile().close()
        throw new CorruptionError('what was read is damaged')
      })

    expect(failing).toThrow(CorruptionError)
    run(harness, (parts) => parts.commitStorage({}))
    expect(harness.parts.orphanFiles).toEqual([])
    run(harness, (parts) => expect(parts.beginFile().file).toBe(2))
    checkTablet(harness.tablet)
  })
})

describe('TabletParts.commitStorage', () => {
  test('drops what a flush was logged in, and bills its rows once', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(10))
    flush(harness)

    expect(harness.parts.wal.generations).toEqual([2])
    expect(harness.store.walRowCount(1)).toBe(0)
    expect(harness.parts.oldestAnchor).toBeNull()
    expect(harness.parts.flushedMark).toBe(harness.tablet.lastApplied)
  })

  test('keeps a generation while a change to a row on disk needs it', () => {
    const harness = aFlushedTablet()
    const at = harness.write([update(3, 33)]).timestamp
    harness.write(inserts(5, 100))
    flush(harness)
    expect(harness.parts.oldestAnchor).toBe(at)
    expect(harness.parts.wal.generations).toEqual([2, 3])

    flushDeltas(harness)

    expect(harness.parts.oldestAnchor).toBeNull()
    expect(harness.parts.wal.generations).toEqual([3])
  })

  test('lets no op after a restart be older than what was logged in a dropped generation', () => {
    const harness = new TabletHarness(SCHEMA)
    const heard = harness.clock.nowMicros() + 20_000_000
    const block = { ...harness.request(heard) }
    expect(block.clock).toBe(heard)
    harness.write(inserts(1))
    const late = okValue(
      harness.tablet.offerSnapshot({ ...harness.request(heard), snapshot: 0 }),
    ).lastApplied
    const at = harness.write(inserts(1, 1)).timestamp ?? 0
    flush(harness)
    harness.crash()

    expect(at).toBeGreaterThan(heard)
    expect(late).toBeLessThan(at)
    expect(harness.tablet.lastApplied).toBe(at)
    expect(harness.write(inserts(1, 2)).timestamp).toBeGreaterThan(at)
  })

  test('drops the files of a rowset that goes, but not while a scan reads them', () => {
    const harness = aFlushedTablet()
    const files = harness.store.files()
    const [rowSet] = harness.parts.rowSets
    const scanner = openScan(harness)
    run(harness, (parts) => parts.commitStorage({ remove: [rowSet] }))
    expect(harness.parts.orphanFiles).toEqual(files)
    expect(harness.store.files()).toEqual(files)
    expect(harness.rows()).toEqual([])

    expect(scanner.nextBatch(100, 1 << 20)?.block.rowCount).toBe(10)
    scanner.close()
    run(harness, (parts) => parts.commitStorage({}))

    expect(harness.store.files()).toEqual([])
    expect(harness.parts.orphanFiles).toEqual([])
  })

  test('keeps deleted blocks until no scan holds their file', () => {
    const harness = aFlushedTablet()
    const [file] = harness.store.files()
    const blockCount = harness.store.blocks(file).length
    const scanner = openScan(harness)
    const unusedBlocks = [{ file, blocks: [blockCount] }]
    run(harness, (parts) => parts.commitStorage({ unusedBlocks }))
    expect(harness.store.blocks(file)).toHaveLength(blockCount)

    scanner.close()
    run(harness, (parts) => parts.commitStorage({}))

    expect(harness.store.blocks(file)).toHaveLength(blockCount - 1)
  })

  test('leaves the tablet as it was when what a step reads is damaged', () => {
    const harness = aFlushedTablet()
    const { store } = harness
    const committed = store.committedCount
    const task = new OneStep(() => {
      throw new CorruptionError('file 1, block 1: damaged')
    })

    expect(() => harness.step(task)).toThrow(CorruptionError)
    expect(task.isAborted).toBe(true)
    expect(store.committedCount).toBe(committed)
    expect(harness.rows()).toHaveLength(10)
  })

  test('leaves the tablet unusable when memory changed and the storage did not', () => {
    for (const moment of ['before-durable', 'after-durable'] as const) {
      const harness = aFlushedTablet()
      const [rowSet] = harness.parts.rowSets
      harness.store.failNext(moment)
      const commit = () => run(harness, (parts) => parts.commitStorage({ remove: [rowSet] }))

      expect(commit).toThrow(StorageFault)
      expect(() => harness.rows()).toThrow('after it broke')
      harness.evict()
      expect(harness.rows()).toHaveLength(moment === 'before-durable' ? 10 : 0)
    }
  })

  test('leaves the tablet unusable when a step fails behind its commit', () => {
    const harness = aFlushedTablet()
    const [rowSet] = harness.parts.rowSets
    const failing = () =>
      run(harness, (parts) => {
        parts.commitStorage({ remove: [rowSet] })
        throw new CorruptionError('too late')
      })

    expect(failing).toThrow('too late')
    expect(() => harness.rows()).toThrow('after it broke')
  })
})

describe('Results that outlive their generation', () => {
  const key: ResultKey = { key: 'a', share: 1, digest: 'd', isInternal: false }

  test('answer a repeat after a flush and a restart, row errors included', () => {
    const harness = new TabletHarness(SCHEMA)
    const operations = [...inserts(2), ...inserts(1)]
    const first = harness.write(operations, key)
    const refused = harness.write([update(77, 1)], { ...key, key: 'b', isInternal: true })
    flush(harness)
    expect(harness.parts.wal.generations).toEqual([2])
    harness.crash()

    expect(harness.write(operations, key)).toEqual({ ...first, isReplayed: true })
    const again = harness.write([update(77, 1)], { ...key, key: 'b', isInternal: true })
    expect(again).toEqual({ ...refused, isReplayed: true })
    expect(again.timestamp).toBeNull()
    checkTablet(harness.tablet)
  })

  test('outlive several generations, and are joined by later ones', () => {
    const harness = new TabletHarness(SCHEMA)
    const results = [0, 1, 2].map((round) => {
      const result = harness.write(inserts(1, round), { ...key, key: `round ${round}` })
      flush(harness)
      harness.crash()
      return result
    })

    results.forEach((result, round) => {
      const again = harness.write(inserts(1, round), { ...key, key: `round ${round}` })
      expect(again).toEqual({ ...result, isReplayed: true })
    })
  })

  test('cost no row when there are none, and none to read once they expired', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1), key)
    harness.clock.advance(601_000_000)
    const before = harness.store.rowsWritten
    harness.write(inserts(1, 1))
    flush(harness)
    const withoutResults = harness.store.rowsWritten - before
    expect(harness.store.readResults()).toBeNull()

    harness.write(inserts(1, 2), { ...key, key: 'c' })
    const again = harness.store.rowsWritten
    flush(harness)
    expect(harness.store.rowsWritten - again).toBe(withoutResults)
    expect(harness.store.readResults()).not.toBeNull()
    harness.clock.advance(601_000_000)
    harness.crash()

    // The superblock alone.
    expect(harness.store.rowsRead).toBe(1)
  })

  test('that are damaged fail the writes with a key, and nothing else', () => {
    const harness = new TabletHarness(SCHEMA)
    const result = harness.write(inserts(1), key)
    flush(harness)
    harness.store.flipResultsBit(200)
    harness.evict()

    expect(harness.rows()).toHaveLength(1)
    expect(() => harness.write(inserts(1, 1), key)).toThrow(/^remembered results: checksum is/)
    harness.store.flipResultsBit(200)
    expect(harness.write(inserts(1), key)).toEqual({ ...result, isReplayed: true })
  })

  test('let a load of nothing but refused rows move on', () => {
    const harness = new TabletHarness(SCHEMA)
    const { wal } = harness.parts
    const first = harness.write([update(1, 1)], key)
    while (wal.bytes < WAL_GENERATION_BYTES_MAX) logMuch(harness.parts, 1_800_000)
    harness.clock.advance(1_000_000)
    const next = harness.write([update(2, 1)], { ...key, key: 'b' })

    expect(wal.generations).toEqual([2])
    expect(harness.store.walRowCount(1)).toBe(0)
    harness.crash()
    expect(harness.write([update(1, 1)], key)).toEqual({ ...first, isReplayed: true })
    const again = harness.write([update(2, 1)], { ...key, key: 'b' })
    expect(again).toEqual({ ...next, isReplayed: true })
  })
})

/** Logs an op that changed nothing. */
function logMuch(parts: TabletParts, bytes: number): void {
  parts.transact(() =>
    parts.wal.append({
      tableVersion: 1,
      timestamp: parts.wal.lastTimestamp + 1,
      rowCount: 0,
      counts: noCounts(),
      outcomes: new Uint8Array(0),
      errorColumnIds: new Int32Array(0),
      resultKey: null,
      expiresAt: 0,
      block: new Uint8Array(bytes),
    }),
  )
}

describe('TabletParts.ancientHistoryMark', () => {
  test('is the age of the table, but nothing of the live WAL, and never moves back', () => {
    const harness = new TabletHarness(SCHEMA)
    const now = harness.clock.nowMicros()
    expect(harness.parts.ancientHistoryMark(now)).toBe(now - 7 * DAY_MICROS)

    const at = harness.write(inserts(1)).timestamp ?? 0
    expect(harness.parts.ancientHistoryMark(now + 8 * DAY_MICROS)).toBe(at - 1)

    flush(harness)
    const mark = harness.parts.ancientHistoryMark(now + 8 * DAY_MICROS)
    expect(mark).toBe(now + DAY_MICROS)
    run(harness, (parts) => parts.commitStorage({ historyMark: mark }))
    harness.crash()
    expect(harness.parts.ancientHistoryMark(now)).toBe(mark)
  })

  test('once used refuses snapshots below it, though the clock stepped back', () => {
    const harness = aFlushedTablet()
    const mark = harness.clock.nowMicros() - DAY_MICROS
    run(harness, (parts) => parts.commitStorage({ historyMark: mark }))

    expect(() => harness.rows(mark - 1)).toThrow(StatusError)
    expect(harness.rows(mark)).toEqual([])
  })
})
