import { describe, expect, test } from 'vitest'
import { RESULT_KEPT_MS, SHARE_ROW_COUNT_MAX } from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { checkAccount, checkTablet } from '../../src/tablet/invariants.ts'
import type { ResultKey } from '../../src/tablet/tablet-request.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { TABLET_ID } from '../support/a-table-entry.ts'
import { aShare, type PlainOperation } from '../support/a-write-block.ts'
import { StorageFault } from '../support/memory-tablet-store.ts'
import { okValue, TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT32 KEY', 'v STRING NULL')

function inserts(count: number, first = 0): PlainOperation[] {
  return Array.from({ length: count }, (_, index): PlainOperation => {
    const k = first + index
    return ['INSERT', { k, v: `value ${k}` }]
  })
}

function aKey(key = 'key', changes: Partial<ResultKey> = {}): ResultKey {
  return { key, share: 0, digest: 'd1', isInternal: false, ...changes }
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

describe('Tablet.open', () => {
  test('of a new storage writes nothing and answers that it is uninitialized', () => {
    const { tablet, store, request } = bound(new TabletHarness(SCHEMA, { isNew: true }))

    expect(tablet.isInitialized).toBe(false)
    expect(tablet.write({ ...request(), block: EMPTY_BYTES, resultKey: null })).toMatchObject({
      kind: 'uninitialized',
      mustInitialize: true,
    })
    expect(tablet.offerSnapshot({ ...request(), snapshot: 0 })).toMatchObject({
      kind: 'uninitialized',
      mustInitialize: false,
    })
    expect(store.rowsWritten).toBe(0)
    expect(store.committedCount).toBe(0)
  })

  test('finds a tablet that was initialized and never written to', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.crash()

    expect(harness.tablet.isInitialized).toBe(true)
    expect(harness.tablet.tableVersion).toBe(1)
    expect(harness.rows()).toEqual([])
  })

  test('gives a tablet that vanished before it was initialized another chance', () => {
    const harness = new TabletHarness(SCHEMA, { isNew: true })
    harness.tablet.initialize(harness.table, TABLET_ID)
    harness.crash(0)

    expect(harness.tablet.isInitialized).toBe(false)
    harness.tablet.initialize(harness.table, TABLET_ID)
    expect(harness.write(inserts(1)).inserted).toBe(1)
  })
})

describe('Tablet.initialize', () => {
  test('writes three rows, and nothing the second time', () => {
    const harness = new TabletHarness(SCHEMA, { isNew: true })
    harness.tablet.initialize(harness.table, TABLET_ID)
    harness.tablet.initialize(harness.table, TABLET_ID)

    expect(harness.store.rowsWritten).toBe(3)
    expect(harness.store.committedCount).toBe(1)
  })
})

describe('Tablet.initialize with a huge definition', () => {
  test('refuses it and stays uninitialized', () => {
    const harness = new TabletHarness(SCHEMA, { isNew: true })
    const { table, tablet } = harness
    const huge = { ...table, extraConfigs: { name: 'x'.repeat(1 << 20) } }

    expect(failureOf(() => tablet.initialize(huge, TABLET_ID)).code).toBe('ILLEGAL_STATE')
    expect(harness.store.committedCount).toBe(0)
    tablet.initialize(table, TABLET_ID)
    expect(harness.write(inserts(1)).inserted).toBe(1)
  })
})

describe('Tablet.write', () => {
  test('bills one row for a thousand', () => {
    const harness = new TabletHarness(SCHEMA)
    const before = harness.store.rowsWritten
    const result = harness.write(inserts(1000))

    expect(result).toMatchObject({ inserted: 1000, created: 1000, failed: 0, isReplayed: false })
    expect(harness.store.rowsWritten - before).toBe(1)
    checkTablet(harness.tablet)
  })

  test('bills nothing for a share in which nothing applies, and gives it no timestamp', () => {
    const harness = new TabletHarness(SCHEMA)
    const before = harness.store.rowsWritten
    const result = harness.write([
      ['UPDATE', { k: 1, v: 'x' }],
      ['DELETE_IGNORE', { k: 1 }],
    ])

    expect(result).toMatchObject({ failed: 1, ignored: 1, timestamp: null })
    expect(harness.store.rowsWritten - before).toBe(0)
    checkTablet(harness.tablet)
  })

  test('answers a share without rows', () => {
    const harness = new TabletHarness(SCHEMA)

    expect(harness.write([], aKey())).toMatchObject({ inserted: 0, timestamp: null })
  })

  test('gives every row of a share one timestamp, above all before', () => {
    const harness = new TabletHarness(SCHEMA)
    const first = harness.write(inserts(3)).timestamp!
    const second = harness.write(inserts(3, 10)).timestamp!

    expect(second).toBeGreaterThan(first)
    expect(harness.rows(first - 1)).toHaveLength(0)
    expect(harness.rows(first)).toHaveLength(3)
    expect(harness.rows(second - 1)).toHaveLength(3)
    expect(harness.rows(second)).toHaveLength(6)
  })

  test('gives an op a time above everything its request carried', () => {
    const harness = new TabletHarness(SCHEMA)
    const heard = harness.clock.nowMicros() + 20_000_000
    const result = harness.writeBlock(aShare(SCHEMA, ...inserts(1)), null, heard)

    expect(result.timestamp).toBe(heard + 1)
  })

  test('tells a sender with another version, and does nothing', () => {
    const { tablet, request, store } = bound(new TabletHarness(SCHEMA))
    const before = store.rowsWritten
    const block = aShare(SCHEMA, ...inserts(1))
    const reply = tablet.write({ ...request(), tableVersion: 2, block, resultKey: null })

    expect(reply).toMatchObject({ kind: 'stale', tableVersion: 1 })
    expect(store.rowsWritten).toBe(before)
  })

  test('refuses a request for another tablet', () => {
    const { tablet, request } = bound(new TabletHarness(SCHEMA))
    const other = { ...request(), tabletId: 'ffffffffffffffffffffffffffffffff' }
    const error = failureOf(() => tablet.offerSnapshot({ ...other, snapshot: 0 }))

    expect(error.code).toBe('INVALID_ARGUMENT')
  })

  test('refuses bytes that are no write block of its table, and goes on', () => {
    const harness = new TabletHarness(SCHEMA)
    const good = aShare(SCHEMA, ...inserts(2))
    const otherColumn = aShare(aSchema('k INT32 KEY', 'v STRING NULL', 'w INT8 NULL'), [
      'INSERT',
      { k: 1 },
    ])
    const otherType = aShare(aSchema('k INT64 KEY', 'v STRING NULL'), ['INSERT', { k: 1 }])
    const badOperation = aShare(SCHEMA, ...inserts(8))
    badOperation[16 + 2 * 16] = 4
    const tooMany = aShare(SCHEMA, ...inserts(SHARE_ROW_COUNT_MAX + 1))

    for (const bytes of [
      EMPTY_BYTES,
      good.subarray(0, 40),
      otherColumn,
      otherType,
      badOperation,
      tooMany,
    ]) {
      expect(failureOf(() => harness.writeBlock(bytes)).code).toBe('INVALID_ARGUMENT')
    }
    expect(harness.rows()).toEqual([])
    expect(harness.writeBlock(good).inserted).toBe(2)
    checkTablet(harness.tablet)
  })

  test('fails every row of a block that lacks a key column', () => {
    const harness = new TabletHarness(aSchema('k INT32 KEY', 'l INT32 KEY', 'v STRING NULL'))
    const block = aShare(aSchema('k INT32 KEY'), ['INSERT', { k: 1 }], ['DELETE', { k: 2 }])

    expect(harness.writeBlock(block)).toMatchObject({ failed: 2, timestamp: null })
  })

  test('takes a share that is larger than a stored row', () => {
    const schema = aSchema(
      'k INT32 KEY',
      ...Array.from({ length: 40 }, (_, i) => `c${i} STRING NULL`),
    )
    const harness = new TabletHarness(schema)
    const large = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`c${i}`, String(i % 10).repeat(60_000)]),
    )
    const before = harness.store.rowsWritten
    harness.write([
      ['INSERT', { k: 1, ...large }],
      ['INSERT', { k: 2, ...large }],
    ])
    const rows = harness.rows()
    harness.crash()

    expect(harness.store.rowsWritten).toBe(0)
    expect(before).toBe(3)
    expect(harness.rows()).toEqual(rows)
  })
})

