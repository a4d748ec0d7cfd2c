/**
 * Changes to rows that are in memory: the REDO records of a MemRowSet. Hot.
 *
 * Each record knows the record before it on the same row, so a chain is read from the newest on:
 * the first record at or below a snapshot says whether the row is there, and a read stops as soon
 * as each column it wants has been met, however often the row was changed before.
 *
 *   newest ──► UPDATE @15 {c2, c5} ──► REINSERT @12 {c1 … c5} ──► DELETE @12 ──► UPDATE @9 {c2}
 *
 * Records of one op on one row have one timestamp; their order in the chain is their order in the
 * op. A changed cell is kept in a column of its own kind, as inserted cells are, and named by its
 * position there. A REINSERT has a cell for every column but the key's, so no read goes below it.
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import type { Cell, Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { MEM_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { Schema } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { CHUNK_MASK, CHUNK_OVERHEAD_BYTES, CHUNK_ROW_COUNT, CHUNK_SHIFT } from './chunk.ts'
import { ChunkedColumn } from './chunked-column.ts'
import { RedoChunk } from './redo-chunk.ts'
import { NO_REDO } from './row-chunk.ts'

/** Kinds of records. */
export const REDO_KINDS = { UPDATE: 1, DELETE: 2, REINSERT: 3 } as const
/** Kind of a record. */
export type RedoKind = (typeof REDO_KINDS)[keyof typeof REDO_KINDS]

/** The place of a column that a read does not want. */
export const NOT_WANTED = -1
/** The cell of a column that no record of a chain changed. */
export const UNCHANGED = -1

const scratchRow = new Uint32Array(1)

/**
 * Records by number, given out from 0 without a gap.
 *
 *  I1  timestamps never decrease along a chain;
 *  I2  only the newest record is added to.
 */
export class RedoLog {
  count = 0
  /** Read through by loops over records. */
  readonly chunks: RedoChunk[] = []
  readonly #physicals: Physical[]
  readonly #columns: (ChunkedColumn | null)[]
  #closedBytes = 0
  #columnBytes = 0

  constructor(schema: Pick<Schema, 'columns'>) {
    this.#physicals = schema.columns.map((column) => column.physical)
    this.#columns = schema.columns.map(() => null)
  }

  /** Gives the next index to a column that the schema lacks. */
  addColumn(physical: Physical): void {
    this.#physicals.push(physical)
    this.#columns.push(null)
  }

  /** Bytes held in memory. Cost: O(1). */
  get heldBytes(): number {
    const last = this.chunks.at(-1)
    const lastBytes = last === undefined ? 0 : last.heldBytes + CHUNK_OVERHEAD_BYTES
    return this.#closedBytes + lastBytes + this.#columnBytes
  }

  /** Appends a record without cells behind `older`, or `NO_REDO`. Returns its number. */
  append(at: Timestamp, kind: RedoKind, older: number): number {
    assert(this.count < MEM_ROW_COUNT_MAX, 'a MemRowSet has a number for each change')
    let last = this.chunks.at(-1)
    if (last === undefined || last.count === CHUNK_ROW_COUNT) {
      if (last !== undefined) this.#closedBytes += last.heldBytes + CHUNK_OVERHEAD_BYTES
      last = new RedoChunk(this.chunks.length)
      this.chunks.push(last)
    }
    last.append(at, kind, older)
    return this.count++
  }

  /** Adds the cell of `row` of a write block to the newest record. Requires: it is set. */
  addCell(columnIndex: number, source: ColumnVector, row: number): void {
    scratchRow[0] = row
    const column = this.#open(columnIndex)
    const before = column.heldBytes
    column.appendRows(source, scratchRow, 0, 1)
    this.#columnBytes += column.heldBytes - before
  }

  /** Adds a plain value, or null, to the newest record. */
  addValue(columnIndex: number, cell: Cell | null): void {
    const column = this.#open(columnIndex)
    const before = column.heldBytes
    column.appendRepeated(cell, 1)
    this.#columnBytes += column.heldBytes - before
  }

