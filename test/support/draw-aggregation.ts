/** Random aggregations, and random rows for them whose numbers lie where exactness ends. */

import type {
  Aggregate,
  AggregateInput,
  AggregateSpec,
  Expression,
  ExpressionOp,
  GroupKey,
  NumberType,
} from '../../src/common/aggregate-spec.ts'
import { numberTypeOf } from '../../src/common/aggregate-types.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import type { PlainCells } from './plain-aggregate.ts'
import { randomCell } from './random-cell.ts'

const LONG = 'a text of more bytes than are kept of the ends of a page '
const TEXTS = ['', 'a', 'b', '\0', `${LONG}1`, `${LONG}2`, '\u{10ffff}'.repeat(12)]
const OPS: readonly ExpressionOp[] = ['+', '-', '*', '/']

/** How large the numbers of a run are. */
export type Magnitude = 'small' | 'plain' | 'wide' | 'any'

/** Rows for aggregations. */
export function drawRows(
  prng: Prng,
  schema: Schema,
  count: number,
  magnitude: Magnitude,
): PlainCells[] {
  return Array.from({ length: count }, () =>
    schema.columns.map((column) => {
      if (column.isNullable && prng.chance(0.2)) return null
      return drawCell(prng, column, magnitude)
    }),
  )
}

function drawCell(prng: Prng, column: Column, magnitude: Magnitude): Cell {
  const { type } = column
  if (magnitude === 'any') return randomCell(prng, column)
  if (type === 'FLOAT' || type === 'DOUBLE') {
    const special = magnitude === 'wide' && prng.chance(0.02)
    if (special) return prng.pick([Number.NaN, Infinity, -Infinity])
    const value = prng.pick([0, -0, 0.1, -0.3, 1e15, -1e15, 3.5, 1 / 3])
    return type === 'FLOAT' ? Math.fround(value) : value
  }
  if (type === 'STRING' || type === 'BINARY' || type === 'VARCHAR') {
    return utf8Encode(prng.pick(type === 'VARCHAR' ? ['', 'x', 'yz'] : TEXTS))
  }
  const whole = drawWhole(prng, magnitude)
  const [low, high] = rangeOf(column)
  const fitting = whole < low || whole > high ? whole % (high / 2n + 1n) : whole
  const isBig = typeof randomCell(prng, column) === 'bigint'
  return isBig ? fitting : Number(type === 'BOOL' ? fitting & 1n : fitting)
}

function drawWhole(prng: Prng, magnitude: Magnitude): bigint {
  const small = BigInt(prng.between(-20, 20))
  if (magnitude === 'small') return small
  const ends = magnitude === 'plain' ? [2n ** 31n, 2n ** 52n, 2n ** 26n] : [2n ** 53n, 2n ** 63n]
  if (magnitude === 'wide') ends.push(10n ** 18n, 10n ** 37n, 10n ** 38n, 2n ** 64n, 2n ** 96n)
  const end = prng.pick(ends)
  return (prng.chance(0.5) ? end : -end) + (prng.chance(0.5) ? small : 0n)
}

function rangeOf({ type, attributes }: Column): readonly [bigint, bigint] {
  const bits = { BOOL: 7, INT8: 7, INT16: 15, INT32: 31, DATE: 20, INT64: 63 } as const
  if (type === 'DECIMAL') {
    const end = 10n ** BigInt(attributes.precision ?? 0) - 1n
    return [-end, end]
  }
  const end = 2n ** BigInt(bits[type as keyof typeof bits] ?? 63)
  return [-end, end - 1n]
}

/** An aggregation of a table. */
export function drawAggregation(prng: Prng, schema: Schema): AggregateSpec {
  const groupBy = Array.from({ length: prng.pick([0, 0, 1, 1, 2, 3]) }, () =>
    drawGroupKey(prng, schema),
  )
  const count = prng.between(groupBy.length === 0 ? 1 : 0, 5)
  const aggregates = Array.from({ length: count }, () => drawAggregate(prng, schema))
  return { groupBy, aggregates }
}

function drawGroupKey(prng: Prng, schema: Schema): GroupKey {
  const { id, type } = prng.pick(schema.columns)
  const hasBucket = type === 'UNIXTIME_MICROS' && prng.chance(0.7)
  const bucketMicros = hasBucket
    ? prng.pick([1e6, 60e6, 3600e6, 86_400e6 * 365, 2 ** 53 - 1])
    : null
  return { columnId: id, bucketMicros }
}

function drawAggregate(prng: Prng, schema: Schema): Aggregate {
  const op = prng.pick(['COUNT', 'COUNT', 'COUNT_DISTINCT', 'SUM', 'SUM', 'MIN', 'MAX', 'AVG'])
  if (op === 'COUNT' && prng.chance(0.4)) return { op, input: { kind: 'rows' } }
  const isSum = op === 'SUM' || op === 'AVG'
  const input: AggregateInput = prng.chance(0.5)
    ? { kind: 'expression', expression: drawExpression(prng, schema, prng.between(0, 3)) }
    : { kind: 'column', columnId: prng.pick(isSum ? numbersOf(schema) : schema.columns).id }
  return { op: op as Aggregate['op'], input }
}

function numbersOf(schema: Schema): Column[] {
  return schema.columns.filter((column) => numberTypeOf(column) !== undefined)
}

function drawExpression(prng: Prng, schema: Schema, depth: number): Expression {
  if (depth > 0 && prng.chance(0.8)) {
    for (;;) {
      const op = prng.pick(OPS)
      const left = drawExpression(prng, schema, depth - 1)
      const right = drawExpression(prng, schema, depth - 1)
      const type = typeOf(op, left.type, right.type)
      if (type !== null) return { kind: 'binary', type, op, left, right }
    }
  }
  if (prng.chance(0.3)) return drawLiteral(prng)
  const column = prng.pick(numbersOf(schema))
  return { kind: 'column', type: numberTypeOf(column) as NumberType, columnId: column.id }
}

function drawLiteral(prng: Prng): Expression {
  const scale = prng.pick([0, 0, 1, 5])
  const unscaled = prng.pick([0n, 1n, -1n, 2n, 100n, 99_999n, 2n ** 53n, 10n ** 20n])
  const type: NumberType = scale === 0 ? { kind: 'integer' } : { kind: 'decimal', scale }
  return { kind: 'literal', type, unscaled, scale }
}

/** Null: a product of too many digits behind the point. */
function typeOf(op: ExpressionOp, left: NumberType, right: NumberType): NumberType | null {
  if (op === '/' || left.kind === 'double' || right.kind === 'double') return { kind: 'double' }
  if (left.kind === 'integer' && right.kind === 'integer') return { kind: 'integer' }
  const scales = [left, right].map((type) => (type.kind === 'decimal' ? type.scale : 0))
  const scale = op === '*' ? scales[0] + scales[1] : Math.max(...scales)
  return scale > 38 ? null : { kind: 'decimal', scale }
}
