/**
 * Predicates as a client writes them, and back.
 *
 *   { "column": "host", "op": "=", "value": "web-1" }          host,=,web-1
 *   { "column": "metric", "op": "IN", "values": ["a", "b"] }   metric,IN,a,b
 *   { "column": "value", "op": "IS NULL" }                     value,IS NULL
 *
 * A value that the column cannot hold is no error but arithmetic: it lies somewhere among those
 * that it can (`placeLiteral`), so that it equals none of them and is less than some, or all, or
 * none.
 */

import { unreachable } from '../util/assert.ts'
import { shownValue } from './cell-error.ts'
import { cellToJson } from './cell-json.ts'
import {
  anyNumberPredicate,
  type ColumnPredicate,
  equalityPredicate,
  exclusiveRangePredicate,
  inclusiveRangePredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  rangePredicate,
} from './column-predicate.ts'
import { type Cell, PHYSICAL } from './data-type.ts'
import { IN_VALUE_COUNT_MAX, PREDICATE_COUNT_MAX } from './limits.ts'
import { type JsonScalar, NumberLiteral } from './number-literal.ts'
import { type Placement, placeLiteral, placeText } from './place-literal.ts'
import { prefixPredicate } from './prefix-predicate.ts'
import { knownColumn, memberOf, requestObject, shownText, stringMember } from './request-members.ts'
import { combinePredicates } from './scan-spec.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument } from './status.ts'
import type { ValueOptions } from './value-options.ts'

/** Operators, as they are written; any case is read. */
export const PREDICATE_OPS = [
  '=',
  '<',
  '<=',
  '>',
  '>=',
  'IN',
  'STARTS WITH',
  'IS NULL',
  'IS NOT NULL',
] as const
/** An operator. */
export type PredicateOp = (typeof PREDICATE_OPS)[number]

const MEMBERS: readonly string[] = ['column', 'op', 'value', 'values']

/** What is asked of a column, the values still as they were written. */
interface Question<Literal> {
  readonly column: Column
  readonly op: PredicateOp
  /** One for a comparison, any number for IN, none for IS NULL and IS NOT NULL. */
  readonly literals: readonly Literal[]
}

/**
 * Reads the predicates of a JSON body and merges them to at most one a column.
 *
 * Requires: numbers in `requests` are NumberLiterals.
 * Throws: INVALID_ARGUMENT that names what is wrong: a member, column or operator that is not
 * known, a value of the wrong kind, null as a value, more predicates or IN values than the limits.
 */
export function predicatesFromJson(
  schema: Schema,
  requests: unknown,
  options: ValueOptions,
): ColumnPredicate[] {
  if (!Array.isArray(requests)) throw invalidArgument('member "predicates" must be an array')
  return predicatesOf(
    schema,
    requests.length,
    (i) => jsonQuestion(schema, requests[i], `predicates[${i}]`),
    (column, literal) => placeLiteral(column, literal, options),
  )
}

/**
 * Reads predicates in text form, each as the fields of one record: column, operator, values.
 *
 * Throws: as `predicatesFromJson`.
 */
export function predicatesFromText(
  schema: Schema,
  records: readonly (readonly string[])[],
  options: ValueOptions,
): ColumnPredicate[] {
  return predicatesOf(
    schema,
    records.length,
    (i) => textQuestion(schema, records[i], `where[${i}]`),
    (column, literal) => placeText(column, literal, options),
  )
}

/**
 * Predicates as a JSON array of requests that `predicatesFromJson` reads as the same predicates. A
 * range is up to two requests, and what matches nothing an empty IN. Text, so that INT64 stays
 * exact; timestamps as RFC 3339 where the options would print milliseconds, which are not.
 */
export function predicatesToJson(
  schema: Schema,
  predicates: readonly ColumnPredicate[],
  options: ValueOptions,
): string {
  const isExact = options.timestamps !== 'millis'
  const exact: ValueOptions = isExact ? options : { ...options, timestamps: 'rfc3339' }
  const requests = predicates.flatMap((predicate) => {
    return requestsOf(schema.mustById(predicate.columnId), predicate, exact)
  })
  return `[${requests.join(',')}]`
}

function predicatesOf<Literal>(
  schema: Schema,
  count: number,
  questionAt: (index: number) => Question<Literal>,
  place: (column: Column, literal: Literal) => Placement,
): ColumnPredicate[] {
  if (count > PREDICATE_COUNT_MAX) {
    const limit = PREDICATE_COUNT_MAX
    throw invalidArgument(`scan has ${count} predicates, limit is ${limit}`, { limit })
  }
  const predicates: ColumnPredicate[] = []
  let inValueCount = 0
  for (let i = 0; i < count; i++) {
    const { column, op, literals } = questionAt(i)
    if (op === 'IN') inValueCount += literals.length
    if (inValueCount > IN_VALUE_COUNT_MAX) {
      const limit = IN_VALUE_COUNT_MAX
      throw invalidArgument(`scan has more than ${limit} IN values in all`, { limit })
    }
    const places = literals.map((literal) => place(column, literal))
    predicates.push(answerable(column, op, places))
  }
  return combinePredicates(schema, predicates)
}

function answerable(
  column: Column,
  op: PredicateOp,
  places: readonly Placement[],
): ColumnPredicate {
  switch (op) {
    case 'IS NULL':
      return isNullPredicate(column)
    case 'IS NOT NULL':
      return isNotNullPredicate(column)
    case 'IN':
      return inListPredicate(column, places.flatMap(exactCells))
    case 'STARTS WITH': {
      // A prefix that the column cannot hold is longer than all that it can.
      const [prefix] = places.flatMap(exactCells)
      return prefix instanceof Uint8Array ? prefixPredicate(column, prefix) : nonePredicate(column)
    }
    default:
      return comparison(column, op, places[0])
  }
}

