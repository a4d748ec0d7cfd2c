/**
 * Aggregates the rows of one tablet, some at a time.
 *
 *   selection ──► numbers of groups ──► each state adds its cells or computed numbers
 *   of a page     (one, without keys)
 *
 * Cells are read where they lie in their pages, and only those that a state asks for: rows are
 * counted, and ends of whole pages found, without reading any.
 */

import { AggregateTable } from '../../common/aggregate/aggregate-table.ts'
import {
  type AggregatePlan,
  aggregateColumnIds,
  planAggregates,
} from '../../common/aggregate-plan.ts'
import type { AggregateSpec } from '../../common/aggregate-spec.ts'
import { AGGREGATE_BYTES_MAX, AGGREGATE_STEP_ROW_COUNT } from '../../common/limits.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Schema } from '../../common/schema.ts'
import { StatusError } from '../../common/status.ts'
import type { RowSetIterator, Selection } from '../row-set.ts'
import { ExpressionGraph } from './expression-graph.ts'
import { assignBuckets } from './group-ids.ts'
import { openAdder, type StateAdder } from './state-adder.ts'

/** Rows that are looked at for one selection. */
const SELECTION_SCANNED_MAX = 32_768
/** A row that is aggregated costs as much as this many of its parts that are worked out. */
const PARTS_PER_ROW = 4

/** What to aggregate. */
export interface AggregateRunOptions {
  /** Rows whose columns are `aggregateColumnIds(spec)`. Taken over. */
  readonly rows: RowSetIterator
  readonly schema: Schema
  readonly spec: AggregateSpec
}

/** See the file's header. */
export class AggregateRun {
  readonly #rows: RowSetIterator
  readonly #plan: AggregatePlan
  readonly #table: AggregateTable
  readonly #graph: ExpressionGraph
  readonly #adders: readonly StateAdder[]
  /** Of each group key the column of selections. */
  readonly #keyColumns: readonly number[]
  readonly #keyNames: readonly string[]
  readonly #ids: Uint32Array[]
  readonly #partCount: number

  constructor({ rows, schema, spec }: AggregateRunOptions) {
    const columnIds = aggregateColumnIds(spec)
    const plan = planAggregates(schema, spec)
    this.#rows = rows
    this.#plan = plan
    this.#table = new AggregateTable(plan, AGGREGATE_BYTES_MAX)
    this.#graph = new ExpressionGraph(columnIds)
    const options = { schema, columnIds, graph: this.#graph }
    this.#adders = plan.states.map((state, index) =>
      openAdder(state, this.#table.states[index], options),
    )
    this.#keyColumns = plan.groups.map(({ columnId }) => columnIds.indexOf(columnId))
    this.#keyNames = plan.groups.map(({ columnId }) => schema.mustById(columnId).name)
    this.#ids = plan.groups.map(() => new Uint32Array(0))
    this.#partCount = columnIds.length + plan.states.length + this.#graph.nodeCount
  }

  /** Bytes that it holds in memory. */
  get heldBytes(): number {
    return this.#table.heldBytes
  }

  /**
   * Adds rows for about as long as one section may last. Returns: whether there may be more.
   *
   * Throws: CORRUPTION; INVALID_ARGUMENT when there are too many groups or different values, or a
   * number has too many digits.
   */
  step(): boolean {
    let left = AGGREGATE_STEP_ROW_COUNT
    while (left > 0) {
      const selection = this.#rows.nextSelection(SELECTION_SCANNED_MAX)
      if (selection === null) return false
      if (selection.count > 0) this.#add(selection)
      left -= selection.scannedCount + (selection.count * this.#partCount) / PARTS_PER_ROW
    }
    return true
  }

  #add(selection: Selection): void {
    const { columns, count } = selection
    this.#graph.load(columns, count)
    const groups = this.#numberGroups(selection)
    for (let state = 0; state < this.#adders.length; state++) {
      try {
        this.#adders[state].add(selection, groups)
      } catch (error) {
        throw this.#naming(error, state)
      }
    }
    this.#table.checkBytes()
  }

  /** What was refused of a state, with the aggregate that asked for it first. */
  #naming(error: unknown, state: number): unknown {
    if (!(error instanceof StatusError) || error.code !== 'INVALID_ARGUMENT') return error
    const index = this.#plan.outputs.findIndex((output) => output.state === state)
    if (index < 0) return error
    return new StatusError(error.code, `aggregates[${index}]: ${error.message}`, error.details)
  }

  #numberGroups({ columns, count }: Selection): Uint32Array | null {
    const { groups } = this.#table
    for (let key = 0; key < groups.values.length; key++) {
      if (this.#ids[key].length < count) this.#ids[key] = new Uint32Array(Math.max(count, 4096))
      const column = columns[this.#keyColumns[key]]
      const values = groups.values[key]
      const { bucketMicros } = this.#plan.groups[key]
      if (bucketMicros === null) values.assign(column.cells, column.rows, count, this.#ids[key])
      else {
        const bucket = { micros: bucketMicros, columnName: this.#keyNames[key] }
        assignBuckets(values, column, count, bucket, this.#ids[key])
      }
    }
    const numbers = groups.number(this.#ids, count)
    if (numbers !== null) this.#table.reserve()
    return numbers
  }

  /** What the rows so far came to. Borrowed until the next step. */
  partial(): RowBlock[] {
    return this.#table.partial()
  }

  /** Lets go of the rows: whoever opened it calls it, after the end and after an error too. */
  close(): void {
    this.#rows.close()
  }
}
