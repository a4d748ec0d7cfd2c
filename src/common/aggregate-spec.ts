/**
 * What an aggregation asks of the rows of a scan: plain data, worked out by the front, carried out
 * by tablets, merged by the front.
 *
 *   group keys      columns, or times cut down to the beginning of their bucket
 *   expression      integers and decimals exactly, each with its scale; DOUBLE once a float or a
 *                   division is in it
 */

import type { DataType, TypeAttributes } from './data-type.ts'

/** What can be asked of a group's rows. */
export const AGGREGATE_OPS = ['COUNT', 'COUNT_DISTINCT', 'SUM', 'MIN', 'MAX', 'AVG'] as const
/** What can be asked of a group's rows. */
export type AggregateOp = (typeof AGGREGATE_OPS)[number]

/**
 * The type of a number while it is computed with. Integers have scale 0 and become INT64; decimals
 * become DECIMAL(38, scale).
 */
export type NumberType =
  | { readonly kind: 'integer' }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'double' }

/** Operators of expressions. */
export const EXPRESSION_OPS = ['+', '-', '*', '/'] as const
/** Operator of an expression. */
export type ExpressionOp = (typeof EXPRESSION_OPS)[number]

/** A number for each row. `unscaled` is the literal times ten to the power of its scale. */
export type Expression =
  | { readonly kind: 'column'; readonly type: NumberType; readonly columnId: number }
  | {
      readonly kind: 'literal'
      readonly type: NumberType
      readonly unscaled: bigint
      readonly scale: number
    }
  | {
      readonly kind: 'binary'
      readonly type: NumberType
      readonly op: ExpressionOp
      readonly left: Expression
      readonly right: Expression
    }

/** What an aggregate looks at: rows, whatever is in them; cells of a column; computed numbers. */
export type AggregateInput =
  | { readonly kind: 'rows' }
  | { readonly kind: 'column'; readonly columnId: number }
  | { readonly kind: 'expression'; readonly expression: Expression }

/** One aggregate. Only COUNT looks at rows; COUNT_DISTINCT at columns or expressions. */
export interface Aggregate {
  readonly op: AggregateOp
  readonly input: AggregateInput
}

/** What rows are grouped by. */
export interface GroupKey {
  readonly columnId: number
  /** Of a time: the width of its bucket, from the epoch; null: the column's cell itself. */
  readonly bucketMicros: number | null
}

/** An aggregation. Without group keys there is one group, also of no rows. */
export interface AggregateSpec {
  readonly groupBy: readonly GroupKey[]
  readonly aggregates: readonly Aggregate[]
}

/** The type of a column of an aggregation's result. */
export interface ResultType {
  readonly type: DataType
  readonly attributes: TypeAttributes
  /** Whether null can come out. */
  readonly isNullable: boolean
}
