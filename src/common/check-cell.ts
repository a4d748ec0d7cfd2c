/**
 * Whether a plain value is a cell of its column: for values that come as cells rather than as text.
 */

import { utf8DecodeStrict } from '../util/bytes.ts'
import { CELL_ERRORS, type CellError } from './cell-error.ts'
import { countCodePoints } from './cell-reader.ts'
import type { Cell } from './data-type.ts'
import { DATE_DAYS_MAX, DATE_DAYS_MIN } from './date.ts'
import { CELL_BYTES_MAX } from './limits.ts'
import type { Column } from './schema.ts'

const INT64_BOUND = 2n ** 63n

/** Why a value is no cell of the column, or NONE. Bytes of a STRING or VARCHAR must be UTF-8. */
export function checkCell(column: Column, cell: Cell): CellError {
  switch (column.type) {
    case 'BOOL':
      return checkInteger(cell, 0, 1)
    case 'INT8':
      return checkInteger(cell, -0x80, 0x7f)
    case 'INT16':
      return checkInteger(cell, -0x8000, 0x7fff)
    case 'INT32':
      return checkInteger(cell, -0x8000_0000, 0x7fff_ffff)
    case 'DATE':
      return checkInteger(cell, DATE_DAYS_MIN, DATE_DAYS_MAX)
    case 'INT64':
    case 'UNIXTIME_MICROS':
      return checkWide(cell, INT64_BOUND)
    case 'FLOAT':
      if (typeof cell !== 'number') return CELL_ERRORS.WRONG_KIND
      return Object.is(Math.fround(cell), cell) ? CELL_ERRORS.NONE : CELL_ERRORS.OUT_OF_RANGE
    case 'DOUBLE':
      return typeof cell === 'number' ? CELL_ERRORS.NONE : CELL_ERRORS.WRONG_KIND
    case 'DECIMAL':
      return checkDecimal(column, cell)
    case 'STRING':
    case 'VARCHAR':
    case 'BINARY':
      return checkBytes(column, cell)
  }
}

function checkInteger(cell: Cell, low: number, high: number): CellError {
  if (typeof cell !== 'number') return CELL_ERRORS.WRONG_KIND
  if (!Number.isInteger(cell) || Object.is(cell, -0)) return CELL_ERRORS.NOT_INTEGER
  return cell >= low && cell <= high ? CELL_ERRORS.NONE : CELL_ERRORS.OUT_OF_RANGE
}

/** An integer in `[−bound, bound)`. */
function checkWide(cell: Cell, bound: bigint): CellError {
  if (typeof cell !== 'bigint') return CELL_ERRORS.WRONG_KIND
  return cell >= -bound && cell < bound ? CELL_ERRORS.NONE : CELL_ERRORS.OUT_OF_RANGE
}

function checkDecimal(column: Column, cell: Cell): CellError {
  const precision = column.attributes.precision ?? 0
  const bound = 10n ** BigInt(precision)
  if (precision <= 9) return checkInteger(cell, 1 - Number(bound), Number(bound) - 1)
  const error = checkWide(cell, bound)
  return error === CELL_ERRORS.NONE && cell === -bound ? CELL_ERRORS.OUT_OF_RANGE : error
}

function checkBytes(column: Column, cell: Cell): CellError {
  if (!(cell instanceof Uint8Array)) return CELL_ERRORS.WRONG_KIND
  if (cell.length > CELL_BYTES_MAX) return CELL_ERRORS.TOO_LARGE
  if (column.type === 'BINARY') return CELL_ERRORS.NONE
  if (utf8DecodeStrict(cell) === undefined) return CELL_ERRORS.MALFORMED
  const { length } = column.attributes
  const isTooLong = length !== undefined && countCodePoints(cell, 0, cell.length) > length
  return isTooLong ? CELL_ERRORS.TOO_LONG : CELL_ERRORS.NONE
}
