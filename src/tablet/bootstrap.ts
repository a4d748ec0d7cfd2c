/**
 * Brings a tablet's memory back from its storage: superblock, then the ops of the live WAL
 * generations in order.
 *
 * Nothing is decided here. Each entry says of each row what was done, and that is done again; rows
 * that were refused stay refused, whatever the store looks like meanwhile. Nothing is written, and
 * nothing else is read.
 */

import { type Clock, TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import { decodeRowBlock, type RowBlock } from '../common/row-block.ts'
import { CorruptionError } from '../common/status.ts'
import { applyOutcomes } from './apply-outcomes.ts'
import type { MemRowSet } from './memory/mem-row-set.ts'
import type { TabletStore } from './ports.ts'
import { ResultCache } from './result-cache.ts'
import { collectErrors, hasApplied } from './row-outcome.ts'
import { mismatchOf } from './share-block.ts'
import type { Superblock } from './superblock.ts'
import { TabletClock } from './tablet-clock.ts'
import { keyVectorsOf, makeMemRowSet, TabletParts } from './tablet-parts.ts'
import { Wal } from './wal.ts'
import type { WalEntry } from './wal-entry.ts'
import { WriteOp } from './write-op.ts'

/** A tablet as storage tells of it. */
export interface BootstrappedTablet {
  readonly parts: TabletParts
  readonly clock: TabletClock
}

/**
 * The running state of a tablet, from its superblock and WAL.
 *
 * Throws: CORRUPTION that names the stored row. Cost: one pass over the live WAL.
 */
export function bootstrap(options: {
  readonly store: TabletStore
  readonly superblock: Superblock
  readonly clockPort: Clock
  readonly keyHashSeed: number
}): BootstrappedTablet {
  const { store, superblock, clockPort, keyHashSeed } = options
  const { identity, clockMark } = superblock
  const replay = new Replay(makeMemRowSet(identity, keyHashSeed), {
    tableVersion: identity.tableVersion,
    keyHashSeed,
    now: clockPort.nowMicros(),
  })
  const wal = Wal.replay(store, superblock.walGenerations, (entry, where) =>
    replay.visit(entry, where),
  )
  const clock = new TabletClock(clockPort, wal.lastTimestamp, clockMark)
  const { memRowSet, results, lastApplied } = replay
  const parts = new TabletParts({
    store,
    identity,
    memRowSet,
    keyHashSeed,
    results,
    wal,
    lastApplied,
    clockMark,
    safeTime: clock.last,
  })
  return { parts, clock }
}

class Replay {
  readonly memRowSet: MemRowSet
  readonly results = new ResultCache()
  lastApplied: Timestamp = TIMESTAMP_MIN
  readonly #op = new WriteOp()
  readonly #tableVersion: number
  readonly #keyHashSeed: number
  readonly #now: Timestamp

  constructor(
    memRowSet: MemRowSet,
    options: {
      readonly tableVersion: number
      readonly keyHashSeed: number
      readonly now: Timestamp
    },
  ) {
    this.memRowSet = memRowSet
    this.#tableVersion = options.tableVersion
    this.#keyHashSeed = options.keyHashSeed
    this.#now = options.now
  }

  visit(entry: WalEntry, where: string): void {
    if (entry.tableVersion !== this.#tableVersion) {
      throw new CorruptionError(`${where}: version ${entry.tableVersion} of the table is unknown`)
    }
    if (entry.block.length > 0) this.#apply(entry, where)
    const isApplied = hasApplied(entry.counts)
    if (isApplied) this.lastApplied = entry.timestamp
    if (entry.resultKey !== null && entry.expiresAt > this.#now) this.#remember(entry, isApplied)
  }

  #apply(entry: WalEntry, where: string): void {
    const block = this.#decode(entry, where)
    const op = this.#op
    op.begin(block)
    const keyVectors = keyVectorsOf(block, this.memRowSet.schema.keyColumns)
    if (keyVectors === null) throw new CorruptionError(`${where}: row block lacks a key column`)
    op.encodeKeys(keyVectors, this.#keyHashSeed)
    op.outcomes.set(entry.outcomes)
    const hasFoundAll = applyOutcomes(this.memRowSet, op, entry.timestamp, false)
    op.end()
    if (!hasFoundAll) throw new CorruptionError(`${where}: it changes a row that is not there`)
  }

  #decode(entry: WalEntry, where: string): RowBlock {
    const block = decodeBlock(entry.block, where)
    const mismatch = mismatchOf(block, this.memRowSet.schema)
    if (mismatch !== null) throw new CorruptionError(`${where}: ${mismatch}`)
    if (block.rowCount !== entry.rowCount || block.operations === null) {
      throw new CorruptionError(`${where}: row block does not match its outcomes`)
    }
    return block
  }

  #remember(entry: WalEntry, isApplied: boolean): void {
    const { resultKey, counts, outcomes, errorColumnIds, rowCount, timestamp, expiresAt } = entry
    if (resultKey === null) return
    const result = {
      ...counts,
      timestamp: isApplied ? timestamp : null,
      errors: collectErrors(outcomes, errorColumnIds, rowCount, counts.failed),
      isReplayed: true,
    }
    this.results.remember(resultKey, result, expiresAt)
  }
}

function decodeBlock(bytes: Uint8Array, where: string): RowBlock {
  try {
    return decodeRowBlock(bytes)
  } catch (error) {
    if (error instanceof CorruptionError) throw new CorruptionError(`${where}: ${error.message}`)
    throw error
  }
}
