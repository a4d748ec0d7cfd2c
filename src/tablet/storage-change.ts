/**
 * What a maintenance op makes true in one transaction (maintenance/maintenance-task.ts), and which
 * files that leaves without a use.
 *
 *   files of rowsets before ─┐                        ┌─ pinned by a scan, or being written: orphan
 *   orphans, files begun ────┴─► not of rowsets after ┴─ else: dropped
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { assert } from '../util/assert.ts'
import type { DeltaMemStore } from './delta/delta-mem-store.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'
import { filesOf, type RowSetMeta } from './disk/row-set-meta.ts'
import type { FileWriter } from './file-writer.ts'

/** A rowset whose rows stay what they are, in other files. */
export interface RowSetReplacement {
  readonly rowSet: DiskRowSet
  readonly meta: RowSetMeta
  /** Stores of it whose records are in the files of `meta` now. */
  readonly flushed?: readonly DeltaMemStore[]
}

/** Blocks that nothing needs any more in a file that something else needs. */
export interface UnusedBlocks {
  readonly file: number
  readonly blocks: readonly number[]
}

/** See the file's header. What is left out stays as it is. */
export interface StorageChange {
  /** Rowsets that come in, made by `TabletParts.openRowSet`, with later changes in their stores. */
  readonly add?: readonly DiskRowSet[]
  readonly remove?: readonly DiskRowSet[]
  readonly replace?: readonly RowSetReplacement[]
  /**
   * The `at` of the frozen MemRowSet, whose rows are in `add`: it goes. Later changes to its rows
   * are in the stores of the new rowsets.
   */
  readonly flushedMark?: Timestamp
  /** Reads below it are refused from now on, because history was dropped by it. */
  readonly historyMark?: Timestamp
  /** Files that the op wrote: all of them, whether the new rowsets need them or not. */
  readonly files?: readonly FileWriter[]
  /** Deleted when no scan holds the file, or else by a later commit while the tablet is awake. */
  readonly unusedBlocks?: readonly UnusedBlocks[]
}

/** Rowsets as a change leaves them, with what the superblock says of each. */
export interface RowSetsAfter {
  readonly rowSets: readonly DiskRowSet[]
  readonly metas: readonly RowSetMeta[]
  /** Time of the oldest change that is in a DeltaMemStore only; TIMESTAMP_MAX when none is. */
  readonly oldestUnflushed: Timestamp
}

/** What a change makes of rowsets. Changes nothing itself. Cost: O(rowsets). */
export function rowSetsAfter(
  rowSets: readonly DiskRowSet[],
  change: StorageChange,
  noChange: Timestamp,
): RowSetsAfter {
  const { add = [], remove = [], replace = [] } = change
  const removed = new Set(remove)
  const replaced = new Map(replace.map((replacement) => [replacement.rowSet, replacement]))
  const kept = removed.size === 0 ? rowSets : rowSets.filter((rowSet) => !removed.has(rowSet))
  assert(kept.length + removed.size === rowSets.length, 'rowsets that go are there')
  const after = add.length === 0 ? kept : [...kept, ...add]
  let oldestUnflushed = noChange
  const metas = after.map((rowSet) => {
    const replacement = replaced.get(rowSet)
    const oldest = oldestUnflushedIn(rowSet, replacement?.flushed ?? [])
    if (oldest !== null && oldest < oldestUnflushed) oldestUnflushed = oldest
    replaced.delete(rowSet)
    return replacement?.meta ?? rowSet.meta
  })
  assert(replaced.size === 0, 'rowsets that are replaced are there')
  return { rowSets: after, metas, oldestUnflushed }
}

function oldestUnflushedIn(
  rowSet: DiskRowSet,
  flushed: readonly DeltaMemStore[],
): Timestamp | null {
  if (flushed.length === 0) return rowSet.oldestUnflushed
  for (const store of rowSet.memStores) {
    if (!store.isEmpty && !flushed.includes(store)) return store.oldest
  }
  return null
}

/** Files of a list of rowsets. */
export function filesOfAll(metas: readonly RowSetMeta[]): Set<number> {
  const files = new Set<number>()
  for (const meta of metas) for (const file of filesOf(meta)) files.add(file)
  return files
}

/** Which files are of no use to rowsets: those to drop now, and those for a later commit. */
export interface UselessFiles {
  readonly dropped: readonly number[]
  /** Ascending. */
  readonly orphans: readonly number[]
}

/** Sorts files that may exist. `isHeld`: whether a scan reads one, or somebody writes it. */
export function sortFiles(
  files: Iterable<number>,
  used: ReadonlySet<number>,
  isHeld: (file: number) => boolean,
): UselessFiles {
  const dropped: number[] = []
  const orphans = new Set<number>()
  for (const file of new Set(files)) {
    if (used.has(file)) continue
    if (isHeld(file)) orphans.add(file)
    else dropped.push(file)
  }
  return { dropped, orphans: [...orphans].sort((a, b) => a - b) }
}
