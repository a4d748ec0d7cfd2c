import { describe, expect, test } from 'vitest'
import { STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { TABLET_MIGRATIONS } from '../../src/server/migrations.ts'
import { SqlCatalogStore } from '../../src/server/sql-catalog-store.ts'
import { SqlTabletStore } from '../../src/server/sql-tablet-store.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { type ObjectStorage, withObjectStorage } from '../support/object-storage.ts'

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

describe('SqlCatalogStore', () => {
  test('asserts that a definition is within the limit of a stored row', () =>
    withObjectStorage([], ({ sql, transact }) => {
      const store = new SqlCatalogStore(sql, transact)
      const tooLarge = 'ä'.repeat(STORED_ROW_BYTES_MAX / 2 + 1)

      expect(() => store.insertTable('a', 'name', tooLarge)).toThrow(AssertionError)
      expect(() => store.writeDrop('a', tooLarge)).toThrow(AssertionError)
    }))
})
