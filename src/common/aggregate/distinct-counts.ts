/**
 * Counts of different cells, exactly: all pairs of a group and a value, each once. Hot.
 *
 * Partial results are no columns of the groups' block but blocks of their own: the values, and
 * the pairs. Of one group without keys the values say all.
 */

import type { ColumnVector } from '../column-vector.ts'
import type { Physical } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { PairNumbers } from './pair-numbers.ts'
import { ValueIds } from './value-ids.ts'

/** See the file's header. Null is not counted. */
export class DistinctCounts implements AggregateState {
  /** Values met; who numbers the same cells for another reason may use it too. */
  readonly values: ValueIds
  counts = new Float64Array(0)
  readonly #pairs = new PairNumbers()
  readonly #hasGroups: boolean

  constructor(physical: Physical, hasGroups: boolean) {
    this.values = new ValueIds(physical)
    this.#hasGroups = hasGroups
  }

  /** Groups and values of the pairs met, by their number. Borrowed until more are added. */
  get pairs(): { readonly count: number; readonly first: Uint32Array; second: Uint32Array } {
    return this.#pairs
  }

  get heldBytes(): number {
    return this.values.heldBytes + this.#pairs.heldBytes + this.counts.byteLength
  }

  reserve(groupCount: number): void {
    if (groupCount <= this.counts.length) return
    const counts = new Float64Array(grownCapacity(this.counts.length, groupCount))
    counts.set(this.counts)
    this.counts = counts
  }

  /** Adds the value with id `ids[i]` to group `groups[i]`, for `count` rows. */
  addValues(groups: Uint32Array | null, ids: Uint32Array, count: number): void {
    const { nullId } = this.values
    if (!this.#hasGroups) {
      this.counts[0] = this.values.count - (nullId >= 0 ? 1 : 0)
      return
    }
    let lastGroup = -1
    let lastId = -1
    for (let i = 0; i < count; i++) {
      const group = groups === null ? 0 : groups[i]
      const id = ids[i]
      // Neighbours are often the same.
      if (id === lastId && group === lastGroup) continue
      lastId = id
      lastGroup = group
      if (id === nullId) continue
      const known = this.#pairs.count
      if (this.#pairs.numberOf(group, id) === known) this.counts[group]++
    }
  }

  partial(): ColumnVector[] {
    return []
  }

  merge(): void {
    // What is merged are values and pairs.
  }
}
