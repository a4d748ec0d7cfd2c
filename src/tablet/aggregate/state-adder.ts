/** Adds selections of rows to the states of an aggregation, one adder a state. Hot. */

import type { ZoneMap } from '../../cfile/zone-map.ts'
import type { Extremes, StateOfPlan } from '../../common/aggregate/aggregate-table.ts'
import { BinaryExtremes } from '../../common/aggregate/binary-extremes.ts'
import { DistinctCounts } from '../../common/aggregate/distinct-counts.ts'
import { DoubleSums } from '../../common/aggregate/double-sums.ts'
import { ExactExtremes } from '../../common/aggregate/exact-extremes.ts'
import { ExactSums } from '../../common/aggregate/exact-sums.ts'
import { NumberExtremes } from '../../common/aggregate/number-extremes.ts'
import { RowCounts } from '../../common/aggregate/row-counts.ts'
import type { StatePlan } from '../../common/aggregate-plan.ts'
import type { AggregateInput } from '../../common/aggregate-spec.ts'
import { numberTypeOf } from '../../common/aggregate-types.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import type { Schema } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import type { SelectedColumn, Selection } from '../row-set.ts'
import { ColumnNode, type ExpressionGraph, type ExpressionNode } from './expression-graph.ts'
import { assignNumbers } from './group-ids.ts'
import { loadNulls } from './load-numbers.ts'
import { NumberVector } from './number-vector.ts'

/** Adds the rows of selections to one state. */
export interface StateAdder {
  /**
   * Adds each row to its group; null: all are of the one group that is there without keys. Throws:
   * CORRUPTION, INVALID_ARGUMENT when a computed number has too many digits.
   */
  add(selection: Selection, groups: Uint32Array | null): void
}

/** What adders are made with. */
export interface AdderOptions {
  readonly schema: Schema
  /** Columns of the selections. */
  readonly columnIds: readonly number[]
  readonly graph: ExpressionGraph
}

/** The adder of a state. */
export function openAdder(plan: StatePlan, state: StateOfPlan, options: AdderOptions): StateAdder {
  const { input } = plan
  if (input.kind === 'rows') {
    assert(state instanceof RowCounts, 'rows are only counted')
    return {
      add: ({ count }, groups) => state.addRows(groups, null, count),
    }
  }
  if (state instanceof ExactSums) return new ExactAdder(state, nodeOf(input, options))
  if (state instanceof DoubleSums) return new DoubleAdder(state, nodeOf(input, options))
  if (input.kind === 'expression') {
    return new ExpressionAdder(state, options.graph.node(input.expression))
  }
  return new ColumnAdder(state, options.columnIds.indexOf(input.columnId))
}

function nodeOf(
  input: Exclude<AggregateInput, { readonly kind: 'rows' }>,
  { schema, graph }: AdderOptions,
): ExpressionNode {
  if (input.kind === 'expression') return graph.node(input.expression)
  const type = numberTypeOf(schema.mustById(input.columnId))
  assert(type !== undefined, 'what is summed is a number')
  return graph.column(input.columnId, type)
}

class ExactAdder implements StateAdder {
  readonly #sums: ExactSums
  readonly #node: ExpressionNode

  constructor(sums: ExactSums, node: ExpressionNode) {
    this.#sums = sums
    this.#node = node
  }

  add({ count }: Selection, groups: Uint32Array | null): void {
    const node = this.#node
    if (node instanceof ColumnNode && node.plain() === null) {
      // The words of a column are added as they are, however large the numbers.
      const { cells, rows } = node.column
      const lanes = cells.lanes as Uint32Array
      if (cells.physical === PHYSICAL.int64) this.#sums.addPairs(groups, lanes, rows, count)
      else this.#sums.addQuads(groups, lanes, rows, count)
      return
    }
    const vector = node.rows()
    if (vector.isWide) this.#sums.addIntegers(groups, vector.wide, count)
    else this.#sums.addNumbers(groups, vector.values, count, vector.bound)
  }
}

class DoubleAdder implements StateAdder {
  readonly #sums: DoubleSums
  readonly #node: ExpressionNode

  constructor(sums: DoubleSums, node: ExpressionNode) {
    this.#sums = sums
    this.#node = node
  }

