/**
 * Numbers groups of rows by their keys, from 0. Hot.
 *
 *   ids of key 1   0  1  0  0        each column numbers its cells
 *   ids of key 2   0  0  1  0
 *   groups         0  1  2  0        and pairs of numbers are numbered, until one is left
 */

import type { GroupPlan } from '../aggregate-plan.ts'
import { ColumnBuilder } from '../column-builder.ts'
import type { ColumnVector } from '../column-vector.ts'
import { PairNumbers } from './pair-numbers.ts'
import { ValueIds } from './value-ids.ts'

/** See the file's header. Without keys there is one group, which is there from the beginning. */
export class GroupTable {
  /** One a key. */
  readonly values: readonly ValueIds[]
  /** One a key but the first: of the number so far and the id of its cell. */
  readonly #pairs: readonly PairNumbers[]

  constructor(plans: readonly GroupPlan[]) {
    this.values = plans.map(({ physical }) => new ValueIds(physical))
    this.#pairs = plans.slice(1).map(() => new PairNumbers())
  }

  /** Groups met. */
  get count(): number {
    if (this.values.length === 0) return 1
    return this.#pairs.length === 0
      ? this.values[0].count
      : this.#pairs[this.#pairs.length - 1].count
  }

  /** Bytes that it holds in memory. */
  get heldBytes(): number {
    let bytes = 0
    for (const values of this.values) bytes += values.heldBytes
    for (const pairs of this.#pairs) bytes += pairs.heldBytes
    return bytes
  }

  /**
   * Turns the ids of each key's cells into group numbers, in the ids of the first. Returns: those;
   * null without keys. Requires: ids given out by `values`.
   */
  number(ids: readonly Uint32Array[], count: number): Uint32Array | null {
    if (ids.length === 0) return null
    for (let key = 1; key < ids.length; key++) {
      this.#pairs[key - 1].assign(ids[0], ids[key], count, ids[0])
    }
    return ids[0]
  }

  /** The keys of groups `[0, groupCount)`, one column a key. */
  keys(groupCount: number): ColumnVector[] {
    const columns: ColumnVector[] = []
    const numbers = new Uint32Array(groupCount).map((_, group) => group)
    const ids = new Uint32Array(groupCount)
    for (let key = this.values.length - 1; key >= 0; key--) {
      if (key === 0) {
        ids.set(numbers)
      } else {
        const { first, second } = this.#pairs[key - 1]
        for (let group = 0; group < groupCount; group++) {
          ids[group] = second[numbers[group]]
          numbers[group] = first[numbers[group]]
        }
      }
      const builder = new ColumnBuilder(this.values[key].physical, groupCount)
      builder.appendRows(this.values[key].view(), ids, 0, groupCount)
      columns.unshift(builder.view())
    }
    return columns
  }
}
