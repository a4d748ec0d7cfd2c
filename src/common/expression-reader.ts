/**
 * Expressions as a client writes them:
 *
 *   "price"                           a column
 *   1  0.05  1e3                      an exact decimal; zeros behind the last digit do not count
 *   ["*", "price", ["-", 1, "tax"]]   an operator and its two sides
 *
 * What comes out is DOUBLE once a float or a division is in it, else decimal once a decimal is:
 * `+` and `-` have the larger scale of their sides, `*` the sum of both.
 */

import { utf8Encode } from '../util/bytes.ts'
import {
  EXPRESSION_OPS,
  type Expression,
  type ExpressionOp,
  type NumberType,
} from './aggregate-spec.ts'
import { numberTypeOf } from './aggregate-types.ts'
import { scannedDigits } from './exact-decimal.ts'
import { numberScan, scanNumber } from './fixed-point.ts'
import { DECIMAL_PRECISION_MAX, EXPRESSION_PART_COUNT_MAX } from './limits.ts'
import { NumberLiteral } from './number-literal.ts'
import { knownColumn, shownText } from './request-members.ts'
import type { Schema } from './schema.ts'
import { invalidArgument } from './status.ts'

const INT64_MIN = -(1n << 63n)
const INT64_MAX = (1n << 63n) - 1n

/**
 * Reads the expressions of one request, and counts their parts together.
 *
 * Requires: requests are nested no deeper than JSON may be, and their numbers are NumberLiterals.
 */
export class ExpressionReader {
  readonly #schema: Schema
  #partCount = 0

  constructor(schema: Schema) {
    this.#schema = schema
  }

  /**
   * The expression of a request, with the type of each of its parts.
   *
   * Throws: INVALID_ARGUMENT that names the part: no column, operator or number, a column that is
   * not of numbers, a scale or a literal of more digits than a DECIMAL has, too many parts.
   */
  read(request: unknown, place: string): Expression {
    if (++this.#partCount > EXPRESSION_PART_COUNT_MAX) {
      const limit = EXPRESSION_PART_COUNT_MAX
      throw invalidArgument(`expressions have more than ${limit} parts in all`, { limit })
    }
    if (typeof request === 'string') return this.#column(request, place)
    if (request instanceof NumberLiteral) return literal(request, place)
    if (Array.isArray(request)) return this.#binary(request, place)
    throw invalidArgument(
      `${place} must be a column's name, a number, or an array of an operator and two of these`,
    )
  }

  #column(name: string, place: string): Expression {
    const column = knownColumn(this.#schema, name, place)
    const type = numberTypeOf(column)
    if (type !== undefined) return { kind: 'column', type, columnId: column.id }
    const what = `column "${column.name}" is ${column.type}, expressions are of numbers`
    throw invalidArgument(`${place}: ${what}`, { column: column.name })
  }

  #binary(parts: readonly unknown[], place: string): Expression {
    const op = operatorOf(parts, place)
    const left = this.read(parts[1], `${place}[1]`)
    const right = this.read(parts[2], `${place}[2]`)
    const type = binaryType(op, left.type, right.type)
    if (scaleOf(type) > DECIMAL_PRECISION_MAX) {
      const limit = DECIMAL_PRECISION_MAX
      const what = `product has ${scaleOf(type)} digits behind the point, limit is ${limit}`
      throw invalidArgument(`${place}: ${what}`, { limit })
    }
    return { kind: 'binary', type, op, left, right }
  }
}

function operatorOf(parts: readonly unknown[], place: string): ExpressionOp {
  const ops = EXPRESSION_OPS.join(' ')
  const [op] = parts
  if (typeof op !== 'string') throw invalidArgument(`${place} must begin with one of ${ops}`)
  const known = EXPRESSION_OPS.find((one) => one === op)
  if (known === undefined) {
    throw invalidArgument(`${place}: operator ${shownText(op)} is none of ${ops}`)
  }
  const sideCount = parts.length - 1
  if (sideCount === 2) return known
  throw invalidArgument(`${place}: operator ${op} has two sides, not ${sideCount}`)
}

/** The type of an operation. Its scale may be one that no DECIMAL has: of a product. */
function binaryType(op: ExpressionOp, left: NumberType, right: NumberType): NumberType {
  if (op === '/' || left.kind === 'double' || right.kind === 'double') return { kind: 'double' }
  if (left.kind === 'integer' && right.kind === 'integer') return { kind: 'integer' }
  const scales = [scaleOf(left), scaleOf(right)]
  const scale = op === '*' ? scales[0] + scales[1] : Math.max(...scales)
  return { kind: 'decimal', scale }
}

function scaleOf(type: NumberType): number {
  return type.kind === 'decimal' ? type.scale : 0
}

/** A number as it is written: an integer if an INT64 can hold it, else a decimal. */
function literal({ text }: NumberLiteral, place: string): Expression {
  const bytes = utf8Encode(text)
  if (!scanNumber(bytes, 0, bytes.length)) throw invalidArgument(`${place} is not a number`)
  const { digitCount, exponent, isNegative } = numberScan
  const scale = Math.max(0, -exponent)
  const zeros = Math.max(0, exponent)
  if (digitCount + zeros > DECIMAL_PRECISION_MAX || scale > DECIMAL_PRECISION_MAX) {
    const limit = DECIMAL_PRECISION_MAX
    throw invalidArgument(
      `${place}: ${shownText(text).slice(1, -1)} has more than ${limit} digits`,
      {
        limit,
      },
    )
  }
  const magnitude = BigInt(`0${scannedDigits(bytes)}${'0'.repeat(zeros)}`)
  const unscaled = isNegative ? -magnitude : magnitude
  const isInteger = scale === 0 && unscaled >= INT64_MIN && unscaled <= INT64_MAX
  const type = isInteger ? ({ kind: 'integer' } as const) : ({ kind: 'decimal', scale } as const)
  return { kind: 'literal', type, unscaled, scale }
}