  add({ count }: Selection, groups: Uint32Array | null): void {
    this.#sums.addNumbers(groups, this.#node.rows().values, count)
  }
}

/** Counts, and finds extremes and different ones of, computed numbers. */
class ExpressionAdder implements StateAdder {
  readonly #state: StateOfPlan
  readonly #node: ExpressionNode
  #ids = new Uint32Array(0)

  constructor(state: StateOfPlan, node: ExpressionNode) {
    this.#state = state
    this.#node = node
  }

  add({ count }: Selection, groups: Uint32Array | null): void {
    const state = this.#state
    const vector = this.#node.rows()
    if (state instanceof RowCounts) {
      state.addRows(groups, vector.isNull, count)
    } else if (state instanceof NumberExtremes) {
      state.addNumbers(groups, vector.values, vector.isNull, count)
    } else if (state instanceof ExactExtremes) {
      if (vector.isWide) state.addIntegers(groups, vector.wide, vector.isNull, count)
      else state.addNumbers(groups, vector.values, vector.isNull, count)
    } else {
      assert(state instanceof DistinctCounts, 'computed numbers are no bytes')
      if (this.#ids.length < count) this.#ids = new Uint32Array(Math.max(count, 4096))
      assignNumbers(state.values, vector, count, this.#ids)
      state.addValues(groups, this.#ids, count)
    }
  }
}

/** Counts, and finds extremes and different ones of, cells: without reading them if it can. */
class ColumnAdder implements StateAdder {
  readonly #state: StateOfPlan
  readonly #index: number
  readonly #nulls = new NumberVector()
  #ids = new Uint32Array(0)

  constructor(state: StateOfPlan, index: number) {
    this.#state = state
    this.#index = index
  }

  add({ count, columns }: Selection, groups: Uint32Array | null): void {
    const state = this.#state
    const column = columns[this.#index]
    if (state instanceof RowCounts) this.#count(state, column, count, groups)
    else if (state instanceof DistinctCounts) this.#number(state, column, count, groups)
    else this.#compare(state as Extremes, column, count, groups)
  }

  #count(
    state: RowCounts,
    column: SelectedColumn,
    count: number,
    groups: Uint32Array | null,
  ): void {
    const { zone } = column
    if (zone !== null && groups === null) {
      state.addCount(0, count - zone.nullCount)
      return
    }
    if (zone?.nullCount === 0) {
      state.addRows(groups, null, count)
      return
    }
    loadNulls(column.cells, column.rows, count, this.#nulls)
    state.addRows(groups, this.#nulls.isNull, count)
  }

  #number(
    state: DistinctCounts,
    { cells, rows }: SelectedColumn,
    count: number,
    groups: Uint32Array | null,
  ): void {
    if (this.#ids.length < count) this.#ids = new Uint32Array(Math.max(count, 4096))
    state.values.assign(cells, rows, count, this.#ids)
    state.addValues(groups, this.#ids, count)
  }

  #compare(
    state: Extremes,
    column: SelectedColumn,
    count: number,
    groups: Uint32Array | null,
  ): void {
    const { zone } = column
    if (zone !== null && groups === null && addZone(state, zone)) return
    state.addCells(groups, column.cells, column.rows, count)
  }
}

/** Adds the ends of all cells of a page to the one group. Returns: whether they tell enough. */
function addZone(state: Extremes, { min, max, hasNaN, isMinCut, isMaxCut }: ZoneMap): boolean {
  const { isMax } = state
  const end = isMax ? max : min
  if (state instanceof BinaryExtremes) {
    if (end === null) return true
    const cell = end as Uint8Array
    // A least cell that is cut is no cell: it is not above any, and may be better than what there
    // is only if it is below that.
    if (isMax ? isMaxCut : isMinCut) return state.isBeyond(0, cell)
    state.addBytes(0, cell)
    return true
  }
  if (state instanceof ExactExtremes) {
    if (end !== null) state.addInteger(0, end as bigint)
    return true
  }
  if (end !== null) state.addNumber(0, end as number)
  // NaN is above all: it is the greatest of a page, and the least where there is nothing else.
  if (hasNaN && (isMax || end === null)) state.addNumber(0, Number.NaN)
  return true
}
