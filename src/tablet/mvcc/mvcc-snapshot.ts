/**
 * Which ops a reader sees: a set of timestamps, written down as two watermarks and what lies
 * between.
 *
 *        allAppliedAtOrBefore           noneAppliedAfter
 *                 │                            │
 *   ──■──■──■──■──■┄┄□┄┄┄■┄┄□┄┄┄┄┄┄┄■┄┄┄┄┄┄┄┄┄■────□───□──► time
 *      all applied │ some, named one by one     │ none
 *
 *   ■ seen    □ not seen
 *
 * The snapshot at T holds every op with a timestamp ≤ T, so that a reader finds its own write at
 * the timestamp which the write returned. (In Kudu it holds those < T.) Both watermarks are
 * inclusive for that reason.
 *
 * An aborted op wrote nothing, so one before the first watermark may be called applied without
 * harm.
 *
 * A snapshot is a value: once taken it never changes, whatever becomes of the ops.
 *
 *  I1  `allAppliedAtOrBefore` ≤ `noneAppliedAfter`;
 *  I2  the times between are ascending and distinct, each above the first and at most the second;
 *  I3  with no times between, the two watermarks are equal: the snapshot is clean.
 */

import { TIMESTAMP_MAX, TIMESTAMP_MIN, type Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import { lowerBoundOf } from './timestamp-list.ts'

const NO_TIMES = new Float64Array(0)

/** A set of applied ops. Immutable. */
export class MvccSnapshot {
  /** Every op at or before this time is seen. */
  readonly allAppliedAtOrBefore: Timestamp
  /** No op after this time is seen. */
  readonly noneAppliedAfter: Timestamp
  readonly #between: Float64Array

  /**
   * The ops at or before `allAppliedAtOrBefore`, and those of `between`.
   *
   * Requires: `between` is ascending, distinct, above `allAppliedAtOrBefore`, and is not written
   * to any more.
   */
  constructor(allAppliedAtOrBefore: Timestamp, between: Float64Array = NO_TIMES) {
    const count = between.length
    assert(
      count === 0 || between[0] > allAppliedAtOrBefore,
      'what is named lies above what is certain',
    )
    this.allAppliedAtOrBefore = allAppliedAtOrBefore
    this.noneAppliedAfter = count === 0 ? allAppliedAtOrBefore : between[count - 1]
    this.#between = between
  }

  /**
   * The snapshot at `at`: every op ≤ `at`.
   *
   * Requires: every op ≤ `at` is applied, or the reader does not mind; `MvccManager.snapshotAt`
   * checks it.
   */
  static at(at: Timestamp): MvccSnapshot {
    return new MvccSnapshot(at)
  }

  /** The snapshot that sees every op there is, also those yet to come. */
  static everything(): MvccSnapshot {
    return new MvccSnapshot(TIMESTAMP_MAX)
  }

  /** The snapshot that sees no op. */
  static nothing(): MvccSnapshot {
    return new MvccSnapshot(TIMESTAMP_MIN)
  }

  /** Whether one timestamp says it all: an op is seen if and only if it is at or before it. */
  get isClean(): boolean {
    return this.#between.length === 0
  }

  /** Whether the op at `at` is seen. Cost: two comparisons, and O(log n) between the watermarks. */
  isApplied(at: Timestamp): boolean {
    if (at <= this.allAppliedAtOrBefore) return true
    if (at > this.noneAppliedAfter) return false
    const between = this.#between
    const index = lowerBoundOf(between, between.length, at)
    return index < between.length && between[index] === at
  }

  /**
   * Whether an op after `at` may be seen. When not, a store whose oldest change is after `at` is
   * skipped.
   *
   * Returns: never a wrong false; true does not promise that there is such an op.
   */
  mayHaveAppliedAfter(at: Timestamp): boolean {
    return at < this.noneAppliedAfter
  }

  /**
   * Whether an op at or before `at` may be unseen. When not, a store whose newest change is `at`
   * needs no look at single timestamps.
   *
   * Returns: never a wrong false; true does not promise that there is such an op.
   */
  mayHaveUnappliedAtOrBefore(at: Timestamp): boolean {
    return at > this.allAppliedAtOrBefore
  }

  /** Whether both see the same ops, whatever those may be. */
  equals(other: MvccSnapshot): boolean {
    if (this.allAppliedAtOrBefore !== other.allAppliedAtOrBefore) return false
    if (this.#between.length !== other.#between.length) return false
    for (let i = 0; i < this.#between.length; i++) {
      if (this.#between[i] !== other.#between[i]) return false
    }
    return true
  }

  /** For people: `all <= 12, and 15, 17`. */
  toString(): string {
    const named = this.isClean ? '' : `, and ${this.#between.join(', ')}`
    return `all <= ${this.allAppliedAtOrBefore}${named}`
  }
}
