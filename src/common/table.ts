/**
 * What the catalog knows of a table, as plain data: stored as JSON, cloned across object
 * boundaries.
 */

import type { Timestamp } from './hybrid-clock.ts'
import type { Partition, PartitionSchema } from './partition-schema.ts'
import type { ColumnDefinition } from './schema.ts'

/** States of a table. */
export type TableState = 'RUNNING' | 'ALTERING' | 'SOFT_DELETED'

/**
 * One tablet: which part of the table it holds, for ever. Its id is never used for another part.
 */
export interface TabletEntry {
  /** 32 lower-case hexadecimal digits. */
  readonly tabletId: string
  readonly partition: Partition
}

/** A table. `version` is raised by every successful change. */
export interface TableEntry {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string
  readonly name: string
  readonly version: number
  readonly state: TableState
  readonly columns: readonly ColumnDefinition[]
  readonly nextColumnId: number
  readonly partitionSchema: PartitionSchema
  /** In partition-key order: hash words first, then range key. */
  readonly tablets: readonly TabletEntry[]
  readonly owner: string
  readonly comment: string
  readonly extraConfigs: Readonly<Record<string, string>>
  readonly createdAt: Timestamp
  /** 32 hexadecimal digits that sign page tokens of this table. Never shown. */
  readonly tokenSecret: string
}
