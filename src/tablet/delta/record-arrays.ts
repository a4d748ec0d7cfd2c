import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaColumn, DeltaKind, DeltaRecords } from './delta-records.ts'

/** Bytes of a record beside its cells, and of a cell beside its value. */
const RECORD_BYTES = 17
const CELL_BYTES = 6

/**
 * The arrays of delta records in the making, which grow by doubling: all but the cells of columns.
 * Hot: read and written through its fields.
 *
 *  I1  record i has cells `[cellEnds[i − 1], cellEnds[i])` (0 before the first).
 */
export class RecordArrays {
  count = 0
  cellCount = 0
  /** Replaced when they grow, as all the others are. */
  ordinals: Uint32Array
  timestamps: Float64Array
  kinds: Uint8Array
  cellEnds: Uint32Array
  cellColumns: Uint16Array
  cellPositions: Uint32Array

  /** Arrays with room for `capacity` records and as many cells, at least 1. */
  constructor(capacity: number) {
    this.ordinals = new Uint32Array(capacity)
    this.timestamps = new Float64Array(capacity)
    this.kinds = new Uint8Array(capacity)
    this.cellEnds = new Uint32Array(capacity)
    this.cellColumns = new Uint16Array(capacity)
    this.cellPositions = new Uint32Array(capacity)
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.count * RECORD_BYTES + this.cellCount * CELL_BYTES
  }

  /** Bytes held in memory, spare capacity included. */
  get heldBytes(): number {
    return this.ordinals.length * RECORD_BYTES + this.cellColumns.length * CELL_BYTES
  }

  /** Makes room for more records. */
  reserve(extraRecords: number): void {
    const needed = this.count + extraRecords
    if (needed <= this.ordinals.length) return
    const capacity = Math.max(needed, this.ordinals.length * 2)
    const { ordinals, timestamps, kinds, cellEnds } = this
    this.ordinals = new Uint32Array(capacity)
    this.ordinals.set(ordinals)
    this.timestamps = new Float64Array(capacity)
    this.timestamps.set(timestamps)
    this.kinds = new Uint8Array(capacity)
    this.kinds.set(kinds)
    this.cellEnds = new Uint32Array(capacity)
    this.cellEnds.set(cellEnds)
  }

  /** Makes room for more cells. */
  reserveCells(extraCells: number): void {
    const needed = this.cellCount + extraCells
    if (needed <= this.cellColumns.length) return
    const capacity = Math.max(needed, this.cellColumns.length * 2)
    const { cellColumns, cellPositions } = this
    this.cellColumns = new Uint16Array(capacity)
    this.cellColumns.set(cellColumns)
    this.cellPositions = new Uint32Array(capacity)
    this.cellPositions.set(cellPositions)
  }

  /** Begins a record, which has no cells yet. */
  add(ordinal: number, at: Timestamp, kind: DeltaKind): void {
    if (this.count === this.ordinals.length) this.reserve(1)
    const record = this.count++
    this.ordinals[record] = ordinal
    this.timestamps[record] = at
    this.kinds[record] = kind
    this.cellEnds[record] = this.cellCount
  }

  /** Adds a cell to the newest record: which column's, and where among that one's cells. */
  addCell(column: number, position: number): void {
    if (this.cellCount === this.cellColumns.length) this.reserveCells(1)
    this.cellColumns[this.cellCount] = column
    this.cellPositions[this.cellCount] = position
    this.cellEnds[this.count - 1] = ++this.cellCount
  }

  /** Forgets all records and keeps the capacity. */
  clear(): void {
    this.count = 0
    this.cellCount = 0
  }

  /** The records so far, whose cells are in `columns`. Borrowed until the next change. */
  view(columns: readonly DeltaColumn[]): DeltaRecords {
    const { count, ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions } = this
    return { count, ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions, columns }
  }
}
