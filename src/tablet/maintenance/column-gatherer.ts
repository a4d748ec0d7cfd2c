/**
 * The cells of one column of rows that come from several rowsets. Hot.
 *
 *   plan     A 0   B 0   A 1   B 1 …      the cells of each input that rows come from are copied
 *   pool     A0 A1 … │ B0 B1 … │ A1'      as they lie, changed ones behind them, and gathered once
 *   rows     0     4     8     5
 */

import { CFileCursor } from '../../cfile/cfile-cursor.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { PAGE_ROWS, READ_AHEAD_BYTES } from '../../common/limits.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import type { MergePlan } from './merge-plan.ts'
import type { MergeSource } from './merge-source.ts'

/** Rows that are gathered at a time. */
export const GATHER_ROWS = PAGE_ROWS
/** Bytes that are read ahead of all inputs together. */
const AHEAD_BYTES_MAX = 16 * READ_AHEAD_BYTES

/**
 * Reads a column of the inputs in the order of their rows.
 *
 * Holds a page of each input, what is read ahead of it, and the cells of GATHER_ROWS rows twice.
 */
export class ColumnGatherer {
  readonly #sources: readonly MergeSource[]
  readonly #column: Column
  readonly #plan: MergePlan
  readonly #cursors: readonly (CFileCursor | null)[]
  readonly #areChanged: readonly boolean[]
  readonly #pool: ColumnBuilder
  readonly #cells: ColumnBuilder
  readonly #rows = new Uint32Array(GATHER_ROWS)
  /** Of each input, what is added to an ordinal to get its row in the pool. */
  readonly #shifts: Int32Array
  /** Of each input, the rows in the pool by ordinal, from its first one on; null: by shift. */
  readonly #redirects: (Uint32Array | null)[]

  constructor(sources: readonly MergeSource[], column: Column, plan: MergePlan) {
    const readAheadBytes = Math.min(READ_AHEAD_BYTES, Math.floor(AHEAD_BYTES_MAX / sources.length))
    this.#sources = sources
    this.#column = column
    this.#plan = plan
    this.#cursors = sources.map(({ view }) => {
      const reader = view.base.column(column.id)
      return reader === null ? null : new CFileCursor(reader, { readAheadBytes, isCached: false })
    })
    this.#areChanged = sources.map((source) => source.changesColumn(column.id))
    this.#pool = new ColumnBuilder(column.physical, GATHER_ROWS)
    this.#cells = new ColumnBuilder(column.physical, GATHER_ROWS)
    this.#shifts = new Int32Array(sources.length)
    this.#redirects = sources.map(() => null)
  }

  /**
   * The cells of the plan's rows `[start, end)`, at most GATHER_ROWS, with all changes applied.
   *
   * Returns: borrowed until the next call. Throws: CORRUPTION. Cost: faster when rows ascend from
   * one call to the next.
   */
  gather(start: number, end: number): ColumnVector {
    assert(end - start <= GATHER_ROWS, 'rows fit the buffers')
    const { firsts, ends } = this.#plan.baseBounds(start, end, this.#sources.length)
    this.#pool.clear()
    for (let source = 0; source < this.#sources.length; source++) {
      if (ends[source] > 0) this.#fill(source, firsts[source], ends[source])
    }
    let isChanged = false
    for (let source = 0; source < this.#sources.length; source++) {
      this.#redirects[source] = null
      if (!this.#areChanged[source] || ends[source] === 0) continue
      this.#redirects[source] = this.#change(source, firsts[source], ends[source])
      isChanged = true
    }
    // Rows of one input that follow each other need no gathering.
    if (!isChanged && this.#pool.rowCount === end - start && this.#isFromOne(start, end)) {
      return this.#pool.view()
    }
    if (isChanged) this.#redirectRows(start, end, firsts)
    else this.#shiftRows(start, end)
    this.#cells.clear()
    this.#cells.appendRows(this.#pool.view(), this.#rows, 0, end - start)
    return this.#cells.view()
  }

  #isFromOne(start: number, end: number): boolean {
    const { sources } = this.#plan
    const source = sources[start]
    for (let row = start + 1; row < end; row++) if (sources[row] !== source) return false
    return true
  }

  /** Copies rows `[first, end)` of an input's base to the pool. */
  #fill(source: number, first: number, end: number): void {
    const pool = this.#pool
    const cursor = this.#cursors[source]
    this.#shifts[source] = pool.rowCount - first
    if (cursor === null) {
      pool.appendRepeated(this.#column.readDefault, end - first)
      return
    }
    const { reader } = cursor
    let row = first
    for (let index = reader.pageIndexOf(first); row < end; index++) {
      const pageStart = reader.pageStart(index)
      const pageEnd = Math.min(end, reader.pageEnd(index))
      pool.appendRange(cursor.page(index), row - pageStart, pageEnd - pageStart)
      row = pageEnd
    }
  }

  /** Copies the changed cells of rows `[first, end)` of an input; says where each row's is. */
  #change(source: number, first: number, end: number): Uint32Array {
    const rows = new Uint32Array(end - first)
    const shift = this.#shifts[source] + first
    for (let i = 0; i < rows.length; i++) rows[i] = shift + i
    for (const records of this.#sources[source].changes(first, end)) {
      this.#takeChanges(records, first, rows)
    }
    return rows
  }

  #takeChanges(records: DeltaRecords, first: number, rows: Uint32Array): void {
    const { count, ordinals, cellEnds, cellColumns, cellPositions, columns } = records
    const place = columns.findIndex(({ columnId }) => columnId === this.#column.id)
    if (place < 0 || count === 0) return
    // The cells of a column lie close together, so those between the first and the last are taken.
    let low = 0xffff_ffff
    let high = -1
    for (let cell = 0; cell < cellEnds[count - 1]; cell++) {
      if (cellColumns[cell] !== place) continue
      if (cellPositions[cell] < low) low = cellPositions[cell]
      if (cellPositions[cell] > high) high = cellPositions[cell]
    }
    if (high < 0) return
    const shift = this.#pool.rowCount - low
    this.#pool.appendRange(columns[place].cells, low, high + 1)
    let cell = 0
    for (let record = 0; record < count; record++) {
      for (const end = cellEnds[record]; cell < end; cell++) {
        if (cellColumns[cell] !== place) continue
        rows[ordinals[record] - first] = shift + cellPositions[cell]
      }
    }
  }

  #shiftRows(start: number, end: number): void {
    const { sources, ordinals } = this.#plan
    const rows = this.#rows
    const shifts = this.#shifts
    for (let row = start; row < end; row++) rows[row - start] = ordinals[row] + shifts[sources[row]]
  }

  #redirectRows(start: number, end: number, firsts: Uint32Array): void {
    const { sources, ordinals } = this.#plan
    for (let row = start; row < end; row++) {
      const source = sources[row]
      const redirect = this.#redirects[source]
      this.#rows[row - start] =
        redirect === null
          ? ordinals[row] + this.#shifts[source]
          : redirect[ordinals[row] - firsts[source]]
    }
  }
}
