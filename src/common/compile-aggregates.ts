/**
 * Aggregations as a client writes them:
 *
 *   "group_by":   [ "metric", { "bucket": "1h", "column": "time", "as": "hour" } ]
 *   "aggregates": [ { "op": "COUNT" }, { "op": "MAX", "column": "value" },
 *                   { "op": "SUM", "expr": ["*", "price", 2], "as": "revenue" } ]
 *
 * The result has a column for each, in this order, named by "as", else by the column of a group
 * key, else `count`, `max_value`, and `sum` of an expression.
 */

import { utf8Encode } from '../util/bytes.ts'
import {
  AGGREGATE_OPS,
  type Aggregate,
  type AggregateInput,
  type AggregateOp,
  type AggregateSpec,
  type GroupKey,
  type ResultType,
} from './aggregate-spec.ts'
import { aggregateResultTypes, numberTypeOf } from './aggregate-types.ts'
import { shownValue } from './cell-error.ts'
import { physicalOf } from './data-type.ts'
import { ExpressionReader } from './expression-reader.ts'
import { COLUMN_COUNT_MAX, NAME_BYTES_MAX } from './limits.ts'
import {
  knownColumn,
  memberOf,
  type RequestObject,
  requestObject,
  shownText,
  stringMember,
} from './request-members.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument } from './status.ts'

/** The members of an aggregation's body that say what is computed, as the client sent them. */
export interface AggregateRequest {
  readonly group_by?: unknown
  readonly aggregates?: unknown
}

/** An aggregation worked out against a table. */
export interface CompiledAggregates {
  readonly spec: AggregateSpec
  /** Columns of the result: the group keys, then the aggregates; their ids are their indexes. */
  readonly columns: readonly Column[]
}

const GROUP_MEMBERS: readonly string[] = ['bucket', 'column', 'as']
const AGGREGATE_MEMBERS: readonly string[] = ['op', 'column', 'expr', 'as']
const UNIT_MICROS = { s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 } as const

interface Named<What> {
  readonly what: What
  readonly name: string
}

/**
 * Reads what a request wants computed.
 *
 * Requires: numbers in the request are NumberLiterals.
 * Throws: INVALID_ARGUMENT that names what is wrong: a member, column or operator that is not
 * known, what a column's type does not have, two columns of the result with one name.
 */
export function compileAggregates(schema: Schema, request: AggregateRequest): CompiledAggregates {
  const groups = listMember(request.group_by, 'group_by')
  const asked = listMember(request.aggregates, 'aggregates')
  const count = groups.length + asked.length
  if (count === 0) throw invalidArgument('aggregation needs member "aggregates" or "group_by"')
  if (count > COLUMN_COUNT_MAX) {
    const limit = COLUMN_COUNT_MAX
    throw invalidArgument(`result would have ${count} columns, limit is ${limit}`, { limit })
  }
  const groupBy = groups.map((group, i) => readGroupKey(schema, group, `group_by[${i}]`))
  const expressions = new ExpressionReader(schema)
  const aggregates = asked.map((aggregate, i) => {
    return readAggregate(schema, expressions, aggregate, `aggregates[${i}]`)
  })
  const names = [...groupBy, ...aggregates].map(({ name }) => name)
  checkDistinct(names)
  const spec = {
    groupBy: groupBy.map(({ what }) => what),
    aggregates: aggregates.map(({ what }) => what),
  }
  const columns = aggregateResultTypes(schema, spec).map((type, i) =>
    resultColumn(names[i], i, type),
  )
  return { spec, columns }
}

function listMember(value: unknown, member: string): readonly unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw invalidArgument(`member "${member}" must be an array`)
}

function readGroupKey(schema: Schema, request: unknown, place: string): Named<GroupKey> {
  if (typeof request === 'string') {
    const { id, name } = knownColumn(schema, request, place)
    return { what: { columnId: id, bucketMicros: null }, name }
  }
  const group = requestObject(request, GROUP_MEMBERS, place)
  const column = knownColumn(schema, stringMember(group, 'column', place), place)
  const bucketMicros = memberOf(group, 'bucket') === undefined ? null : bucketOf(group, place)
  if (bucketMicros !== null && column.type !== 'UNIXTIME_MICROS') {
    const what = `buckets are for UNIXTIME_MICROS, column "${column.name}" is ${column.type}`
    throw invalidArgument(`${place}: ${what}`, { column: column.name })
  }
  return { what: { columnId: column.id, bucketMicros }, name: nameOf(group, column.name, place) }
}

