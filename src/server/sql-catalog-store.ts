/**
 * The catalog's storage in its object's SQLite (migrations/catalog).
 *
 * The platform's cap of 2 MB a row is not enforced by its local runtime, so it is here.
 */

import type { CatalogStore, StoredDrop, StoredName } from '../catalog/catalog-store.ts'
import { STORED_ROW_BYTES_MAX } from '../common/limits.ts'
import { assert } from '../util/assert.ts'
import { utf8Encode } from '../util/bytes.ts'
import type { MeteredSql } from './metered-sql.ts'
import type { Transact } from './migrate.ts'
import { CATALOG_SQL } from './sql-statements.ts'

type TextRow = [text: string]
type TextPair = [first: string, second: string]

/** See the port for the rules. Requires: the steps of migrations/catalog were applied. */
export class SqlCatalogStore implements CatalogStore {
  readonly #sql: MeteredSql
  readonly #transact: Transact

  constructor(sql: MeteredSql, transact: Transact) {
    this.#sql = sql
    this.#transact = transact
  }

  transact<T>(work: () => T): T {
    return this.#transact(work)
  }

  readTable(tableId: string): string | undefined {
    return this.#sql.first<TextRow>(CATALOG_SQL.readTable, tableId)?.[0]
  }

  findTable(name: string): string | undefined {
    return this.#sql.first<TextRow>(CATALOG_SQL.findName, name)?.[0]
  }

  insertTable(tableId: string, name: string, definition: string): void {
    checkText(definition)
    this.#sql.all(CATALOG_SQL.insertTable, tableId, definition)
    this.#sql.all(CATALOG_SQL.insertName, name, tableId)
  }

  deleteTable(tableId: string, name: string): void {
    this.#sql.all(CATALOG_SQL.deleteTable, tableId)
    this.#sql.all(CATALOG_SQL.deleteName, name)
    this.#sql.all(CATALOG_SQL.deleteInitialized, tableId)
  }

  readNames(afterName: string, fromName: string, limit: number): readonly StoredName[] {
    return this.#sql
      .all<TextPair>(CATALOG_SQL.readNames, afterName, fromName, limit)
      .map(([name, tableId]) => ({ name, tableId }))
  }

  readInitialized(tableId: string): readonly string[] {
    return this.#sql.all<TextRow>(CATALOG_SQL.readInitialized, tableId).map(([id]) => id)
  }

  insertInitialized(tableId: string, tabletId: string): void {
    this.#sql.all(CATALOG_SQL.insertInitialized, tableId, tabletId)
  }

  readDrops(limit: number): readonly StoredDrop[] {
    return this.#sql
      .all<TextPair>(CATALOG_SQL.readDrops, limit)
      .map(([tableId, work]) => ({ tableId, work }))
  }

  readDrop(tableId: string): string | undefined {
    return this.#sql.first<TextRow>(CATALOG_SQL.readDrop, tableId)?.[0]
  }

  writeDrop(tableId: string, work: string): void {
    checkText(work)
    this.#sql.all(CATALOG_SQL.writeDrop, tableId, work)
  }

  deleteDrop(tableId: string): void {
    this.#sql.all(CATALOG_SQL.deleteDrop, tableId)
  }
}

function checkText(text: string): void {
  // A text of this many units may not be over the limit; only then its bytes are counted.
  if (text.length * 3 <= STORED_ROW_BYTES_MAX) return
  assert(utf8Encode(text).length <= STORED_ROW_BYTES_MAX, 'a stored row is within the limit')
}
