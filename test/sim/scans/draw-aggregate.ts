/** Aggregations at random, of a table whose cells are known. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import type { Prng } from '../../../src/util/prng.ts'
import { drawFormat, drawMoment, drawSelection, type QueryGround } from './draw-query.ts'
import { shuffled } from './draw-table.ts'
import type { ModelAggregate, ModelGroupKey } from './model-aggregate.ts'
import { kindOfColumn, type ModelExpression } from './model-expression.ts'
import type { ModelColumn } from './model-value.ts'
import type { AggregateQuery } from './scan-script.ts'

const OPS = ['COUNT', 'COUNT_DISTINCT', 'SUM', 'SUM', 'MIN', 'MAX', 'AVG'] as const
const BUCKETS = ['1s', '90s', '1m', '15m', '1h', '1d', '7d', '365d']
const NUMBERS = ['0', '1', '2', '-1', '0.5', '0.05', '1.50', '1e3', '-7', '1000000007', '3e-6']
const WIDE_NUMBERS = ['9007199254740993', '9223372036854775807', '12345678901234567890.125']

/** An aggregation; sometimes of a whole table, which needs less than its rows to be answered. */
export function drawAggregation(prng: Prng, ground: QueryGround): AggregateQuery {
  const query = drawAnyAggregation(prng, ground)
  if (!prng.chance(0.2)) return query
  const aggregates = Array.from({ length: prng.between(1, 6) }, (_, i): ModelAggregate => {
    const input = { kind: 'column', column: prng.pick(ground.columns).name } as const
    return { op: prng.pick(['MIN', 'MAX', 'MAX', 'COUNT']), input, as: `a${i}` }
  })
  const whole = { predicates: [], lower: null, upper: null, groupBy: [], orderBy: [] }
  return { ...query, ...whole, aggregates }
}

function drawAnyAggregation(prng: Prng, ground: QueryGround): AggregateQuery {
  const options: ValueOptions = {
    int64: prng.pick(['number', 'number', 'string']),
    timestamps: prng.pick(['rfc3339', 'micros']),
  }
  const groupBy = drawGroupBy(prng, ground.columns)
  const count = prng.pick(groupBy.length === 0 ? [1, 1, 2, 4] : [0, 1, 1, 2, 3, 5])
  const aggregates = Array.from({ length: count }, (_, i) => {
    return drawAggregate(prng, ground.columns, i)
  })
  const names = [
    ...groupBy.map(({ as, column }) => as ?? column),
    ...aggregates.flatMap(({ as }) => (as === null ? [] : [as])),
  ]
  const ordered = prng.chance(0.4) ? shuffled(prng, [...new Set(names)]).slice(0, 2) : []
  return {
    kind: 'aggregate',
    ...drawSelection(prng, ground, options, true),
    groupBy,
    aggregates,
    orderBy: ordered.map((column) => ({ column, isDescending: prng.chance(0.5) })),
    limit: prng.chance(0.2) ? prng.pick([0, 1, 3, 20]) : null,
    at: drawMoment(prng, true),
    isTimeText: prng.chance(0.3),
    format: drawFormat(prng),
    options,
    nullText: '',
  }
}

function drawGroupBy(prng: Prng, columns: readonly ModelColumn[]): ModelGroupKey[] {
  const count = prng.pick([0, 0, 1, 1, 1, 2, 3])
  return shuffled(prng, columns)
    .slice(0, count)
    .map(({ name, type }) => {
      const hasBucket = type === 'UNIXTIME_MICROS' && prng.chance(0.7)
      return {
        column: name,
        bucket: hasBucket ? prng.pick(BUCKETS) : null,
        as: prng.chance(0.2) ? `group ${name}` : null,
      }
    })
}

function drawAggregate(prng: Prng, columns: readonly ModelColumn[], index: number): ModelAggregate {
  const op = prng.pick(OPS)
  const as = prng.chance(0.8) ? `a${index}` : null
  if (op === 'COUNT' && prng.chance(0.4)) return { op, input: null, as }
  const numbers = columns.filter((column) => kindOfColumn(column) !== null)
  const mustCount = op === 'SUM' || op === 'AVG'
  const sources = mustCount ? numbers : columns
  if (sources.length > 0 && prng.chance(0.55)) {
    return { op, input: { kind: 'column', column: prng.pick(sources).name }, as }
  }
  return { op, input: drawBinary(prng, numbers, prng.pick([1, 1, 2, 3])), as }
}

function drawBinary(prng: Prng, columns: readonly ModelColumn[], depth: number): ModelExpression {
  return {
    kind: 'binary',
    op: prng.pick(['+', '-', '*', '*', '/']),
    left: drawExpression(prng, columns, depth - 1),
    right: drawExpression(prng, columns, depth - 1),
  }
}

function drawExpression(
  prng: Prng,
  columns: readonly ModelColumn[],
  depth: number,
): ModelExpression {
  if (depth > 0 && prng.chance(0.6)) return drawBinary(prng, columns, depth)
  if (columns.length > 0 && prng.chance(0.7)) {
    return { kind: 'column', column: prng.pick(columns).name }
  }
  return { kind: 'number', text: prng.pick(prng.chance(0.1) ? WIDE_NUMBERS : NUMBERS) }
}
