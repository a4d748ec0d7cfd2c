import { describe, expect, test } from 'vitest'
import {
  type ColumnPredicate,
  equalityPredicate,
  isNullPredicate,
  rangePredicate,
} from '../../../src/common/column-predicate.ts'
import { encodeKeyCells, successorKey } from '../../../src/common/encoded-key.ts'
import type { DiskRowSet } from '../../../src/tablet/disk/disk-row-set.ts'
import { DiskRowSetIterator } from '../../../src/tablet/disk/disk-row-set-iterator.ts'
import type { BatchLimits, RowSetScan, ScanBatch } from '../../../src/tablet/row-set.ts'
import { compileColumnTest } from '../../../src/tablet/scan/column-test.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import type { PlainRow } from '../../support/a-write-block.ts'
import {
  aDiskRowSet,
  aMemoryContext,
  insertedAt,
  type PlainHistory,
} from '../../support/disk-row-set-builder.ts'
import { blockOf, rowsOf, schemaWith } from '../../support/row-data.ts'

// Of three pages of 4,096, 4,096 and 1,808 rows; `text` has pages of its own.
const ROW_COUNT = 10_000
const schema = schemaWith('k INT32 KEY', 'v INT32', 'text STRING NULL', 'wide DECIMAL(30,0)')
const [kColumn, vColumn, textColumn] = schema.columns
const younger = schemaWith(
  'k INT32 KEY',
  'v INT32',
  'text STRING NULL',
  'wide DECIMAL(30,0)',
  ['added INT32 NULL', { readDefault: 5 }],
  ['empty STRING NULL', {}],
)

function aRow(k: number): PlainRow {
  return { k, v: k * 2, text: k % 7 === 0 ? null : `text ${k % 100} `.repeat(1 + (k % 9)), wide: k }
}

const rows = Array.from({ length: ROW_COUNT }, (_, k) => aRow(k))
const WIDE: BatchLimits = { rowCountMax: 4096, bytesMax: 1e9, scannedMax: 1e9 }

function aRowSet(histories: readonly PlainHistory[] = insertedAt(5, rows), cacheBytes = 300_000) {
  const context = aMemoryContext(cacheBytes)
  const rowSet = aDiskRowSet(histories, { schema, youngerSchema: younger, baseAt: 5, context })
  return { rowSet, context }
}

const { rowSet: shared, context: sharedContext } = aRowSet()

function openScan(
  rowSet: DiskRowSet,
  options: Partial<RowSetScan> = {},
  ...predicates: ColumnPredicate[]
): DiskRowSetIterator {
  const tests = predicates.map((predicate) => {
    return compileColumnTest(younger.mustById(predicate.columnId), predicate)
  })
  return new DiskRowSetIterator(rowSet.pin(), {
    columns: schema.columns,
    snapshot: 1000,
    tests,
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    isDescending: false,
    withKeys: false,
    ...options,
  })
}

function batchesOf(iterator: DiskRowSetIterator, limits: Partial<BatchLimits> = {}): PlainRow[][] {
  const found: PlainRow[][] = []
  for (;;) {
    const batch = iterator.next({ ...WIDE, ...limits })
    if (batch === null) {
      iterator.close()
      return found
    }
    found.push(rowsOf(younger, batch.block))
  }
}

const key = (k: number) => encodeKeyCells([kColumn], [k])
const plain = (row: PlainRow): PlainRow => ({ ...row, wide: BigInt(row.wide as number) })
const keysIn = (found: readonly PlainRow[][]) => found.flat().map(({ k }) => k)
const numbers = (start: number, end: number) => {
  return Array.from({ length: end - start }, (_, i) => start + i)
}

