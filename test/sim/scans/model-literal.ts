/**
 * What a literal in a predicate means for a cell of a column: exact arithmetic, whatever the column
 * can hold. Literals are JSON texts.
 */

import { Buffer } from 'node:buffer'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import { nearestFloat } from '../../support/exact-float.ts'
import { compareValues, type ModelColumn, type Value } from './model-value.ts'

/** A condition of a scan; `values` are JSON texts. */
export interface ModelPredicate {
  readonly column: string
  readonly op: string
  readonly values: readonly string[]
}

/** A number: digits times 10^exponent. */
interface Exact {
  readonly digits: bigint
  readonly exponent: number
}

/** A literal read: a number, an edge beyond all finite floats, a cell, or NaN. */
type Literal =
  | { readonly kind: 'exact'; readonly number: Exact }
  | { readonly kind: 'beyond'; readonly sign: number }
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'nan' }

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const DATE = /^(-?)(\d{4,})-(\d\d)-(\d\d)$/
const TIME = /^(-?\d{4,}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/
/** Powers of ten beyond which a number is above all cells, or as good as none. */
const POWER_MAX = 2000

/** Whether a cell satisfies a predicate. */
export function satisfies(
  column: ModelColumn,
  { op, values }: ModelPredicate,
  cell: Value,
  options: ValueOptions,
): boolean {
  if (op === 'IS NULL') return cell === null
  if (cell === null) return false
  if (op === 'IS NOT NULL') return true
  if (op === 'IN') return values.some((text) => orderOf(column, cell, text, options) === 0)
  if (op === 'STARTS WITH') {
    const { value } = literalOf(column, values[0], options) as { readonly value: string }
    return String(cell).startsWith(value)
  }
  const order = orderOf(column, cell, values[0], options)
  switch (op) {
    case '=':
      return order === 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    default:
      return order >= 0
  }
}

/** Where a cell lies relative to a literal; NaN when that cannot be said. */
function orderOf(column: ModelColumn, cell: Value, text: string, options: ValueOptions): number {
  if (Number.isNaN(cell)) return Number.NaN
  const literal = literalOf(column, text, options)
  switch (literal.kind) {
    case 'nan':
      return Number.NaN
    case 'beyond':
      return cell === Infinity * literal.sign ? literal.sign : -literal.sign
    case 'value':
      return compareValues(column.type, cell, literal.value)
    case 'exact':
      return compareExact({ digits: cell as bigint, exponent: -column.scale }, literal.number)
  }
}

const literals = new Map<string, Literal>()

function literalOf(column: ModelColumn, text: string, options: ValueOptions): Literal {
  const name = `${column.type} ${options.timestamps} ${text}`
  let literal = literals.get(name)
  if (literal === undefined) {
    if (literals.size > 10_000) literals.clear()
    literal = readLiteral(column, JSON.parse(text) as unknown, text, options)
    literals.set(name, literal)
  }
  return literal
}

function readLiteral(
  { type }: ModelColumn,
  json: unknown,
  text: string,
  { timestamps }: ValueOptions,
): Literal {
  const plain = typeof json === 'string' ? json : text
  switch (type) {
    case 'BOOL':
      return { kind: 'value', value: json as boolean }
    case 'STRING':
    case 'VARCHAR':
      return { kind: 'value', value: plain }
    case 'BINARY':
      return { kind: 'value', value: Buffer.from(plain, 'base64').toString('hex') }
    case 'DATE':
      return exactly({ digits: daysOf(plain), exponent: 0 })
    case 'FLOAT':
    case 'DOUBLE':
      return floatLiteral(type, plain)
    case 'UNIXTIME_MICROS': {
      if (TIME.test(plain)) return exactly(momentOf(plain))
      const number = exactOf(plain)
      return exactly(
        timestamps === 'millis' ? { ...number, exponent: number.exponent + 3 } : number,
      )
    }
    default:
      return exactly(exactOf(plain))
  }
}

function exactly(number: Exact): Literal {
  return { kind: 'exact', number }
}

function floatLiteral(type: 'FLOAT' | 'DOUBLE', text: string): Literal {
  if (text === 'NaN') return { kind: 'nan' }
  if (text.endsWith('Infinity')) return { kind: 'value', value: Number(text) }
  const { digits, exponent } = exactOf(text)
  const sign = digits < 0n ? -1 : 1
  let value = Math.abs(Number(text))
  if (type === 'FLOAT' && digits !== 0n && Math.abs(exponent) < POWER_MAX) {
    value = nearestFloat(digits < 0n ? -digits : digits, exponent)
  }
  return value === Infinity ? { kind: 'beyond', sign } : { kind: 'value', value: value * sign }
}

function exactOf(text: string): Exact {
  const match = NUMBER.exec(text)
  if (match === null) throw new Error(`${text} is no number`)
  const [, sign, whole, fraction = '', exponent = '0'] = match
  const digits = BigInt(`${whole}${fraction}`)
  return {
    digits: sign === '-' ? -digits : digits,
    exponent: Number(exponent) - fraction.length,
  }
}

function compareExact(a: Exact, b: Exact): number {
  if (b.digits === 0n) return a.digits < 0n ? -1 : a.digits > 0n ? 1 : 0
  if (b.exponent > POWER_MAX) return b.digits > 0n ? -1 : 1
  const least = Math.min(a.exponent, Math.max(b.exponent, -POWER_MAX))
  const isTiny = b.exponent < -POWER_MAX
  const left = a.digits * 10n ** BigInt(a.exponent - least)
  if (isTiny) return left <= 0n ? (left < 0n ? -1 : b.digits > 0n ? -1 : 1) : 1
  const right = b.digits * 10n ** BigInt(b.exponent - least)
  return left < right ? -1 : left > right ? 1 : 0
}

/** Days since 1970 of a date of any year. */
function daysOf(text: string): bigint {
  const match = DATE.exec(text)
  if (match === null) throw new Error(`${text} is no date`)
  const [, sign, digits, month, day] = match
  const year = Number(digits) * (sign === '-' ? -1 : 1)
  const era = Math.floor((year - 1970) / 400)
  const days = Date.UTC(year - era * 400, Number(month) - 1, Number(day)) / 86_400_000
  return BigInt(days) + BigInt(era) * 146_097n
}

/** Microseconds since 1970 of a time with any number of digits. */
function momentOf(text: string): Exact {
  const match = TIME.exec(text)
  if (match === null) throw new Error(`${text} is no time`)
  const [, date, hour, minute, second, fraction = '', offset] = match
  let seconds = daysOf(date) * 86_400n
  seconds += BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second))
  if (!/[zZ]/.test(offset)) {
    const shift = Number(offset.slice(1, 3)) * 3600 + Number(offset.slice(4)) * 60
    seconds += BigInt(offset[0] === '+' ? -shift : shift)
  }
  const digits = seconds * 10n ** BigInt(fraction.length) + BigInt(fraction || '0')
  return { digits, exponent: 6 - fraction.length }
}
