import { describe, expect, test } from 'vitest'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { checkMigrations } from '../../src/server/migrate.ts'
import { TABLET_MIGRATIONS } from '../../src/server/migrations.ts'
import { SqlCatalogStore } from '../../src/server/sql-catalog-store.ts'
import { SqlTabletStore } from '../../src/server/sql-tablet-store.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { MemoryAccountant } from '../../src/tablet/memory-accountant.ts'
import { Tablet } from '../../src/tablet/tablet.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { aTableEntry, TABLE_ID, TABLET_ID } from '../support/a-table-entry.ts'
import { aWriteBlock, type PlainOperation } from '../support/a-write-block.ts'
import { type ObjectStorage, withObjectStorage } from '../support/object-storage.ts'
import { TestClock } from '../support/test-clock.ts'

const CLOCK = new TestClock()

function storeOf({ sql, transact }: ObjectStorage): SqlTabletStore {
  return new SqlTabletStore(sql, transact)
}

describe('SqlTabletStore', () => {
  test('asserts that a stored row is within the limit, which the local runtime does not', () =>
    withObjectStorage(TABLET_MIGRATIONS, (storage) => {
      const store = storeOf(storage)
      const tooLarge = new Uint8Array(STORED_ROW_BYTES_MAX + 1)
      store.transact(() => store.createWal(1))

      expect(() => store.transact(() => store.writeSuperblock(tooLarge))).toThrow(AssertionError)
      expect(() => store.transact(() => store.appendWal(1, [tooLarge]))).toThrow(AssertionError)
      expect(store.readSuperblock()).toBeNull()
    }))

  test('asserts that it writes inside a transaction only', () =>
    withObjectStorage(TABLET_MIGRATIONS, (storage) => {
      const store = storeOf(storage)

      expect(() => store.createWal(1)).toThrow(AssertionError)
      expect(() => store.writeSuperblock(Uint8Array.of(1))).toThrow(AssertionError)
      expect(() => store.transact(() => store.transact(() => 1))).toThrow(AssertionError)
      expect(() => store.transact(() => Promise.resolve())).toThrow(AssertionError)
      expect(storage.sql.rowsWritten).toBe(0)
    }))

  test('has no superblock in a storage that was never migrated, and reads no row to know', () =>
    withObjectStorage([], (storage) => {
      expect(storeOf(storage).readSuperblock()).toBeNull()
      expect(storage.sql.rowsRead).toBe(0)
    }))
})

describe('A tablet over SqlTabletStore', () => {
  const SCHEMA = aSchema('k INT32 KEY', 'a STRING NULL', 'b INT64 NULL', 'c DOUBLE NULL')

  function open({ sql, transact }: ObjectStorage): Tablet {
    return Tablet.open({
      store: new SqlTabletStore(sql, transact),
      clock: CLOCK,
      prng: new Prng(1),
      accountant: new MemoryAccountant(1 << 30),
      cache: new PageCache(8 << 20),
    })
  }

  const request = { tableId: TABLE_ID, tabletId: TABLET_ID, tableVersion: 1, clock: 0 }

  /** One with `fileCount` rowsets, each of the keys n, n + fileCount, n + 2 · fileCount … */
  function fill(tablet: Tablet, fileCount: number): void {
    tablet.initialize(aTableEntry(SCHEMA), TABLET_ID)
    for (let n = 0; n < fileCount; n++) {
      const operations = Array.from({ length: 50 }, (_, i): PlainOperation => {
        return ['INSERT', { k: n + i * fileCount, a: `${i}`, b: i, c: i / 2 }]
      })
      const block = encodeRowBlock(aWriteBlock(SCHEMA, operations))
      tablet.write({ ...request, block, resultKey: null })
      tablet.maintain((parts) => {
        const task = new FlushMemRowSetTask(parts, CLOCK.nowMicros())
        while (!parts.transact(() => task.step()));
      })
    }
  }

  test('wakes and looks a row up in a few rows read, however many files there are', () =>
    withObjectStorage(TABLET_MIGRATIONS, (storage) => {
      const fileCount = 40
      fill(open(storage), fileCount)
      const { sql } = storage
      const before = sql.rowsRead
      checkMigrations(sql, TABLET_MIGRATIONS)
      const tablet = open(storage)
      const woken = sql.rowsRead
      const key = encodeKeyCells(SCHEMA.keyColumns, [7 + 3 * fileCount])
      const reply = tablet.lookup({
        ...request,
        columnIds: SCHEMA.columns.map(({ id }) => id),
        keyBytes: key,
        keyEnds: Uint32Array.of(key.length),
        snapshot: null,
      })
      const looked = sql.rowsRead

      expect(reply).toMatchObject({ kind: 'ok', value: { keyCount: 1, block: { rowCount: 1 } } })
      expect(woken - before).toBeLessThanOrEqual(10)
      // Of each rowset whose keys lie around it the directory and a page of the Bloom filter; of
      // the one that has it five more and a page a column.
      expect(looked - woken).toBeLessThanOrEqual(2 * fileCount + 5 + SCHEMA.columns.length)
    }))

  test('looks a row up in five rows read and one a column, where one rowset can have it', () =>
    withObjectStorage(TABLET_MIGRATIONS, (storage) => {
      fill(open(storage), 1)
      const { sql } = storage
      const tablet = open(storage)
      const before = sql.rowsRead
      const key = encodeKeyCells(SCHEMA.keyColumns, [7])
      const reply = tablet.lookup({
        ...request,
        columnIds: SCHEMA.columns.map(({ id }) => id),
        keyBytes: key,
        keyEnds: Uint32Array.of(key.length),
        snapshot: null,
      })

      expect(reply).toMatchObject({ kind: 'ok', value: { block: { rowCount: 1 } } })
      expect(sql.rowsRead - before).toBeLessThanOrEqual(5 + SCHEMA.columns.length)
    }))
})

describe('SqlCatalogStore', () => {
  test('asserts that a definition is within the limit of a stored row', () =>
    withObjectStorage([], ({ sql, transact }) => {
      const store = new SqlCatalogStore(sql, transact)
      const tooLarge = 'ä'.repeat(STORED_ROW_BYTES_MAX / 2 + 1)

      expect(() => store.insertTable('a', 'name', tooLarge)).toThrow(AssertionError)
      expect(() => store.writeDrop('a', tooLarge)).toThrow(AssertionError)
    }))
})
