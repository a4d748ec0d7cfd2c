/**
 * Builds delta records one by one, or copies runs of them. Hot.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaColumn, DeltaKind, DeltaRecords } from './delta-records.ts'

const CAPACITY_MIN = 64
const NO_COLUMN = -1
const scratchRow = new Uint32Array(1)

/**
 * Records in the making, ascending by (ordinal, timestamp). Cells of each column are kept in the
 * order of the records.
 *
 *  I1  record i has cells `[cellEnds[i − 1], cellEnds[i])` (0 before the first);
 *  I2  the cells of a column are at 0, 1, 2 … in the order in which records name them.
 */
export class DeltaRecordsBuilder {
  count = 0
  deleteCount = 0
  reinsertCount = 0
  /** Bytes of the cells so far, plain. */
  cellBytes = 0
  #ordinals = new Uint32Array(CAPACITY_MIN)
  #timestamps = new Float64Array(CAPACITY_MIN)
  #kinds = new Uint8Array(CAPACITY_MIN)
  #cellEnds = new Uint32Array(CAPACITY_MIN)
  #cellCount = 0
  #cellColumns = new Uint16Array(CAPACITY_MIN)
  #cellPositions = new Uint32Array(CAPACITY_MIN)
  readonly #columnIds: number[] = []
  readonly #builders: ColumnBuilder[] = []
  readonly #indexes = new Map<number, number>()

  /** Bytes held in memory, spare capacity included. Cost: O(columns). */
  get heldBytes(): number {
    let bytes = this.#ordinals.length * 17 + this.#cellColumns.length * 6
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
    const index = this.count
    assert(
      index === 0 ||
        ordinal > this.#ordinals[index - 1] ||
        (ordinal === this.#ordinals[index - 1] && at >= this.#timestamps[index - 1]),
      'delta records ascend',
    )
    if (index === this.#ordinals.length) this.#growRecords(index + 1)
    this.#ordinals[index] = ordinal
    this.#timestamps[index] = at
    this.#kinds[index] = kind
    this.#cellEnds[index] = this.#cellCount
    if (kind === 2) this.deleteCount++
    else if (kind === 3) this.reinsertCount++
    this.count = index + 1
  }

  /** Adds to the newest record the cell at `row` of a vector. Requires: it is set. */
  addCell(columnId: number, source: ColumnVector, row: number): void {
    scratchRow[0] = row
    this.#builder(columnId, source.physical).appendRows(source, scratchRow, 0, 1)
    this.cellBytes +=
      source.physical === PHYSICAL.binary
        ? source.offsets[row + 1] - source.offsets[row] + 4
        : LANE_BYTES[source.physical]
  }

  /** Adds to the newest record a plain value, or null. For edges. */
  addValue(columnId: number, physical: Physical, cell: Cell | null): void {
    this.#builder(columnId, physical).appendCell(cell)
    const isBinary = physical === PHYSICAL.binary
    this.cellBytes += isBinary ? ((cell as Uint8Array | null)?.length ?? 0) + 4 : LANE_BYTES[physical]
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
    const index = this.#indexes.get(columnId) ?? this.#addColumn(columnId, physical)
    const builder = this.#builders[index]
    assert(builder.physical === physical, 'cells of a column are laid out alike')
    if (this.#cellCount === this.#cellColumns.length) this.#growCells(this.#cellCount + 1)
    this.#cellColumns[this.#cellCount] = index
    this.#cellPositions[this.#cellCount] = builder.rowCount
    this.#cellEnds[this.count - 1] = ++this.#cellCount
    return builder
  }

  #addColumn(columnId: number, physical: Physical): number {
    const index = this.#builders.length
    this.#columnIds.push(columnId)
    this.#builders.push(new ColumnBuilder(physical))
    this.#indexes.set(columnId, index)
    return index
  }

  #growRecords(count: number): void {
    const capacity = Math.max(count, this.#ordinals.length * 2)
    const { length } = this.#ordinals
    const ordinals = new Uint32Array(capacity)
    ordinals.set(this.#ordinals)
    this.#ordinals = ordinals
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

  #growCells(count: number): void {
    const capacity = Math.max(count, this.#cellColumns.length * 2)
    const cellColumns = new Uint16Array(capacity)
    cellColumns.set(this.#cellColumns)
    this.#cellColumns = cellColumns
    const cellPositions = new Uint32Array(capacity)
    cellPositions.set(this.#cellPositions)
    this.#cellPositions = cellPositions
  }

  /** The records so far. Borrowed: good until the builder is appended to or cleared. */
  finish(): DeltaRecords {
    const columns: DeltaColumn[] = this.#builders.map((builder, index) => ({
      columnId: this.#columnIds[index],
      physical: builder.physical,
      cells: builder.view(),
    }))
    return {
      count: this.count,
      ordinals: this.#ordinals,
      timestamps: this.#timestamps,
      kinds: this.#kinds,
      cellEnds: this.#cellEnds,
      cellColumns: this.#cellColumns,
      cellPositions: this.#cellPositions,
      columns,
    }
  }

  /** Forgets all records and keeps the capacity. */
  clear(): void {
    this.count = 0
    this.deleteCount = 0
    this.reinsertCount = 0
    this.cellBytes = 0
    this.#cellCount = 0
    for (const builder of this.#builders) builder.clear()
  }
}
