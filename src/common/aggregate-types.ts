/** Types of what comes out of an aggregation. */

import type {
  Aggregate,
  AggregateSpec,
  Expression,
  NumberType,
  ResultType,
} from './aggregate-spec.ts'
import { DECIMAL_PRECISION_MAX } from './limits.ts'
import type { Column, Schema } from './schema.ts'

const INTEGER_TYPES: readonly string[] = ['INT8', 'INT16', 'INT32', 'INT64']

/** The type that a column's cells have in computations; undefined: they are no numbers. */
export function numberTypeOf({ type, attributes }: Column): NumberType | undefined {
  if (INTEGER_TYPES.includes(type)) return { kind: 'integer' }
  if (type === 'DECIMAL') return { kind: 'decimal', scale: attributes.scale ?? 0 }
  return type === 'FLOAT' || type === 'DOUBLE' ? { kind: 'double' } : undefined
}

/**
 * Types of the columns of a result: group keys, then aggregates. Requires: the spec is one of the
 * schema's.
 */
export function aggregateResultTypes(schema: Schema, spec: AggregateSpec): ResultType[] {
  const hasOneGroup = spec.groupBy.length === 0
  return [
    ...spec.groupBy.map(({ columnId }) => columnType(schema.mustById(columnId))),
    ...spec.aggregates.map((aggregate) => aggregateType(schema, aggregate, hasOneGroup)),
  ]
}

function columnType({ type, attributes, isNullable }: Column): ResultType {
  return { type, attributes, isNullable }
}

function aggregateType(schema: Schema, { op, input }: Aggregate, hasOneGroup: boolean): ResultType {
  switch (op) {
    case 'COUNT':
    case 'COUNT_DISTINCT':
      return { type: 'INT64', attributes: {}, isNullable: false }
    default: {
      // Of no rows, which only the group without keys has, there is nothing but null.
      const isNullable = hasOneGroup || inputIsNullable(schema, { op, input })
      if (op === 'AVG') return { type: 'DOUBLE', attributes: {}, isNullable }
      if (input.kind === 'column') {
        const column = schema.mustById(input.columnId)
        if (op !== 'SUM') return { ...columnType(column), isNullable }
        return { ...numberResult(numberTypeOf(column)), isNullable }
      }
      const type = input.kind === 'expression' ? input.expression.type : undefined
      return { ...numberResult(type), isNullable }
    }
  }
}

function numberResult(type: NumberType | undefined): Omit<ResultType, 'isNullable'> {
  if (type?.kind === 'integer') return { type: 'INT64', attributes: {} }
  if (type?.kind !== 'decimal') return { type: 'DOUBLE', attributes: {} }
  return {
    type: 'DECIMAL',
    attributes: { precision: DECIMAL_PRECISION_MAX, scale: type.scale },
  }
}

/** Whether there may be nothing in a row for an aggregate: null, or divided by zero. */
export function inputIsNullable(schema: Schema, { input }: Aggregate): boolean {
  if (input.kind === 'rows') return false
  if (input.kind === 'column') return schema.mustById(input.columnId).isNullable
  return expressionIsNullable(schema, input.expression)
}

function expressionIsNullable(schema: Schema, expression: Expression): boolean {
  switch (expression.kind) {
    case 'column':
      return schema.mustById(expression.columnId).isNullable
    case 'literal':
      return false
    case 'binary': {
      const { op, left, right } = expression
      if (op === '/') return true
      return expressionIsNullable(schema, left) || expressionIsNullable(schema, right)
    }
  }
}
