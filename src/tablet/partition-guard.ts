/**
 * Refuses rows that belong to another tablet of the table: nobody would find them here.
 *
 * A front that knows the tablet's version of the table computes the same places from the same
 * schema, so a row that is misplaced is a fault of the program. Placing every row once more costs
 * as much as a fifth of the whole write path; so the first row of a share stands for all, and only
 * verify builds look at each.
 */

import type { ColumnVector } from '../common/column-vector.ts'
import { createPartitions } from '../common/partition-builder.ts'
import { RowPartitioner } from '../common/row-partitioner.ts'
import type { Schema } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import { VERIFY } from '../util/verify.ts'
import type { TabletIdentity } from './superblock.ts'
import type { WriteOp } from './write-op.ts'

/** Knows which rows belong to one tablet. */
export class PartitionGuard {
  readonly #partitioner: RowPartitioner
  readonly #ownIndex: number
  #places = new Int32Array(16)

  constructor(schema: Schema, identity: TabletIdentity) {
    const { partitionSchema, partition } = identity
    const partitions = createPartitions(schema, partitionSchema)
    this.#partitioner = new RowPartitioner(schema, partitionSchema, partitions)
    this.#ownIndex = partitions.findIndex(
      ({ partitionKeyStart, partitionKeyEnd }) =>
        partitionKeyStart === partition.partitionKeyStart &&
        partitionKeyEnd === partition.partitionKeyEnd,
    )
    assert(this.#ownIndex !== -1, 'a tablet is one of its table')
  }

  /**
   * Throws INVALID_ARGUMENT when a row that has not failed belongs elsewhere.
   * Requires: `keyVectors` are the key columns of the op's rows.
   */
  check(op: WriteOp, keyVectors: readonly ColumnVector[]): void {
    const rowCount = VERIFY ? op.rowCount : 1
    if (this.#places.length < rowCount) this.#places = new Int32Array(rowCount)
    this.#partitioner.assign(keyVectors, rowCount, this.#places)
    for (let row = 0; row < rowCount; row++) {
      if (op.outcomes[row] === 0 && this.#places[row] !== this.#ownIndex) {
        throw invalidArgument('row is not in the partition of this tablet')
      }
    }
  }
}
