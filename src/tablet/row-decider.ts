/**
 * Decides what becomes of every row of an op, in request order (K§4.2). The only place where that
 * happens: replay does what was decided (docs/formats/wal.md). Hot.
 *
 *   operation        absent or ghost      live
 *   INSERT           insert               KEY_ALREADY_PRESENT
 *   INSERT_IGNORE    insert               ignored
 *   UPSERT           insert               change; COLUMN_IMMUTABLE if that is set; key alone: none
 *   UPSERT_IGNORE    insert               change what is not immutable; if that is none: ignored
 *   UPDATE           KEY_NOT_FOUND        change
 *   UPDATE_IGNORE    ignored              change what is not immutable
 *   DELETE           KEY_NOT_FOUND        delete
 *   DELETE_IGNORE    ignored              delete
 *
 * Rows with the same key see each other: what a key is for a row is what the row before it left. A
 * row that was deleted on disk, or in a MemRowSet that is being flushed, is absent: its key comes
 * back in the active MemRowSet.
 */

import { ROW_ERRORS } from '../common/row-error.ts'
import { ROW_OPERATIONS } from '../common/row-operation.ts'
import type { Schema } from '../common/schema.ts'
import { unreachable } from '../util/assert.ts'
import { TOUCHED } from './row-checker.ts'
import { ROW_OUTCOMES } from './row-outcome.ts'
import { PRESENCE, STORES, type WriteOp } from './write-op.ts'

/** Whether no row of an op has failed yet. */
export function areAllUndecided(op: WriteOp): boolean {
  const { outcomes, rowCount } = op
  for (let row = 0; row < rowCount; row++) if (outcomes[row] !== 0) return false
  return true
}

/**
 * Sets the outcome of every row that has none yet, and in `stores` the store in which it was found
 * or is to be done.
 *
 * Requires: `presence` and `stores` say of each key what and where it is before the op; `leaders`
 * is there if keys repeat.
 */
export function decideRows(op: WriteOp, schema: Schema): void {
  const { outcomes, operations, presence, leaders, touched, hasDuplicates, rowCount } = op
  const { stores, keyStores } = op
  if (hasDuplicates) for (let row = 0; row < rowCount; row++) keyStores[row] = stores[row]
  for (let row = 0; row < rowCount; row++) {
    if (outcomes[row] !== 0) continue
    const leader = hasDuplicates ? leaders[row] : row
    const outcome = decideRow(operations[row], presence[leader], touched[row])
    outcomes[row] = outcome
    if (hasDuplicates) stores[row] = keyStores[leader]
    if (outcome === ROW_OUTCOMES.INSERT || outcome === ROW_OUTCOMES.REINSERT) {
      presence[leader] = PRESENCE.LIVE
      stores[row] = STORES.ACTIVE
      keyStores[leader] = STORES.ACTIVE
    } else if (outcome === ROW_OUTCOMES.DELETE) {
      presence[leader] = stores[row] === STORES.ACTIVE ? PRESENCE.GHOST : PRESENCE.ABSENT
    } else if (outcome === ROW_ERRORS.COLUMN_IMMUTABLE) {
      op.errorColumnIds[row] = firstImmutable(op, schema, row)
    } else if (outcome === ROW_ERRORS.KEY_ALREADY_PRESENT || outcome === ROW_ERRORS.KEY_NOT_FOUND) {
      op.errorColumnIds[row] = -1
    }
  }
}

function decideRow(operation: number, presence: number, touched: number): number {
  const isLive = presence === PRESENCE.LIVE
  switch (operation) {
    case ROW_OPERATIONS.INSERT:
      return isLive ? ROW_ERRORS.KEY_ALREADY_PRESENT : insertOf(presence)
    case ROW_OPERATIONS.INSERT_IGNORE:
      return isLive ? ROW_OUTCOMES.IGNORED : insertOf(presence)
    case ROW_OPERATIONS.UPSERT:
      if (!isLive) return insertOf(presence)
      if ((touched & TOUCHED.IMMUTABLE) !== 0) return ROW_ERRORS.COLUMN_IMMUTABLE
      return touched === 0 ? ROW_OUTCOMES.KEY_ONLY_UPSERT : ROW_OUTCOMES.UPDATE
    case ROW_OPERATIONS.UPSERT_IGNORE:
      if (!isLive) return insertOf(presence)
      if (touched === 0) return ROW_OUTCOMES.KEY_ONLY_UPSERT
      return touched === TOUCHED.IMMUTABLE ? ROW_OUTCOMES.IGNORED : changeOf(touched)
    case ROW_OPERATIONS.UPDATE:
      return isLive ? ROW_OUTCOMES.UPDATE : ROW_ERRORS.KEY_NOT_FOUND
    case ROW_OPERATIONS.UPDATE_IGNORE:
      return isLive ? changeOf(touched) : ROW_OUTCOMES.IGNORED
    case ROW_OPERATIONS.DELETE:
      return isLive ? ROW_OUTCOMES.DELETE : ROW_ERRORS.KEY_NOT_FOUND
    case ROW_OPERATIONS.DELETE_IGNORE:
      return isLive ? ROW_OUTCOMES.DELETE : ROW_OUTCOMES.IGNORED
    default:
      return unreachable(operation as never)
  }
}

function insertOf(presence: number): number {
  return presence === PRESENCE.ABSENT ? ROW_OUTCOMES.INSERT : ROW_OUTCOMES.REINSERT
}

function changeOf(touched: number): number {
  return (touched & TOUCHED.IMMUTABLE) === 0 ? ROW_OUTCOMES.UPDATE : ROW_OUTCOMES.UPDATE_MUTABLE
}

/** Id of the first immutable column that a row sets. Requires: there is one. */
function firstImmutable(op: WriteOp, schema: Schema, row: number): number {
  for (const column of schema.columns) {
    if (!column.isImmutable) continue
    if (op.block.columnById(column.id)?.hasCell(row) === true) return column.id
  }
  return -1
}
