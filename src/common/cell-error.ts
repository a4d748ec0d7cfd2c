/** Why a text is not a value of its column, as a number that hot readers return, and as words. */

import { CELL_BYTES_MAX } from './limits.ts'
import type { Column } from './schema.ts'
import type { StatusError } from './status.ts'
import { invalidArgument } from './status.ts'

/** What a reader found; `NONE` when the value was read. */
export const CELL_ERRORS = {
  NONE: 0,
  /** A JSON value of another kind than the column takes. */
  WRONG_KIND: 1,
  /** Not written as values of the type are. */
  MALFORMED: 2,
  OUT_OF_RANGE: 3,
  /** A fraction where only integers fit. */
  NOT_INTEGER: 4,
  /** More digits behind the point, or behind the second, than the column keeps. */
  TOO_PRECISE: 5,
  /** More code points than a VARCHAR holds. */
  TOO_LONG: 6,
  /** More bytes than a cell holds. */
  TOO_LARGE: 7,
  LEAP_SECOND: 8,
  /** Half of a surrogate pair, which UTF-8 cannot hold. */
  LONE_SURROGATE: 9,
} as const
/** A reader's finding. */
export type CellError = (typeof CELL_ERRORS)[keyof typeof CELL_ERRORS]

const SHOWN_LENGTH_MAX = 64

/** What may stand in a column of each type. */
const EXPECTED = {
  BOOL: 'true or false',
  INT8: 'an integer',
  INT16: 'an integer',
  INT32: 'an integer',
  INT64: 'an integer, or a string of one',
  FLOAT: 'a number, "NaN", "Infinity" or "-Infinity"',
  DOUBLE: 'a number, "NaN", "Infinity" or "-Infinity"',
  STRING: 'a string',
  VARCHAR: 'a string',
  BINARY: 'a base64 string',
  UNIXTIME_MICROS: 'an RFC 3339 timestamp with an offset, or an integer',
  DATE: 'YYYY-MM-DD, 0001-01-01 to 9999-12-31',
  DECIMAL: 'a decimal number, or a string of one',
} as const

/** A column's type with its attributes: `DECIMAL(12,2)`. */
export function typeText(column: Pick<Column, 'type' | 'attributes'>): string {
  const { precision, scale, length } = column.attributes
  if (column.type === 'DECIMAL') return `DECIMAL(${precision},${scale ?? 0})`
  return column.type === 'VARCHAR' ? `VARCHAR(${length})` : column.type
}

/** A value as errors show it: cut when long. */
export function shownValue(text: string): string {
  if (text.length <= SHOWN_LENGTH_MAX) return text
  return `${text.slice(0, SHOWN_LENGTH_MAX).toWellFormed()}…`
}

/**
 * The sentence for a finding. `shown` is the value as the client wrote it, strings in quotes.
 */
export function describeCellError(error: CellError, column: Column, shown: string): string {
  return `column "${column.name}": ${complaint(error, column, shownValue(shown))}`
}

function complaint(error: CellError, column: Column, shown: string): string {
  switch (error) {
    case CELL_ERRORS.NONE:
      return 'no error'
    case CELL_ERRORS.WRONG_KIND:
    case CELL_ERRORS.MALFORMED:
      return `${shown} is not a value of ${typeText(column)}, which takes ${EXPECTED[column.type]}`
    case CELL_ERRORS.OUT_OF_RANGE:
      return `${shown} is out of range for ${typeText(column)}`
    case CELL_ERRORS.NOT_INTEGER:
      return `${shown} is not an integer, as ${typeText(column)} needs`
    case CELL_ERRORS.TOO_PRECISE: {
      if (column.type === 'UNIXTIME_MICROS') return `${shown} is finer than a microsecond`
      const scale = column.attributes.scale ?? 0
      const fits = `${scale} digits behind the point, the scale of ${typeText(column)}`
      return `${shown} has more than ${fits}`
    }
    case CELL_ERRORS.TOO_LONG:
      return `value is longer than the limit of ${column.attributes.length} code points`
    case CELL_ERRORS.TOO_LARGE:
      return `value is larger than the limit of ${CELL_BYTES_MAX} bytes`
    case CELL_ERRORS.LEAP_SECOND:
      return `${shown} is a leap second, which UNIXTIME_MICROS does not have`
    case CELL_ERRORS.LONE_SURROGATE:
      return 'value has a lone surrogate, which is no character'
  }
}

/**
 * A finding as INVALID_ARGUMENT, with the column and, where there is one, the limit in its details.
 */
export function cellError(error: CellError, column: Column, shown: string): StatusError {
  const message = describeCellError(error, column, shown)
  if (error === CELL_ERRORS.TOO_LARGE) {
    return invalidArgument(message, { column: column.name, limit: CELL_BYTES_MAX })
  }
  if (error === CELL_ERRORS.TOO_LONG && column.attributes.length !== undefined) {
    return invalidArgument(message, { column: column.name, limit: column.attributes.length })
  }
  return invalidArgument(message, { column: column.name })
}
