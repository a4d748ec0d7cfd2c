/**
 * Cells as the model holds them, their order, and how the REST contract writes them. Plain and
 * slow; shares no code with what it judges.
 *
 *   BOOL                             boolean
 *   INT8 … INT64, UNIXTIME_MICROS    bigint; DATE as days, DECIMAL as the number times 10^scale
 *   FLOAT, DOUBLE                    number
 *   STRING, VARCHAR                  the text
 *   BINARY                           hexadecimal digits
 */

import { Buffer } from 'node:buffer'
import type { DataType } from '../../../src/common/data-type.ts'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import { shortestFloatText } from '../../support/exact-float.ts'

/** A cell. */
export type Value = bigint | number | boolean | string | null

/** A column of a table, or of a result. */
export interface ModelColumn {
  readonly name: string
  readonly type: DataType
  readonly precision: number
  readonly scale: number
  readonly length: number
  readonly isKey: boolean
  readonly isNullable: boolean
  /** What inserts put where they leave the column unset; null for none. */
  readonly defaultValue: Value
  readonly encoding: string
  readonly compression: string
}

const DAY_MICROS = 86_400_000_000n
const ERA_DAYS = 146_097n

/** Orders two cells of one type that are not null; NaN is above all, and −0 is 0. */
export function compareValues(type: DataType, a: Value, b: Value): number {
  if (type === 'STRING' || type === 'VARCHAR') {
    if (a === b) return 0
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
  }
  if (typeof a === 'number' && typeof b === 'number') {
    const order = Number(Number.isNaN(a)) - Number(Number.isNaN(b))
    if (order !== 0 || Number.isNaN(a)) return order
  }
  if (a === null || b === null) throw new Error('null has no place in the order')
  return a < b ? -1 : a > b ? 1 : 0
}

/** Orders two tuples of cells. */
export function compareTuples(
  columns: readonly ModelColumn[],
  a: readonly Value[],
  b: readonly Value[],
): number {
  for (const [i, { type }] of columns.entries()) {
    const order = compareValues(type, a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

/** A cell as a JSON value. */
export function jsonText(column: ModelColumn, value: Value, options: ValueOptions): string {
  if (value === null) return 'null'
  const text = plainText(column, value, options)
  return isBare(column, value, options) ? text : JSON.stringify(text)
}

function isBare({ type }: ModelColumn, value: Value, options: ValueOptions): boolean {
  switch (type) {
    case 'BOOL':
    case 'INT8':
    case 'INT16':
    case 'INT32':
      return true
    case 'INT64':
      return options.int64 === 'number'
    case 'FLOAT':
    case 'DOUBLE':
      return Number.isFinite(value)
    case 'UNIXTIME_MICROS':
      return options.timestamps !== 'rfc3339'
    default:
      return false
  }
}

/** A cell that is not null in text form. */
export function plainText(column: ModelColumn, value: Value, options: ValueOptions): string {
  switch (column.type) {
    case 'FLOAT':
      return floatText(Number(value))
    case 'DOUBLE':
      return Object.is(value, -0) ? '-0' : String(value)
    case 'BINARY':
      return Buffer.from(String(value), 'hex').toString('base64')
    case 'DATE':
      return dateText(BigInt(value as bigint))
    case 'DECIMAL':
      return decimalText(value as bigint, column.scale)
    case 'UNIXTIME_MICROS':
      if (options.timestamps === 'micros') return String(value)
      if (options.timestamps === 'millis') return String(floorDivide(value as bigint, 1000n))
      return timeText(value as bigint)
    default:
      return String(value)
  }
}

const floatTexts = new Map<number, string>()

function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  if (!Number.isFinite(value)) return String(value)
  let text = floatTexts.get(value)
  if (text === undefined) {
    text = `${value < 0 ? '-' : ''}${shortestFloatText(Math.abs(value))}`
    floatTexts.set(value, text)
  }
  return text
}

/** A day of the calendar. */
export function dateText(days: bigint): string {
  const era = floorDivide(days, ERA_DAYS)
  // 400 years are always as many days, so the platform's calendar shows the same day of an era.
  const day = new Date(Number(days - era * ERA_DAYS) * 86_400_000).toISOString().slice(0, 10)
  const year = Number(day.slice(0, 4)) + Number(era) * 400
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}${day.slice(4)}`
}

/** A time, RFC 3339. */
export function timeText(micros: bigint): string {
  const days = floorDivide(micros, DAY_MICROS)
  const rest = micros - days * DAY_MICROS
  const clock = new Date(Number(rest / 1000n)).toISOString().slice(11, 19)
  return `${dateText(days)}T${clock}.${String(rest % 1_000_000n).padStart(6, '0')}Z`
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const sign = unscaled < 0n ? '-' : ''
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`
}

/** Division of integers towards −∞. Requires: the divisor is positive. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value % divisor < 0n ? quotient - 1n : quotient
}

const BITS: Readonly<Record<string, bigint>> = { INT8: 8n, INT16: 16n, INT32: 32n }

/** The least and the greatest cell of a type that is held as an integer. */
export function integerEnds({ type, precision }: ModelColumn): [bigint, bigint] {
  if (type === 'DATE') return [-719_162n, 2_932_896n]
  if (type === 'DECIMAL') {
    const most = 10n ** BigInt(precision) - 1n
    return [-most, most]
  }
  const half = 1n << ((BITS[type] ?? 64n) - 1n)
  return [-half, half - 1n]
}

/** Whether a type is held as an integer. */
export function isIntegral(type: DataType): boolean {
  return !['BOOL', 'FLOAT', 'DOUBLE', 'STRING', 'VARCHAR', 'BINARY'].includes(type)
}
