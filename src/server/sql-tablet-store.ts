/**
 * A tablet's storage in its object's SQLite: the superblock in one row, each WAL generation and
 * each file of blocks a table.
 *
 * No statement looks for a table before it uses it: that reads the whole schema, which grows with
 * the number of files.
 *
 * The platform's cap of 2 MB a row is not enforced by its local runtime, so it is here.
 */

import { blockText } from '../cfile/block-id.ts'
import { STORED_ROW_BYTES_MAX, WAL_GENERATION_COUNT_MAX } from '../common/limits.ts'
import { CorruptionError } from '../common/status.ts'
import type { TabletStore } from '../tablet/ports.ts'
import { assert } from '../util/assert.ts'
import type { MeteredSql } from './metered-sql.ts'
import type { Transact } from './migrate.ts'
import { isMissingTable } from './missing-table.ts'
import { fileStatements, TABLET_SQL, WAL_SQL, type WalStatements } from './sql-statements.ts'

type PayloadRow = [payload: ArrayBuffer]
type IdRow = [id: number]
type WalRow = [id: number, partsLeft: number, payload: ArrayBuffer]

/**
 * See the port for the rules. `prepare` runs once, before the first transaction: it applies the
 * steps of migrations/tablet, unless whoever made the store did. A read does not wait for it, since
 * to look which steps were applied bills rows: so every step leaves what is there readable.
 */
export class SqlTabletStore implements TabletStore {
  readonly #sql: MeteredSql
  readonly #transact: Transact
  #prepare: (() => void) | null
  #isOpen = false

  constructor(sql: MeteredSql, transact: Transact, prepare: (() => void) | null = null) {
    this.#sql = sql
    this.#transact = transact
    this.#prepare = prepare
  }

  get rowsRead(): number {
    return this.#sql.rowsRead
  }

  get rowsWritten(): number {
    return this.#sql.rowsWritten
  }

  transact<T>(work: () => T): T {
    assert(!this.#isOpen, 'transactions do not nest')
    this.#prepare?.()
    this.#prepare = null
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
    return this.#readOnly(TABLET_SQL.readSuperblock)
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

  readResults(): Uint8Array | null {
    return this.#readOnly(TABLET_SQL.readResults)
  }

  writeResults(bytes: Uint8Array): void {
    this.#checkWrite(bytes)
    this.#sql.all(TABLET_SQL.writeResults, bytes)
  }

  createFile(file: number): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    const { drop, create } = fileStatements(file)
    this.#sql.all(drop)
    this.#sql.all(create)
  }

  appendBlock(file: number, bytes: Uint8Array): number {
    this.#checkWrite(bytes)
    const row = this.#sql.first<IdRow>(fileStatements(file).append, bytes)
    assert(row !== undefined, 'a block that was written has a number')
    return row[0]
  }

  deleteBlocks(file: number, blocks: readonly number[]): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    const statements = fileStatements(file)
    try {
      for (const block of blocks) this.#sql.all(statements.delete, block)
    } catch (error) {
      if (!isMissingTable(error)) throw error
    }
  }

  dropFile(file: number): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    this.#sql.all(fileStatements(file).drop)
  }

  readBlock(file: number, block: number, start = 0, end?: number): Uint8Array {
    const payload = this.#readPayload(file, block, start, end)
    if (payload === undefined) throw new CorruptionError(`${blockText({ file, block })}: missing`)
    if (end !== undefined && payload.length !== end - start) {
      throw new CorruptionError(`${blockText({ file, block })}: shorter than what is read of it`)
    }
    return payload
  }

  #readPayload(
    file: number,
    block: number,
    start: number,
    end: number | undefined,
  ): Uint8Array | undefined {
    const { read, readSlice } = fileStatements(file)
    try {
      if (end === undefined) {
        const row = this.#sql.first<PayloadRow>(read, block)
        if (row === undefined) return undefined
        return new Uint8Array(start === 0 ? row[0] : row[0].slice(start))
      }
      const row = this.#sql.first<PayloadRow>(readSlice, block, start + 1, end - start)
      return row === undefined ? undefined : new Uint8Array(row[0])
    } catch (error) {
      if (isMissingTable(error)) return undefined
      throw error
    }
  }

  /** The payload of a table of one row; null without it, or before the table was made. */
  #readOnly(text: string): Uint8Array | null {
    try {
      const row = this.#sql.first<PayloadRow>(text)
      return row === undefined ? null : new Uint8Array(row[0])
    } catch (error) {
      if (isMissingTable(error)) return null
      throw error
    }
  }

  #checkWrite(bytes: Uint8Array): void {
    assert(this.#isOpen, 'writing happens inside a transaction')
    assert(bytes.length <= STORED_ROW_BYTES_MAX, 'a stored row is within the limit')
  }
}

function statementsOf(generation: number): WalStatements {
  return WAL_SQL[generation % WAL_GENERATION_COUNT_MAX]
}
