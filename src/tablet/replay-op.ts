/**
 * Does again what the outcomes of a logged op say, in the stores as they are after a restart: those
 * of before, but that some of what is logged is in files by now, and that nothing is being flushed.
 *
 *   INSERT, REINSERT   at or below `flushedMark`: in a file. Else into the MemRowSet, where a ghost
 *                      of the key comes back and an unknown key is added, whatever it was then.
 *   UPDATE, DELETE     key live in the MemRowSet as replayed so far: there. Else on disk, in the
 *                      rowset that held the version live just before the op: in a file when at or
 *                      below that rowset's mark, else into its DeltaMemStore.
 *
 * A row that the op itself inserted is younger than all rowsets that knew its key before: what the
 * op did to it after an insert that is in a file is in that file too, or came to nothing.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { sortKeys } from '../common/sort-keys.ts'
import { applyInMemory } from './apply-outcomes.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'
import { changesStore, ROW_OUTCOMES } from './row-outcome.ts'
import type { TabletParts } from './tablet-parts.ts'
import { ABSENT_SLOT, STORES, type WriteOp } from './write-op.ts'

/** What `stores` says of a key of which it is not known where it is. */
const NOWHERE = STORES.FROZEN

/** Whether all that an op of this time may have changed is in files. */
export function isInFiles(parts: TabletParts, at: Timestamp): boolean {
  return at <= parts.flushedMark && at <= parts.changesMark
}

/**
 * Replays an op. Returns: false when it changes a row that is not there; then some of it was done.
 *
 * Requires: `op` has block, keys, hashes and outcomes; nothing is frozen. Throws: CORRUPTION.
 */
export function replayOp(parts: TabletParts, op: WriteOp, at: Timestamp): boolean {
  const { memRowSet } = parts
  const isFlushed = at <= parts.flushedMark
  memRowSet.findSlots(op.keys, op.hashes, op.rowCount, op.slots)
  if (!isFlushed && insertsAll(op)) {
    memRowSet.insertRows(op.keys, op.hashes, op.block, op.allRows, 0, op.rowCount, at)
    return true
  }
  op.countDuplicates()
  locateChanged(parts, op, at)
  // By leader: whether an insert of the op was passed over, and what follows is in its file.
  const { presence } = op
  presence.fill(0, 0, op.rowCount)
  for (let row = 0; row < op.rowCount; row++) {
    const outcome = op.outcomes[row]
    if (!changesStore(outcome)) continue
    const leader = op.leaders[row]
    if (outcome === ROW_OUTCOMES.INSERT || outcome === ROW_OUTCOMES.REINSERT) {
      if (isFlushed) presence[leader] = 1
      else if (!replayInsert(parts, op, row, at)) return false
    } else if (presence[leader] === 0 && !replayChange(parts, op, row, at)) return false
  }
  return true
}

/** Whether every row of an op is an insert of a key that nobody knows: the common case. */
function insertsAll(op: WriteOp): boolean {
  const { outcomes, slots, rowCount } = op
  for (let row = 0; row < rowCount; row++) {
    if (outcomes[row] !== ROW_OUTCOMES.INSERT || slots[row] !== ABSENT_SLOT) return false
  }
  return true
}

function replayInsert(parts: TabletParts, op: WriteOp, row: number, at: Timestamp): boolean {
  const { memRowSet } = parts
  const leader = op.leaders[row]
  const slot = op.slots[leader]
  if (slot === ABSENT_SLOT) {
    op.someRows[0] = row
    const first = memRowSet.insertRows(op.keys, op.hashes, op.block, op.someRows, 0, 1, at)
    op.slots[leader] = first
    return true
  }
  if (memRowSet.isLive(slot)) return false
  memRowSet.reinsert(slot, op.block, row, at)
  return true
}

function replayChange(parts: TabletParts, op: WriteOp, row: number, at: Timestamp): boolean {
  const { memRowSet } = parts
  const leader = op.leaders[row]
  const slot = op.slots[leader]
  if (slot !== ABSENT_SLOT && memRowSet.isLive(slot)) {
    applyInMemory(parts, memRowSet, slot, op, row, at)
    return true
  }
  if (at <= parts.changesMark) return true
  const store = op.stores[leader]
  if (store < STORES.FIRST_ROW_SET) return false
  const rowSet = op.rowSets[store - STORES.FIRST_ROW_SET]
  if (at <= rowSet.meta.mark) return true
  const ordinal = op.found[leader]
  const outcome = op.outcomes[row]
  if (outcome === ROW_OUTCOMES.DELETE) rowSet.delete(ordinal, at)
  else {
    const skipImmutable = outcome === ROW_OUTCOMES.UPDATE_MUTABLE
    rowSet.update(ordinal, op.block, row, at, skipImmutable, parts.schema)
  }
  return true
}

/**
 * Sets, by leader, `stores` and `found`: the rowset and the ordinal of the version that was live
 * just before the op, for the keys that are changed, where that may be on disk.
 */
function locateChanged(parts: TabletParts, op: WriteOp, at: Timestamp): void {
  const { keys, hashes, someRows, found, stores } = op
  op.rowSets.length = 0
  stores.fill(NOWHERE, 0, op.rowCount)
  if (at <= parts.changesMark || parts.tree.rowSets.length === 0) return
  const count = listChangedOnDisk(parts, op)
  sortKeys(keys, someRows, count)
  const ordinals = op.absentOrdinals()
  parts.tree.candidates(keys, someRows, count, (rowSet, start, end) => {
    rowSet.findRows(keys, hashes, someRows, start, end, ordinals)
    for (let i = start; i < end; i++) {
      const key = someRows[i]
      const ordinal = ordinals[key]
      if (ordinal === ABSENT_SLOT) continue
      ordinals[key] = ABSENT_SLOT
      if (!isBetter(op, key, rowSet, ordinal, at)) continue
      stores[key] = op.storeOf(rowSet)
      found[key] = ordinal
    }
  })
}

/**
 * Lists in `someRows` the leaders of keys that are changed where they were before the op, and that
 * not in the MemRowSet. Returns: how many there are.
 */
function listChangedOnDisk(parts: TabletParts, op: WriteOp): number {
  const { someRows, leaders, outcomes, slots, presence } = op
  // By leader: whether where it is changed is known.
  presence.fill(0, 0, op.rowCount)
  let count = 0
  for (let row = 0; row < op.rowCount; row++) {
    const leader = leaders[row]
    if (presence[leader] !== 0 || !changesStore(outcomes[row])) continue
    presence[leader] = 1
    const outcome = outcomes[row]
    if (outcome === ROW_OUTCOMES.INSERT || outcome === ROW_OUTCOMES.REINSERT) continue
    const slot = slots[leader]
    if (slot === ABSENT_SLOT || !parts.memRowSet.isLive(slot)) someRows[count++] = leader
  }
  return count
}

/**
 * Whether a rowset that has a key holds the version that an op was about, rather than the one that
 * was found before: the first is, unless another has the key too and the row was there.
 */
function isBetter(
  op: WriteOp,
  key: number,
  rowSet: DiskRowSet,
  ordinal: number,
  at: Timestamp,
): boolean {
  if (op.stores[key] < STORES.FIRST_ROW_SET) return true
  return rowSet.wasLiveBefore(ordinal, at)
}
