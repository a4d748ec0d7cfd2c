/**
 * Builds delta records of what a MemRowSet holds. Hot.
 *
 * Cells are named, not copied, as records are added; `finish` copies them column by column.
 *
 *   cell ≥ 0    the cell as inserted, by its slot
 *   cell < 0    the changed cell at position ~cell
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaColumn, DeltaKind, DeltaRecords } from '../delta/delta-records.ts'
import { RecordArrays } from '../delta/record-arrays.ts'
import type { ChunkedColumn } from './chunked-column.ts'
import { gatherCells } from './gather-cells.ts'
import type { HistoryColumn } from './history-columns.ts'

const NO_PLACE = -1
const CAPACITY_MIN = 64

/** The cells of one column that the records so far have. */
class NamedCells {
  readonly column: HistoryColumn
  readonly builder: ColumnBuilder
  cells = new Int32Array(CAPACITY_MIN)
  count = 0

  constructor(column: HistoryColumn) {
    this.column = column
    this.builder = new ColumnBuilder(column.physical)
  }

  push(cell: number): number {
    if (this.count === this.cells.length) {
      const grown = new Int32Array(this.count * 2)
      grown.set(this.cells)
      this.cells = grown
    }
    this.cells[this.count] = cell
    return this.count++
  }

  bytesOf(cell: number): number {
    const { physical, kept, changed } = this.column
    if (physical !== PHYSICAL.binary) return LANE_BYTES[physical]
    return (cell < 0 ? (changed as ChunkedColumn) : kept).valueBytes(cell < 0 ? ~cell : cell) + 4
  }

  gather(): DeltaColumn {
    const { column, builder } = this
    builder.clear()
    gatherCells(column.kept, column.changed, this.cells, 0, this.count, builder)
    return { columnId: column.id, physical: column.physical, cells: builder.view() }
  }
}

/** See the file's header. Records are added ascending by (ordinal, timestamp, position). */
export class MemRecordsBuilder {
  /** Bytes of the values that records name, about. */
  #valueBytes = 0
  readonly #records = new RecordArrays(CAPACITY_MIN)
  readonly #columns: readonly HistoryColumn[]
  /** By the column's index: its place among those used, or `NO_PLACE`. */
  readonly #places: Int16Array
  readonly #known: (NamedCells | null)[]
  #used: NamedCells[] = []

  /** Records with cells of `columns`, which are named by their index there. */
  constructor(columns: readonly HistoryColumn[]) {
    this.#columns = columns
    this.#places = new Int16Array(columns.length).fill(NO_PLACE)
    this.#known = columns.map(() => null)
  }

  /** Records so far. */
  get count(): number {
    return this.#records.count
  }

  /** Bytes of the records so far, about. */
  get bytes(): number {
    return this.#records.usedBytes + this.#valueBytes
  }

  /** Begins a record, which has no cells yet. */
  add(ordinal: number, at: Timestamp, kind: DeltaKind): void {
    this.#records.add(ordinal, at, kind)
  }

  /** Adds a cell to the newest record. */
  addCell(columnIndex: number, cell: number): void {
    const named = this.#named(columnIndex)
    this.#records.addCell(this.#places[columnIndex], named.push(cell))
    this.#valueBytes += named.bytesOf(cell)
  }

  #named(columnIndex: number): NamedCells {
    const place = this.#places[columnIndex]
    if (place !== NO_PLACE) return this.#used[place]
    const named = this.#known[columnIndex] ?? new NamedCells(this.#columns[columnIndex])
    this.#known[columnIndex] = named
    this.#places[columnIndex] = this.#used.length
    this.#used.push(named)
    return named
  }

  /** The records so far. Borrowed until `clear`. Cost: O(cells). */
  finish(): DeltaRecords {
    return this.#records.view(this.#used.map((named) => named.gather()))
  }

  /** Forgets all records and keeps the capacity. */
  clear(): void {
    this.#records.clear()
    this.#valueBytes = 0
    for (const named of this.#used) named.count = 0
    this.#used = []
    this.#places.fill(NO_PLACE)
  }
}
