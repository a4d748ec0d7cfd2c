import { describe, expect, test } from 'vitest'
import {
  type ColumnPredicate,
  equalityPredicate,
  rangePredicate,
} from '../../../src/common/column-predicate.ts'
import { encodeKeyCells } from '../../../src/common/encoded-key.ts'
import { PAGE_ROWS } from '../../../src/common/limits.ts'
import type { ColumnScanStats } from '../../../src/common/scan-stats.ts'
import type { DiskRowSet } from '../../../src/tablet/disk/disk-row-set.ts'
import { openScan, type ScanOptions } from '../../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { aDiskRowSet, aMemoryContext, insertedAt } from '../../support/disk-row-set-builder.ts'
import { blockOf, KEY_HASH_SEED, schemaWith } from '../../support/row-data.ts'

const ROW_COUNT = 5 * PAGE_ROWS
const schema = schemaWith('k INT32 KEY', 'v INT32', 'mod INT32', 'rare INT32', 'text STRING')
const [k, v, mod, rare, text] = schema.columns
const rows = Array.from({ length: ROW_COUNT }, (_, i) => {
  const rare = i < PAGE_ROWS ? i % 1000 : i % 2 === 0 ? -1 : 5
  return { k: i * 2, v: i, mod: i % 7, rare, text: `t${i % 3}` }
})
const key = (value: number) => encodeKeyCells([k], [value])

function aRowSet() {
  const context = aMemoryContext()
  const rowSet = aDiskRowSet(insertedAt(5, rows), { schema, baseAt: 5, context })
  return { rowSet, context }
}

/** Read by tests that neither change it nor look at the cache. */
const { rowSet: shared } = aRowSet()

function optionsOf(rowSet: DiskRowSet, options: Partial<ScanOptions>): ScanOptions {
  return {
    rowSets: [rowSet],
    schema,
    columnIds: [k.id, v.id, text.id],
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'UNORDERED',
    snapshot: 100,
    withKeys: false,
    keyHashSeed: KEY_HASH_SEED,
    ...options,
  }
}

/** Reads a scan to its end. */
function run(options: ScanOptions) {
  const scanner = openScan(options)
  while (scanner.nextBatch(10_000, 1e9) !== null);
  const { stats } = scanner
  const column = (id: number) => stats.columns.find(({ columnId }) => columnId === id)
  const pages = (id: number) => shortOf(column(id) as ColumnScanStats)
  return { stats, pages }
}

/** Pages read, those of them in the cache, and left out: by bounds, zone maps, want of rows. */
function shortOf({ pages, pagesRead, pagesFromCache, pagesSkipped }: ColumnScanStats): string {
  const { key_bounds, zone_map, no_rows_left } = pagesSkipped
  expect(pagesRead + key_bounds + zone_map + no_rows_left).toBe(pages)
  return `${pagesRead}(${pagesFromCache}) ${key_bounds} ${zone_map} ${no_rows_left}`
}

const asking = (predicate: ColumnPredicate, ...others: ColumnPredicate[]) => {
  return { predicates: [predicate, ...others] }
}

