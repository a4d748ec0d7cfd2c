/**
 * The control plane's decisions: which tables there are, how each is cut into tablets, which
 * tablets have been told so. It decides and remembers; telling tablets is the server's part.
 *
 *   CREATE   one transaction, however many tablets: they come to life at their first write
 *   INIT     a tablet is marked initialized in the transaction that hands it its schema and
 *            partition, so every tablet that may hold data is known here before it holds any
 *   DROP     the table goes in the transaction that notes which tablets must refuse and be freed
 */

import type { HybridClock } from '../common/hybrid-clock.ts'
import { PAGE_ROW_COUNT_MAX, TABLE_DEFINITION_BYTES_MAX } from '../common/limits.ts'
import { createPartitions } from '../common/partition-builder.ts'
import type { PartitionSchema } from '../common/partition-schema.ts'
import { type ColumnDefinition, Schema } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { validateColumns } from '../common/validate-schema.ts'
import { utf8Encode } from '../util/bytes.ts'
import type { CatalogStore, IdSource, StoredName } from './catalog-store.ts'
import {
  afterFreeing,
  afterRefusal,
  type DropWork,
  decodeDropWork,
  encodeDropWork,
  isDone,
} from './drop-work.ts'
import { normalizeExtraConfigs } from './extra-configs.ts'
import { decodeTable, encodeTable } from './table-json.ts'
import { validateComment, validateOwner, validateTableName } from './validate-table.ts'

/** Length of the definitions whose decoded form is kept: a table's tablets all ask for theirs. */
const DECODED_LENGTH_MAX = 4 * 1024 * 1024

/** A table to be made. Column ids are 0, 1, 2 … in schema order. */
export interface NewTable {
  readonly name: string
  readonly columns: readonly ColumnDefinition[]
  readonly partitionSchema: PartitionSchema
  readonly owner: string
  readonly comment: string
  readonly extraConfigs: Readonly<Record<string, string>>
}

/** Names a table by id or by name. */
export type TableName = { readonly id: string } | { readonly name: string }

/** A table and which of its tablets have been initialized. */
export interface KnownTable {
  readonly table: TableEntry
  readonly initializedTabletIds: readonly string[]
}

/** A page of the list of tables. */
export interface TablePage {
  readonly tables: readonly StoredName[]
  readonly hasMore: boolean
}

interface DecodedTable {
  readonly table: TableEntry
  readonly definitionLength: number
}

/** What a catalog needs. */
export interface CatalogOptions {
  readonly store: CatalogStore
  readonly clock: HybridClock
  readonly ids: IdSource
}

/**
 * All tables of one installation.
 *
 *  I1  every decision is one transaction of the store;
 *  I2  a tablet id belongs to one partition of one table for ever;
 *  I3  a table that `dropTable` removed is in no answer and initializes no tablet from then on;
 *  I4  `#decoded` holds only what is committed, and `#decodedLength` is the sum of its definitions.
 */
export class Catalog {
  readonly #store: CatalogStore
  readonly #clock: HybridClock
  readonly #ids: IdSource
  readonly #decoded = new Map<string, DecodedTable>()
  #decodedLength = 0

  constructor(options: CatalogOptions) {
    this.#store = options.store
    this.#clock = options.clock
    this.#ids = options.ids
  }

  /** The catalog's time. */
  get clock(): HybridClock {
    return this.#clock
  }