describe('DiskRowSetIterator', () => {
  test('gives all rows in both orders, page after page', () => {
    const expected = rows.map(plain)

    expect(batchesOf(openScan(shared)).flat()).toEqual(expected)
    const descending = batchesOf(openScan(shared, { isDescending: true }))
    expect(descending.flat()).toEqual(expected.reverse())
  })

  test('gives the rows between its bounds', () => {
    const between = (lower: number, upper: number, isDescending = false) => {
      const bounds = { lowerKey: key(lower), upperKey: key(upper) }
      return keysIn(batchesOf(openScan(shared, { ...bounds, isDescending })))
    }

    expect(between(4090, 4100)).toEqual(numbers(4090, 4100))
    expect(between(4090, 4100, true)).toEqual(numbers(4090, 4100).reverse())
    expect(between(-5, 3)).toEqual([0, 1, 2])
    expect(between(9998, 20_000)).toEqual([9998, 9999])
    expect(between(7, 7)).toEqual([])
    expect(between(8, 7)).toEqual([])
    expect(between(10_000, 10_001)).toEqual([])
  })

  test('ends batches at rows, bytes and rows looked at', () => {
    const first = (limits: Partial<BatchLimits>, ...predicates: ColumnPredicate[]) => {
      const iterator = openScan(shared, { columns: [kColumn, vColumn] }, ...predicates)
      const batch = iterator.next({ ...WIDE, ...limits })!
      iterator.close()
      return [batch.block.rowCount, batch.scannedCount]
    }

    expect(first({ rowCountMax: 10 })).toEqual([10, 256])
    expect(first({ bytesMax: 80 })).toEqual([8, 256])
    expect(first({ bytesMax: 1 })).toEqual([1, 256])
    expect(first({ scannedMax: 100 })).toEqual([100, 100])
    expect(first({ scannedMax: 300 }, equalityPredicate(vColumn, 7))).toEqual([0, 300])
  })

  test('fills batches to about their bytes, whatever the sizes of rows', () => {
    for (const isDescending of [false, true]) {
      const batches = batchesOf(
        openScan(shared, { columns: [kColumn, textColumn], isDescending }),
        {
          bytesMax: 5000,
        },
      )
      const sizes = batches.map((batch) => {
        return batch.reduce((sum, { text }) => sum + 8 + ((text as string | null)?.length ?? 0), 0)
      })

      expect(Math.max(...sizes)).toBeLessThanOrEqual(5000)
      expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(4000)
      expect(keysIn(batches).length).toBe(ROW_COUNT)
    }
  })

  test('goes on behind the last key it was done with, in either order', () => {
    const sparse = rangePredicate(vColumn, 9000, 9100)
    for (const isDescending of [false, true]) {
      const found: (number | unknown)[] = []
      let bounds: Partial<RowSetScan> = {}
      for (let steps = 0; steps < 200; steps++) {
        const withKeys = steps % 2 === 0
        const iterator = openScan(shared, { ...bounds, isDescending, withKeys }, sparse)
        const batch: ScanBatch | null = iterator.next({ ...WIDE, rowCountMax: 7, scannedMax: 500 })
        if (batch !== null) {
          found.push(...keysIn([rowsOf(schema, batch.block)]))
          const last = batch.lastKeyScanned
          bounds = isDescending ? { upperKey: last } : { lowerKey: successorKey(last) }
        }
        iterator.close()
        if (batch === null) break
      }
      const expected = numbers(4500, 4550)
      expect(found).toEqual(isDescending ? expected.reverse() : expected)
    }
  })

  test('carries the keys of its rows', () => {
    for (const isDescending of [false, true]) {
      const even = rangePredicate(vColumn, 100, 19_000)
      const iterator = openScan(shared, { isDescending, withKeys: true }, even)
      const found: number[] = []
      for (;;) {
        const batch = iterator.next({ ...WIDE, rowCountMax: 1000 })
        if (batch === null) break
        expect(batch.keys?.count).toBe(batch.block.rowCount)
        for (let row = 0; row < batch.block.rowCount; row++) {
          const k = batch.block.columns[0].cell(row) as number
          expect(batch.keys?.key(row)).toEqual(key(k))
          found.push(k)
        }
      }
      iterator.close()
      expect(found.length).toBe(9450)
    }
  })

  test('counts rows without reading a page', () => {
    const before = sharedContext.blocks.rowsRead
    const counts = batchesOf(openScan(shared, { columns: [] })).map((batch) => batch.length)

    expect(counts.reduce((a, b) => a + b)).toBe(ROW_COUNT)
    expect(sharedContext.blocks.rowsRead - before).toBeLessThanOrEqual(2)
  })
})

describe('pages that a DiskRowSetIterator passes over', () => {
  /** Rows looked at, and reads of storage. */
  function costOf(rowSet: DiskRowSet, rowsRead: () => number, ...predicates: ColumnPredicate[]) {
    const before = rowsRead()
    const iterator = openScan(rowSet, {}, ...predicates)
    const found = keysIn(batchesOf(iterator))
    return { found, scanned: iterator.scannedCount, reads: rowsRead() - before }
  }

  test('are those whose zone maps cannot satisfy a test', () => {
    const read = () => sharedContext.blocks.rowsRead
    const some = costOf(shared, read, rangePredicate(vColumn, 10_000, 10_010))
    const none = costOf(shared, read, rangePredicate(vColumn, 20_000, null))
    const all = costOf(shared, read, rangePredicate(vColumn, null, 20_000))

    expect(some.found).toEqual(numbers(5000, 5005))
    expect(some.scanned).toBe(4096)
    expect([none.found, none.scanned]).toEqual([[], 0])
    expect(none.reads).toBeLessThanOrEqual(2)
    expect([all.found.length, all.scanned]).toEqual([ROW_COUNT, ROW_COUNT])
  })

  test('are passed over from either end', () => {
    const iterator = openScan(shared, { isDescending: true }, rangePredicate(vColumn, 0, 10))

    expect(keysIn(batchesOf(iterator))).toEqual([4, 3, 2, 1, 0])
    expect(iterator.scannedCount).toBe(4096)
  })

  test('are not those with a changed cell that can', () => {
    const { rowSet, context } = aRowSet()
    const read = () => context.blocks.rowsRead
    const range = rangePredicate(vColumn, 30_000, 30_010)
    expect(costOf(rowSet, read, range).scanned).toBe(0)

    rowSet.update(9000, blockOf(schema, [{ v: 30_001 }]), 0, 20, false, schema)
    rowSet.update(1, blockOf(schema, [{ v: -1 }]), 0, 21, false, schema)

    const changed = costOf(rowSet, read, range)
    expect(changed.found).toEqual([9000])
    const before = openScan(rowSet, { snapshot: 19 }, range)
    expect([batchesOf(before), before.scannedCount]).toEqual([[], 0])
  })
})