/** Microseconds of a bucket. */
function bucketOf(group: RequestObject, place: string): number {
  const text = stringMember(group, 'bucket', place)
  const match = /^([1-9][0-9]*)([smhd])$/.exec(text)
  if (match === null) {
    const what = 'is not a count of seconds, minutes, hours or days, such as 15m'
    throw invalidArgument(`${place}: bucket ${shownText(text)} ${what}`)
  }
  const micros = Number(match[1]) * UNIT_MICROS[match[2] as keyof typeof UNIT_MICROS]
  if (micros <= Number.MAX_SAFE_INTEGER) return micros
  const limit = Number.MAX_SAFE_INTEGER
  const what = `is longer than the limit of ${limit} microseconds`
  throw invalidArgument(`${place}: bucket ${shownText(text)} ${what}`, { limit })
}

function readAggregate(
  schema: Schema,
  expressions: ExpressionReader,
  request: unknown,
  place: string,
): Named<Aggregate> {
  const aggregate = requestObject(request, AGGREGATE_MEMBERS, place)
  const op = readOp(stringMember(aggregate, 'op', place), place)
  const ofColumn = memberOf(aggregate, 'column') !== undefined
  const expr = memberOf(aggregate, 'expr')
  const lower = op.toLowerCase()
  if (ofColumn && expr !== undefined) {
    throw invalidArgument(`${place} has both "column" and "expr", and takes one of them`)
  }
  if (ofColumn) {
    const column = knownColumn(schema, stringMember(aggregate, 'column', place), place)
    checkColumn(op, column, place)
    const input: AggregateInput = { kind: 'column', columnId: column.id }
    return { what: { op, input }, name: nameOf(aggregate, `${lower}_${column.name}`, place) }
  }
  const name = nameOf(aggregate, lower, place)
  if (expr !== undefined) {
    const expression = expressions.read(expr, `${place}.expr`)
    return { what: { op, input: { kind: 'expression', expression } }, name }
  }
  if (op === 'COUNT') return { what: { op, input: { kind: 'rows' } }, name }
  throw invalidArgument(`${place}: op ${op} needs a member "column" or "expr"`)
}

function readOp(text: string, place: string): AggregateOp {
  const op = AGGREGATE_OPS.find((known) => known === shownValue(text).toUpperCase())
  if (op !== undefined) return op
  throw invalidArgument(`${place}: op ${shownText(text)} is none of ${AGGREGATE_OPS.join(', ')}`)
}

function checkColumn(op: AggregateOp, column: Column, place: string): void {
  if ((op !== 'SUM' && op !== 'AVG') || numberTypeOf(column) !== undefined) return
  const what = `op ${op} is for numbers, column "${column.name}" is ${column.type}`
  throw invalidArgument(`${place}: ${what}`, { column: column.name })
}

/** The name that a part of the result is given, or its own. */
function nameOf(request: RequestObject, ownName: string, place: string): string {
  if (memberOf(request, 'as') === undefined) return ownName
  const name = stringMember(request, 'as', place)
  if (name.length === 0) throw invalidArgument(`${place}: member "as" is empty`)
  if (!name.isWellFormed()) throw invalidArgument(`${place}: member "as" has a lone surrogate`)
  if (name.includes('\0')) throw invalidArgument(`${place}: member "as" has a NUL character`)
  const bytes = utf8Encode(name).length
  if (bytes <= NAME_BYTES_MAX) return name
  const limit = NAME_BYTES_MAX
  throw invalidArgument(`${place}: member "as" is ${bytes} bytes, limit is ${limit}`, { limit })
}

function checkDistinct(names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) {
      const what = `two columns of the result are named ${shownText(name)}`
      throw invalidArgument(`${what}, give one another name with "as"`, {
        column: shownValue(name),
      })
    }
    seen.add(name)
  }
}

function resultColumn(name: string, index: number, result: ResultType): Column {
  const { type, attributes, isNullable } = result
  return {
    id: index,
    index,
    name,
    type,
    attributes,
    physical: physicalOf(type, attributes),
    isKey: false,
    isNullable,
    writeDefault: null,
    readDefault: null,
    comment: '',
    encoding: 'AUTO_ENCODING',
    compression: 'DEFAULT_COMPRESSION',
    isImmutable: false,
  }
}
