/**
 * What the catalog asks of the world: durable rows with transactions, and ids nobody can guess.
 *
 *   tables       table id → name, definition (JSON text)
 *   names        table name → table id, sorted by the bytes of its UTF-8
 *   initialized  (table id, tablet id): tablets that were told their schema
 *   drops        table id → tablets of a dropped table that still have to be dealt with (JSON text)
 */

/** A line of the list of tables. */
export interface StoredName {
  readonly name: string
  readonly tableId: string
}

/** A drop that is not finished. */
export interface StoredDrop {
  readonly tableId: string
  readonly work: string
}

/**
 * The catalog's durable storage.
 *
 * Rules that every implementation keeps (test/conformance/catalog-store.suite.ts):
 *
 *  I1  all writing happens inside `transact`, and a transaction is atomic: whole, or nothing of it;
 *  I2  a crash keeps a prefix of the committed transactions, which holds all that were answered;
 *  I3  texts come back exactly as they went in.
 *
 * Billing: a row written or deleted 1 each.
 */
export interface CatalogStore {
  /**
   * Runs `work` as one transaction and returns what it returns. Throws what it throws, undoing its
   * writes.
   */
  transact<T>(work: () => T): T

  /** The definition of a table, or undefined. */
  readTable(tableId: string): string | undefined
  /** The id of the table with a name, or undefined. */
  findTable(name: string): string | undefined
  /** Adds a table. Requires: inside `transact`; neither id nor name is there. */
  insertTable(tableId: string, name: string, definition: string): void
  /** Removes a table, its name and its initialized tablets. Requires: inside `transact`. */
  deleteTable(tableId: string, name: string): void
  /**
   * The first `limit` names that are above `afterName` and not below `fromName`, ascending by UTF-8
   * bytes.
   */
  readNames(afterName: string, fromName: string, limit: number): readonly StoredName[]

  /** Ids of a table's initialized tablets, ascending. */
  readInitialized(tableId: string): readonly string[]
  /**
   * Notes that a tablet is initialized; again is no error and writes nothing. Requires: inside
   * `transact`.
   */
  insertInitialized(tableId: string, tabletId: string): void

  /** Unfinished drops, at most `limit`. */
  readDrops(limit: number): readonly StoredDrop[]
  /** The unfinished drop of a table, or undefined. */
  readDrop(tableId: string): string | undefined
  /** Notes what is left of a drop. Requires: inside `transact`. */
  writeDrop(tableId: string, work: string): void
  /** Forgets a drop that is finished. Requires: inside `transact`. */
  deleteDrop(tableId: string): void
}

/** A source of ids and secrets. */
export interface IdSource {
  /** 32 lower-case hexadecimal digits that nobody can guess and that never come again. */
  nextId(): string
}