  #open(columnIndex: number): ChunkedColumn {
    let column = this.#columns[columnIndex]
    if (column === null) {
      column = new ChunkedColumn(this.#physicals[columnIndex])
      this.#columns[columnIndex] = column
    }
    this.chunks[this.chunks.length - 1].addCell(columnIndex, column.rowCount)
    return column
  }

  /** Changed cells of a column by position, or null when it has none. */
  column(columnIndex: number): ChunkedColumn | null {
    return this.#columns[columnIndex]
  }

  /** Timestamp of a record. */
  at(redo: number): Timestamp {
    return this.chunks[redo >>> CHUNK_SHIFT].at[redo & CHUNK_MASK]
  }

  /** Kind of a record. */
  kind(redo: number): number {
    return this.chunks[redo >>> CHUNK_SHIFT].kinds[redo & CHUNK_MASK]
  }

  /** The record before this one on the same row, or `NO_REDO`. */
  older(redo: number): number {
    return this.chunks[redo >>> CHUNK_SHIFT].older[redo & CHUNK_MASK]
  }

  /** Position of the cell of a column that a record has, or `UNCHANGED`. Cost: O(its cells). */
  cellPosition(redo: number, columnIndex: number): number {
    const chunk = this.chunks[redo >>> CHUNK_SHIFT]
    const index = redo & CHUNK_MASK
    const end = chunk.cellEnds[index]
    for (let cell = index === 0 ? 0 : chunk.cellEnds[index - 1]; cell < end; cell++) {
      if (chunk.cellColumns[cell] === columnIndex) return chunk.cellPositions[cell]
    }
    return UNCHANGED
  }

  /**
   * The newest record of a chain that a snapshot holds, or `NO_REDO`. Cost: O(records above it).
   */
  newestAt(head: number, snapshot: Timestamp): number {
    let redo = head
    while (redo !== NO_REDO && this.at(redo) > snapshot) redo = this.older(redo)
    return redo
  }

  /**
   * Finds the cells of a row as of a record: for each column with `wanted[columnIndex]` = k, writes
   * to `positions[start + k]` the position of its changed cell.
   *
   * Returns: how many of the columns were changed; the places of the others stay what they were.
   * Requires: those places hold `UNCHANGED`; `wantedCount` columns are wanted, the others
   * `NOT_WANTED`; every column that the chain changed has a place in `wanted`.
   * Cost: O(cells of the chain), less when all columns are met or a REINSERT is.
   */
  resolve(
    redo: number,
    wanted: Int16Array,
    wantedCount: number,
    positions: Int32Array,
    start: number,
  ): number {
    let found = 0
    for (let at = redo; at !== NO_REDO && found < wantedCount; ) {
      const chunk = this.chunks[at >>> CHUNK_SHIFT]
      const index = at & CHUNK_MASK
      const end = chunk.cellEnds[index]
      for (let cell = index === 0 ? 0 : chunk.cellEnds[index - 1]; cell < end; cell++) {
        const place = wanted[chunk.cellColumns[cell]]
        if (place === NOT_WANTED || positions[start + place] !== UNCHANGED) continue
        positions[start + place] = chunk.cellPositions[cell]
        found++
      }
      if (chunk.kinds[index] === REDO_KINDS.REINSERT) break
      at = chunk.older[index]
    }
    return found
  }

  /** Walks all records. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    let heldBytes = 0
    let count = 0
    for (const chunk of this.chunks) {
      for (let index = 0; index < chunk.count; index++) {
        const older = chunk.older[index]
        assert(older < count + index, 'a redo is younger than the one it follows')
        const olderAt = older === NO_REDO ? 0 : this.at(older)
        assert(chunk.at[index] >= olderAt, 'timestamps along a chain never decrease')
      }
      heldBytes += chunk.heldBytes + CHUNK_OVERHEAD_BYTES
      count += chunk.count
    }
    for (const column of this.#columns) {
      column?.checkInvariants()
      heldBytes += column?.heldBytes ?? 0
    }
    assert(count === this.count, 'every redo is in a chunk')
    assert(heldBytes === this.heldBytes, 'held bytes are those of the redos')
  }
}
