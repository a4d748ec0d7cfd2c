/**
 * The rows of a MemRowSet in key order, made when somebody asks. Hot.
 *
 * Writes only append rows, so the order holds a sorted part and knows of nothing behind it; the
 * next reader sorts what is new and merges it in. Rows that came in ascending order, as time series
 * do, need neither.
 */

import { assert } from '../../util/assert.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { sortSlots } from './sort-slots.ts'

const CAPACITY_MIN = 16
/** Stretches below this are copied by hand, which is faster. */
const STRETCH_MIN = 16

/**
 * Slots `[0, count)` of `slots` in ascending key order. Never changes: later rows make another
 * order.
 */
export interface SortedSlots {
  readonly slots: Uint32Array
  readonly count: number
}

/**
 * Keeps the order of the rows that were there when it was last asked for.
 *
 *  I1  `#slots[0, #count)` holds each of the first `#count` rows once, in strictly ascending key
 *      order;
 *  I2  that part of the array is never written again: readers hold it.
 */
export class KeyOrder {
  #slots: Uint32Array = new Uint32Array(0)
  #count = 0

  /** Bytes held in memory. */
  get heldBytes(): number {
    return this.#slots.byteLength
  }

  /**
   * All rows in key order.
   *
   * Cost: O(1) when no row was added since the last call; else sorting those added, and copying the
   * order unless their keys lie above all others.
   */
  sorted(rows: MemRowStore): SortedSlots {
    if (this.#count < rows.rowCount) this.#add(rows, rows.rowCount)
    return { slots: this.#slots, count: this.#count }
  }

  /** Takes in the rows from the ones it holds up to `end`. */
  #add(rows: MemRowStore, end: number): void {
    const count = this.#count
    const tail = new Uint32Array(end - count)
    let isAscending = true
    for (let slot = count; slot < end; slot++) {
      tail[slot - count] = slot
      isAscending &&= slot === count || rows.compareKeys(slot - 1, slot) < 0
    }
    if (!isAscending) sortSlots(rows, tail)
    if (count === 0 || rows.compareKeys(this.#slots[count - 1], tail[0]) < 0) this.#append(tail)
    else this.#slots = merge(rows, this.#slots.subarray(0, count), tail)
    this.#count = end
  }

  #append(tail: Uint32Array): void {
    const count = this.#count
    const needed = count + tail.length
    if (needed > this.#slots.length) {
      const isFirst = count === 0
      const capacity = isFirst ? needed : Math.max(needed, CAPACITY_MIN, Math.ceil(count * 1.25))
      const grown = new Uint32Array(capacity)
      grown.set(this.#slots.subarray(0, count))
      this.#slots = grown
    }
    this.#slots.set(tail, count)
  }

  /** Walks the order. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(rows: MemRowStore): void {
    const seen = new Uint8Array(this.#count)
    for (let i = 0; i < this.#count; i++) {
      const slot = this.#slots[i]
      assert(slot < this.#count && seen[slot] === 0, 'the order holds each row once')
      seen[slot] = 1
      if (i === 0) continue
      assert(rows.compareKeys(this.#slots[i - 1], slot) < 0, 'keys strictly ascend in the order')
    }
  }
}

/**
 * Merges two orders into a new one. Cost: O(tail · log) comparisons and one copy when the tail is
 * short.
 */
function merge(rows: MemRowStore, sorted: Uint32Array, tail: Uint32Array): Uint32Array {
  const merged = new Uint32Array(sorted.length + tail.length)
  let from = 0
  for (let i = 0; i < tail.length; i++) {
    const to = gallop(rows, sorted, from, tail[i])
    if (to - from >= STRETCH_MIN) merged.set(sorted.subarray(from, to), from + i)
    else for (let at = from; at < to; at++) merged[at + i] = sorted[at]
    merged[to + i] = tail[i]
    from = to
  }
  merged.set(sorted.subarray(from), from + tail.length)
  return merged
}

/**
 * Index of the first slot from `start` on whose key is above that of `slot`, by steps that double.
 */
function gallop(rows: MemRowStore, sorted: Uint32Array, start: number, slot: number): number {
  let low = start
  let step = 1
  while (low + step <= sorted.length && rows.compareKeys(sorted[low + step - 1], slot) < 0) {
    low += step
    step *= 2
  }
  let high = Math.min(sorted.length, low + step - 1)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows.compareKeys(sorted[middle], slot) < 0) low = middle + 1
    else high = middle
  }
  return low
}
