/** Counts of rows. Hot. */

import { ColumnVector } from '../column-vector.ts'
import { PHYSICAL } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { partialColumn } from './partial-column.ts'

const WORD = 2 ** 32

/** How many rows each group has, or how many of them are not null. */
export class RowCounts implements AggregateState {
  counts = new Float64Array(0)

  get heldBytes(): number {
    return this.counts.byteLength
  }

  reserve(groupCount: number): void {
    if (groupCount <= this.counts.length) return
    const counts = new Float64Array(grownCapacity(this.counts.length, groupCount))
    counts.set(this.counts)
    this.counts = counts
  }

  /** Adds a number of rows to one group. */
  addCount(group: number, count: number): void {
    this.counts[group] += count
  }

  /** Adds a row to group `groups[i]`, unless `isNull[i]`, for `count` rows. */
  addRows(groups: Uint32Array | null, isNull: Uint8Array | null, count: number): void {
    const { counts } = this
    if (groups === null) {
      let nullCount = 0
      if (isNull !== null) for (let i = 0; i < count; i++) nullCount += isNull[i]
      counts[0] += count - nullCount
    } else if (isNull === null) {
      for (let i = 0; i < count; i++) counts[groups[i]]++
    } else {
      for (let i = 0; i < count; i++) counts[groups[i]] += 1 - isNull[i]
    }
  }

  partial(groupCount: number): ColumnVector[] {
    const lanes = new Uint32Array(groupCount * 2)
    for (let group = 0; group < groupCount; group++) {
      lanes[group * 2] = this.counts[group] % WORD
      lanes[group * 2 + 1] = Math.floor(this.counts[group] / WORD)
    }
    const bytes = new Uint8Array(lanes.buffer)
    return [new ColumnVector(PHYSICAL.int64, groupCount, bytes, null, null, null)]
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    const { lanes } = partialColumn(columns, 0, PHYSICAL.int64)
    for (let i = 0; i < count; i++) {
      this.counts[groups[i]] += lanes[i * 2 + 1] * WORD + lanes[i * 2]
    }
  }
}
