/**
 * Which rows have changes, and the newest change of each: from ordinals to numbers. Hot.
 *
 *   table      [ · 2 · 0 · · 1 · ]        open addressing, a power of two, at most half full
 *   entries      0: row 90 → 17   1: row 4 → 3   2: row 8 → 21      in the order of their coming
 *   sorted       4  8  90                 made when asked for: sorted once, then the new merged in
 *   entries      1  2   0                 of the sorted, so that a walk does not search the table
 */

import { assert } from '../../util/assert.ts'

/** The value of a row that has none. */
export const NO_VALUE = -1

const CAPACITY_MIN = 16

/**
 * Values by ordinal.
 *
 *  I1  entry i has `ordinals[i]`, `values[i]`, and exactly one place in the table;
 *  I2  `sorted[0, sortedCount)` are the ordinals of the first `sortedCount` entries, ascending.
 */
export class OrdinalIndex {
  count = 0
  #ordinals = new Uint32Array(CAPACITY_MIN)
  #values = new Int32Array(CAPACITY_MIN)
  #table = new Int32Array(CAPACITY_MIN * 2).fill(NO_VALUE)
  #sorted = new Uint32Array(0)
  #sortedEntries = new Int32Array(0)
  #sortedCount = 0

  /** Bytes held in memory. Cost: O(1). */
  get heldBytes(): number {
    return this.#ordinals.length * 8 + this.#table.length * 4 + this.#sorted.length * 8
  }

  /** The value of a row, or NO_VALUE. */
  get(ordinal: number): number {
    const entry = this.#table[this.#place(ordinal)]
    return entry === NO_VALUE ? NO_VALUE : this.#values[entry]
  }

  /** Gives a row a value in place of the one it has. */
  set(ordinal: number, value: number): void {
    const place = this.#place(ordinal)
    const entry = this.#table[place]
    if (entry !== NO_VALUE) {
      this.#values[entry] = value
      return
    }
    this.#table[place] = this.count
    this.#ordinals[this.count] = ordinal
    this.#values[this.count] = value
    this.count++
    if (this.count === this.#ordinals.length) this.#grow()
  }

  /** Place of an ordinal in the table: its own, or the free one where it belongs. */
  #place(ordinal: number): number {
    const table = this.#table
    const ordinals = this.#ordinals
    const mask = table.length - 1
    const hash = Math.imul(ordinal, 0x9e3779b1)
    let place = (hash ^ (hash >>> 15)) & mask
    while (table[place] !== NO_VALUE && ordinals[table[place]] !== ordinal) {
      place = (place + 1) & mask
    }
    return place
  }

  #grow(): void {
    const capacity = this.#ordinals.length * 2
    const ordinals = new Uint32Array(capacity)
    ordinals.set(this.#ordinals)
    this.#ordinals = ordinals
    const values = new Int32Array(capacity)
    values.set(this.#values)
    this.#values = values
    this.#table = new Int32Array(capacity * 2).fill(NO_VALUE)
    for (let entry = 0; entry < this.count; entry++) {
      this.#table[this.#place(ordinals[entry])] = entry
    }
  }

  /**
   * All ordinals, ascending; `[0, count)` is meaningful. Borrowed until the next `set`. Cost:
   * nothing when no row is new since it was last asked for, else O(count).
   */
  sorted(): Uint32Array {
    const { count } = this
    const sortedCount = this.#sortedCount
    if (sortedCount === count) return this.#sorted
    const fresh = this.#ordinals.slice(sortedCount, count).sort()
    if (this.#sorted.length < count) {
      const sorted = new Uint32Array(this.#ordinals.length)
      sorted.set(this.#sorted.subarray(0, sortedCount))
      this.#sorted = sorted
      const entries = new Int32Array(this.#ordinals.length)
      entries.set(this.#sortedEntries.subarray(0, sortedCount))
      this.#sortedEntries = entries
    }
    this.#merge(fresh)
    this.#sortedCount = count
    return this.#sorted
  }

  /** Merges new ordinals into the sorted ones, from the end on. Requires: there is room. */
  #merge(fresh: Uint32Array): void {
    const sorted = this.#sorted
    const entries = this.#sortedEntries
    let left = this.#sortedCount - 1
    let right = fresh.length - 1
    for (let out = left + fresh.length; right >= 0; out--) {
      if (left >= 0 && sorted[left] > fresh[right]) {
        sorted[out] = sorted[left]
        entries[out] = entries[left--]
      } else {
        sorted[out] = fresh[right]
        entries[out] = this.#table[this.#place(fresh[right--])]
      }
    }
  }

  /** The value of the row that is `index`-th in `sorted()`. Requires: no row is new since. */
  sortedValue(index: number): number {
    return this.#values[this.#sortedEntries[index]]
  }

  /** Walks all rows. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    for (let entry = 0; entry < this.count; entry++) {
      const found = this.#table[this.#place(this.#ordinals[entry])]
      assert(found === entry, 'every row is found by its ordinal')
    }
    const sorted = this.sorted()
    for (let i = 1; i < this.count; i++) assert(sorted[i - 1] < sorted[i], 'rows ascend')
    for (let i = 0; i < this.count; i++) {
      assert(this.get(sorted[i]) === this.sortedValue(i), 'a sorted row has its value')
    }
  }
}

/** Index of the first of `ordinals[0, count)`, which ascend, that is not below `ordinal`. */
export function lowerOrdinal(ordinals: Uint32Array, count: number, ordinal: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordinals[middle] < ordinal) low = middle + 1
    else high = middle
  }
  return low
}
