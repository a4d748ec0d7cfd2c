/**
 * The cells of one column that a merged history may need, and those that it came to need. Hot.
 *
 *   cells of delta records ──► pool ◄── cells of base rows, read at the end for all who asked
 *                               │
 *   picks: ref ref ref … ───────┴──► cells in the order of the records that hold them
 *
 * A *ref* is a number: the cell's row in the pool, or, below BASE_REF, a request for a cell of a
 * base row, which comes into the pool when the requests are answered.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { MERGE_INPUT_COUNT_MAX } from './merge-plan.ts'

/** Stands for the cell of the base row that nobody has asked for yet. */
export const BASE_REF = -1

const FIRST_REQUEST_REF = -2
const CAPACITY_MIN = 64

/** Where cells of base rows come from. */
export interface BaseCells {
  /**
   * Appends the cells of a column of a source at `ordinals[start, end)`, which ascend.
   *
   * Throws: CORRUPTION that names the block.
   */
  appendCells(
    target: ColumnBuilder,
    column: Column,
    source: number,
    ordinals: Uint32Array,
    start: number,
    end: number,
  ): void
}

/** See the file's header. */
export class HistoryCells {
  readonly column: Column
  /** Cells that were picked. */
  pickCount = 0
  #picks = new Int32Array(CAPACITY_MIN)
  readonly #pool: ColumnBuilder
  readonly #cells: ColumnBuilder
  #requestCount = 0
  #requestSources = new Uint8Array(0)
  #requestOrdinals = new Uint32Array(0)

  constructor(column: Column) {
    this.column = column
    this.#pool = new ColumnBuilder(column.physical)
    this.#cells = new ColumnBuilder(column.physical)
  }

  /** Forgets everything and keeps the room. */
  clear(): void {
    this.pickCount = 0
    this.#requestCount = 0
    this.#pool.clear()
    this.#cells.clear()
  }

  /** Takes rows `[start, end)` of a vector into the pool. Returns the ref of its row 0. */
  take(cells: ColumnVector, start: number, end: number): number {
    assert(this.#requestCount === 0, 'cells are taken before any is asked for')
    const ref = this.#pool.rowCount - start
    this.#pool.appendRange(cells, start, end)
    return ref
  }

  /** Asks for the cell of a base row. Returns its ref. Requires: ordinals of a source ascend. */
  request(source: number, ordinal: number): number {
    const request = this.#requestCount
    if (request === this.#requestSources.length) this.#growRequests()
    this.#requestSources[request] = source
    this.#requestOrdinals[request] = ordinal
    this.#requestCount = request + 1
    return FIRST_REQUEST_REF - request
  }

  #growRequests(): void {
    const capacity = Math.max(CAPACITY_MIN, this.#requestCount * 2)
    const sources = new Uint8Array(capacity)
    sources.set(this.#requestSources)
    this.#requestSources = sources
    const ordinals = new Uint32Array(capacity)
    ordinals.set(this.#requestOrdinals)
    this.#requestOrdinals = ordinals
  }

  /** Picks a cell. Returns its row among those picked. */
  pick(ref: number): number {
    const row = this.pickCount
    if (row === this.#picks.length) {
      const grown = new Int32Array(row * 2)
      grown.set(this.#picks)
      this.#picks = grown
    }
    this.#picks[row] = ref
    this.pickCount = row + 1
    return row
  }

  /**
   * The picked cells. Borrowed until `clear`. Requires: at least one was picked.
   *
   * Throws: CORRUPTION when a base cannot be read.
   */
  finish(base: BaseCells): ColumnVector {
    const count = this.pickCount
    const rows = new Uint32Array(count)
    const picks = this.#picks
    if (this.#requestCount === 0) {
      for (let i = 0; i < count; i++) rows[i] = picks[i]
    } else {
      const answers = this.#answerRequests(base)
      for (let i = 0; i < count; i++) {
        const ref = picks[i]
        rows[i] = ref >= 0 ? ref : answers[FIRST_REQUEST_REF - ref]
      }
    }
    this.#cells.appendRows(this.#pool.view(), rows, 0, count)
    return this.#cells.view()
  }

  /** Brings what was asked for into the pool. Returns the row of each request there. */
  #answerRequests(base: BaseCells): Uint32Array {
    const count = this.#requestCount
    const sources = this.#requestSources
    const starts = new Uint32Array(MERGE_INPUT_COUNT_MAX + 1)
    for (let i = 0; i < count; i++) starts[sources[i] + 1]++
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1]
    const nexts = starts.slice()
    const ordinals = new Uint32Array(count)
    const answers = new Uint32Array(count)
    const first = this.#pool.rowCount
    for (let i = 0; i < count; i++) {
      const place = nexts[sources[i]]++
      ordinals[place] = this.#requestOrdinals[i]
      answers[i] = first + place
    }
    for (let source = 0; source < MERGE_INPUT_COUNT_MAX; source++) {
      const start = starts[source]
      const end = starts[source + 1]
      if (start < end) base.appendCells(this.#pool, this.column, source, ordinals, start, end)
    }
    return answers
  }
}
