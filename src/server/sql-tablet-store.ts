/**
 * A tablet's storage in its object's SQLite: the superblock in one row, each WAL generation a
 * table.
 *
 * The platform's cap of 2 MB a row is not enforced by its local runtime, so it is here.
 */

import { STORED_ROW_BYTES_MAX, WAL_GENERATION_COUNT_MAX } from '../common/limits.ts'
import { CorruptionError } from '../common/status.ts'
import type { TabletStore } from '../tablet/ports.ts'
import { assert } from '../util/assert.ts'
import type { MeteredSql } from './metered-sql.ts'
import type { Transact } from './migrate.ts'
import { TABLET_SQL, WAL_SQL, type WalStatements } from './sql-statements.ts'

type PayloadRow = [payload: ArrayBuffer]
type WalRow = [id: number, partsLeft: number, payload: ArrayBuffer]

/**
 * See the port for the rules. Requires: before anything is written the steps of migrations/tablet
 * were applied.
 */
export class SqlTabletStore implements TabletStore {
  readonly #sql: MeteredSql
  readonly #transact: Transact
  #isOpen = false

  constructor(sql: MeteredSql, transact: Transact) {
    this.#sql = sql
    this.#transact = transact
  }

  get rowsRead(): number {
    return this.#sql.rowsRead
  }

  get rowsWritten(): number {
    return this.#sql.rowsWritten
  }

  transact<T>(work: () => T): T {
    assert(!this.#isOpen, 'transactions do not nest')
    this.#isOpen = true
    try {
      return this.#transact(() => {
        const result = work()
        assert(!(result instanceof Promise), 'the work of a transaction is synchronous')
        return result
      })
    } finally {
      this.#isOpen = false
    }
  }

  readSuperblock(): Uint8Array | null {
    if (this.#sql.isEmpty) return null
    const row = this.#sql.first<PayloadRow>(TABLET_SQL.readSuperblock)
    return row === undefined ? null : new Uint8Array(row[0])
  }

  writeSuperblock(bytes: Uint8Array): void {
    this.#checkWrite(bytes)
    this.#sql.all(TABLET_SQL.writeSuperblock, bytes)
  }

  createWal(generation: number): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    const statements = statementsOf(generation)
    this.#sql.all(statements.drop)
    this.#sql.all(statements.create)
  }

  appendWal(generation: number, parts: readonly Uint8Array[]): void {
    assert(parts.length > 0, 'an entry has at least one part')
    const { append } = statementsOf(generation)
    for (let index = 0; index < parts.length; index++) {
      this.#checkWrite(parts[index])
      this.#sql.all(append, parts.length - 1 - index, parts[index])
    }
  }

  readWal(
    generation: number,
    visit: (id: number, partsLeft: number, payload: Uint8Array) => void,
  ): void {
    try {
      this.#sql.each<WalRow>(statementsOf(generation).read, [], ([id, partsLeft, payload]) => {
        visit(id, partsLeft, new Uint8Array(payload))
      })
    } catch (error) {
      if (!isMissingTable(error)) throw error
      throw new CorruptionError(`WAL generation ${generation} is missing`)
    }
  }

  dropWal(generation: number): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    this.#sql.all(statementsOf(generation).drop)
  }

  #checkWrite(bytes: Uint8Array): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    assert(bytes.length <= STORED_ROW_BYTES_MAX, 'a stored row is within the limit')
  }
}

function statementsOf(generation: number): WalStatements {
  return WAL_SQL[generation % WAL_GENERATION_COUNT_MAX]
}

/** Whether SQLite found no such table: looking first would read the whole schema each time. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table: wal_')
}
