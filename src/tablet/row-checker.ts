/**
 * Finds the rows of an op that no store needs to be asked about, since they are wrong in themselves
 * (K§4.2): column by column in schema order, so that the first column at fault names the row's
 * error. Hot.
 *
 *   operation            key column      other column
 *   INSERT, UPSERT       set, not null   set, unless nullable or with a default; null if nullable
 *   UPDATE               the same        one or more set; null if nullable; none immutable
 *   UPDATE_IGNORE        the same        as UPDATE, but immutable ones are passed over
 *   DELETE               the same        none set
 *
 * No cell over CELL_BYTES_MAX, and but for deletes no key over KEY_BYTES_MAX.
 */

import type { ColumnVector } from '../common/column-vector.ts'
import { PHYSICAL } from '../common/data-type.ts'
import { CELL_BYTES_MAX, KEY_BYTES_MAX } from '../common/limits.ts'
import { ROW_ERRORS, type RowErrorCode } from '../common/row-error.ts'
import { ROW_OPERATIONS } from '../common/row-operation.ts'
import type { Column, Schema } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import { getBit } from '../util/bitmap.ts'
import type { WriteOp } from './write-op.ts'

/** What kinds of non-key columns a row sets: bits of `WriteOp.touched`. */
export const TOUCHED = { MUTABLE: 1, IMMUTABLE: 2 } as const

/** How an operation looks at the columns of its row. */
const KIND = { UNKNOWN: 0, INSERT: 1, UPSERT: 2, UPDATE: 4, UPDATE_IGNORE: 8, DELETE: 16 } as const
const KIND_OF_OPERATION = makeKinds()
const INSERT_LIKE = KIND.INSERT | KIND.UPSERT
const UPDATE_LIKE = KIND.UPDATE | KIND.UPDATE_IGNORE

function makeKinds(): Uint8Array {
  const kinds = new Uint8Array(256)
  kinds[ROW_OPERATIONS.INSERT] = KIND.INSERT
  kinds[ROW_OPERATIONS.INSERT_IGNORE] = KIND.INSERT
  kinds[ROW_OPERATIONS.UPSERT] = KIND.UPSERT
  kinds[ROW_OPERATIONS.UPSERT_IGNORE] = KIND.UPSERT
  kinds[ROW_OPERATIONS.UPDATE] = KIND.UPDATE
  kinds[ROW_OPERATIONS.UPDATE_IGNORE] = KIND.UPDATE_IGNORE
  kinds[ROW_OPERATIONS.DELETE] = KIND.DELETE
  kinds[ROW_OPERATIONS.DELETE_IGNORE] = KIND.DELETE
  return kinds
}

/**
 * Checks the columns of every row: sets `outcomes` and `errorColumnIds` of those that fail, and
 * `touched`, which is not meaningful for plain inserts.
 *
 * Returns: whether every row is some insert or upsert, which is the common case. Throws:
 * INVALID_ARGUMENT for an operation that does not exist. Requires: the block's columns were matched
 * to the schema. Cost: for inserts of whole rows O(columns); else a pass over the rows of each
 * column that needs one.
 */
export function checkColumns(op: WriteOp, schema: Schema): boolean {
  const kinds = kindsOf(op.operations, op.rowCount)
  for (let index = 0; index < schema.columns.length; index++) {
    const column = schema.columns[index]
    const vector = op.block.columnById(column.id)
    if (column.isKey) checkKeyColumn(op, column, vector)
    else checkValueColumn(op, column, vector, kinds)
  }
  if ((kinds & UPDATE_LIKE) !== 0) checkUpdatesTouch(op)
  return (kinds & ~INSERT_LIKE) === 0
}

/** Checks the length of every key. Requires: keys are encoded. */
export function checkKeys(op: WriteOp): void {
  if (op.keys.length <= KEY_BYTES_MAX) return
  const ends = op.keys.ends
  let start = 0
  for (let row = 0; row < op.rowCount; row++) {
    const isDelete = KIND_OF_OPERATION[op.operations[row]] === KIND.DELETE
    if (ends[row] - start > KEY_BYTES_MAX && !isDelete) {
      fail(op, row, ROW_ERRORS.KEY_TOO_LARGE, -1)
    }
    start = ends[row]
  }
}

function kindsOf(operations: Uint8Array, rowCount: number): number {
  let kinds = 0
  let known = true
  for (let row = 0; row < rowCount; row++) {
    const kind = KIND_OF_OPERATION[operations[row]]
    if (kind === KIND.UNKNOWN) known = false
    kinds |= kind
  }
  if (!known) throw invalidArgument('row block has an operation that does not exist')
  return kinds
}

