import { describe, expect, test } from 'vitest'
import { Catalog, type NewTable } from '../../src/catalog/catalog.ts'
import type { IdSource } from '../../src/catalog/catalog-store.ts'
import { HybridClock } from '../../src/common/hybrid-clock.ts'
import { TABLE_DEFINITION_BYTES_MAX, TABLET_COUNT_MAX } from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { aNewTable } from '../support/a-table.ts'
import { MemoryCatalogStore } from '../support/memory-catalog-store.ts'

const NOW = 1_764_547_200_000_000
const NOBODY = 'e'.repeat(32)

/** Ids 0…01, 0…02, and so on. */
class CountingIds implements IdSource {
  #count = 0

  nextId(): string {
    return (++this.#count).toString(16).padStart(32, '0')
  }
}

/** A catalog, and what a restart makes of its storage. */
function aCatalog() {
  const store = new MemoryCatalogStore()
  const ids = new CountingIds()
  const open = () => new Catalog({ store, ids, clock: new HybridClock({ nowMicros: () => NOW }) })
  return { catalog: open(), store, restart: open }
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error.code
    throw error
  }
  return 'no error'
}

describe('Catalog.createTable', () => {
  test('gives a table ids, a version, a time and a secret', () => {
    const { catalog } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics', undefined, 4))

    expect(table).toMatchObject({
      name: 'metrics',
      version: 1,
      state: 'RUNNING',
      nextColumnId: 2,
      owner: 'ops',
      createdAt: NOW,
    })
    expect(table.tablets.map((tablet) => tablet.partition.hashBuckets)).toEqual([
      [0],
      [1],
      [2],
      [3],
    ])
    const ids = [table.id, table.tokenSecret, ...table.tablets.map((tablet) => tablet.tabletId)]
    expect(new Set(ids).size).toBe(6)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })

  test('keeps every column default exactly, across a restart', () => {
    const { catalog, restart } = aCatalog()
    const columns = [
      'id INT64 KEY',
      'a INT64',
      'b DECIMAL(38,0)',
      'c BINARY',
      'd DOUBLE',
      'e DOUBLE',
    ]
    const request = aNewTable('metrics', columns)
    const defaults = [
      null,
      2n ** 63n - 1n,
      -(10n ** 38n) + 1n,
      Uint8Array.of(0, 255),
      -0,
      Number.NaN,
    ]
    const table = catalog.createTable({
      ...request,
      columns: request.columns.map((column, index) => ({
        ...column,
        writeDefault: defaults[index],
        readDefault: defaults[index],
      })),
    })
    const stored = restart().getTable({ id: table.id }).table

    expect(stored).toEqual(table)
    expect(stored.columns.map((column) => column.writeDefault)).toEqual(defaults)
    expect(Object.is(stored.columns[4].writeDefault, -0)).toBe(true)
  })

  test('refuses a name that is taken, and takes one that differs in case', () => {
    const { catalog } = aCatalog()
    catalog.createTable(aNewTable('metrics'))

    expect(() => catalog.createTable(aNewTable('metrics'))).toThrow(
      expect.objectContaining({
        code: 'ALREADY_PRESENT',
        message: 'table "metrics" already exists',
        details: { resource: 'table' },
      }),
    )
    expect(codeOf(() => catalog.createTable(aNewTable('Metrics')))).toBe('no error')
  })

  const wrong: [string, Partial<NewTable>, string][] = [
    ['a name that is an id', { name: 'a'.repeat(32) }, 'form of a table id'],
    ['no name', { name: '' }, 'table name is empty'],
    ['a long owner', { owner: 'o'.repeat(129) }, 'owner is 129 bytes'],
    ['a long comment', { comment: 'c'.repeat(257) }, 'comment is 257 bytes'],
    ['an unknown extra config', { extraConfigs: { a: 'b' } }, 'extra config "a" is unknown'],
    ['no columns', { columns: [] }, 'column'],
    [
      'column ids that are not 0, 1, 2',
      { columns: aNewTable('x').columns.map((column) => ({ ...column, id: column.id + 1 })) },
      'not numbered from 0',
    ],
    [
      'too many tablets',
      {
        partitionSchema: {
          ...aNewTable('x').partitionSchema,
          hashSchema: [{ columnIds: [0], bucketCount: TABLET_COUNT_MAX + 1, seed: 0 }],
        },
      },
      'limit is 1024',
    ],
    [
      'a hash over a column that is not there',
      {
        partitionSchema: {
          ...aNewTable('x').partitionSchema,
          hashSchema: [{ columnIds: [9], bucketCount: 2, seed: 0 }],
        },
      },
      '',
    ],
  ]

  test.each(wrong)('refuses %s and stores nothing', (_, part, message) => {
    const { catalog } = aCatalog()
    const create = () => catalog.createTable({ ...aNewTable('metrics'), ...part })

    expect(create).toThrow(message)
    expect(codeOf(create)).toBe('INVALID_ARGUMENT')
    expect(catalog.listTables('', '', 10).tables).toEqual([])
  })

  test('refuses a definition that does not fit its stored row', () => {
    const { catalog } = aCatalog()
    const columns = ['id INT64 KEY', ...Array.from({ length: 40 }, (_, i) => `c${i} BINARY`)]
    const request = aNewTable('metrics', columns)
    const large = new Uint8Array(60_000)
    const create = () =>
      catalog.createTable({
        ...request,
        columns: request.columns.map((column, index) =>
          index === 0 ? column : { ...column, readDefault: large, writeDefault: large },
        ),
      })

    expect(create).toThrow(`limit is ${TABLE_DEFINITION_BYTES_MAX}`)
    expect(codeOf(create)).toBe('INVALID_ARGUMENT')
  })

  test('makes a table of as many tablets as a table may have', () => {
    const { catalog, restart } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics', undefined, TABLET_COUNT_MAX))

    expect(restart().getTable({ name: 'metrics' }).table.tablets).toEqual(table.tablets)
    expect(table.tablets).toHaveLength(TABLET_COUNT_MAX)
  })
})