describe('Tablet.write with a result key', () => {
  test('gives a repeat the first result and writes nothing', () => {
    const harness = new TabletHarness(SCHEMA)
    const first = harness.write([...inserts(2), ...inserts(1)], aKey())
    const before = harness.store.rowsWritten
    const again = harness.write([...inserts(2), ...inserts(1)], aKey())

    expect(first).toMatchObject({ inserted: 2, failed: 1, isReplayed: false })
    expect(again).toEqual({ ...first, isReplayed: true })
    expect(harness.store.rowsWritten).toBe(before)
  })

  test('gives a repeat the first result after a restart', () => {
    const harness = new TabletHarness(SCHEMA)
    const first = harness.write([...inserts(2), ...inserts(1)], aKey())
    harness.write([['DELETE', { k: 0 }]])
    harness.crash()
    const again = harness.write([...inserts(2), ...inserts(1)], aKey())

    expect(again).toEqual({ ...first, isReplayed: true })
    expect(harness.rows()).toEqual([{ k: 1, v: 'value 1' }])
    checkTablet(harness.tablet)
  })

  test('remembers a share in which every row failed', () => {
    const harness = new TabletHarness(SCHEMA)
    const first = harness.write([['UPDATE', { k: 1, v: 'x' }]], aKey())
    harness.write([['INSERT', { k: 1, v: 'y' }]])
    harness.crash()
    const again = harness.write([['UPDATE', { k: 1, v: 'x' }]], aKey())

    expect(first).toMatchObject({ failed: 1, timestamp: null })
    expect(again).toEqual({ ...first, isReplayed: true })
    expect(harness.rows()).toEqual([{ k: 1, v: 'y' }])
  })

  test('applies a share anew whose op did not survive', () => {
    const harness = new TabletHarness(SCHEMA)
    const kept = harness.store.committedCount
    harness.writeBlock(aShare(SCHEMA, ...inserts(2)), aKey())
    harness.crash(kept)

    expect(harness.write(inserts(2), aKey())).toMatchObject({ inserted: 2, isReplayed: false })
  })

  test('refuses another digest, before and after a restart', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1), aKey())
    const other = aKey('key', { digest: 'd2' })

    expect(failureOf(() => harness.write(inserts(1), other)).code).toBe('INVALID_ARGUMENT')
    harness.crash()
    expect(failureOf(() => harness.write(inserts(1), other)).code).toBe('INVALID_ARGUMENT')
  })

  test('forgets after its time, also by a restart', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1), aKey('a'))
    harness.write(inserts(1, 1), aKey('b'))
    harness.clock.advance(RESULT_KEPT_MS * 1000)

    expect(harness.write(inserts(1), aKey('a'))).toMatchObject({ failed: 1, isReplayed: false })
    harness.crash()
    expect(harness.write(inserts(1, 1), aKey('b'))).toMatchObject({ failed: 1, isReplayed: false })
  })

  test('refuses new keys when their budget is full, and forgets none', () => {
    const harness = new TabletHarness(SCHEMA)
    const failing = Array.from({ length: 1000 }, (): PlainOperation => ['DELETE', { k: 1 }])
    let count = 0
    let error: StatusError | null = null
    while (error === null) {
      try {
        harness.write(failing, aKey(`key ${count}`))
        count++
      } catch (thrown) {
        error = thrown as StatusError
      }
    }
    const rowsWritten = harness.store.rowsWritten

    expect(error.code).toBe('THROTTLED')
    expect(harness.write(failing, aKey('key 0')).isReplayed).toBe(true)
    expect(failureOf(() => harness.write(failing, aKey('new'))).code).toBe('THROTTLED')
    expect(harness.store.rowsWritten).toBe(rowsWritten)
    expect(harness.rows()).toEqual([])
    expect(harness.write(inserts(5)).inserted).toBe(5)
    checkTablet(harness.tablet)
  })
})

