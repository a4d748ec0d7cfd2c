/**
 * Builds delta records one by one, or copies runs of them. Hot.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Cell, Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import {
  DELTA_KINDS,
  type DeltaColumn,
  type DeltaKind,
  type DeltaRecords,
} from './delta-records.ts'
import { RecordArrays } from './record-arrays.ts'

const CAPACITY_MIN = 64
const scratchRow = new Uint32Array(1)
let scratchRows = new Uint32Array(256)

/**
 * Records in the making, ascending by (ordinal, timestamp). Cells of each column are kept in the
 * order of the records.
 *
 *  I1  the cells of a column are at 0, 1, 2 … in the order in which records name them.
 */
export class DeltaRecordsBuilder {
  deleteCount = 0
  reinsertCount = 0
  readonly #records = new RecordArrays(CAPACITY_MIN)
  readonly #columnIds: number[] = []
  readonly #builders: ColumnBuilder[] = []
  readonly #indexes = new Map<number, number>()

  /** Records so far. */
  get count(): number {
    return this.#records.count
  }

  /** Bytes of the records so far, about. Cost: O(columns). */
  get usedBytes(): number {
    let bytes = this.#records.usedBytes
    for (const builder of this.#builders) bytes += builder.usedBytes
    return bytes
  }

  /** Bytes held in memory, spare capacity included. Cost: O(columns). */
  get heldBytes(): number {
    let bytes = this.#records.heldBytes
    for (const builder of this.#builders) bytes += builder.heldBytes
    return bytes
  }

  /**
   * Begins a record without cells.
   *
   * Requires: it is not before the last one; one with its ordinal and timestamp comes after it in
   * the op.
   */
  append(ordinal: number, at: Timestamp, kind: DeltaKind): void {
    assert(this.#isBehind(ordinal, at), 'delta records ascend')
    this.#records.add(ordinal, at, kind)
    if (kind === DELTA_KINDS.DELETE) this.deleteCount++
    else if (kind === DELTA_KINDS.REINSERT) this.reinsertCount++
  }

  #isBehind(ordinal: number, at: Timestamp): boolean {
    const { count, ordinals, timestamps } = this.#records
    if (count === 0 || ordinal > ordinals[count - 1]) return true
    return ordinal === ordinals[count - 1] && at >= timestamps[count - 1]
  }

  /** Adds to the newest record the cell at `row` of a vector. Requires: it is set. */
  addCell(columnId: number, source: ColumnVector, row: number): void {
    scratchRow[0] = row
    this.#builder(columnId, source.physical).appendRows(source, scratchRow, 0, 1)
  }

  /** Adds to the newest record a plain value, or null. For edges. */
  addValue(columnId: number, physical: Physical, cell: Cell | null): void {
    this.#builder(columnId, physical).appendCell(cell)
  }

  /** Appends records `[start, end)`, by index, with their cells. Requires: as `append`. */
  appendRecords(records: DeltaRecords, start: number, end: number): void {
    if (start === end) return
    this.#copyRecords(records, start, end)
    const firstCell = start === 0 ? 0 : records.cellEnds[start - 1]
    const lastCell = records.cellEnds[end - 1]
    const own = this.#records
    const shift = own.cellCount - firstCell
    for (let i = start, out = own.count; i < end; i++, out++) {
      own.cellEnds[out] = records.cellEnds[i] + shift
    }
    own.count += end - start
    if (firstCell < lastCell) this.#copyCells(records, firstCell, lastCell)
  }

  #copyRecords({ ordinals, timestamps, kinds }: DeltaRecords, start: number, end: number): void {
    assert(this.#isBehind(ordinals[start], timestamps[start]), 'delta records ascend')
    const own = this.#records
    own.reserve(end - start)
    own.ordinals.set(ordinals.subarray(start, end), own.count)
    own.timestamps.set(timestamps.subarray(start, end), own.count)
    own.kinds.set(kinds.subarray(start, end), own.count)
    for (let i = start; i < end; i++) {
      if (kinds[i] === DELTA_KINDS.DELETE) this.deleteCount++
      else if (kinds[i] === DELTA_KINDS.REINSERT) this.reinsertCount++
    }
  }

  /** Copies cells `[start, end)`, those of a column at once, in the order of the records. */
  #copyCells(records: DeltaRecords, start: number, end: number): void {
    const { cellColumns, cellPositions, columns } = records
    const count = end - start
    const own = this.#records
    own.reserveCells(count)
    if (scratchRows.length < count) scratchRows = new Uint32Array(count * 2)
    const rowEnds = columnEnds(cellColumns, start, end, columns.length)
    const indexes = columns.map((column, i) => {
      const isUsed = rowEnds[i] > (i === 0 ? 0 : rowEnds[i - 1])
      return isUsed ? this.#columnIndex(column.columnId, column.physical) : 0
    })
    const next = new Uint32Array(columns.length)
    const shifts = new Int32Array(columns.length)
    for (let i = 0; i < columns.length; i++) {
      next[i] = i === 0 ? 0 : rowEnds[i - 1]
      shifts[i] = (this.#builders[indexes[i]]?.rowCount ?? 0) - next[i]
    }
    for (let cell = start, out = own.cellCount; cell < end; cell++, out++) {
      const column = cellColumns[cell]
      const row = next[column]++
      scratchRows[row] = cellPositions[cell]
      own.cellColumns[out] = indexes[column]
      own.cellPositions[out] = row + shifts[column]
    }
    for (let i = 0; i < columns.length; i++) {
      const first = i === 0 ? 0 : rowEnds[i - 1]
      if (first === rowEnds[i]) continue
      this.#builders[indexes[i]].appendRows(columns[i].cells, scratchRows, first, rowEnds[i])
    }
    own.cellCount += count
  }

  /** Appends record `index` of `records` with its cells, as a record of row `ordinal`. */
  appendRecord(records: DeltaRecords, index: number, ordinal = records.ordinals[index]): void {
    this.append(ordinal, records.timestamps[index], records.kinds[index] as DeltaKind)
    const end = records.cellEnds[index]
    for (let cell = index === 0 ? 0 : records.cellEnds[index - 1]; cell < end; cell++) {
      const { columnId, cells } = records.columns[records.cellColumns[cell]]
      this.addCell(columnId, cells, records.cellPositions[cell])
    }
  }

  #builder(columnId: number, physical: Physical): ColumnBuilder {
    assert(this.count > 0, 'a cell belongs to a record')
    const index = this.#columnIndex(columnId, physical)
    const builder = this.#builders[index]
    this.#records.addCell(index, builder.rowCount)
    return builder
  }

  #columnIndex(columnId: number, physical: Physical): number {
    const known = this.#indexes.get(columnId)
    if (known !== undefined) {
      assert(this.#builders[known].physical === physical, 'cells of a column are laid out alike')
      return known
    }
    const index = this.#builders.length
    this.#columnIds.push(columnId)
    this.#builders.push(new ColumnBuilder(physical))
    this.#indexes.set(columnId, index)
    return index
  }

  /** The records so far. Borrowed: good until the builder is appended to or cleared. */
  finish(): DeltaRecords {
    const columns: DeltaColumn[] = this.#builders.map((builder, index) => ({
      columnId: this.#columnIds[index],
      physical: builder.physical,
      cells: builder.view(),
    }))
    return this.#records.view(columns)
  }

  /** Forgets all records and keeps the capacity. */
  clear(): void {
    this.#records.clear()
    this.deleteCount = 0
    this.reinsertCount = 0
    for (const builder of this.#builders) builder.clear()
  }
}

/** Where the cells of each column end once they are grouped by column, of cells `[start, end)`. */
function columnEnds(
  cellColumns: Uint16Array,
  start: number,
  end: number,
  columnCount: number,
): Uint32Array {
  const ends = new Uint32Array(columnCount)
  for (let cell = start; cell < end; cell++) ends[cellColumns[cell]]++
  for (let i = 1; i < columnCount; i++) ends[i] += ends[i - 1]
  return ends
}
