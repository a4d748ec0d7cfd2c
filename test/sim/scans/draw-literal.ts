/**
 * Literals for predicates at random, as JSON texts: cells that are there, their neighbours, what
 * lies between two cells, above or below all, or has more digits than fit.
 */

import { Buffer } from 'node:buffer'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import type { Prng } from '../../../src/util/prng.ts'
import { drawText, drawValue } from './draw-value.ts'
import { dateText, integerEnds, jsonText, type ModelColumn, type Value } from './model-value.ts'

const MICROS: ValueOptions = { int64: 'number', timestamps: 'micros' }
const RFC: ValueOptions = { int64: 'number', timestamps: 'rfc3339' }
const FAR = ['1e30', '-1e30', '1e400', '-1e400', '1e-400', '123456789012345678901234567890.5']
const DISTANT_DATES = ['"0000-12-31"', '"10000-01-01"', '"12345-06-07"', '"-0001-01-01"']
const ENDS = ['"NaN"', '"Infinity"', '"-Infinity"']
const FLOAT_LITERALS = [
  '"NaN"',
  '"Infinity"',
  '"-Infinity"',
  '0',
  '-0',
  '-0.0',
  '1e39',
  '-1e39',
  '3.4028235677973366e38',
  '0.1',
  '0.10000000149011612',
  '16777217',
  '1e-60',
  '1E+2',
]

/** A literal near the cells in `seen`, which are of the column and not null. */
export function drawLiteral(
  prng: Prng,
  column: ModelColumn,
  seen: readonly Value[],
  { timestamps }: ValueOptions,
): string {
  const value = seen.length > 0 && prng.chance(0.85) ? prng.pick(seen) : drawValue(prng, column)
  switch (column.type) {
    case 'BOOL':
      return String(value)
    case 'FLOAT':
    case 'DOUBLE':
      return floatLiteral(prng, column, value as number)
    case 'STRING':
    case 'VARCHAR':
      return JSON.stringify(nearText(prng, value as string, column.length))
    case 'BINARY':
      return binaryLiteral(prng, value as string)
    case 'DATE':
      if (prng.chance(0.05)) return prng.pick(DISTANT_DATES)
      return JSON.stringify(dateText(within(column, near(prng, value as bigint))))
    case 'UNIXTIME_MICROS':
      return timeLiteral(prng, column, value as bigint, timestamps)
    default:
      return integerLiteral(prng, column, value as bigint)
  }
}

/** A beginning of a cell, or what is no beginning of any. */
export function drawPrefix(prng: Prng, column: ModelColumn, seen: readonly Value[]): string {
  const value = String(seen.length > 0 ? prng.pick(seen) : drawValue(prng, column))
  if (column.type === 'BINARY') {
    const end = prng.chance(0.4) ? value.length : prng.below(value.length / 2 + 1) * 2
    const rest = prng.pick(['', '', '', 'ff', 'ffff', '00', '61'])
    return JSON.stringify(Buffer.from(value.slice(0, end) + rest, 'hex').toString('base64'))
  }
  const characters = [...value]
  const end = prng.chance(0.4) ? characters.length : prng.below(characters.length + 1)
  const prefix = characters.slice(0, end).join('')
  return JSON.stringify(prefix + prng.pick(['', '', '', 'a', '\u{10ffff}', '\ud7ff', '\0']))
}

function near(prng: Prng, value: bigint): bigint {
  return value + prng.pick([0n, 0n, 0n, 1n, -1n])
}

function within(column: ModelColumn, value: bigint): bigint {
  const [least, most] = integerEnds(column)
  return value < least ? least : value > most ? most : value
}

function floatLiteral(prng: Prng, column: ModelColumn, value: number): string {
  if (prng.chance(0.35)) return prng.pick([...FLOAT_LITERALS, ...FAR, ...ENDS])
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  const text = prng.chance(0.5) ? jsonText(column, value, RFC) : String(value)
  // A few digits more than the cell has.
  return prng.chance(0.1) && /^-?\d+\.\d+$/.test(text) ? `${text}0001` : text
}

function nearText(prng: Prng, value: string, lengthMax: number): string {
  const characters = [...value]
  switch (prng.below(8)) {
    case 0:
      return `${value}\0`
    case 1:
      return characters.slice(0, -1).join('')
    case 2:
      return value + drawText(prng, 4)
    case 3:
    case 4:
      // Longer than a VARCHAR can hold.
      return value
        .padEnd(lengthMax + 1, 'a')
        .slice(0, 400)
        .toWellFormed()
    default:
      return value
  }
}

function binaryLiteral(prng: Prng, value: string): string {
  const hex = prng.pick([value, value, `${value}00`, `${value}ff`, value.slice(2)])
  const bytes = Buffer.from(hex, 'hex')
  const [standard, url] = [bytes.toString('base64'), bytes.toString('base64url')]
  return JSON.stringify(prng.pick([standard, standard, url, standard.replaceAll('=', '')]))
}

function timeLiteral(
  prng: Prng,
  column: ModelColumn,
  value: bigint,
  timestamps: ValueOptions['timestamps'],
): string {
  const micros = within(column, near(prng, value))
  if (prng.chance(0.06)) return prng.pick(FAR)
  const text = jsonText(column, micros, RFC)
  if (prng.chance(0.5) && /^"\d{4}-/.test(text)) return timeText(prng, text)
  if (timestamps === 'millis') {
    const fraction = micros % 1000n < 0n ? -(micros % 1000n) : micros % 1000n
    const sign = micros < 0n ? '-' : ''
    const whole = (micros < 0n ? -micros : micros) / 1000n
    return prng.chance(0.5)
      ? `${sign}${whole}.${String(fraction).padStart(3, '0')}`
      : `${sign}${whole}`
  }
  const number = jsonText(column, micros, MICROS)
  return prng.chance(0.1) ? `${number}.5` : number
}

function timeText(prng: Prng, text: string): string {
  switch (prng.below(5)) {
    case 0:
      return text.replace('Z', '5Z')
    case 1:
      return text.replace('Z', '000Z')
    case 2:
      return text.replace('Z', '+02:00')
    case 3:
      return text.replace('Z', '-11:30')
    default:
      return text
  }
}

function integerLiteral(prng: Prng, column: ModelColumn, value: bigint): string {
  const { type, scale } = column
  if (prng.chance(0.06)) return prng.pick(FAR)
  const [least, most] = integerEnds(column)
  const isEdge = prng.chance(0.06)
  const cell = isEdge ? prng.pick([least - 1n, most + 1n, least, most]) : near(prng, value)
  const text = fixedText(cell, scale)
  const more = text.includes('.') ? '' : '.'
  const digits = prng.pick(['', '', '', '', '0', '5', '001']) || null
  const written = digits === null ? text : `${text}${more}${digits}`
  const mayQuote = type === 'DECIMAL' || (type === 'INT64' && digits === null)
  return mayQuote && prng.chance(0.5) ? JSON.stringify(written) : written
}

function fixedText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  const whole = digits.slice(0, digits.length - scale)
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`
}