describe('Tablet.write under memory pressure', () => {
  test('refuses with nothing applied, answers repeats, and goes on when memory is back', () => {
    const harness = new TabletHarness(SCHEMA, { memoryBytesMax: 1 << 20 })
    const other = {}
    const first = harness.write(inserts(10), aKey())
    harness.accountant.hold(other, 'other', 1 << 20)
    const error = failureOf(() => harness.write(inserts(10, 100)))

    expect(error.code).toBe('SERVICE_UNAVAILABLE')
    expect(error.details.retryable).toBe(true)
    expect(harness.write(inserts(10), aKey())).toEqual({ ...first, isReplayed: true })
    expect(harness.rows()).toHaveLength(10)
    harness.accountant.drop('other')
    expect(harness.write(inserts(10, 100)).inserted).toBe(10)
  })

  test('holds at most what is allowed plus one share', () => {
    const limit = 1 << 20
    const harness = new TabletHarness(SCHEMA, { memoryBytesMax: limit })
    let first = 0
    while (!harness.accountant.isOverHard(64 * 1024)) {
      harness.write(inserts(500, first))
      first += 500
    }

    checkAccount(harness.tablet, harness.accountant)
    expect(harness.accountant.heldBytes).toBeLessThan(limit * 2)
    harness.crash()
    expect(harness.accountant.heldBytes).toBe(harness.tablet.figures().memoryBytes)
  })
})

