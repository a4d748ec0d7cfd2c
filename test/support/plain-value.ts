/**
 * Values by the book: slow, by regular expressions, unbounded integers and the platform's calendar.
 * Shares no code with the readers it judges.
 */

import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { nearestFloat } from './exact-float.ts'

/** How the value is written: a JSON number, a JSON string, or text. */
export type PlainForm = 'number' | 'string' | 'text'

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const WORDS = ['NaN', 'Infinity', '-Infinity']
const BITS: Readonly<Record<string, number>> = { INT8: 8, INT16: 16, INT32: 32, INT64: 64 }

/** The cell, or undefined when the value must be refused. */
export function plainCell(column: Column, form: PlainForm, text: string): Cell | undefined {
  const isString = form !== 'number'
  const isNumber = form !== 'string'
  const { precision = 0, scale = 0, length = 0 } = column.attributes
  switch (column.type) {
    case 'BOOL':
      if (form !== 'text' || !/^(true|false)$/i.test(text)) return undefined
      return text.toLowerCase() === 'true' ? 1 : 0
    case 'INT8':
    case 'INT16':
    case 'INT32':
      return isNumber ? narrow(integer(text, 0, 2n ** BigInt(BITS[column.type] - 1))) : undefined
    case 'INT64':
      return integer(text, 0, 2n ** 63n)
    case 'FLOAT':
    case 'DOUBLE':
      return floating(column, form, text)
    case 'STRING':
      return isString ? bytesOf(text) : undefined
    case 'VARCHAR':
      return isString && [...text].length <= length ? bytesOf(text) : undefined
    case 'BINARY':
      return isString ? binary(text) : undefined
    case 'UNIXTIME_MICROS':
      if (form === 'number' || (form === 'text' && !text.includes(':'))) {
        return integer(text, 0, 2n ** 63n)
      }
      return timestamp(text, form === 'text')
    case 'DATE':
      return isString ? date(text) : undefined
    case 'DECIMAL': {
      const value = integer(text, scale, 10n ** BigInt(precision))
      if (value === -(10n ** BigInt(precision))) return undefined
      return precision <= 9 ? narrow(value) : value
    }
  }
}

/** The number times 10^scale, if that is an integer in `[−bound, bound)`. */
function integer(text: string, scale: number, bound: bigint): bigint | undefined {
  const match = NUMBER.exec(text)
  if (match === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = match
  const power = Number(exponent) - fraction.length + scale
  const digits = BigInt(whole + fraction)
  if (digits !== 0n && Math.abs(power) > 1000) return undefined
  const unit = 10n ** BigInt(Math.min(Math.abs(power), 1000))
  if (power < 0 && digits % unit !== 0n) return undefined
  const magnitude = power < 0 ? digits / unit : digits * unit
  const value = sign === '-' ? -magnitude : magnitude
  return value >= -bound && value < bound ? value : undefined
}

function narrow(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

function floating(column: Column, form: PlainForm, text: string): number | undefined {
  const word = WORDS.find((name) =>
    form === 'text' ? name.toLowerCase() === text.toLowerCase() : name === text,
  )
  if (form !== 'number' && word !== undefined) return Number(word)
  const match = form === 'string' ? null : NUMBER.exec(text)
  if (match === null) return undefined
  let value = Math.abs(Number(text))
  if (column.type === 'FLOAT') {
    const [, , whole, fraction = '', exponent = '0'] = match
    const digits = BigInt(whole + fraction)
    value = digits === 0n ? 0 : nearestFloat(digits, Number(exponent) - fraction.length)
  }
  if (value === Infinity) return undefined
  return match[1] === '-' ? -value : value
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'))
}

function binary(text: string): Uint8Array | undefined {
  const isUrl = /^[A-Za-z0-9_-]*={0,2}$/.test(text)
  if (!isUrl && !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, isUrl ? 'base64url' : 'base64')
  const again = bytes.toString(isUrl ? 'base64url' : 'base64')
  const padded = again
    .replace(/=+$/, '')
    .padEnd(Math.ceil(again.replace(/=+$/, '').length / 4) * 4, '=')
  return [padded, padded.replace(/=+$/, '')].includes(text) ? new Uint8Array(bytes) : undefined
}

function date(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return isSameDay(text, ms) ? ms / 86_400_000 : undefined
}

/** Whether the platform did not roll a day that does not exist into the next month. */
function isSameDay(text: string, ms: number): boolean {
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/** Only years of four digits: what lies beyond is checked by other tests. */
function timestamp(text: string, isText: boolean): bigint | undefined {
  const offsets = isText ? '[zZ]|[+-]\\d\\d(?::?\\d\\d)?' : '[zZ]|[+-]\\d\\d:\\d\\d'
  const separator = isText ? '[tT ]' : '[tT]'
  const date3339 = '(\\d{4}-\\d\\d-\\d\\d)'
  const time = '(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?'
  const match = new RegExp(`^${date3339}${separator}${time}(${offsets})$`).exec(text)
  if (match === null) return undefined
  const [, day, hour, minute, second, fraction = '', offset] = match
  const ms = Date.parse(`${day}T00:00:00Z`)
  if (!isSameDay(day, ms) || +hour > 23 || +minute > 59 || +second > 59) return undefined
  if (/[1-9]/.test(fraction.slice(6))) return undefined
  const [east, hours, minutes = '0'] = /[zZ]/.test(offset)
    ? [0, '0']
    : [offset[0] === '+' ? 1 : -1, offset.slice(1, 3), offset.slice(3).replace(':', '') || '0']
  if (+hours > 23 || +minutes > 59) return undefined
  const shift = east * (+hours * 3600 + +minutes * 60)
  const seconds = ms / 1000 + +hour * 3600 + +minute * 60 + +second - shift
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}
