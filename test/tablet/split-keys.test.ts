import { describe, expect, test } from 'vitest'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { type KeySplit, type KeySplitOptions, splitKeys } from '../../src/tablet/split-keys.ts'
import { compareWhole, EMPTY_BYTES } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT32 KEY', 'v INT64', 't STRING NULL')
const ALL = SCHEMA.columns.map(({ id }) => id)
const [K, V, T] = ALL

function harnessOf(rows: readonly number[], prng = new Prng(1)): TabletHarness {
  const harness = new TabletHarness(SCHEMA)
  write(harness, rows, prng)
  return harness
}

function write(harness: TabletHarness, rows: readonly number[], prng = new Prng(1)): void {
  for (let start = 0; start < rows.length; start += 8000) {
    const part = rows.slice(start, start + 8000)
    harness.write(
      part.map((k): PlainOperation => {
        return ['UPSERT', { k, v: prng.below(1_000_000), t: `text ${prng.below(1_000_000)}` }]
      }),
    )
  }
}

function flush(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

function split(harness: TabletHarness, options: Partial<KeySplitOptions> = {}): KeySplit {
  return splitKeys(harness.parts, {
    columnIds: ALL,
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    targetBytes: null,
    partCountMax: 1000,
    ...options,
  })
}

const sum = (bytes: readonly number[]): number => bytes.reduce((total, part) => total + part, 0)
const keyOf = (k: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setInt32(0, k ^ 0x8000_0000)
  return bytes
}
const range = (start: number, end: number): number[] =>
  Array.from({ length: end - start }, (_, i) => start + i)

/** Rows of each part. */
function rowCounts({ keys }: KeySplit, rows: readonly number[]): number[] {
  const counts = Array.from({ length: keys.length + 1 }, () => 0)
  for (const row of rows) {
    let part = 0
    while (part < keys.length && compareWhole(keys[part], keyOf(row)) <= 0) part++
    counts[part]++
  }
  return counts
}

function checkAscends(
  { keys, bytes }: KeySplit,
  lower: Uint8Array = EMPTY_BYTES,
  upper: Uint8Array = EMPTY_BYTES,
): void {
  expect(bytes).toHaveLength(keys.length + 1)
  for (let i = 0; i < keys.length; i++) {
    expect(compareWhole(i === 0 ? lower : keys[i - 1], keys[i])).toBeLessThan(0)
    expect(upper.length === 0 || compareWhole(keys[i], upper) < 0).toBe(true)
  }
  for (const part of bytes) expect(Number.isInteger(part) && part >= 0).toBe(true)
}

describe('splitKeys', () => {
  test('of no rows is one part of nothing', () => {
    expect(split(harnessOf([]), { targetBytes: 1 })).toEqual({ keys: [], bytes: [0] })
  })

  test('without a target is one part, of the bytes of the columns', () => {
    const harness = harnessOf(range(0, 5000))
    const bytesOf = (columnIds: number[]) => split(harness, { columnIds }).bytes[0]

    expect(bytesOf([K])).toBeGreaterThan(20_000 - 1)
    expect(bytesOf([K]) + bytesOf([V]) + bytesOf([T])).toBe(bytesOf(ALL))
    flush(harness)
    expect(split(harness).keys).toEqual([])
    expect(bytesOf([V])).toBeGreaterThan(10_000)
    expect(bytesOf([K]) + bytesOf([V]) + bytesOf([T])).toBe(bytesOf(ALL))
    expect(bytesOf([K])).toBeLessThan(bytesOf([V]))
  })

  test('without columns goes by the keys', () => {
    const harness = harnessOf(range(0, 5000))
    expect(split(harness, { columnIds: [] }).bytes).toEqual([20_000])
    flush(harness)

    const parts = split(harness, { columnIds: [], targetBytes: 1000 })
    expect(parts.bytes.length).toBeGreaterThan(2)
    expect(sum(parts.bytes)).toBeGreaterThan(1000)
  })

  test.each(['in memory', 'on disk', 'in both'])(
    'cuts rows %s to parts of about the same size',
    (where) => {
      const rows = range(0, 40_000)
      const prng = new Prng(5)
      const order = [...rows].sort(() => prng.unit() - 0.5)
      const harness = harnessOf(order.slice(0, 20_000), prng)
      if (where !== 'in memory') flush(harness)
      write(harness, order.slice(20_000), prng)
      if (where === 'on disk') flush(harness)
      const total = split(harness).bytes[0]
      const parts = split(harness, { targetBytes: total / 8 })

      checkAscends(parts)
      expect(parts.keys).toHaveLength(7)
      expect(Math.abs(sum(parts.bytes) - total)).toBeLessThan(10)
      for (const bytes of parts.bytes) expect(Math.abs(bytes / (total / 8) - 1)).toBeLessThan(0.3)
      for (const count of rowCounts(parts, rows))
        expect(Math.abs(count / 5000 - 1)).toBeLessThan(0.35)
    },
  )

  test('keeps within the bounds, and counts what lies there', () => {
    const harness = harnessOf(range(0, 40_000))
    flush(harness)
    const total = split(harness).bytes[0]
    const bounds = { lowerKey: keyOf(10_000), upperKey: keyOf(20_000) }
    const part = split(harness, bounds)
    const parts = split(harness, { ...bounds, targetBytes: total / 40 })

    expect(Math.abs(part.bytes[0] / (total / 4) - 1)).toBeLessThan(0.1)
    expect(parts.keys.length).toBeGreaterThan(5)
    checkAscends(parts, bounds.lowerKey, bounds.upperKey)
    const nothing = { lowerKey: keyOf(50_000), upperKey: EMPTY_BYTES, targetBytes: 1 }
    expect(split(harness, nothing).keys).toEqual([])
  })

  test('makes no more parts than it may, however small they are to be', () => {
    const harness = harnessOf(range(0, 20_000))

    expect(split(harness, { targetBytes: 1, partCountMax: 5 }).bytes).toHaveLength(5)
    expect(split(harness, { targetBytes: 1, partCountMax: 1 }).keys).toEqual([])
    flush(harness)
    const parts = split(harness, { targetBytes: 1 })
    checkAscends(parts)
    expect(parts.bytes.length).toBeGreaterThan(10)
  })

  test('reads nothing but directories', () => {
    const harness = harnessOf(range(0, 20_000))
    flush(harness)
    harness.crash()
    split(harness)
    const before = harness.store.rowsRead
    split(harness, { targetBytes: 1000 })

    expect(harness.store.rowsRead).toBe(before)
  })

  test('keys of a rowset that all begin alike are cut all the same', () => {
    const schema = aSchema('k STRING KEY')
    const harness = new TabletHarness(schema)
    const prefix = 'p'.repeat(200)
    const rows = range(0, 7000).map((i): PlainOperation => {
      return ['INSERT', { k: `${prefix}${String(i).padStart(6, '0')}` }]
    })
    harness.write(rows)
    flush(harness)
    const columnIds = schema.columns.map(({ id }) => id)
    const total = split(harness, { columnIds }).bytes[0]
    const parts = split(harness, { columnIds, targetBytes: total / 3 })

    expect(parts.keys).toHaveLength(2)
    checkAscends(parts)
  })
})
