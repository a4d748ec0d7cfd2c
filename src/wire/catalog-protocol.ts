/**
 * What fronts and tablet objects say to the catalog object. Plain data, structured clone only.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { PartitionSchema } from '../common/partition-schema.ts'
import type { ColumnDefinition } from '../common/schema.ts'
import type { Outcome } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'

/** A table to be made: validated and resolved by the front, checked again by the catalog. */
export interface CreateTableCall {
  readonly wire: number
  readonly name: string
  /** Ids are 0, 1, 2 … in schema order. */
  readonly columns: readonly ColumnDefinition[]
  readonly partitionSchema: PartitionSchema
  readonly owner: string
  readonly comment: string
  readonly extraConfigs: Readonly<Record<string, string>>
}

/** Names a table by id or by name. */
export type TableRef = { readonly id: string } | { readonly name: string }

/** A page of table names. */
export interface ListTablesCall {
  readonly wire: number
  readonly namePrefix: string
  /** Names after this one only; '' from the start. */
  readonly afterName: string
  readonly pageSize: number
}

/** One line of the list. */
export interface TableName {
  readonly id: string
  readonly name: string
}

/** A page of tables; `hasMore` says whether names follow. */
export interface ListTablesAnswer {
  readonly tables: readonly TableName[]
  readonly hasMore: boolean
}

/** A table and which of its tablets have been initialized. */
export interface GetTableAnswer {
  readonly table: TableEntry
  readonly initializedTabletIds: readonly string[]
}

/** What a tablet object needs to start: handed out in the transaction that marks it initialized. */
export interface InitializeTabletAnswer {
  /**
   * The table with this tablet alone in `tablets`: a table may have a thousand, and each of them
   * asks.
   */
  readonly table: TableEntry
  readonly clock: Timestamp
}

/** The catalog object as others see it. */
export interface CatalogStub {
  createTable(call: CreateTableCall): Promise<Outcome<TableEntry>>
  getTable(ref: TableRef): Promise<Outcome<GetTableAnswer>>
  listTables(call: ListTablesCall): Promise<Outcome<ListTablesAnswer>>
  /** `ifVersion`: fails with PRECONDITION_FAILED unless the table has this version. */
  dropTable(ref: TableRef, ifVersion: number | null): Promise<Outcome<null>>
  initializeTablet(tableId: string, tabletId: string): Promise<Outcome<InitializeTabletAnswer>>
  ping(): Promise<Outcome<null>>
}
