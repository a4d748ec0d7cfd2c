/**
 * A tablet's real store over the SQLite of Node: the engine alone, with the statements that it runs
 * on the edge.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MeteredSql, type SqlCursor, type SqlPort } from '../../src/server/metered-sql.ts'
import { SqlTabletStore } from '../../src/server/sql-tablet-store.ts'

const MIGRATION = join(import.meta.dirname, '../../migrations/tablet/0001_init.sql')

/** A store in a database file, or in memory with `:memory:`. */
export function openSqliteStore(path: string): { store: SqlTabletStore; database: DatabaseSync } {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  database.exec(
    readFileSync(MIGRATION, 'utf8').replaceAll('CREATE TABLE ', 'CREATE TABLE IF NOT EXISTS '),
  )
  const store = new SqlTabletStore(new MeteredSql(new NodeSql(database)), (work) => {
    database.exec('BEGIN')
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  })
  return { store, database }
}

class NodeSql implements SqlPort {
  readonly databaseSize = Number.MAX_SAFE_INTEGER
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  exec(text: string, ...bindings: unknown[]): SqlCursor {
    if (!/^\s*(?:SELECT|INSERT|DELETE|UPDATE)/.test(text)) {
      this.#statements.clear()
      this.#database.exec(text)
      return { raw: () => [][Symbol.iterator](), rowsRead: 0, rowsWritten: 0 }
    }
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = this.#database.prepare(text)
      statement.setReturnArrays(true)
      this.#statements.set(text, statement)
    }
    const values = bindings.map((value) =>
      value instanceof ArrayBuffer ? new Uint8Array(value) : value,
    )
    const rows = statement.all(...(values as never[])) as unknown as unknown[][]
    // The platform hands out blobs as buffers.
    for (const row of rows) {
      for (let i = 0; i < row.length; i++) {
        const value = row[i]
        if (value instanceof Uint8Array) row[i] = value.slice().buffer
      }
    }
    return { raw: () => rows[Symbol.iterator](), rowsRead: rows.length, rowsWritten: 0 }
  }
}
