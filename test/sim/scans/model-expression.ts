/**
 * Expressions of aggregations, computed in the plainest way: integers and decimals exactly, doubles
 * with a bound of how far another order of rounding may lead.
 */

import { ratioOf } from './exact-ratio.ts'
import { isIntegral, type ModelColumn, type Value } from './model-value.ts'

/** A number for each row. */
export type ModelExpression =
  | { readonly kind: 'column'; readonly column: string }
  /** As JSON writes it. */
  | { readonly kind: 'number'; readonly text: string }
  | {
      readonly kind: 'binary'
      readonly op: '+' | '-' | '*' | '/'
      readonly left: ModelExpression
      readonly right: ModelExpression
    }

/** What kind of number an expression is. */
export type NumberKind =
  | { readonly kind: 'integer'; readonly scale: 0 }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'double'; readonly scale: 0 }

/** A computed number: exact with its scale, or a double that is right to within `error`. */
export type Computed =
  | { readonly kind: 'exact'; readonly unscaled: bigint; readonly scale: number }
  | { readonly kind: 'double'; readonly value: number; readonly error: number }

/** A request that must be refused. */
export class Refusal extends Error {}

/** What is no longer clear once it was met: then a refusal is right too, or any double. */
export interface Doubts {
  mayBeRefused: boolean
  isLoose: boolean
}

const DIGITS_MAX = 38
const BOUND = 10n ** BigInt(DIGITS_MAX)
const INTEGER: NumberKind = { kind: 'integer', scale: 0 }
const DOUBLE: NumberKind = { kind: 'double', scale: 0 }
const INT64 = [-(1n << 63n), (1n << 63n) - 1n] as const

/** The kind of a column's cells; null when they are no numbers. */
export function kindOfColumn({ type, scale }: ModelColumn): NumberKind | null {
  if (type === 'FLOAT' || type === 'DOUBLE') return DOUBLE
  if (type === 'DECIMAL') return { kind: 'decimal', scale }
  if (type === 'DATE' || type === 'UNIXTIME_MICROS' || !isIntegral(type)) return null
  return INTEGER
}

/** The kind of an expression. Throws: Refusal for a product of too many digits. */
export function kindOf(columns: readonly ModelColumn[], expression: ModelExpression): NumberKind {
  switch (expression.kind) {
    case 'column': {
      const column = columns.find(({ name }) => name === expression.column)
      const kind = column === undefined ? null : kindOfColumn(column)
      if (kind === null) throw new Refusal('no column of numbers')
      return kind
    }
    case 'number': {
      const { unscaled, scale } = literalOf(expression.text)
      if (scale === 0 && unscaled >= INT64[0] && unscaled <= INT64[1]) return INTEGER
      return { kind: 'decimal', scale }
    }
    case 'binary': {
      const left = kindOf(columns, expression.left)
      const right = kindOf(columns, expression.right)
      if (expression.op === '/' || left.kind === 'double' || right.kind === 'double') return DOUBLE
      if (left.kind === 'integer' && right.kind === 'integer') return INTEGER
      const isProduct = expression.op === '*'
      const scale = isProduct ? left.scale + right.scale : Math.max(left.scale, right.scale)
      if (scale > DIGITS_MAX) throw new Refusal('too many digits behind the point')
      return { kind: 'decimal', scale }
    }
  }
}

/** A literal without zeros behind its last digit. */
export function literalOf(text: string): { readonly unscaled: bigint; readonly scale: number } {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) throw new Error(`${text} is no number`)
  const [, sign, whole, fraction = '', exponent = '0'] = match
  let unscaled = BigInt(whole + fraction)
  let scale = fraction.length - Number(exponent)
  for (; unscaled !== 0n && scale > 0 && unscaled % 10n === 0n; scale--) unscaled /= 10n
  if (unscaled === 0n) scale = 0
  if (scale < 0) unscaled *= 10n ** BigInt(-scale)
  return { unscaled: sign === '-' ? -unscaled : unscaled, scale: Math.max(scale, 0) }
}

/** The number of a row; null when something in it is null or divided by zero. */
export function compute(
  columns: readonly ModelColumn[],
  expression: ModelExpression,
  row: readonly Value[],
  doubts: Doubts,
): Computed | null {
  switch (expression.kind) {
    case 'column': {
      const index = columns.findIndex(({ name }) => name === expression.column)
      return computedOf(columns[index], row[index])
    }
    case 'number':
      return { kind: 'exact', ...literalOf(expression.text) }
    case 'binary': {
      const left = compute(columns, expression.left, row, doubts)
      const right = compute(columns, expression.right, row, doubts)
      if (left === null || right === null) return null
      const { op } = expression
      if (op === '/' || left.kind === 'double' || right.kind === 'double') {
        return doubleOf(op, asDouble(left), asDouble(right), doubts)
      }
      return exactOf(op, left, right, doubts)
    }
  }
}

/** A cell as a number. */
export function computedOf(column: ModelColumn, cell: Value): Computed | null {
  if (cell === null) return null
  if (typeof cell === 'number') return { kind: 'double', value: cell, error: 0 }
  return { kind: 'exact', unscaled: cell as bigint, scale: column.scale }
}

type Exact = Extract<Computed, { kind: 'exact' }>
type Double = Extract<Computed, { kind: 'double' }>

function exactOf(op: '+' | '-' | '*', left: Exact, right: Exact, doubts: Doubts): Exact {
  if (op === '*') {
    const scale = left.scale + right.scale
    return { kind: 'exact', unscaled: checked(left.unscaled * right.unscaled), scale }
  }
  const scale = Math.max(left.scale, right.scale)
  const a = left.unscaled * 10n ** BigInt(scale - left.scale)
  const b = right.unscaled * 10n ** BigInt(scale - right.scale)
  // A side that is too long at the scale of the other, though the result is not.
  if (isTooLong(a) || isTooLong(b)) doubts.mayBeRefused = true
  return { kind: 'exact', unscaled: checked(op === '+' ? a + b : a - b), scale }
}

function isTooLong(value: bigint): boolean {
  return value <= -BOUND || value >= BOUND
}

function checked(value: bigint): bigint {
  if (isTooLong(value)) throw new Refusal('more than 38 digits')
  return value
}

/** A number as a double. */
export function asDouble(number: Computed): Double {
  if (number.kind === 'double') return number
  const { unscaled, scale } = number
  const value = ratioOf(unscaled, 10n ** BigInt(scale))
  const isExact = scale === 0 && Number.isSafeInteger(value)
  return { kind: 'double', value, error: isExact ? 0 : Math.abs(value) * 2 ** -51 }
}

function doubleOf(
  op: '+' | '-' | '*' | '/',
  left: Double,
  right: Double,
  doubts: Doubts,
): Double | null {
  const [a, b] = [left.value, right.value]
  if (op === '/' && b === 0) {
    if (right.error > 0) doubts.isLoose = true
    return null
  }
  const value = op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : a / b
  const isExact = left.error === 0 && right.error === 0
  if (isExact) return { kind: 'double', value, error: 0 }
  let error = left.error + right.error
  if (op === '*')
    error = Math.abs(a) * right.error + Math.abs(b) * left.error + left.error * right.error
  if (op === '/') {
    const least = Math.abs(b) - right.error
    if (least <= 0) doubts.isLoose = true
    error = (left.error + Math.abs(value) * right.error) / least
  }
  error += Math.abs(value) * 2 ** -52 + Number.MIN_VALUE
  if (!(Math.abs(value) + error < Number.MAX_VALUE)) doubts.isLoose = true
  return { kind: 'double', value, error }
}