describe('Catalog.getTable', () => {
  test('finds a table by name and by id in either case', () => {
    const { catalog } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics'))

    expect(catalog.getTable({ name: 'metrics' }).table).toEqual(table)
    expect(catalog.getTable({ id: table.id }).table).toEqual(table)
    expect(catalog.getTable({ id: table.id.toUpperCase() }).table).toEqual(table)
  })

  test('tells which tablets are initialized', () => {
    const { catalog } = aCatalog()
    const { id, tablets } = catalog.createTable(aNewTable('metrics', undefined, 3))
    catalog.initializeTablet(id, tablets[1].tabletId)

    expect(catalog.getTable({ id }).initializedTabletIds).toEqual([tablets[1].tabletId])
  })

  test.each([[{ name: 'metrics' }], [{ id: NOBODY }]])('finds nothing under %j', (name) => {
    const { catalog } = aCatalog()
    catalog.createTable(aNewTable('other'))

    expect(() => catalog.getTable(name)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', details: { resource: 'table' } }),
    )
  })
})

describe('Catalog.listTables', () => {
  function filled(): Catalog {
    const { catalog } = aCatalog()
    for (const name of ['b', 'a2', 'ä', 'a1', 'A', 'a10']) catalog.createTable(aNewTable(name))
    return catalog
  }

  function pages(catalog: Catalog, prefix: string, pageSize: number): string[][] {
    const read: string[][] = []
    for (let after = '', hasMore = true; hasMore; ) {
      const page = catalog.listTables(prefix, after, pageSize)
      read.push(page.tables.map(({ name }) => name))
      hasMore = page.hasMore
      after = page.tables.at(-1)?.name ?? after
    }
    return read
  }

  test('lists names by their bytes, page after page', () => {
    expect(pages(filled(), '', 4)).toEqual([
      ['A', 'a1', 'a10', 'a2'],
      ['b', 'ä'],
    ])
    expect(pages(filled(), '', 6)).toEqual([['A', 'a1', 'a10', 'a2', 'b', 'ä']])
  })

  test('lists names with a prefix', () => {
    expect(pages(filled(), 'a', 2)).toEqual([['a1', 'a10'], ['a2']])
    expect(pages(filled(), 'a1', 10)).toEqual([['a1', 'a10']])
    expect(pages(filled(), 'c', 10)).toEqual([[]])
  })

  test.each([0, -1, 1.5, 10_001, Number.NaN])('refuses a page of %d', (pageSize) => {
    expect(codeOf(() => filled().listTables('', '', pageSize))).toBe('INVALID_ARGUMENT')
  })
})

