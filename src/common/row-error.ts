/**
 * Why a row of a write was not applied: a code that is stored and a text that is made when asked
 * (K§4.2).
 */

import type { StatusCode } from './status.ts'

/** Codes of row errors. Stored in the WAL and in remembered results: numbers are never reused. */
export const ROW_ERRORS = {
  KEY_ALREADY_PRESENT: 16,
  KEY_NOT_FOUND: 17,
  KEY_COLUMN_UNSET: 18,
  KEY_COLUMN_NULL: 19,
  REQUIRED_COLUMN_UNSET: 20,
  NULL_NOT_ALLOWED: 21,
  NO_FIELDS_UPDATED: 22,
  DELETE_HAS_VALUE: 23,
  COLUMN_IMMUTABLE: 24,
  KEY_TOO_LARGE: 25,
  CELL_TOO_LARGE: 26,
  NOT_IN_RANGE: 27,
  ROW_LIMIT: 28,
  SIZE_LIMIT: 29,
} as const
/** A row error's code. */
export type RowErrorCode = (typeof ROW_ERRORS)[keyof typeof ROW_ERRORS]

/**
 * Row errors of one share, as columns in row order: row `rows[i]` failed with `codes[i]` at
 * `columnIds[i]` (−1: none).
 */
export interface RowErrors {
  readonly rows: Uint32Array
  readonly codes: Uint8Array
  readonly columnIds: Int32Array
}

/**
 * The status and the text of a row error. `columnName` is the name of the column it carries, if
 * any.
 */
export function describeRowError(
  code: number,
  columnName: string | undefined,
): { readonly code: StatusCode; readonly message: string } {
  const column = `column "${columnName ?? ''}"`
  switch (code) {
    case ROW_ERRORS.KEY_ALREADY_PRESENT:
      return { code: 'ALREADY_PRESENT', message: 'key already present' }
    case ROW_ERRORS.KEY_NOT_FOUND:
      return { code: 'NOT_FOUND', message: 'key not found' }
    case ROW_ERRORS.KEY_COLUMN_UNSET:
      return invalid(`no value provided for key ${column}`)
    case ROW_ERRORS.KEY_COLUMN_NULL:
      return invalid(`${column}: null is not allowed for a key column`)
    case ROW_ERRORS.REQUIRED_COLUMN_UNSET:
      return invalid(`no value provided for required ${column}`)
    case ROW_ERRORS.NULL_NOT_ALLOWED:
      return invalid(`${column}: null is not allowed for a column that is not nullable`)
    case ROW_ERRORS.NO_FIELDS_UPDATED:
      return invalid('no fields updated')
    case ROW_ERRORS.DELETE_HAS_VALUE:
      return invalid(`delete should not have a value for ${column}`)
    case ROW_ERRORS.COLUMN_IMMUTABLE:
      return { code: 'IMMUTABLE', message: `${column} is immutable` }
    case ROW_ERRORS.KEY_TOO_LARGE:
      return invalid('encoded primary key is larger than the limit of 16384 bytes')
    case ROW_ERRORS.CELL_TOO_LARGE:
      return invalid(`${column}: value is larger than the limit of 65536 bytes`)
    case ROW_ERRORS.NOT_IN_RANGE:
      return { code: 'NOT_FOUND', message: 'row lies in no range partition' }
    case ROW_ERRORS.ROW_LIMIT:
      return { code: 'ILLEGAL_STATE', message: 'table has reached its row count limit' }
    case ROW_ERRORS.SIZE_LIMIT:
      return { code: 'ILLEGAL_STATE', message: 'table has reached its disk size limit' }
    default:
      return { code: 'INTERNAL', message: `unknown row error ${code}` }
  }
}

function invalid(message: string): { readonly code: StatusCode; readonly message: string } {
  return { code: 'INVALID_ARGUMENT', message }
}
