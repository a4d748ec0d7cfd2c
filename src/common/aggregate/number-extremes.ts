/**
 * Least or greatest cells of columns whose lanes are numbers: integers of up to 32 bits, floats.
 * NaN is above all numbers; −0 counts as 0. Hot.
 */

import { setBit } from '../../util/bitmap.ts'
import { ColumnVector, lanesOf } from '../column-vector.ts'
import { LANE_BYTES, type Physical } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { FIRST_ROWS } from './first-rows.ts'
import { partialColumn } from './partial-column.ts'

/** See the file's header. */
export class NumberExtremes implements AggregateState {
  readonly physical: Physical
  /** Whether the greatest cell is kept, else the least. */
  readonly isMax: boolean
  /** Of a group without cells what any cell replaces, NaN or −Infinity. */
  #best = new Float64Array(0)
  #hasCell = new Uint8Array(0)

  constructor(physical: Physical, isMax: boolean) {
    this.physical = physical
    this.isMax = isMax
  }

  get heldBytes(): number {
    return this.#best.byteLength + this.#hasCell.length
  }

  reserve(groupCount: number): void {
    const start = this.#best.length
    if (groupCount <= start) return
    const capacity = grownCapacity(start, groupCount)
    const best = new Float64Array(capacity)
    best.set(this.#best)
    best.fill(this.isMax ? -Infinity : Number.NaN, start)
    this.#best = best
    const hasCell = new Uint8Array(capacity)
    hasCell.set(this.#hasCell)
    this.#hasCell = hasCell
  }

  /** Adds the cell `rows[i]` to group `groups[i]`, for `count` rows; null cells are left out. */
  addCells(
    groups: Uint32Array | null,
    { lanes, validity }: ColumnVector,
    rows: Uint32Array,
    count: number,
  ): void {
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) continue
      this.addNumber(groups === null ? 0 : groups[i], lanes[row])
    }
  }

  /** Adds `values[i]` to group `groups[i]` unless `isNull[i]`, for `count` rows. */
  addNumbers(
    groups: Uint32Array | null,
    values: Float64Array,
    isNull: Uint8Array | null,
    count: number,
  ): void {
    for (let i = 0; i < count; i++) {
      if (isNull !== null && isNull[i] !== 0) continue
      this.addNumber(groups === null ? 0 : groups[i], values[i])
    }
  }

  /** Adds one number to a group. */
  addNumber(group: number, value: number): void {
    const best = this.#best[group]
    this.#hasCell[group] = 1
    if (this.isMax) {
      if (value > best || Number.isNaN(value)) this.#best[group] = value
    } else if (value < best || Number.isNaN(best)) {
      this.#best[group] = value
    }
  }

  /** Whether a group has a cell. */
  hasCell(group: number): boolean {
    return this.#hasCell[group] !== 0
  }

  /** The extreme of a group. Requires: it has a cell. */
  number(group: number): number {
    // Which of −0 and 0 was met first must not show.
    return this.#best[group] + 0
  }

  /** Extremes of groups `[0, groupCount)`, null where a group has no cell. */
  column(groupCount: number): ColumnVector {
    const { physical } = this
    const bytes = new Uint8Array(groupCount * LANE_BYTES[physical])
    const lanes = lanesOf(physical, bytes, groupCount)
    const validity = new Uint8Array((groupCount + 7) >>> 3)
    let count = 0
    for (let group = 0; group < groupCount; group++) {
      if (!this.hasCell(group)) continue
      lanes[group] = this.number(group)
      setBit(validity, group)
      count++
    }
    const bits = count === groupCount ? null : validity
    return new ColumnVector(physical, groupCount, bytes, null, bits, null)
  }

  partial(groupCount: number): ColumnVector[] {
    return [this.column(groupCount)]
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    const cells = partialColumn(columns, 0, this.physical)
    this.addCells(groups, cells, FIRST_ROWS.upTo(count), count)
  }
}
