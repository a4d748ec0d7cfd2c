/**
 * Knows which ops of a tablet are under way and which are applied, and says what a reader may
 * rely on.
 *
 *                cleanTime           safeTime
 *                    │                  │
 *   ──■──■──■──×──■──┼──□────■────□──■──┼──────■─────□────► time
 *     all ended      │ first in flight  │ ops begin only here, after safe time
 *
 *   ■ applied    □ in flight (reserved or applying)    × aborted
 *
 * An op's life, every step told with the op's own timestamp; any other step is a bug and asserts:
 *
 *   startOp ──► RESERVED ──startApplying──► APPLYING ──finishApplying──► applied
 *                  └────────abort────────► gone         (no way back from APPLYING)
 *
 * Safe time is a promise: no op will begin at or before it. Only `adjustNewOpLowerBound` moves
 * it; beginning, applying or aborting an op never does. Clean time follows from it: every op at
 * or before clean time has ended, and none will come, so what a snapshot there shows is settled
 * forever.
 *
 *  I1  cleanTime = min(first in flight − 1, safeTime); both never go back;
 *  I2  a timestamp is in at most one of reserved, applying and applied;
 *  I3  applied holds only what is after clean time: what is before needs no name.
 *
 * All of it is synchronous, and nothing is allocated per op.
 */

import { TIMESTAMP_MAX, TIMESTAMP_MIN, type Timestamp } from '../../common/hybrid-clock.ts'
import { OP_TRACKED_COUNT_MAX } from '../../common/limits.ts'
import { assert } from '../../util/assert.ts'
import { MvccSnapshot } from './mvcc-snapshot.ts'
import { TimestampList } from './timestamp-list.ts'

/** The ops of one tablet. */
export class MvccManager {
  readonly #reserved = new TimestampList()
  readonly #applying = new TimestampList()
  /** Applied, after clean time. */
  readonly #applied = new TimestampList()
  #safeTime: Timestamp
  #cleanTime: Timestamp

  /** Everything at or before `startAt` is applied and over, as bootstrap found it. */
  constructor(startAt: Timestamp = TIMESTAMP_MIN) {
    this.#safeTime = startAt
    this.#cleanTime = startAt
  }

  /** No op will begin at or before this time. */
  get safeTime(): Timestamp {
    return this.#safeTime
  }

  /** Every op at or before this time has ended, and none will come. */
  get cleanTime(): Timestamp {
    return this.#cleanTime
  }

  /** Ops begun and not ended. */
  get inFlightCount(): number {
    return this.#reserved.count + this.#applying.count
  }

  /**
   * Ops that are changing stores now. A flush or compaction swaps stores only when there is none.
   */
  get applyingCount(): number {
    return this.#applying.count
  }

  /** Time of the first op in flight; TIMESTAMP_MAX when none is. */
  get earliestInFlight(): Timestamp {
    const reserved = this.#reserved.count === 0 ? TIMESTAMP_MAX : this.#reserved.first
    const applying = this.#applying.count === 0 ? TIMESTAMP_MAX : this.#applying.first
    return Math.min(reserved, applying)
  }

  /**
   * Begins an op. It may lie before ops begun or applied already, never at or before safe time.
   *
   * Does not move safe time: the caller may still have earlier ops to begin.
   */
  startOp(at: Timestamp): void {
    assert(Number.isSafeInteger(at), 'a timestamp is a safe integer')
    assert(at > this.#safeTime, 'an op begins after safe time')
    assert(at < TIMESTAMP_MAX, 'an op begins before the end of time')
    assert(!this.#applied.has(at), 'no op begins twice: it is applied')
    assert(!this.#applying.has(at), 'no op begins twice: it is applying')
    assert(this.inFlightCount < OP_TRACKED_COUNT_MAX, 'more ops in flight than a tablet tracks')
    const isNew = this.#reserved.add(at)
    assert(isNew, 'no op begins twice: it is reserved')
  }

  /** Tells that a reserved op begins to change stores. From here it can only be finished. */
  startApplying(at: Timestamp): void {
    const wasReserved = this.#reserved.remove(at)
    assert(wasReserved, 'only a reserved op starts applying')
    const isNew = this.#applying.add(at)
    assert(isNew, 'a reserved op was applying already')
  }

  /** Tells that an applying op has changed all it will: snapshots taken from now on see it. */
  finishApplying(at: Timestamp): void {
    const wasApplying = this.#applying.remove(at)
    assert(wasApplying, 'only an applying op is finished')
    if (at > this.#advancedCleanTime()) {
      assert(this.#applied.count < OP_TRACKED_COUNT_MAX, 'safe time was left behind by applied ops')
      const isNew = this.#applied.add(at)
      assert(isNew, 'an applying op was applied already')
    }
    this.#advance()
  }

  /**
   * Ends a reserved op that changed nothing. Does not move safe time; clean time no longer waits
   * for the op.
   */
  abort(at: Timestamp): void {
    const wasReserved = this.#reserved.remove(at)
    assert(wasReserved, 'only a reserved op is aborted')
    this.#advance()
  }

  /**
   * Promises that no op will begin at or before `at`. A promise is not taken back: an earlier
   * time changes nothing.
   *
   * Requires: the clock that gives ops their times was raised to `at`.
   */
  adjustNewOpLowerBound(at: Timestamp): void {
    assert(Number.isSafeInteger(at), 'a timestamp is a safe integer')
    if (at <= this.#safeTime) return
    this.#safeTime = at
    this.#advance()
  }

  /**
   * Whether every op at or before `at` has ended and none will come: a snapshot there is settled.
   */
  allAppliedAtOrBefore(at: Timestamp): boolean {
    return at <= this.#cleanTime
  }

  /** The ops applied now. It stays what it is; two taken in turn may differ by an op between. */
  takeSnapshot(): MvccSnapshot {
    if (this.#applied.count === 0) return new MvccSnapshot(this.#cleanTime)
    return new MvccSnapshot(this.#cleanTime, this.#applied.toArray())
  }

  /**
   * The snapshot at `at`, the same however often it is taken.
   *
   * Requires: `allAppliedAtOrBefore(at)`; asserted.
   */
  snapshotAt(at: Timestamp): MvccSnapshot {
    assert(at <= this.#cleanTime, 'a snapshot in time needs every op up to it to have ended')
    return MvccSnapshot.at(at)
  }

  /** Asserts I1 to I3. */
  checkInvariants(): void {
    assert(this.#cleanTime === this.#advancedCleanTime(), 'clean time lags behind')
    assert(this.#cleanTime <= this.#safeTime, 'clean time passed safe time')
    const applied = this.#applied.toArray()
    for (let i = 0; i < applied.length; i++) {
      assert(applied[i] > this.#cleanTime, 'an op before clean time still has a name')
      assert(!this.#reserved.has(applied[i]), 'an applied op is reserved')
      assert(!this.#applying.has(applied[i]), 'an applied op is applying')
    }
    const applying = this.#applying.toArray()
    for (let i = 0; i < applying.length; i++) {
      assert(!this.#reserved.has(applying[i]), 'an applying op is reserved')
    }
  }

  #advancedCleanTime(): Timestamp {
    return Math.min(this.earliestInFlight - 1, this.#safeTime)
  }

  #advance(): void {
    const cleanTime = this.#advancedCleanTime()
    assert(cleanTime >= this.#cleanTime, 'clean time went back')
    if (cleanTime === this.#cleanTime) return
    this.#cleanTime = cleanTime
    this.#applied.removeAtOrBefore(cleanTime)
  }
}
