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
import type { ChunkedColumn } from './chunked-column.ts'
import { gatherCells } from './gather-cells.ts'
import type { HistoryColumn } from './history-columns.ts'

const NO_PLACE = -1
const CAPACITY_MIN = 64
const RECORD_BYTES = 17

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
  count = 0
  /** Bytes of the records so far, about. */
  bytes = 0
  #ordinals = new Uint32Array(CAPACITY_MIN)
  #timestamps = new Float64Array(CAPACITY_MIN)
  #kinds = new Uint8Array(CAPACITY_MIN)
  #cellEnds = new Uint32Array(CAPACITY_MIN)
  #cellCount = 0
  #cellColumns = new Uint16Array(CAPACITY_MIN)
  #cellPositions = new Uint32Array(CAPACITY_MIN)
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

  /** Begins a record, which has no cells yet. */
  add(ordinal: number, at: Timestamp, kind: DeltaKind): void {
    if (this.count === this.#ordinals.length) this.#growRecords()
    const record = this.count++
    this.#ordinals[record] = ordinal
    this.#timestamps[record] = at
    this.#kinds[record] = kind
    this.#cellEnds[record] = this.#cellCount
    this.bytes += RECORD_BYTES
  }

  /** Adds a cell to the newest record. */
  addCell(columnIndex: number, cell: number): void {
    const named = this.#named(columnIndex)
    if (this.#cellCount === this.#cellColumns.length) this.#growCells()
    this.#cellColumns[this.#cellCount] = this.#places[columnIndex]
    this.#cellPositions[this.#cellCount] = named.push(cell)
    this.#cellEnds[this.count - 1] = ++this.#cellCount
    this.bytes += named.bytesOf(cell) + 6
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

  #growRecords(): void {
    const capacity = this.count * 2
    const { length } = this.#ordinals
    const grown = new Uint32Array(capacity)
    grown.set(this.#ordinals)
    this.#ordinals = grown
    const timestamps = new Float64Array(capacity)
    timestamps.set(this.#timestamps)
    this.#timestamps = timestamps
    const kinds = new Uint8Array(capacity)
    kinds.set(this.#kinds)
    this.#kinds = kinds
    const cellEnds = new Uint32Array(capacity)
    cellEnds.set(this.#cellEnds.subarray(0, length))
    this.#cellEnds = cellEnds
  }

  #growCells(): void {
    const capacity = this.#cellCount * 2
    const cellColumns = new Uint16Array(capacity)
    cellColumns.set(this.#cellColumns)
    this.#cellColumns = cellColumns
    const cellPositions = new Uint32Array(capacity)
    cellPositions.set(this.#cellPositions)
    this.#cellPositions = cellPositions
  }

  /** The records so far. Borrowed until `clear`. Cost: O(cells). */
  finish(): DeltaRecords {
    return {
      count: this.count,
      ordinals: this.#ordinals,
      timestamps: this.#timestamps,
      kinds: this.#kinds,
      cellEnds: this.#cellEnds,
      cellColumns: this.#cellColumns,
      cellPositions: this.#cellPositions,
      columns: this.#used.map((named) => named.gather()),
    }
  }

  /** Forgets all records and keeps the capacity. */
  clear(): void {
    this.count = 0
    this.bytes = 0
    this.#cellCount = 0
    for (const named of this.#used) named.count = 0
    this.#used = []
    this.#places.fill(NO_PLACE)
  }
}
