/**
 * What an aggregation keeps of the rows of each group, one class a kind of aggregate. Hot.
 *
 * Tablets add rows, a batch at a time, in methods of their own of each class; what they come to is
 * sent as columns and merged, in the front, by the same classes. Rows added in any order and in
 * any parts come to the same, but for the last digits of sums of doubles.
 */

import type { ColumnVector } from '../column-vector.ts'

/** Groups are numbered from 0. In methods that add rows `groups` null means: all of group 0. */
export interface AggregateState {
  /** Bytes that it holds in memory. */
  readonly heldBytes: number

  /** Makes room for groups below a count. A group begins with no rows. */
  reserve(groupCount: number): void

  /** What groups `[0, groupCount)` came to, for `merge`. Borrowed until rows are added. */
  partial(groupCount: number): ColumnVector[]

  /**
   * Adds to group `groups[i]` what row i of another state's partial columns came to, for `count`
   * rows. Throws: CORRUPTION when the columns are no partial ones.
   */
  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void
}

/** The room for `needed` groups, at least twice what there was. */
export function grownCapacity(capacity: number, needed: number): number {
  return Math.max(needed, capacity * 2, 16)
}
