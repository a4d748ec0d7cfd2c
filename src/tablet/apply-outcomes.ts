/**
 * Does to the stores what was decided about an op: the same code for the op itself and for its
 * replay. Hot.
 *
 *   1. every INSERT, in one call         a key is inserted at most once in an op, before all else
 *   2. every other change, row by row    in request order, so that changes to one key keep theirs
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { assert, unreachable } from '../util/assert.ts'
import type { MemRowSet } from './memory/mem-row-set.ts'
import { changesStore, ROW_OUTCOMES } from './row-outcome.ts'
import { ABSENT_SLOT, type WriteOp } from './write-op.ts'

/**
 * Applies the outcomes of an op at `at`.
 *
 * `knowsSlots`: whether `op.slots` says where the keys of all changed rows are, as it does for an
 * op that was just decided and has no two rows with one key. Requires: `op` has block, keys, hashes
 * and outcomes; nothing was applied at or after `at`. Returns: false when a change names a key that
 * the store does not know; then nothing but inserts was applied.
 */
export function applyOutcomes(
  memRowSet: MemRowSet,
  op: WriteOp,
  at: Timestamp,
  knowsSlots: boolean,
): boolean {
  const { outcomes, rowCount, someRows } = op
  let insertCount = 0
  let changeCount = 0
  for (let row = 0; row < rowCount; row++) {
    const outcome = outcomes[row]
    if (outcome === ROW_OUTCOMES.INSERT) someRows[insertCount++] = row
    else if (changesStore(outcome)) changeCount++
  }
  if (insertCount > 0) {
    const rows = insertCount === rowCount ? op.allRows : someRows
    memRowSet.insertRows(op.keys, op.hashes, op.block, rows, 0, insertCount, at)
  }
  if (changeCount === 0) return true
  if (!knowsSlots) memRowSet.findSlots(op.keys, op.hashes, rowCount, op.slots)
  if (!hasSlots(op)) return false
  for (let row = 0; row < rowCount; row++) {
    const outcome = outcomes[row]
    if (outcome !== ROW_OUTCOMES.INSERT && changesStore(outcome)) {
      applyChange(memRowSet, op, row, at)
    }
  }
  return true
}

function hasSlots(op: WriteOp): boolean {
  for (let row = 0; row < op.rowCount; row++) {
    const outcome = op.outcomes[row]
    if (outcome === ROW_OUTCOMES.INSERT || !changesStore(outcome)) continue
    if (op.slots[row] === ABSENT_SLOT) return false
  }
  return true
}

function applyChange(memRowSet: MemRowSet, op: WriteOp, row: number, at: Timestamp): void {
  const slot = op.slots[row]
  const outcome = op.outcomes[row]
  assert(
    memRowSet.isLive(slot) === (outcome !== ROW_OUTCOMES.REINSERT),
    'a change was decided about another version of its row',
  )
  switch (outcome) {
    case ROW_OUTCOMES.REINSERT:
      memRowSet.reinsert(slot, op.block, row, at)
      break
    case ROW_OUTCOMES.UPDATE:
      memRowSet.update(slot, op.block, row, at, false)
      break
    case ROW_OUTCOMES.UPDATE_MUTABLE:
      memRowSet.update(slot, op.block, row, at, true)
      break
    case ROW_OUTCOMES.DELETE:
      memRowSet.delete(slot, at)
      break
    default:
      unreachable(outcome as never)
  }
}