describe('pages of a scan', () => {
  test('are all read when nothing is asked, and then come from the cache', () => {
    const { rowSet } = aRowSet()

    const first = run(optionsOf(rowSet, {}))
    expect([first.pages(k.id), first.pages(v.id), first.pages(text.id)]).toEqual([
      '5(0) 0 0 0',
      '5(0) 0 0 0',
      '5(0) 0 0 0',
    ])
    expect(first.stats).toMatchObject({
      rowSetsTotal: 1,
      rowSetsRead: 1,
      rowsScanned: ROW_COUNT,
      rowsReturned: ROW_COUNT,
      keyPagesRead: 0,
    })
    const { pages } = rowSet.base.column(v.id)!
    expect(first.stats.columns.find(({ columnId }) => columnId === v.id)?.bytesDecoded).toBe(
      pages.lengths.reduce((sum, length) => sum + length, 0),
    )
    const second = run(optionsOf(rowSet, {}))
    expect(second.pages(v.id)).toBe('5(5) 0 0 0')
    expect(second.stats.bytesDecoded).toBe(0)
  })

  test('are left out by key bounds', () => {
    const bounds = { lowerKey: key(2 * PAGE_ROWS + 10), upperKey: key(6 * PAGE_ROWS) }

    for (const order of ['UNORDERED', 'DESCENDING'] as const) {
      const { stats, pages } = run(optionsOf(shared, { ...bounds, order }))

      expect(pages(text.id)).toMatch(/^2\([02]\) 3 0 0$/)
      expect(stats.keyPagesRead).toBe(2)
      expect(stats.rowsReturned).toBe(2 * PAGE_ROWS - 5)
    }
  })

  test('are left out by zone maps, those of other columns too', () => {
    const range = rangePredicate(v, 2 * PAGE_ROWS + 1, 2 * PAGE_ROWS + 3)

    for (const order of ['UNORDERED', 'DESCENDING'] as const) {
      const { stats, pages } = run(optionsOf(shared, { ...asking(range), order }))

      expect(pages(v.id)).toMatch(/^1\([01]\) 0 4 0$/)
      expect(pages(text.id)).toMatch(/^1\([01]\) 0 4 0$/)
      expect([stats.rowsScanned, stats.rowsReturned]).toEqual([PAGE_ROWS, 2])
    }
  })

  test('of a column that is only tested are not read where all rows pass', () => {
    const { rowSet } = aRowSet()
    const range = rangePredicate(v, PAGE_ROWS + 5, 4 * PAGE_ROWS)

    const { stats, pages } = run(optionsOf(rowSet, { ...asking(range), columnIds: [k.id] }))

    expect(pages(v.id)).toBe('1(0) 0 4 0')
    expect(pages(k.id)).toBe('3(0) 0 2 0')
    expect(stats.rowsReturned).toBe(3 * PAGE_ROWS - 5)
  })

  test('are read where all rows passed and one was changed', () => {
    const { rowSet } = aRowSet()
    rowSet.update(PAGE_ROWS + 1, blockOf(schema, [{ v: -1 }]), 0, 20, false, schema)
    const range = rangePredicate(v, 0, 2 * PAGE_ROWS)
    const options = { ...asking(range), columnIds: [k.id] }

    const { stats, pages } = run(optionsOf(rowSet, options))

    expect(stats.rowsReturned).toBe(2 * PAGE_ROWS - 1)
    expect(pages(v.id)).toBe('1(0) 0 4 0')
    expect(run(optionsOf(rowSet, { ...options, snapshot: 19 })).pages(v.id)).toBe('0(0) 0 5 0')
  })

  test('are left out when no row of theirs is left', () => {
    const none = equalityPredicate(text, utf8Encode('t11'))

    const { stats, pages } = run(optionsOf(shared, asking(none)))

    expect(pages(text.id)).toMatch(/^5\(\d\) 0 0 0$/)
    expect(pages(v.id)).toBe('0(0) 0 0 5')
    expect(stats.rowsReturned).toBe(0)
  })

  test('are counted up to where a scan was closed', () => {
    const range = rangePredicate(v, PAGE_ROWS, null)
    const scanner = openScan(optionsOf(shared, asking(range)))
    scanner.nextBatch(10, 1e9)
    scanner.close()

    const { columns, rowsReturned } = scanner.stats
    expect(rowsReturned).toBe(10)
    expect(columns.find(({ columnId }) => columnId === text.id)).toMatchObject({
      pages: 5,
      pagesRead: 1,
      pagesSkipped: { key_bounds: 0, zone_map: 1, no_rows_left: 0 },
    })
  })
})

