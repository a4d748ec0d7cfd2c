/** What reading and writing cells of a column needs to know of it, resolved once a request. */

import { PHYSICAL } from './data-type.ts'
import { DATE_DAYS_MAX, DATE_DAYS_MIN } from './date.ts'
import type { Column } from './schema.ts'
import type { ValueOptions } from './value-options.ts'

/** Kinds of cells by how they are written and laid out. */
export const CELL_KINDS = {
  bool: 0,
  /** INT8, INT16, INT32. */
  integer: 1,
  int64: 2,
  float: 3,
  double: 4,
  /** STRING, VARCHAR. */
  string: 5,
  binary: 6,
  timestamp: 7,
  date: 8,
  decimal32: 9,
  decimal64: 10,
  decimal128: 11,
} as const
/** A kind of cells. */
export type CellKind = (typeof CELL_KINDS)[keyof typeof CELL_KINDS]

/**
 * A column with its kind and bounds. All members always present, so that every plan has one shape.
 */
export interface CellPlan {
  readonly column: Column
  readonly kind: CellKind
  /** The least and the greatest integer of `integer` and `date`; else 0. */
  readonly low: number
  readonly high: number
  /** Digits of a DECIMAL in all, and behind the point; else 0. */
  readonly precision: number
  readonly scale: number
  /** Code points of a VARCHAR; 0 for no such limit. */
  readonly lengthMax: number
  /** INT64 is a string in JSON. */
  readonly isInt64Quoted: boolean
  readonly timestamps: ValueOptions['timestamps']
}

/** The plan of a column under the options of a request. */
export function planCell(column: Column, options: ValueOptions): CellPlan {
  const kind = kindOf(column)
  const { precision = 0, scale = 0, length = 0 } = column.attributes
  let low = 0
  let high = 0
  if (kind === CELL_KINDS.date) {
    low = DATE_DAYS_MIN
    high = DATE_DAYS_MAX
  } else if (kind === CELL_KINDS.integer) {
    const bits = column.type === 'INT8' ? 8 : column.type === 'INT16' ? 16 : 32
    low = -(2 ** (bits - 1))
    high = 2 ** (bits - 1) - 1
  }
  return {
    column,
    kind,
    low,
    high,
    precision: column.type === 'DECIMAL' ? precision : 0,
    scale: column.type === 'DECIMAL' ? scale : 0,
    lengthMax: column.type === 'VARCHAR' ? length : 0,
    isInt64Quoted: options.int64 === 'string',
    timestamps: options.timestamps,
  }
}

function kindOf(column: Column): CellKind {
  switch (column.type) {
    case 'BOOL':
      return CELL_KINDS.bool
    case 'INT8':
    case 'INT16':
    case 'INT32':
      return CELL_KINDS.integer
    case 'INT64':
      return CELL_KINDS.int64
    case 'FLOAT':
      return CELL_KINDS.float
    case 'DOUBLE':
      return CELL_KINDS.double
    case 'STRING':
    case 'VARCHAR':
      return CELL_KINDS.string
    case 'BINARY':
      return CELL_KINDS.binary
    case 'UNIXTIME_MICROS':
      return CELL_KINDS.timestamp
    case 'DATE':
      return CELL_KINDS.date
    case 'DECIMAL':
      if (column.physical === PHYSICAL.int32) return CELL_KINDS.decimal32
      return column.physical === PHYSICAL.int64 ? CELL_KINDS.decimal64 : CELL_KINDS.decimal128
  }
}
