/**
 * A table as the front works with it: what the catalog said, and what is derived from it once.
 */

import type { Partition } from '../common/partition-schema.ts'
import { RowPartitioner } from '../common/row-partitioner.ts'
import { Schema } from '../common/schema.ts'
import type { TableEntry } from '../common/table.ts'

/** One version of a table. Immutable. */
export class OpenTable {
  readonly entry: TableEntry
  readonly schema: Schema
  readonly partitions: readonly Partition[]
  readonly partitioner: RowPartitioner
  readonly #indexById: ReadonlyMap<string, number>

  constructor(entry: TableEntry) {
    this.entry = entry
    this.schema = new Schema(entry.columns)
    this.partitions = entry.tablets.map((tablet) => tablet.partition)
    this.#indexById = new Map(entry.tablets.map(({ tabletId }, index) => [tabletId, index]))
    this.partitioner = new RowPartitioner(this.schema, entry.partitionSchema, this.partitions)
  }

  /** Tablets of the table. */
  get tabletCount(): number {
    return this.entry.tablets.length
  }

  /** Index of the tablet with an id, or −1. */
  indexOf(tabletId: string): number {
    return this.#indexById.get(tabletId) ?? -1
  }

  /** Id of the tablet at `index`, in partition-key order. */
  tabletId(index: number): string {
    return this.entry.tablets[index].tabletId
  }
}
