/**
 * Distinct timestamps in ascending order, in one typed array that is kept as they come and go.
 *
 *   times  [ 12 | 15 | 16 |  …  ]      only [0, count) is meaningful
 *
 * A sorted array beats a Set here: it holds a handful of ops, nearly always changes at its ends,
 * and gives the least and the greatest for nothing. Hot: no allocation but when it grows.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'

/** Timestamps, ascending and distinct. */
export class TimestampList {
  #times = new Float64Array(8)
  #count = 0

  /** How many there are. */
  get count(): number {
    return this.#count
  }

  /** The least. Requires: not empty. */
  get first(): Timestamp {
    assert(this.#count > 0, 'an empty list has no first timestamp')
    return this.#times[0]
  }

  /** The greatest. Requires: not empty. */
  get last(): Timestamp {
    assert(this.#count > 0, 'an empty list has no last timestamp')
    return this.#times[this.#count - 1]
  }

  /** Whether `at` is among them. */
  has(at: Timestamp): boolean {
    const index = lowerBoundOf(this.#times, this.#count, at)
    return index < this.#count && this.#times[index] === at
  }

  /** Adds `at`. Returns false, and changes nothing, when it is there already. */
  add(at: Timestamp): boolean {
    const index = lowerBoundOf(this.#times, this.#count, at)
    if (index < this.#count && this.#times[index] === at) return false
    if (this.#count === this.#times.length) this.#grow()
    this.#times.copyWithin(index + 1, index, this.#count)
    this.#times[index] = at
    this.#count++
    return true
  }

  /** Takes `at` out. Returns whether it was there. */
  remove(at: Timestamp): boolean {
    const index = lowerBoundOf(this.#times, this.#count, at)
    if (index === this.#count || this.#times[index] !== at) return false
    this.#times.copyWithin(index, index + 1, this.#count)
    this.#count--
    return true
  }

  /** Takes out everything at or before `at`. */
  removeAtOrBefore(at: Timestamp): void {
    const index = lowerBoundOf(this.#times, this.#count, at + 1)
    if (index === 0) return
    this.#times.copyWithin(0, index, this.#count)
    this.#count -= index
  }

  /** A copy that nothing changes any more. */
  toArray(): Float64Array {
    return this.#times.slice(0, this.#count)
  }

  #grow(): void {
    const grown = new Float64Array(this.#times.length * 2)
    grown.set(this.#times)
    this.#times = grown
  }
}

/**
 * Index of the first of `times[0, count)` that is not before `at`, or `count` when all are.
 *
 * Requires: ascending. Cost: O(log count), and O(1) when `at` is after all.
 */
export function lowerBoundOf(times: Float64Array, count: number, at: Timestamp): number {
  if (count === 0 || times[count - 1] < at) return count
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle] < at) low = middle + 1
    else high = middle
  }
  return low
}