function fail(op: WriteOp, row: number, code: RowErrorCode, columnId: number): void {
  if (op.outcomes[row] !== 0) return
  op.outcomes[row] = code
  op.errorColumnIds[row] = columnId
}

function checkKeyColumn(op: WriteOp, column: Column, vector: ColumnVector | undefined): void {
  if (vector === undefined) {
    for (let row = 0; row < op.rowCount; row++) {
      fail(op, row, ROW_ERRORS.KEY_COLUMN_UNSET, column.id)
    }
    return
  }
  const canBeTooLarge = hasLargeCells(vector)
  if (vector.isSet === null && vector.validity === null && !canBeTooLarge) return
  for (let row = 0; row < op.rowCount; row++) {
    if (!vector.hasCell(row)) fail(op, row, ROW_ERRORS.KEY_COLUMN_UNSET, column.id)
    else if (vector.isNull(row)) fail(op, row, ROW_ERRORS.KEY_COLUMN_NULL, column.id)
    else if (canBeTooLarge) checkSize(op, row, column, vector)
  }
}

function checkValueColumn(
  op: WriteOp,
  column: Column,
  vector: ColumnVector | undefined,
  kinds: number,
): void {
  const mayBeUnset = column.isNullable || column.writeDefault !== null
  if (vector === undefined) {
    if (!mayBeUnset && (kinds & INSERT_LIKE) !== 0) checkInsertsWithout(op, column)
    return
  }
  const canBeNull = column.isNullable || vector.validity === null
  const canBeUnset = mayBeUnset || vector.isSet === null
  const isFine = canBeNull && canBeUnset && !hasLargeCells(vector)
  if (isFine && kinds === KIND.INSERT) return
  const touch = column.isImmutable ? TOUCHED.IMMUTABLE : TOUCHED.MUTABLE
  const forbidden = KIND.DELETE | (column.isImmutable ? UPDATE_LIKE : 0)
  if (isFine && vector.isSet === null && (kinds & forbidden) === 0) {
    for (let row = 0; row < op.rowCount; row++) op.touched[row] |= touch
    return
  }
  for (let row = 0; row < op.rowCount; row++) {
    const kind = KIND_OF_OPERATION[op.operations[row]]
    if (vector.isSet !== null && !getBit(vector.isSet, row)) {
      if (!mayBeUnset && (kind & INSERT_LIKE) !== 0) {
        fail(op, row, ROW_ERRORS.REQUIRED_COLUMN_UNSET, column.id)
      }
      continue
    }
    op.touched[row] |= touch
    if (kind === KIND.DELETE) fail(op, row, ROW_ERRORS.DELETE_HAS_VALUE, column.id)
    else if (column.isImmutable && (kind & UPDATE_LIKE) !== 0) {
      if (kind === KIND.UPDATE) fail(op, row, ROW_ERRORS.COLUMN_IMMUTABLE, column.id)
    } else if (!isFine) checkCell(op, row, column, vector)
  }
}

function checkInsertsWithout(op: WriteOp, column: Column): void {
  for (let row = 0; row < op.rowCount; row++) {
    if ((KIND_OF_OPERATION[op.operations[row]] & INSERT_LIKE) !== 0) {
      fail(op, row, ROW_ERRORS.REQUIRED_COLUMN_UNSET, column.id)
    }
  }
}

function checkCell(op: WriteOp, row: number, column: Column, vector: ColumnVector): void {
  if (!column.isNullable && vector.isNull(row)) {
    fail(op, row, ROW_ERRORS.NULL_NOT_ALLOWED, column.id)
  } else {
    checkSize(op, row, column, vector)
  }
}

function checkSize(op: WriteOp, row: number, column: Column, vector: ColumnVector): void {
  if (vector.physical !== PHYSICAL.binary) return
  if (vector.offsets[row + 1] - vector.offsets[row] > CELL_BYTES_MAX) {
    fail(op, row, ROW_ERRORS.CELL_TOO_LARGE, column.id)
  }
}

function hasLargeCells(vector: ColumnVector): boolean {
  if (vector.physical !== PHYSICAL.binary || vector.bytes.length <= CELL_BYTES_MAX) return false
  const offsets = vector.offsets
  let start = offsets[0]
  for (let row = 1; row < offsets.length; row++) {
    const end = offsets[row]
    if (end - start > CELL_BYTES_MAX) return true
    start = end
  }
  return false
}

function checkUpdatesTouch(op: WriteOp): void {
  for (let row = 0; row < op.rowCount; row++) {
    const kind = KIND_OF_OPERATION[op.operations[row]]
    if ((kind & UPDATE_LIKE) === 0) continue
    if ((op.touched[row] & TOUCHED.MUTABLE) === 0) {
      fail(op, row, ROW_ERRORS.NO_FIELDS_UPDATED, -1)
    }
  }
}