describe('Catalog.initializeTablet', () => {
  test('hands a tablet its table with itself alone in it, as often as it asks', () => {
    const { catalog } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics', undefined, 3))
    const [, second] = table.tablets

    expect(catalog.initializeTablet(table.id, second.tabletId)).toEqual({
      ...table,
      tablets: [second],
    })
    catalog.initializeTablet(table.id, second.tabletId)
    expect(catalog.getTable({ id: table.id }).initializedTabletIds).toEqual([second.tabletId])
    expect(catalog.getTable({ id: table.id }).table).toEqual(table)
  })

  test('refuses a tablet of another table, of no table, and of a dropped one', () => {
    const { catalog } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics'))
    const other = catalog.createTable(aNewTable('other'))
    const initialize = (tableId: string, tabletId: string) =>
      codeOf(() => catalog.initializeTablet(tableId, tabletId))

    expect(initialize(table.id, other.tablets[0].tabletId)).toBe('NOT_FOUND')
    expect(initialize(NOBODY, table.tablets[0].tabletId)).toBe('NOT_FOUND')
    catalog.dropTable({ id: table.id }, null)
    expect(initialize(table.id, table.tablets[0].tabletId)).toBe('NOT_FOUND')
    expect(catalog.getTable({ id: other.id }).initializedTabletIds).toEqual([])
  })
})

describe('Catalog.dropTable', () => {
  test('takes a table away at once and frees its name', () => {
    const { catalog, restart } = aCatalog()
    const table = catalog.createTable(aNewTable('metrics'))
    catalog.dropTable({ name: 'metrics' }, null)

    for (const it of [catalog, restart()]) {
      expect(codeOf(() => it.getTable({ id: table.id }))).toBe('NOT_FOUND')
      expect(it.listTables('', '', 10).tables).toEqual([])
    }
    expect(catalog.createTable(aNewTable('metrics')).id).not.toBe(table.id)
  })

  test('leaves nothing to do when no tablet was initialized', () => {
    const { catalog } = aCatalog()
    catalog.createTable(aNewTable('metrics', undefined, 4))

    expect(catalog.dropTable({ name: 'metrics' }, null)).toMatchObject({ toRefuse: [], toFree: [] })
    expect(catalog.unfinishedDrops(10)).toEqual([])
  })

  test('remembers which tablets must refuse and be freed until all are', () => {
    const { catalog, restart } = aCatalog()
    const { id, tablets } = catalog.createTable(aNewTable('metrics', undefined, 4))
    const [a, b] = tablets.map((tablet) => tablet.tabletId)
    catalog.initializeTablet(id, a)
    catalog.initializeTablet(id, b)

    const work = catalog.dropTable({ id }, null)
    expect(work).toEqual({ tableId: id, toRefuse: [a, b], toFree: [] })
    expect(restart().unfinishedDrops(10)).toEqual([work])
    expect(catalog.noteRefusing(id, [b])).toEqual({ tableId: id, toRefuse: [a], toFree: [b] })
    expect(catalog.noteFreed(id, [b])).toEqual({ tableId: id, toRefuse: [a], toFree: [] })
    expect(restart().unfinishedDrops(10)).toHaveLength(1)
    catalog.noteRefusing(id, [a])
    expect(catalog.noteFreed(id, [a])).toEqual({ tableId: id, toRefuse: [], toFree: [] })
    expect(restart().unfinishedDrops(10)).toEqual([])
    expect(catalog.noteFreed(id, [a])).toEqual({ tableId: id, toRefuse: [], toFree: [] })
  })

  test('drops the version that was meant, or nothing', () => {
    const { catalog } = aCatalog()
    const { id } = catalog.createTable(aNewTable('metrics'))

    expect(codeOf(() => catalog.dropTable({ id }, 2))).toBe('PRECONDITION_FAILED')
    expect(catalog.getTable({ id }).table.id).toBe(id)
    expect(codeOf(() => catalog.dropTable({ id }, 1))).toBe('no error')
    expect(codeOf(() => catalog.dropTable({ id }, 1))).toBe('NOT_FOUND')
  })
})
