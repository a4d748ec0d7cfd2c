/** Least or greatest cells of binary columns, by bytes. Hot. */

import { setBit } from '../../util/bitmap.ts'
import { compareBytes, compareWhole } from '../../util/bytes.ts'
import { ColumnVector } from '../column-vector.ts'
import { PHYSICAL } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { FIRST_ROWS } from './first-rows.ts'
import { partialColumn } from './partial-column.ts'

/** No row of the batch is better than what its group has. */
const NONE = -1

/**
 * Within a batch the best row of each group is remembered by its number; only at its end is that
 * cell copied, if it is better than what the group has.
 */
export class BinaryExtremes implements AggregateState {
  readonly physical = PHYSICAL.binary
  /** Whether the greatest cell is kept, else the least. */
  readonly isMax: boolean
  readonly #best: (Uint8Array | null)[] = []
  #bestBytes = 0
  /** Of each group the best row of the batch. */
  #rows = new Int32Array(0)
  /** Groups of which the batch has a row. */
  #groups = new Uint32Array(0)

  constructor(isMax: boolean) {
    this.isMax = isMax
  }

  get heldBytes(): number {
    return this.#bestBytes + this.#rows.byteLength + this.#groups.byteLength + this.#best.length * 8
  }

  reserve(groupCount: number): void {
    while (this.#best.length < groupCount) this.#best.push(null)
    if (groupCount <= this.#rows.length) return
    const capacity = grownCapacity(this.#rows.length, groupCount)
    this.#rows = new Int32Array(capacity).fill(NONE)
    this.#groups = new Uint32Array(capacity)
  }

  /** Adds the cell `rows[i]` to group `groups[i]`, for `count` rows; null cells are left out. */
  addCells(
    groups: Uint32Array | null,
    cells: ColumnVector,
    rows: Uint32Array,
    count: number,
  ): void {
    if (cells.dictionary !== null) {
      this.#addCodes(groups, cells, rows, count)
      return
    }
    const { bytes, offsets, validity } = cells
    const bestRows = this.#rows
    let groupCount = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) continue
      const group = groups === null ? 0 : groups[i]
      const best = bestRows[group]
      if (best === NONE) {
        this.#groups[groupCount++] = group
        bestRows[group] = row
      } else if (this.#isBetter(bytes, offsets, row, best)) {
        bestRows[group] = row
      }
    }
    this.#endBatch(bytes, offsets, groupCount)
  }

  /** As `addCells`, by the codes of a dictionary. */
  #addCodes(
    groups: Uint32Array | null,
    { dictionary, validity }: ColumnVector,
    rows: Uint32Array,
    count: number,
  ): void {
    if (dictionary === null) return
    const { codes, values } = dictionary
    const { bytes, offsets } = values
    const bestCodes = this.#rows
    let groupCount = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) continue
      const group = groups === null ? 0 : groups[i]
      const code = codes[row]
      const best = bestCodes[group]
      if (best === code) continue
      if (best === NONE) {
        this.#groups[groupCount++] = group
        bestCodes[group] = code
      } else if (this.#isBetter(bytes, offsets, code, best)) {
        bestCodes[group] = code
      }
    }
    this.#endBatch(bytes, offsets, groupCount)
  }

  #isBetter(bytes: Uint8Array, offsets: Uint32Array, row: number, best: number): boolean {
    const order = compareBytes(
      bytes,
      offsets[row],
      offsets[row + 1],
      bytes,
      offsets[best],
      offsets[best + 1],
    )
    return this.isMax ? order > 0 : order < 0
  }

  #endBatch(bytes: Uint8Array, offsets: Uint32Array, groupCount: number): void {
    for (let i = 0; i < groupCount; i++) {
      const group = this.#groups[i]
      const row = this.#rows[group]
      this.#rows[group] = NONE
      this.addBytes(group, bytes.subarray(offsets[row], offsets[row + 1]))
    }
  }

  /** Adds one cell to a group. Cost: it is copied when it is the best. */
  addBytes(group: number, cell: Uint8Array): void {
    const best = this.#best[group]
    if (best !== null) {
      const order = compareWhole(cell, best)
      if (order === 0 || order > 0 !== this.isMax) return
      this.#bestBytes -= best.length
    }
    this.#best[group] = cell.slice()
    this.#bestBytes += cell.length
  }

  /**
   * Whether no cell between the beginning of an end of a page and all that begins so can be better
   * than what a group has.
   */
  isBeyond(group: number, beginning: Uint8Array): boolean {
    const best = this.#best[group]
    if (best === null) return false
    if (!this.isMax) return compareWhole(best, beginning) <= 0
    const end = Math.min(best.length, beginning.length)
    return compareBytes(best, 0, end, beginning, 0, beginning.length) > 0
  }

  /** Extremes of groups `[0, groupCount)`, null where a group has no cell. */
  column(groupCount: number): ColumnVector {
    const offsets = new Uint32Array(groupCount + 1)
    const bytes = new Uint8Array(this.#bestBytes)
    const validity = new Uint8Array((groupCount + 7) >>> 3)
    let count = 0
    for (let group = 0; group < groupCount; group++) {
      const best = this.#best[group]
      offsets[group + 1] = offsets[group]
      if (best === null) continue
      bytes.set(best, offsets[group])
      offsets[group + 1] += best.length
      setBit(validity, group)
      count++
    }
    const bits = count === groupCount ? null : validity
    return new ColumnVector(PHYSICAL.binary, groupCount, bytes, offsets, bits, null)
  }

  partial(groupCount: number): ColumnVector[] {
    return [this.column(groupCount)]
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    const cells = partialColumn(columns, 0, PHYSICAL.binary)
    this.addCells(groups, cells, FIRST_ROWS.upTo(count), count)
  }
}