describe('Tablet after a failure', () => {
  test('is not usable when its storage failed, and nothing of the op is there', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1))
    harness.store.failNext('before-durable')

    expect(() => harness.write(inserts(1, 1))).toThrow(StorageFault)
    expect(() => harness.write(inserts(1, 2))).toThrow(AssertionError)
    expect(() => harness.rows()).toThrow(AssertionError)
    harness.crash()
    expect(harness.rows()).toHaveLength(1)
    checkTablet(harness.tablet)
  })

  test('leaves nothing of an op that an assertion ended midway', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(inserts(1))
    const committed = harness.store.committedCount
    harness.tablet.parts?.memRowSet.freeze()

    expect(() => harness.write(inserts(2, 1), aKey())).toThrow(AssertionError)
    expect(harness.store.committedCount).toBe(committed)
    expect(() => harness.write(inserts(1, 5))).toThrow('not used after it broke')
    harness.crash()
    expect(harness.rows()).toHaveLength(1)
    expect(harness.write(inserts(2, 1), aKey())).toMatchObject({ inserted: 2, isReplayed: false })
  })

  test('has the whole op when the storage failed after it was durable', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.store.failNext('after-durable')

    expect(() => harness.write(inserts(3), aKey())).toThrow(StorageFault)
    harness.crash()
    expect(harness.rows()).toHaveLength(3)
    expect(harness.write(inserts(3), aKey())).toMatchObject({ inserted: 3, isReplayed: true })
  })
})

describe('Tablet.lookup', () => {
  test('finds the rows of the keys that are there, at a snapshot', () => {
    const harness = new TabletHarness(SCHEMA)
    const { timestamp } = harness.write(inserts(3))
    harness.write([['DELETE', { k: 1 }]])
    const keyBytes = Uint8Array.from([0x80, 0, 0, 2, 0x80, 0, 0, 9, 0x80, 0, 0, 1])
    const look = (snapshot: number | null) =>
      okValue(
        harness.tablet.lookup({
          ...harness.request(),
          columnIds: [10],
          keyBytes,
          keyEnds: Uint32Array.of(4, 8, 12),
          snapshot,
        }),
      )

    expect([...look(timestamp).keyIndexes]).toEqual([0, 2])
    expect([...look(timestamp).block.columns[0].lanes]).toEqual([2, 1])
    expect([...look(null).keyIndexes]).toEqual([0])
    expect(look(null).keyCount).toBe(3)
  })

  test('refuses keys that do not fit their ends', () => {
    const harness = new TabletHarness(SCHEMA)
    const look = (keyEnds: Uint32Array) =>
      harness.tablet.lookup({
        ...harness.request(),
        columnIds: [10],
        keyBytes: new Uint8Array(8),
        keyEnds,
        snapshot: null,
      })

    for (const ends of [[4], [8, 4], [4, 9], new Array(1001).fill(0)]) {
      expect(failureOf(() => look(Uint32Array.from(ends))).code).toBe('INVALID_ARGUMENT')
    }
    expect(okValue(look(Uint32Array.of(4, 8))).keyCount).toBe(2)
  })
})

function bound(harness: TabletHarness) {
  const { tablet, store, clock } = harness
  return { tablet, store, clock, request: (time = 0) => harness.request(time) }
}
