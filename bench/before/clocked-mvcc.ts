import type { Clock, Timestamp } from '../../src/common/hybrid-clock.ts'
import { MvccManager } from '../../src/tablet/mvcc/mvcc-manager.ts'
import { TabletClock } from '../../src/tablet/tablet-clock.ts'
import { assert } from '../../src/util/assert.ts'

/**
 * MVCC that gives ops their times and moves safe time by itself, as before both were told to it:
 * it asks the clock as an op begins and again as it ends, each in a step that nothing may
 * interrupt. There are no threads here: the lock of such a step is a flag.
 */
export class ClockedMvcc extends MvccManager {
  readonly #clock: Clock
  #isLocked = false
  #begun: Timestamp = 0

  constructor(clock: Clock, startAt: Timestamp) {
    super(startAt)
    this.#clock = clock
  }

  /** Begins an op, above all before and `heard`. Returns: its time. */
  begin(heard: Timestamp): Timestamp {
    return this.#locked(() => {
      const at = Math.max(this.#clock.nowMicros(), heard + 1, this.safeTime + 1)
      super.startOp(at)
      super.adjustNewOpLowerBound(at)
      this.#begun = at
      return at
    })
  }

  /** Does nothing: the op was begun when it got its time. */
  override startOp(at: Timestamp): void {
    assert(at === this.#begun, 'an op begins when it gets its time')
  }

  override finishApplying(at: Timestamp): void {
    this.#locked(() => {
      super.finishApplying(at)
      super.adjustNewOpLowerBound(this.#clock.nowMicros())
    })
  }

  #locked<T>(step: () => T): T {
    assert(!this.#isLocked, 'a step is not begun within another')
    this.#isLocked = true
    try {
      return step()
    } finally {
      this.#isLocked = false
    }
  }
}

/** A tablet's clock that leaves times of ops to MVCC. */
export class MvccClock extends TabletClock {
  readonly #mvcc: ClockedMvcc

  constructor(port: Clock, mvcc: ClockedMvcc, newestOp: Timestamp, clockMark: Timestamp) {
    super(port, newestOp, clockMark)
    this.#mvcc = mvcc
  }

  override next(): Timestamp {
    return this.#mvcc.begin(this.last)
  }
}
