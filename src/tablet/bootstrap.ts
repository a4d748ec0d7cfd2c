/**
 * Brings a tablet's memory back from its storage: superblock, then the ops of the live WAL
 * generations in order. Remembered results that outlived theirs are read when one is asked for.
 *
 * Nothing is decided here. Each entry says of each row what was done, and that is done again, where
 * it is not in files yet (replay-op.ts); rows that were refused stay refused, whatever the stores
 * look like meanwhile. Nothing is written. Of files only what tells where a changed row lies is
 * read, and that only for ops that are not in files as a whole.
 */

import type { PageCache } from '../cfile/page-cache.ts'
import type { Clock, Timestamp } from '../common/hybrid-clock.ts'
import { decodeRowBlock, type RowBlock } from '../common/row-block.ts'
import { CorruptionError } from '../common/status.ts'
import type { TabletStore } from './ports.ts'
import { isInFiles, replayOp } from './replay-op.ts'
import { ResultCache, type StoredResult } from './result-cache.ts'
import { collectErrors, hasApplied } from './row-outcome.ts'
import { mismatchOf } from './share-block.ts'
import { decodeResults } from './stored-results.ts'
import type { Superblock } from './superblock.ts'
import { TabletClock } from './tablet-clock.ts'
import type { TabletLayout } from './tablet-layout.ts'
import { keyVectorsOf, TabletParts } from './tablet-parts.ts'
import { Wal } from './wal.ts'
import type { WalEntry } from './wal-entry.ts'

/** A tablet as storage tells of it. */
export interface BootstrappedTablet {
  readonly parts: TabletParts
  readonly clock: TabletClock
}

/**
 * The running state of a tablet, from its superblock, results row and WAL.
 *
 * Throws: CORRUPTION that names the stored row. Cost: one pass over the live WAL.
 */
export function bootstrap(options: {
  readonly store: TabletStore
  readonly cache: PageCache
  readonly layout: TabletLayout
  readonly superblock: Superblock
  readonly clock: Clock
}): BootstrappedTablet {
  const { store, cache, superblock, clock: clockPort } = options
  const now = clockPort.nowMicros()
  const { walGenerations, lastApplied, clockMark } = superblock
  const wal = Wal.open(store, walGenerations, lastApplied)
  const results = new ResultCache(
    superblock.resultsUntil > now ? () => readResults(store, now) : null,
  )
  const parts = new TabletParts({
    store,
    clock: clockPort,
    cache,
    layout: options.layout,
    superblock,
    results,
    wal,
  })
  const replay = new Replay(parts, now)
  wal.replay((entry, where) => replay.visit(entry, where))
  const clock = new TabletClock(clockPort, wal.lastTimestamp, clockMark)
  parts.mvcc.adjustNewOpLowerBound(clock.last)
  return { parts, clock }
}

/** The stored results that had not expired at `now`, oldest first. Throws: CORRUPTION. */
function readResults(store: TabletStore, now: Timestamp): readonly StoredResult[] {
  const bytes = store.readResults()
  if (bytes === null) throw new CorruptionError('remembered results are missing')
  return decodeResults(bytes).filter(({ expiresAt }) => expiresAt > now)
}

class Replay {
  readonly #parts: TabletParts
  readonly #now: Timestamp

  constructor(parts: TabletParts, now: Timestamp) {
    this.#parts = parts
    this.#now = now
  }

  visit(entry: WalEntry, where: string): void {
    if (entry.tableVersion !== this.#parts.identity.tableVersion) {
      throw new CorruptionError(`${where}: version ${entry.tableVersion} of the table is unknown`)
    }
    if (entry.block.length > 0 && !isInFiles(this.#parts, entry.timestamp)) {
      this.#apply(entry, where)
    }
    const isApplied = hasApplied(entry.counts)
    if (isApplied) this.#parts.lastApplied = Math.max(this.#parts.lastApplied, entry.timestamp)
    if (entry.resultKey !== null && entry.expiresAt > this.#now) this.#remember(entry, isApplied)
  }

  #apply(entry: WalEntry, where: string): void {
    const parts = this.#parts
    const block = this.#decode(entry, where)
    const { op } = parts
    op.begin(block)
    try {
      const keyVectors = keyVectorsOf(block, parts.keyColumns)
      if (keyVectors === null) throw new CorruptionError(`${where}: row block lacks a key column`)
      op.encodeKeys(keyVectors, parts.keyHashSeed)
      op.outcomes.set(entry.outcomes)
      if (replayOp(parts, op, entry.timestamp)) return
    } finally {
      op.end()
    }
    throw new CorruptionError(`${where}: it changes a row that is not there`)
  }

  #decode(entry: WalEntry, where: string): RowBlock {
    const block = decodeBlock(entry.block, where)
    const mismatch = mismatchOf(block, this.#parts.schema)
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
    this.#parts.results.remember(resultKey, result, expiresAt)
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
