/**
 * Finds out where the keys of an op are: which store has the version of each that counts. Hot.
 *
 *   active MemRowSet    live or ghost: that counts, all else is older
 *   frozen MemRowSet    live: that counts; a ghost: the key is absent, all else is older
 *   rowsets on disk     live in one: that counts; ghosts or nothing: the key is absent
 *
 * Only the keys that one stage does not know go on to the next, and those for the disk go together:
 * each rowset is asked once with its share of them. Many that ascend are first asked for together:
 * those of a load that goes on lie between two keys of most rowsets.
 */

import { areSorted } from '../common/sort-keys.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'
import type { RowSetTree } from './disk/row-set-tree.ts'
import type { TabletParts } from './tablet-parts.ts'
import { ABSENT_SLOT, PRESENCE, STORES, type WriteOp } from './write-op.ts'

/** Keys from which on two searches for all cost less than a Bloom filter's probe of each. */
const GAP_COUNT_MIN = 256

/**
 * Sets `slots`, `stores` and `presence` of all rows, and `rowSets`. Returns: whether no store knows
 * any of the keys but as a ghost of no account.
 *
 * Throws: CORRUPTION when what must be read is damaged. Cost: for new keys a probe of the MemRowSet
 * and, unless they ascend within a gap of it, one of the Bloom filter of each rowset whose keys lie
 * around them; no allocation a row.
 */
export function locateKeys(parts: TabletParts, op: WriteOp): boolean {
  const { memRowSet, frozen, tree } = parts
  memRowSet.findSlots(op.keys, op.hashes, op.rowCount, op.slots)
  let unknownCount = markActive(parts, op)
  const knowsSome = unknownCount < op.rowCount
  if (unknownCount === 0) return false
  let knownCount = 0
  if (frozen !== null && frozen.memRowSet.rowCount > 0) {
    frozen.memRowSet.findSlots(op.keys, op.hashes, op.rowCount, op.found)
    const left = markFrozen(parts, op, unknownCount)
    knownCount = unknownCount - left.unknown - left.ghosts
    unknownCount = left.unknown
  }
  if (unknownCount > 0 && tree.rowSets.length > 0) {
    knownCount += locateOnDisk(tree, op, unknownCount)
  }
  return !knowsSome && knownCount === 0
}

/** Sets what the active MemRowSet knows, and lists the other rows. Returns: how many those are. */
function markActive(parts: TabletParts, op: WriteOp): number {
  const { slots, stores, presence, someRows, rowCount } = op
  const { memRowSet } = parts
  op.rowSets.length = 0
  stores.fill(STORES.ACTIVE, 0, rowCount)
  let unknownCount = 0
  for (let row = 0; row < rowCount; row++) {
    const slot = slots[row]
    if (slot === ABSENT_SLOT) {
      presence[row] = PRESENCE.ABSENT
      someRows[unknownCount++] = row
    } else presence[row] = memRowSet.isLive(slot) ? PRESENCE.LIVE : PRESENCE.GHOST
  }
  return unknownCount
}

/** The same for the frozen MemRowSet, whose slots are in `found`. */
function markFrozen(
  parts: TabletParts,
  op: WriteOp,
  count: number,
): { readonly unknown: number; readonly ghosts: number } {
  const { slots, stores, presence, someRows, found } = op
  let unknown = 0
  let ghosts = 0
  for (let i = 0; i < count; i++) {
    const row = someRows[i]
    const slot = found[row]
    if (slot === ABSENT_SLOT) someRows[unknown++] = row
    else if (parts.frozen?.memRowSet.isLive(slot) === true) {
      stores[row] = STORES.FROZEN
      slots[row] = slot
      presence[row] = PRESENCE.LIVE
    } else ghosts++
  }
  return { unknown, ghosts }
}

/**
 * Looks for the keys of rows `someRows[0, count)` on disk. Returns: how many rows have a live one.
 */
function locateOnDisk(tree: RowSetTree<DiskRowSet>, op: WriteOp, count: number): number {
  const { keys, hashes, someRows, found, slots, stores, presence } = op
  for (let i = 0; i < count; i++) found[someRows[i]] = ABSENT_SLOT
  // Rows that come in the order of their keys most often lie between two that a rowset has.
  const isAscending = count >= GAP_COUNT_MIN && areSorted(keys, someRows, count)
  let liveCount = 0
  tree.shareOut(keys, someRows, count, (rowSet, start, end) => {
    const mayLieInGap = isAscending && end - start >= GAP_COUNT_MIN
    if (mayLieInGap && rowSet.isGap(keys, someRows[start], someRows[end - 1])) return
    rowSet.findRows(keys, hashes, someRows, start, end, found)
    let store = -1
    for (let i = start; i < end; i++) {
      const row = someRows[i]
      const ordinal = found[row]
      if (ordinal === ABSENT_SLOT) continue
      found[row] = ABSENT_SLOT
      if (!rowSet.isLive(ordinal)) continue
      if (store === -1) store = op.storeOf(rowSet)
      stores[row] = store
      slots[row] = ordinal
      presence[row] = PRESENCE.LIVE
      liveCount++
    }
  })
  return liveCount
}