describe('a scan for one key', () => {
  const one = (value: number) => {
    return { lowerKey: key(value), upperKey: key(value + 1) }
  }

  test('reads one page of keys and one page of each column', () => {
    const { rowSet, context } = aRowSet()
    run(optionsOf(rowSet, one(2 * PAGE_ROWS + 2)))
    const before = context.blocks.rowsRead

    const { stats, pages } = run(optionsOf(rowSet, one(4 * PAGE_ROWS + 2)))

    expect(stats).toMatchObject({ keyPagesRead: 1, rowsScanned: 1, rowsReturned: 1 })
    expect(pages(v.id)).toBe('1(0) 4 0 0')
    // One for each page, and at most one of the Bloom filter.
    expect(context.blocks.rowsRead - before).toBeLessThanOrEqual(5)
    expect(run(optionsOf(rowSet, one(4 * PAGE_ROWS + 2))).pages(text.id)).toBe('1(1) 4 0 0')
  })

  test('reads nothing more when the Bloom filter says no', () => {
    let leftOut = 0
    for (let i = 0; i < 200; i++) {
      const { stats } = run(optionsOf(shared, one(2 * i + 1)))
      expect(stats.rowsReturned).toBe(0)
      leftOut += stats.rowSetsSkipped.bloom_filter
      expect(stats.rowSetsSkipped.bloom_filter + stats.rowSetsRead).toBe(1)
      expect(stats.keyPagesRead).toBe(stats.rowSetsRead)
    }

    expect(leftOut).toBeGreaterThan(190)
  })

  test('shows the row as it is at the snapshot, in any order', () => {
    const { rowSet } = aRowSet()
    rowSet.update(7, blockOf(schema, [{ v: -1 }]), 0, 20, false, schema)
    rowSet.delete(7, 30)
    const counts = [19, 20, 30].map((snapshot) => {
      const predicates = [equalityPredicate(v, -1)]
      return (['ORDERED', 'DESCENDING'] as const).map((order) => {
        return run(optionsOf(rowSet, { ...one(14), snapshot, predicates, order })).stats
          .rowsReturned
      })
    })

    expect(counts).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
    ])
  })
})

describe('tests of a scan', () => {
  test('are made in the order in which they were seen to leave out rows', () => {
    // The equality comes first, and is seen to leave out less: of other pages nothing is left.
    const predicates = [equalityPredicate(mod, 3), rangePredicate(rare, 0, 2)]

    const { stats, pages } = run(optionsOf(shared, { predicates, columnIds: [k.id] }))

    const isShown = (row: (typeof rows)[number]) =>
      row.mod === 3 && (row.rare === 0 || row.rare === 1)
    expect(stats.rowsReturned).toBe(rows.filter(isShown).length)
    expect(pages(mod.id)).toMatch(/^1\(\d\) 0 0 4$/)
    expect(pages(rare.id)).toMatch(/^5\(\d\) 0 0 0$/)
  })
})

describe('batches of a scan', () => {
  const texts = schemaWith('k INT32 KEY', 'mod INT32', 'few STRING NULL', 'all STRING NULL')
  const [, modColumn] = texts.columns
  const textRows = Array.from({ length: 2 * PAGE_ROWS }, (_, i) => {
    const few = i % 4 === 0 ? null : 'few '.repeat(1 + (i % 9))
    return { k: i, mod: i % 60, few, all: i % 5 === 0 ? null : `${i} `.repeat(1 + (i % 6)) }
  })
  const rowSet = aDiskRowSet(insertedAt(5, textRows), {
    schema: texts,
    baseAt: 5,
    context: aMemoryContext(),
  })

  /** Bytes of the rows of each batch. */
  function bytesOfBatches(bytesMax: number, options: Partial<ScanOptions>): number[] {
    const columnIds = texts.columns.map(({ id }) => id)
    const scanner = openScan(optionsOf(rowSet, { schema: texts, columnIds, ...options }))
    const found: number[] = []
    for (;;) {
      const batch = scanner.nextBatch(100_000, bytesMax)
      if (batch === null) return found
      const { rowCount, columns } = batch.block
      found.push(columns[2].valueBytes + columns[3].valueBytes + rowCount * 16)
    }
  }

  test.each([
    ['ascending', {}],
    ['descending', { order: 'DESCENDING' as const }],
    ['with keys', { withKeys: true }],
    ['of a part', { predicates: [rangePredicate(modColumn, 0, 50)] }],
    ['of few', { predicates: [equalityPredicate(modColumn, 7)] }],
  ])('are full, and not more than full: %s', (_, options) => {
    for (const bytesMax of [3000, 30_000]) {
      const batches = bytesOfBatches(bytesMax, options)
      const total = batches.reduce((sum, bytes) => sum + bytes, 0)

      expect(Math.max(...batches)).toBeLessThanOrEqual(bytesMax)
      expect(batches.length).toBeLessThanOrEqual(1 + Math.ceil((total / bytesMax) * 1.7))
    }
  })
})
