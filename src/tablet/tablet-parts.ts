/**
 * What a tablet that was initialized is made of. Only this folder's files look inside.
 */

import type { ColumnVector } from '../common/column-vector.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { RowBlock } from '../common/row-block.ts'
import { type Column, Schema } from '../common/schema.ts'
import { LockManager } from './lock-manager.ts'
import { MemRowSet } from './memory/mem-row-set.ts'
import { MvccManager } from './mvcc/mvcc-manager.ts'
import { PartitionGuard } from './partition-guard.ts'
import type { TabletStore } from './ports.ts'
import type { ResultCache } from './result-cache.ts'
import { encodeSuperblock, type TabletIdentity } from './superblock.ts'
import type { Wal } from './wal.ts'
import { WriteOp } from './write-op.ts'

const scratchOp = new WriteOp()

/**
 * The state of a running tablet: all of it can be rebuilt from storage, and is, whenever it
 * vanishes.
 *
 *  I1  no op is in flight and no lock is held between two calls;
 *  I2  `lastApplied` is the time of the newest op that changed or confirmed a row.
 */
export class TabletParts {
  readonly store: TabletStore
  readonly identity: TabletIdentity
  readonly schema: Schema
  readonly keyColumns: readonly Column[]
  readonly keyHashSeed: number
  readonly memRowSet: MemRowSet
  readonly locks = new LockManager()
  readonly results: ResultCache
  readonly mvcc: MvccManager
  readonly wal: Wal
  readonly guard: PartitionGuard
  /** Scratch of the op under way: one for all tablets, since a section is never interrupted. */
  readonly op = scratchOp
  lastApplied: Timestamp
  /** As stored: no op after a restart gets a timestamp at or below it. */
  clockMark: Timestamp
  #opCount = 0

  constructor(options: {
    readonly store: TabletStore
    readonly identity: TabletIdentity
    readonly memRowSet: MemRowSet
    readonly keyHashSeed: number
    readonly results: ResultCache
    readonly wal: Wal
    readonly lastApplied: Timestamp
    readonly clockMark: Timestamp
    /** Every later op is above it. */
    readonly safeTime: Timestamp
  }) {
    this.store = options.store
    this.identity = options.identity
    this.memRowSet = options.memRowSet
    this.schema = options.memRowSet.schema
    this.keyColumns = this.schema.keyColumns
    this.guard = new PartitionGuard(this.schema, options.identity)
    this.keyHashSeed = options.keyHashSeed
    this.results = options.results
    this.wal = options.wal
    this.lastApplied = options.lastApplied
    this.clockMark = options.clockMark
    this.mvcc = new MvccManager(options.safeTime)
  }

  /** Bytes that the tablet holds in memory. */
  get heldBytes(): number {
    return this.memRowSet.heldBytes + this.results.bytes
  }

  /** A number for an op, by which it owns its locks. */
  nextOpNumber(): number {
    return ++this.#opCount
  }

  /** Replaces the superblock. Requires: inside `transact`. */
  writeSuperblock(): void {
    this.store.writeSuperblock(
      encodeSuperblock({
        identity: this.identity,
        clockMark: this.clockMark,
        walGenerations: this.wal.generations,
      }),
    )
  }
}

/** The key columns of a block, in key order, or null when it lacks one. */
export function keyVectorsOf(
  block: RowBlock,
  keyColumns: readonly Column[],
): readonly ColumnVector[] | null {
  const vectors: ColumnVector[] = []
  for (let index = 0; index < keyColumns.length; index++) {
    const vector = block.columnById(keyColumns[index].id)
    if (vector === undefined) return null
    vectors.push(vector)
  }
  return vectors
}

/** An empty MemRowSet of a tablet. */
export function makeMemRowSet(identity: TabletIdentity, keyHashSeed: number): MemRowSet {
  return new MemRowSet({ id: 1, schema: new Schema(identity.columns), keyHashSeed })
}