  /**
   * Makes a table.
   *
   * Throws: INVALID_ARGUMENT for anything wrong with its definition; ALREADY_PRESENT when its name
   * is taken.
   */
  createTable(request: NewTable): TableEntry {
    const table = this.#newTable(request)
    const definition = encodeTable(table)
    const bytes = utf8Encode(definition).length
    if (bytes > TABLE_DEFINITION_BYTES_MAX) {
      throw invalidArgument(
        `definition of the table takes ${bytes} bytes, limit is ${TABLE_DEFINITION_BYTES_MAX}`,
        { limit: TABLE_DEFINITION_BYTES_MAX },
      )
    }
    this.#store.transact(() => {
      if (this.#store.findTable(table.name) !== undefined) throw alreadyPresent(table.name)
      this.#store.insertTable(table.id, table.name, definition)
    })
    this.#keepDecoded(table, definition.length)
    return table
  }

  /** A table. Throws: NOT_FOUND. */
  getTable(name: TableName): KnownTable {
    const table = this.#mustFind(name)
    return { table, initializedTabletIds: this.#store.readInitialized(table.id) }
  }

  /**
   * Tables whose name begins with `namePrefix` and comes after `afterName`, by the bytes of their
   * names.
   * Throws: INVALID_ARGUMENT for a page size out of bounds.
   */
  listTables(namePrefix: string, afterName: string, pageSize: number): TablePage {
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_ROW_COUNT_MAX) {
      throw invalidArgument(`page size is not between 1 and ${PAGE_ROW_COUNT_MAX}`, {
        limit: PAGE_ROW_COUNT_MAX,
      })
    }
    const names = this.#store.readNames(afterName, namePrefix, pageSize + 1)
    // Names with the prefix are neighbours, and reading began at the first of them.
    const matching = names.filter(({ name }) => name.startsWith(namePrefix))
    return { tables: matching.slice(0, pageSize), hasMore: matching.length > pageSize }
  }

  /**
   * Drops a table at once and for ever.
   *
   * Returns: which tablets are left to deal with; it is remembered until `noteFreed` has heard of
   * all.
   * Throws: NOT_FOUND; PRECONDITION_FAILED when `ifVersion` is not null and not the table's
   * version.
   */
  dropTable(name: TableName, ifVersion: number | null): DropWork {
    const work = this.#store.transact(() => {
      const table = this.#mustFind(name)
      if (ifVersion !== null && ifVersion !== table.version) {
        throw new StatusError(
          'PRECONDITION_FAILED',
          `table "${table.name}" has version ${table.version}, not ${ifVersion}`,
          { resource: 'table' },
        )
      }
      const toRefuse = this.#store.readInitialized(table.id)
      const dropped: DropWork = { tableId: table.id, toRefuse, toFree: [] }
      this.#store.deleteTable(table.id, table.name)
      if (!isDone(dropped)) this.#store.writeDrop(table.id, encodeDropWork(dropped))
      return dropped
    })
    this.#forgetDecoded(work.tableId)
    return work
  }

  /** Drops that are not finished, at most `limit`. */
  unfinishedDrops(limit: number): readonly DropWork[] {
    return this.#store.readDrops(limit).map(({ tableId, work }) => decodeDropWork(tableId, work))
  }

  /** Notes that tablets of a dropped table refuse. Returns: what is left. */
  noteRefusing(tableId: string, tabletIds: readonly string[]): DropWork {
    return this.#updateDrop(tableId, (work) => afterRefusal(work, tabletIds))
  }

  /** Notes that tablets of a dropped table gave their storage back. Returns: what is left. */
  noteFreed(tableId: string, tabletIds: readonly string[]): DropWork {
    return this.#updateDrop(tableId, (work) => afterFreeing(work, tabletIds))
  }

  /**
   * Marks a tablet initialized; again is the same.
   *
   * Returns: its table, in whose list of tablets it is alone. A table may have a thousand tablets,
   * and each of them asks. Throws: NOT_FOUND when there is no such table or it has no such tablet.
   */
  initializeTablet(tableId: string, tabletId: string): TableEntry {
    return this.#store.transact(() => {
      const table = this.#mustFind({ id: tableId })
      const tablet = table.tablets.find((entry) => entry.tabletId === tabletId)
      if (tablet === undefined) {
        throw new StatusError('NOT_FOUND', `table "${table.name}" has no tablet ${tabletId}`, {
          tablet_id: tabletId,
        })
      }
      this.#store.insertInitialized(tableId, tabletId)
      return { ...table, tablets: [tablet] }
    })
  }

  #newTable(request: NewTable): TableEntry {
    validateTableName(request.name)
    validateOwner(request.owner)
    validateComment(request.comment)
    validateColumns(request.columns)
    if (!request.columns.every((column, index) => column.id === index)) {
      throw invalidArgument('columns of a new table are not numbered from 0')
    }
    const schema = new Schema(request.columns)
    const partitions = createPartitions(schema, request.partitionSchema)
    return {
      id: this.#ids.nextId(),
      name: request.name,
      version: 1,
      state: 'RUNNING',
      columns: request.columns,
      nextColumnId: request.columns.length,
      partitionSchema: request.partitionSchema,
      tablets: partitions.map((partition) => ({ tabletId: this.#ids.nextId(), partition })),
      owner: request.owner,
      comment: request.comment,
      extraConfigs: normalizeExtraConfigs(request.extraConfigs),
      createdAt: this.#clock.now(),
      tokenSecret: this.#ids.nextId(),
    }
  }

  #mustFind(name: TableName): TableEntry {
    const tableId = 'id' in name ? name.id.toLowerCase() : this.#store.findTable(name.name)
    if (tableId === undefined) throw tableNotFound(name)
    const decoded = this.#decoded.get(tableId)
    if (decoded !== undefined) return decoded.table
    const definition = this.#store.readTable(tableId)
    if (definition === undefined) throw tableNotFound(name)
    const table = decodeTable(definition)
    this.#keepDecoded(table, definition.length)
    return table
  }

  #keepDecoded(table: TableEntry, definitionLength: number): void {
    this.#decoded.set(table.id, { table, definitionLength })
    this.#decodedLength += definitionLength
    for (const oldest of this.#decoded.keys()) {
      if (this.#decodedLength <= DECODED_LENGTH_MAX) return
      this.#forgetDecoded(oldest)
    }
  }

  #forgetDecoded(tableId: string): void {
    this.#decodedLength -= this.#decoded.get(tableId)?.definitionLength ?? 0
    this.#decoded.delete(tableId)
  }

  #updateDrop(tableId: string, update: (work: DropWork) => DropWork): DropWork {
    return this.#store.transact(() => {
      const stored = this.#store.readDrop(tableId)
      const work = update(
        stored === undefined
          ? { tableId, toRefuse: [], toFree: [] }
          : decodeDropWork(tableId, stored),
      )
      if (isDone(work)) this.#store.deleteDrop(tableId)
      else this.#store.writeDrop(tableId, encodeDropWork(work))
      return work
    })
  }
}

function alreadyPresent(name: string): StatusError {
  return new StatusError('ALREADY_PRESENT', `table "${name}" already exists`, { resource: 'table' })
}

function tableNotFound(name: TableName): StatusError {
  const what = 'id' in name ? `with id ${name.id}` : `"${name.name}"`
  return new StatusError('NOT_FOUND', `table ${what} does not exist`, { resource: 'table' })
}
