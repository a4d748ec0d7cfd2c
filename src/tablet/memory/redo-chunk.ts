import type { Timestamp } from '../../common/hybrid-clock.ts'
import { grownCapacity, initialCapacity } from './chunk.ts'

/**
 * Up to 4,096 records; record i has cells `[cellEnds[i - 1], cellEnds[i])` (0 before the first).
 */
export class RedoChunk {
  at: Float64Array
  kinds: Uint8Array
  older: Int32Array
  cellEnds: Uint32Array
  /**
   * Of each cell: its column's index in the store, and its position among the column's changed
   * cells.
   */
  cellColumns: Uint16Array
  cellPositions: Int32Array
  count = 0
  cellCount = 0

  constructor(index: number) {
    const capacity = initialCapacity(index)
    this.at = new Float64Array(capacity)
    this.kinds = new Uint8Array(capacity)
    this.older = new Int32Array(capacity)
    this.cellEnds = new Uint32Array(capacity)
    this.cellColumns = new Uint16Array(capacity)
    this.cellPositions = new Int32Array(capacity)
  }

  get heldBytes(): number {
    return this.at.length * 17 + this.cellColumns.length * 6
  }

  append(at: Timestamp, kind: number, older: number): void {
    if (this.count === this.at.length) this.#growRecords(grownCapacity(this.count + 1))
    const index = this.count++
    this.at[index] = at
    this.kinds[index] = kind
    this.older[index] = older
    this.cellEnds[index] = this.cellCount
  }

  /** Adds a cell to the newest record. */
  addCell(columnIndex: number, position: number): void {
    if (this.cellCount === this.cellColumns.length) this.#growCells(this.cellCount * 2)
    this.cellColumns[this.cellCount] = columnIndex
    this.cellPositions[this.cellCount] = position
    this.cellEnds[this.count - 1] = ++this.cellCount
  }

  #growRecords(capacity: number): void {
    const { at, kinds, older, cellEnds } = this
    this.at = new Float64Array(capacity)
    this.at.set(at)
    this.kinds = new Uint8Array(capacity)
    this.kinds.set(kinds)
    this.older = new Int32Array(capacity)
    this.older.set(older)
    this.cellEnds = new Uint32Array(capacity)
    this.cellEnds.set(cellEnds)
  }

  #growCells(capacity: number): void {
    const { cellColumns, cellPositions } = this
    this.cellColumns = new Uint16Array(capacity)
    this.cellColumns.set(cellColumns)
    this.cellPositions = new Int32Array(capacity)
    this.cellPositions.set(cellPositions)
  }
}
