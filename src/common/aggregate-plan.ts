/**
 * An aggregation worked out against a schema, alike in tablets and in the front: what is kept for
 * each group while rows are added, and how the results are made of it.
 *
 *   aggregates   SUM(x)   AVG(x)   COUNT(x)   MAX(y)
 *                   │     │    │      │         │
 *   states         sum of x    count of x     max of y       each kept once
 *
 * Of an input that is never null what would be counted is rows, so that the rows are counted once
 * for all.
 */

import { assert } from '../util/assert.ts'
import type { Aggregate, AggregateInput, AggregateOp, AggregateSpec } from './aggregate-spec.ts'
import { aggregateResultTypes, inputIsNullable, numberTypeOf } from './aggregate-types.ts'
import { PHYSICAL, type Physical, physicalOf } from './data-type.ts'
import { DECIMAL_PRECISION_MAX } from './limits.ts'
import type { Schema } from './schema.ts'

/** What is kept of a group's rows. `physical` is the layout of the cells that are looked at. */
export type StatePlan =
  | { readonly kind: 'count'; readonly input: AggregateInput }
  | { readonly kind: 'exactSum'; readonly input: AggregateInput }
  | { readonly kind: 'doubleSum'; readonly input: AggregateInput }
  | {
      readonly kind: 'min' | 'max' | 'distinct'
      readonly input: AggregateInput
      readonly physical: Physical
    }

/** How one result is made of states, which are named by their index. */
export interface OutputPlan {
  readonly op: AggregateOp
  readonly state: number
  /** SUM and AVG: the state that counts what was added; else −1. */
  readonly count: number
  /** AVG: digits behind the point of an exact sum. */
  readonly scale: number
  /** Of the result. */
  readonly physical: Physical
}

/** A group key: the layout of its cells. */
export interface GroupPlan {
  readonly columnId: number
  readonly physical: Physical
  /** Null: the cell itself, no bucket. */
  readonly bucketMicros: number | null
}

/** See the file's header. */
export interface AggregatePlan {
  readonly groups: readonly GroupPlan[]
  readonly states: readonly StatePlan[]
  readonly outputs: readonly OutputPlan[]
}

/** Works an aggregation out. Requires: the spec is one of the schema's. */
export function planAggregates(schema: Schema, spec: AggregateSpec): AggregatePlan {
  const types = aggregateResultTypes(schema, spec).slice(spec.groupBy.length)
  const states = new StateList(schema)
  const outputs = spec.aggregates.map((aggregate, index) => {
    const physical = physicalOf(types[index].type, types[index].attributes)
    return outputOf(states, schema, aggregate, physical)
  })
  const groups = spec.groupBy.map(({ columnId, bucketMicros }) => ({
    columnId,
    bucketMicros,
    physical: schema.mustById(columnId).physical,
  }))
  return { groups, states: states.plans, outputs }
}

/** Ids of the columns that an aggregation reads, each once. */
export function aggregateColumnIds(spec: AggregateSpec): number[] {
  const ids = new Set(spec.groupBy.map(({ columnId }) => columnId))
  for (const { input } of spec.aggregates) {
    if (input.kind === 'column') ids.add(input.columnId)
    if (input.kind === 'expression') addColumnIds(input.expression, ids)
  }
  return [...ids]
}

function addColumnIds(
  expression: (AggregateInput & { readonly kind: 'expression' })['expression'],
  ids: Set<number>,
): void {
  if (expression.kind === 'column') ids.add(expression.columnId)
  if (expression.kind !== 'binary') return
  addColumnIds(expression.left, ids)
  addColumnIds(expression.right, ids)
}

/** The text of a part of a spec: parts with the same text are the same. */
export function aggregateText(part: unknown): string {
  return JSON.stringify(part, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
}

/** States, each kept once. */
class StateList {
  readonly plans: StatePlan[] = []
  readonly #indexes = new Map<string, number>()
  readonly #schema: Schema

  constructor(schema: Schema) {
    this.#schema = schema
  }

  add(plan: StatePlan): number {
    const text = aggregateText(plan)
    let index = this.#indexes.get(text)
    if (index === undefined) {
      index = this.plans.push(plan) - 1
      this.#indexes.set(text, index)
    }
    return index
  }

  /** Counts the rows of which an input is not null. */
  addCount(aggregate: Aggregate): number {
    const isNullable = inputIsNullable(this.#schema, aggregate)
    return this.add({ kind: 'count', input: isNullable ? aggregate.input : { kind: 'rows' } })
  }
}

function outputOf(
  states: StateList,
  schema: Schema,
  aggregate: Aggregate,
  physical: Physical,
): OutputPlan {
  const { op, input } = aggregate
  const plain = { op, count: -1, scale: 0, physical }
  if (op === 'COUNT') {
    // A number with too many digits is an error for whoever counts it too: it is worked out.
    const isComputed = input.kind === 'expression'
    const state = isComputed ? states.add({ kind: 'count', input }) : states.addCount(aggregate)
    return { ...plain, state }
  }
  assert(input.kind !== 'rows', 'only COUNT looks at rows')
  const cells = physicalOfInput(schema, input)
  if (op === 'COUNT_DISTINCT') {
    return { ...plain, state: states.add({ kind: 'distinct', input, physical: cells }) }
  }
  if (op === 'MIN' || op === 'MAX') {
    const kind = op === 'MIN' ? 'min' : 'max'
    return { ...plain, state: states.add({ kind, input, physical: cells }) }
  }
  const type =
    input.kind === 'column' ? numberTypeOf(schema.mustById(input.columnId)) : input.expression.type
  assert(type !== undefined, 'what is summed is a number')
  const kind = type.kind === 'double' ? 'doubleSum' : 'exactSum'
  const scale = type.kind === 'decimal' ? type.scale : 0
  return {
    ...plain,
    scale,
    state: states.add({ kind, input }),
    count: states.addCount(aggregate),
  }
}

/** How the cells of an input are laid out; those of exact expressions as INT128, whatever type. */
function physicalOfInput(
  schema: Schema,
  input: Exclude<AggregateInput, { readonly kind: 'rows' }>,
): Physical {
  if (input.kind === 'column') return schema.mustById(input.columnId).physical
  if (input.expression.type.kind === 'double') return PHYSICAL.float64
  return physicalOf('DECIMAL', { precision: DECIMAL_PRECISION_MAX })
}
