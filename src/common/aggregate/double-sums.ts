/**
 * Sums of doubles, compensated: what each addition rounds away is summed by itself (Neumaier's
 * form of Kahan's), so that a sum of very many numbers of one sign is right to its last digits.
 * One that passes the greatest double on its way stays infinite. Hot.
 */

import { ColumnVector } from '../column-vector.ts'
import { PHYSICAL } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { partialColumn } from './partial-column.ts'

/** See the file's header. An infinity or NaN among the summands makes the sum what adding makes. */
export class DoubleSums implements AggregateState {
  #sums = new Float64Array(0)
  /** What was rounded away; it means nothing once a sum is not finite. */
  #rests = new Float64Array(0)

  get heldBytes(): number {
    return this.#sums.byteLength * 2
  }

  reserve(groupCount: number): void {
    if (groupCount <= this.#sums.length) return
    const capacity = grownCapacity(this.#sums.length, groupCount)
    const sums = new Float64Array(capacity)
    sums.set(this.#sums)
    this.#sums = sums
    const rests = new Float64Array(capacity)
    rests.set(this.#rests)
    this.#rests = rests
  }

  /** Adds `values[i]` to group `groups[i]`, for `count` rows; 0 where there is nothing to add. */
  addNumbers(groups: Uint32Array | null, values: Float64Array, count: number): void {
    const sums = this.#sums
    const rests = this.#rests
    if (groups === null) {
      let sum = sums[0]
      let rest = rests[0]
      for (let i = 0; i < count; i++) {
        const value = values[i]
        const next = sum + value
        rest += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
        sum = next
      }
      sums[0] = sum
      rests[0] = rest
      return
    }
    for (let i = 0; i < count; i++) {
      const group = groups[i]
      const value = values[i]
      const sum = sums[group]
      const next = sum + value
      rests[group] += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
      sums[group] = next
    }
  }

  /** The sum of a group; 0 of no rows. */
  total(group: number): number {
    const sum = this.#sums[group]
    return Number.isFinite(sum) ? sum + this.#rests[group] : sum
  }

  partial(groupCount: number): ColumnVector[] {
    return [this.#sums, this.#rests].map((values) => {
      const bytes = new Uint8Array(values.buffer, 0, groupCount * 8)
      return new ColumnVector(PHYSICAL.float64, groupCount, bytes, null, null, null)
    })
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    const sums = partialColumn(columns, 0, PHYSICAL.float64).lanes as Float64Array
    const rests = partialColumn(columns, 1, PHYSICAL.float64).lanes
    this.addNumbers(groups, sums, count)
    for (let i = 0; i < count; i++) this.#rests[groups[i]] += rests[i]
  }
}
