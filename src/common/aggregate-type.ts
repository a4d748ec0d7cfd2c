/**
 * Types of what an aggregation computes.
 *
 *   COUNT COUNT_DISTINCT   INT64
 *   SUM                    INT64 of integers, DECIMAL(38,s) of decimals, DOUBLE of floats
 *   AVG                    DOUBLE
 *   MIN MAX                the column's; of an expression as SUM
 *
 *   + -   the larger scale          *   the sum of the scales          /   DOUBLE
 *   DOUBLE once a float or a division is in it, else decimal once a decimal is
 */

import { unreachable } from '../util/assert.ts'
import type {
  Aggregate,
  AggregateInput,
  AggregateSpec,
  Expression,
  ExpressionOp,
  GroupKey,
  NumberType,
  ResultType,
} from './aggregate-spec.ts'
import { DECIMAL_PRECISION_MAX } from './limits.ts'
import type { Column, Schema } from './schema.ts'

const INTEGER: NumberType = { kind: 'integer' }
const DOUBLE: NumberType = { kind: 'double' }

/** The type that a column's cells are computed with, or null when they are no numbers. */
export function numberTypeOf(column: Column): NumberType | null {
  switch (column.type) {
    case 'INT8':
    case 'INT16':
    case 'INT32':
    case 'INT64':
      return INTEGER
    case 'DECIMAL':
      return { kind: 'decimal', scale: column.attributes.scale ?? 0 }
    case 'FLOAT':
    case 'DOUBLE':
      return DOUBLE
    default:
      return null
  }
}

/** The type of an operation. Its scale may be one that no DECIMAL has: of a product. */
export function binaryType(op: ExpressionOp, left: NumberType, right: NumberType): NumberType {
  if (op === '/' || left.kind === 'double' || right.kind === 'double') return DOUBLE
  if (left.kind === 'integer' && right.kind === 'integer') return INTEGER
  const scales = [scaleOf(left), scaleOf(right)]
  const scale = op === '*' ? scales[0] + scales[1] : Math.max(...scales)
  return { kind: 'decimal', scale }
}

/** Digits behind the point; of integers none. Requires: not a double. */
export function scaleOf(type: NumberType): number {
  return type.kind === 'decimal' ? type.scale : 0
}

/** The types of a result's columns: those of the group keys, then those of the aggregates. */
export function resultTypes(schema: Schema, spec: AggregateSpec): ResultType[] {
  const isGrouped = spec.groupBy.length > 0
  return [
    ...spec.groupBy.map((key) => groupKeyType(schema, key)),
    ...spec.aggregates.map((aggregate) => aggregateType(schema, aggregate, isGrouped)),
  ]
}

/** Ids of the columns that an aggregation reads, each once. */
export function columnIdsOf(spec: AggregateSpec): number[] {
  const ids = new Set(spec.groupBy.map((key) => key.columnId))
  for (const { input } of spec.aggregates) {
    if (input.kind === 'column') ids.add(input.columnId)
    if (input.kind === 'expression') addColumnIds(ids, input.expression)
  }
  return [...ids]
}

function addColumnIds(ids: Set<number>, expression: Expression): void {
  if (expression.kind === 'column') ids.add(expression.columnId)
  if (expression.kind !== 'binary') return
  addColumnIds(ids, expression.left)
  addColumnIds(ids, expression.right)
}

function groupKeyType(schema: Schema, key: GroupKey): ResultType {
  const { type, attributes, isNullable } = schema.mustById(key.columnId)
  return { type, attributes, isNullable }
}

function aggregateType(schema: Schema, aggregate: Aggregate, isGrouped: boolean): ResultType {
  const { op, input } = aggregate
  // Without groups there may be no row to take anything from.
  const isNullable = !isGrouped || canBeNull(schema, input)
  switch (op) {
    case 'COUNT':
    case 'COUNT_DISTINCT':
      return { type: 'INT64', attributes: {}, isNullable: false }
    case 'AVG':
      return { type: 'DOUBLE', attributes: {}, isNullable }
    case 'SUM':
      return { ...numberResult(inputNumberType(schema, input)), isNullable }
    case 'MIN':
    case 'MAX': {
      if (input.kind !== 'column') {
        return { ...numberResult(inputNumberType(schema, input)), isNullable }
      }
      const { type, attributes } = schema.mustById(input.columnId)
      return { type, attributes, isNullable }
    }
    default:
      return unreachable(op)
  }
}

function numberResult(type: NumberType): Pick<ResultType, 'type' | 'attributes'> {
  if (type.kind === 'double') return { type: 'DOUBLE', attributes: {} }
  if (type.kind === 'integer') return { type: 'INT64', attributes: {} }
  const attributes = { precision: DECIMAL_PRECISION_MAX, scale: type.scale }
  return { type: 'DECIMAL', attributes }
}

/** Requires: the input is of numbers, as `compileAggregates` sees to. */
function inputNumberType(schema: Schema, input: AggregateInput): NumberType {
  if (input.kind === 'expression') return input.expression.type
  const column = input.kind === 'column' ? schema.mustById(input.columnId) : null
  return (column === null ? null : numberTypeOf(column)) ?? INTEGER
}

function canBeNull(schema: Schema, input: AggregateInput): boolean {
  if (input.kind === 'column') return schema.mustById(input.columnId).isNullable
  return input.kind === 'expression' && isNullableExpression(schema, input.expression)
}

function isNullableExpression(schema: Schema, expression: Expression): boolean {
  switch (expression.kind) {
    case 'column':
      return schema.mustById(expression.columnId).isNullable
    case 'literal':
      return false
    case 'binary': {
      const { op, left, right } = expression
      if (op === '/') return true
      return isNullableExpression(schema, left) || isNullableExpression(schema, right)
    }
    default:
      return unreachable(expression)
  }
}
