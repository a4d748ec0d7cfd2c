/**
 * Does to the stores what was decided about an op. Hot.
 *
 *   1. every INSERT, in one call         a key is inserted at most once in an op
 *   2. every other change, row by row    in request order, so that changes to one key keep theirs;
 *                                        each in the store that `stores` says
 *
 * A key that is deleted on disk and then inserted is changed in two stores, so that it does not
 * matter which comes first.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { assert, unreachable } from '../util/assert.ts'
import type { MemRowSet } from './memory/mem-row-set.ts'
import { changesStore, ROW_OUTCOMES } from './row-outcome.ts'
import type { TabletParts } from './tablet-parts.ts'
import { ABSENT_SLOT, STORES, type WriteOp } from './write-op.ts'

/**
 * Applies the outcomes of an op at `at`.
 *
 * Requires: the op was located and decided; nothing was applied at or after `at`.
 */
export function applyOutcomes(parts: TabletParts, op: WriteOp, at: Timestamp): void {
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
    parts.memRowSet.insertRows(op.keys, op.hashes, op.block, rows, 0, insertCount, at)
  }
  if (changeCount === 0) return
  // A row may be changed that the op itself inserted.
  if (op.hasDuplicates && insertCount > 0) {
    parts.memRowSet.findSlots(op.keys, op.hashes, rowCount, op.found)
  }
  for (let row = 0; row < rowCount; row++) {
    const outcome = outcomes[row]
    if (outcome === ROW_OUTCOMES.INSERT || !changesStore(outcome)) continue
    const store = op.stores[row]
    if (store >= STORES.FIRST_ROW_SET) applyOnDisk(parts, op, row, at)
    else if (store === STORES.FROZEN) {
      assert(parts.frozen !== null, 'a frozen row is in a MemRowSet that is being flushed')
      applyInMemory(parts, parts.frozen.memRowSet, op.slots[row], op, row, at)
    } else {
      const slots = op.hasDuplicates && insertCount > 0 ? op.found : op.slots
      applyInMemory(parts, parts.memRowSet, slots[row], op, row, at)
    }
  }
}

/** Makes the change of one row in a MemRowSet. */
export function applyInMemory(
  parts: TabletParts,
  memRowSet: MemRowSet,
  slot: number,
  op: WriteOp,
  row: number,
  at: Timestamp,
): void {
  const outcome = op.outcomes[row]
  assert(slot !== ABSENT_SLOT, 'a row that is changed is there')
  assert(
    memRowSet.isLive(slot) === (outcome !== ROW_OUTCOMES.REINSERT),
    'a change was decided about another version of its row',
  )
  switch (outcome) {
    case ROW_OUTCOMES.REINSERT:
      memRowSet.reinsert(slot, op.block, row, at)
      break
    case ROW_OUTCOMES.UPDATE:
    case ROW_OUTCOMES.UPDATE_MUTABLE: {
      const skipImmutable = outcome === ROW_OUTCOMES.UPDATE_MUTABLE
      memRowSet.update(slot, op.block, row, at, skipImmutable, parts.schema)
      break
    }
    case ROW_OUTCOMES.DELETE:
      memRowSet.delete(slot, at)
      break
    default:
      unreachable(outcome as never)
  }
}

function applyOnDisk(parts: TabletParts, op: WriteOp, row: number, at: Timestamp): void {
  const rowSet = op.rowSets[op.stores[row] - STORES.FIRST_ROW_SET]
  const outcome = op.outcomes[row]
  if (outcome === ROW_OUTCOMES.DELETE) rowSet.delete(op.slots[row], at)
  else {
    const skipImmutable = outcome === ROW_OUTCOMES.UPDATE_MUTABLE
    assert(
      skipImmutable || outcome === ROW_OUTCOMES.UPDATE,
      'a row on disk is only changed or deleted',
    )
    rowSet.update(op.slots[row], op.block, row, at, skipImmutable, parts.schema)
  }
}
