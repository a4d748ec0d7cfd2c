/**
 * Which items to take when only so much may be carried: an estimate that is cheap to keep while
 * items come, and the best there is. Hot.
 */

import { assert } from '../../util/assert.ts'

/**
 * A bound on what the best choice of the items so far is worth, kept while they come.
 *
 * Takes the items that are worth most for their weight until they are one too many. All of them
 * are worth at least what any choice is; all but the last, or the last alone, can be carried, and
 * the better of the two is worth at least half of it.
 *
 *      heaviest for its worth                 best for its worth
 *   dropped │ last │ ◄──────────── can be carried ────────────► │
 *           └──────┴─ a heap, the last on top
 */
export class GreedyKnapsack {
  readonly #capacity: number
  readonly #densities: Float64Array
  readonly #values: Float64Array
  readonly #weights: Float64Array
  readonly #items: Int32Array
  #count = 0
  #value = 0
  #weight = 0

  /** For at most `itemCountMax` items. */
  constructor(capacity: number, itemCountMax: number) {
    this.#capacity = capacity
    this.#densities = new Float64Array(itemCountMax)
    this.#values = new Float64Array(itemCountMax)
    this.#weights = new Float64Array(itemCountMax)
    this.#items = new Int32Array(itemCountMax)
  }

  /** Forgets all items. */
  clear(): void {
    this.#count = 0
    this.#value = 0
    this.#weight = 0
  }

  /** Adds an item. Requires: it can be carried alone, weighs something and is worth something. */
  add(item: number, value: number, weight: number): void {
    assert(weight > 0 && weight <= this.#capacity, 'an item can be carried')
    this.#rise(this.#count++, item, value, weight)
    this.#value += value
    this.#weight += weight
    while (this.#count > 1 && this.#weight - this.#weights[0] >= this.#capacity) this.#drop()
  }

  /** No choice is worth more. */
  get upperBound(): number {
    return this.#value
  }

  /** What `choice` is worth. */
  get lowerBound(): number {
    if (this.#weight <= this.#capacity) return this.#value
    return Math.max(this.#value - this.#values[0], this.#values[0])
  }

  /** Items that can be carried and are worth `lowerBound`. */
  choice(): number[] {
    if (this.#weight <= this.#capacity) return [...this.#items.subarray(0, this.#count)]
    if (this.#values[0] > this.#value - this.#values[0]) return [this.#items[0]]
    return [...this.#items.subarray(1, this.#count)]
  }

  #rise(from: number, item: number, value: number, weight: number): void {
    const density = value / weight
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#densities[parent] <= density) break
      this.#move(parent, at)
      at = parent
    }
    this.#place(at, item, value, weight)
  }

  #drop(): void {
    this.#value -= this.#values[0]
    this.#weight -= this.#weights[0]
    const last = --this.#count
    const density = this.#densities[last]
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= last) break
      if (child + 1 < last && this.#densities[child + 1] < this.#densities[child]) child++
      if (this.#densities[child] >= density) break
      this.#move(child, at)
      at = child
    }
    this.#move(last, at)
  }

  #move(from: number, to: number): void {
    this.#densities[to] = this.#densities[from]
    this.#values[to] = this.#values[from]
    this.#weights[to] = this.#weights[from]
    this.#items[to] = this.#items[from]
  }

  #place(at: number, item: number, value: number, weight: number): void {
    this.#densities[at] = value / weight
    this.#values[at] = value
    this.#weights[at] = weight
    this.#items[at] = item
  }
}

/** What the best choices are worth: see `fillKnapsack`. */
export interface FilledKnapsack {
  /** By number of items: what the best choice of the first so many is worth. */
  readonly values: Float64Array
  /** The best choice of the first `count` items. */
  choice(count: number): number[]
}

/**
 * The best choices of the first items, for every number of them.
 *
 * Requires: weights are whole and positive. Cost: items × capacity in time and bytes.
 */
export function fillKnapsack(
  capacity: number,
  itemValues: ArrayLike<number>,
  itemWeights: ArrayLike<number>,
): FilledKnapsack {
  const count = itemValues.length
  const width = capacity + 1
  const best = new Float64Array(width)
  const isTaken = new Uint8Array(count * width)
  const values = new Float64Array(count + 1)
  for (let item = 0; item < count; item++) {
    const value = itemValues[item]
    const weight = itemWeights[item]
    const row = item * width
    for (let room = capacity; room >= weight; room--) {
      const worth = best[room - weight] + value
      if (worth <= best[room]) continue
      best[room] = worth
      isTaken[row + room] = 1
    }
    values[item + 1] = best[capacity]
  }
  return {
    values,
    choice: (itemCount) => {
      const chosen: number[] = []
      let room = capacity
      for (let item = itemCount - 1; item >= 0; item--) {
        if (isTaken[item * width + room] === 0) continue
        chosen.push(item)
        room -= itemWeights[item]
      }
      return chosen.reverse()
    },
  }
}