describe('changed cells of a DiskRowSet', () => {
  /** Every seventh row is updated in time, every 500th deleted, in files and in memory. */
  const histories = rows.map((row, k): PlainHistory => {
    const versions: { at: number; row: PlainRow | null }[] = [{ at: 2, row }]
    if (k % 7 === 1) versions.push({ at: 4, row: { ...row, v: -k } })
    if (k % 7 === 3) versions.push({ at: 8, row: { ...row, text: `changed ${k}`, wide: -k } })
    if (k % 500 === 3) versions.push({ at: 9, row: null })
    return versions
  })
  const options = { schema, baseAt: 5, youngerSchema: younger }
  const inFiles = aDiskRowSet(histories, { ...options, redoCuts: [8] })
  const at = (snapshot: number) => {
    return histories.flatMap((versions) => {
      const row = versions.findLast((version) => version.at <= snapshot)?.row ?? null
      return row === null ? [] : [plain(row)]
    })
  }

  test.each([1, 3, 5, 8, 9])('are shown as of a snapshot (%i), in both orders', (snapshot) => {
    const expected = at(snapshot)

    expect(batchesOf(openScan(inFiles, { snapshot })).flat()).toEqual(expected)
    const descending = openScan(inFiles, { snapshot, isDescending: true, withKeys: true })
    expect(batchesOf(descending, { bytesMax: 3000 }).flat()).toEqual(expected.reverse())
  })

  test('are what tests see', () => {
    const changed = equalityPredicate(textColumn, utf8Encode('changed 10'))
    const negative = rangePredicate(vColumn, null, 0)
    const keysAt = (snapshot: number, ...predicates: ColumnPredicate[]) => {
      return keysIn(batchesOf(openScan(inFiles, { snapshot }, ...predicates)))
    }

    expect([keysAt(7, changed), keysAt(8, changed)]).toEqual([[], [10]])
    expect(keysAt(3, negative)).toEqual([])
    expect(keysAt(4, negative)).toEqual(numbers(1, ROW_COUNT).filter((k) => k % 7 === 1))
    expect(keysAt(4, negative, isNullPredicate(textColumn))).toEqual([])
    const nulls = at(9).filter(({ text }) => text === null)
    expect(keysAt(9, isNullPredicate(textColumn))).toEqual(nulls.map(({ k }) => k))
  })
})

describe('a column that is younger than a DiskRowSet', () => {
  const { rowSet } = aRowSet()
  rowSet.update(3, blockOf(younger, [{ added: 7 }]), 0, 20, false, younger)
  rowSet.update(5000, blockOf(younger, [{ empty: 'now set' }]), 0, 21, false, younger)
  const [added, empty] = younger.columns.slice(4)

  test('shows its read default where no change did set it', () => {
    const columns = [kColumn, added, empty]
    for (const isDescending of [false, true]) {
      const found = batchesOf(openScan(rowSet, { columns, isDescending })).flat()
      if (isDescending) found.reverse()

      expect(found.length).toBe(ROW_COUNT)
      expect([found[2], found[3]]).toEqual([
        { k: 2, added: 5, empty: null },
        { k: 3, added: 7, empty: null },
      ])
      expect(found[5000]).toEqual({ k: 5000, added: 5, empty: 'now set' })
    }
  })

  test('is tested by it', () => {
    const keysWith = (...predicates: ColumnPredicate[]) => {
      return keysIn(batchesOf(openScan(rowSet, {}, ...predicates)))
    }

    expect(keysWith(equalityPredicate(added, 7))).toEqual([3])
    expect(keysWith(equalityPredicate(added, 5)).length).toBe(ROW_COUNT - 1)
    expect(keysWith(equalityPredicate(added, 6))).toEqual([])
    expect(keysWith(isNullPredicate(empty), equalityPredicate(added, 7))).toEqual([3])
    const before = openScan(rowSet, { snapshot: 19 }, equalityPredicate(added, 7))
    expect([batchesOf(before), before.scannedCount]).toEqual([[], 0])
  })
})
