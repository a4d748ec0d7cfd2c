/** What a type says beside its name: precision and scale of DECIMAL, length of VARCHAR (K§1.1). */

import { shownValue } from './cell-error.ts'
import type { DataType, TypeAttributes } from './data-type.ts'
import { DECIMAL_PRECISION_MAX, VARCHAR_LENGTH_MAX } from './limits.ts'
import { invalidArgument, type StatusError } from './status.ts'

const TYPE_OF = { precision: 'DECIMAL', scale: 'DECIMAL', length: 'VARCHAR' } as const
const MEMBERS = ['precision', 'scale', 'length'] as const

/**
 * The attributes of a column's type, checked and complete: a DECIMAL without a scale has 0.
 *
 * Throws: INVALID_ARGUMENT naming column and limit, also for attributes that the type does not
 * have.
 */
export function completeTypeAttributes(
  columnName: string,
  type: DataType,
  attributes: TypeAttributes,
): TypeAttributes {
  for (const member of MEMBERS) {
    if (attributes[member] !== undefined && TYPE_OF[member] !== type) {
      throw problem(columnName, `${type} has no ${member}`)
    }
  }
  if (type === 'VARCHAR') {
    const length = checkRange(columnName, 'length', attributes.length, 1, VARCHAR_LENGTH_MAX)
    return { length }
  }
  if (type !== 'DECIMAL') return {}
  const precision = checkRange(
    columnName,
    'precision',
    attributes.precision,
    1,
    DECIMAL_PRECISION_MAX,
  )
  const scale = checkRange(columnName, 'scale', attributes.scale ?? 0, 0, precision)
  return { precision, scale }
}

function checkRange(
  columnName: string,
  member: (typeof MEMBERS)[number],
  value: number | undefined,
  low: number,
  high: number,
): number {
  if (value === undefined) throw problem(columnName, `${TYPE_OF[member]} needs a ${member}`)
  if (!Number.isInteger(value) || value < low || value > high) {
    const bounds = `${low} to ${high}`
    throw problem(columnName, `${member} is ${value}, ${TYPE_OF[member]} takes ${bounds}`, high)
  }
  return value
}

function problem(columnName: string, complaint: string, limit?: number): StatusError {
  const column = shownValue(columnName)
  const details = limit === undefined ? { column } : { column, limit }
  return invalidArgument(`column "${column}": ${complaint}`, details)
}