function exactCells(place: Placement): Cell[] {
  return place.kind === 'exact' ? [place.cell] : []
}

function comparison(
  column: Column,
  op: '=' | '<' | '<=' | '>' | '>=',
  place: Placement,
): ColumnPredicate {
  const isLess = op === '<' || op === '<='
  const isGreater = op === '>' || op === '>='
  switch (place.kind) {
    case 'exact':
      return exactComparison(column, op, place.cell)
    case 'between':
      if (isLess) return inclusiveRangePredicate(column, null, place.below)
      return isGreater ? exclusiveRangePredicate(column, place.below, null) : nonePredicate(column)
    case 'above':
      return isLess ? anyNumberPredicate(column) : nonePredicate(column)
    case 'below':
      return isGreater ? anyNumberPredicate(column) : nonePredicate(column)
    case 'nan':
      return nonePredicate(column)
    default:
      return unreachable(place)
  }
}

function exactComparison(
  column: Column,
  op: '=' | '<' | '<=' | '>' | '>=',
  cell: Cell,
): ColumnPredicate {
  switch (op) {
    case '=':
      return equalityPredicate(column, cell)
    case '<':
      return rangePredicate(column, null, cell)
    case '<=':
      return inclusiveRangePredicate(column, null, cell)
    case '>':
      return exclusiveRangePredicate(column, cell, null)
    case '>=':
      return rangePredicate(column, cell, null)
    default:
      return unreachable(op)
  }
}

function jsonQuestion(schema: Schema, request: unknown, place: string): Question<JsonScalar> {
  const question = requestObject(request, MEMBERS, place)
  const column = knownColumn(schema, stringMember(question, 'column', place), place)
  const op = knownOp(stringMember(question, 'op', place), column, place)
  const [wanted, other] = op === 'IN' ? ['values', 'value'] : ['value', 'values']
  const isUnary = op === 'IS NULL' || op === 'IS NOT NULL'
  for (const member of isUnary ? [wanted, other] : [other]) {
    if (memberOf(question, member) === undefined) continue
    throw invalidArgument(`${place}: op ${op} takes no member "${member}"`, {
      column: column.name,
    })
  }
  if (isUnary) return { column, op, literals: [] }
  const given = memberOf(question, wanted)
  const values = op === 'IN' ? given : [given]
  if (given === undefined || !Array.isArray(values)) {
    const what = op === 'IN' ? 'an array in member "values"' : 'a member "value"'
    throw invalidArgument(`${place}: op ${op} needs ${what}`, { column: column.name })
  }
  return { column, op, literals: values.map((value) => scalar(column, value, place)) }
}

function textQuestion(schema: Schema, fields: readonly string[], place: string): Question<string> {
  if (fields.length < 2) throw invalidArgument(`${place} needs a column and an op`)
  const column = knownColumn(schema, fields[0], place)
  const op = knownOp(fields[1], column, place)
  const literals = fields.slice(2)
  const isUnary = op === 'IS NULL' || op === 'IS NOT NULL'
  if (op === 'IN' || literals.length === (isUnary ? 0 : 1)) return { column, op, literals }
  const what = isUnary ? 'takes no value' : 'takes one value'
  throw invalidArgument(`${place}: op ${op} ${what}, not ${literals.length}`, {
    column: column.name,
  })
}

function knownOp(text: string, column: Column, place: string): PredicateOp {
  const op = PREDICATE_OPS.find((known) => known === shownValue(text).toUpperCase())
  const details = { column: column.name }
  if (op === undefined) {
    const ops = PREDICATE_OPS.join(', ')
    throw invalidArgument(`${place}: op ${shownText(text)} is none of ${ops}`, details)
  }
  if (op === 'STARTS WITH' && column.physical !== PHYSICAL.binary) {
    const types = 'STRING, VARCHAR and BINARY'
    const what = `op ${op} is for ${types}, column "${column.name}" is ${column.type}`
    throw invalidArgument(`${place}: ${what}`, details)
  }
  return op
}

/** The value, if it is one that a comparison can have. */
function scalar(column: Column, value: unknown, place: string): JsonScalar {
  const details = { column: column.name }
  if (value === null) {
    throw invalidArgument(`${place}: null compares with nothing, ask IS NULL`, details)
  }
  if (typeof value === 'string' || typeof value === 'boolean' || value instanceof NumberLiteral) {
    return value
  }
  const what = Array.isArray(value) ? 'an array' : 'an object'
  throw invalidArgument(`${place}: ${what} is not a value of column "${column.name}"`, details)
}

function requestsOf(column: Column, predicate: ColumnPredicate, options: ValueOptions): string[] {
  const name = JSON.stringify(column.name)
  const request = (op: PredicateOp, value: string) => `{"column":${name},"op":"${op}"${value}}`
  const compare = (op: PredicateOp, cell: Cell | null) => {
    if (cell === null) return []
    return [request(op, `,"value":${cellToJson(column, cell, options)}`)]
  }
  switch (predicate.kind) {
    case 'NONE':
      return [request('IN', ',"values":[]')]
    case 'IS_NULL':
      return [request('IS NULL', '')]
    case 'IS_NOT_NULL':
      return [request('IS NOT NULL', '')]
    case 'EQUALITY':
      return compare('=', predicate.lower)
    case 'RANGE':
      return [...compare('>=', predicate.lower), ...compare('<', predicate.upper)]
    case 'IN_LIST': {
      const values = predicate.values.map((cell) => cellToJson(column, cell, options))
      return [request('IN', `,"values":[${values.join(',')}]`)]
    }
    default:
      return unreachable(predicate.kind)
  }
}
