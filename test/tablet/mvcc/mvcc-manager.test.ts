import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../../src/common/hybrid-clock.ts'
import { OP_TRACKED_COUNT_MAX } from '../../../src/common/limits.ts'
import { MvccManager } from '../../../src/tablet/mvcc/mvcc-manager.ts'
import type { MvccSnapshot } from '../../../src/tablet/mvcc/mvcc-snapshot.ts'
import { AssertionError } from '../../../src/util/assert.ts'

function apply(mvcc: MvccManager, at: number): void {
  mvcc.startApplying(at)
  mvcc.finishApplying(at)
  mvcc.checkInvariants()
}

/** Ops of `times` that the snapshot sees. */
function seen(snapshot: MvccSnapshot, ...times: number[]): number[] {
  return times.filter((at) => snapshot.isApplied(at))
}

describe('MvccManager', () => {
  test('begins with nothing applied, nothing promised', () => {
    const mvcc = new MvccManager()

    expect([mvcc.safeTime, mvcc.cleanTime, mvcc.inFlightCount]).toEqual([0, 0, 0])
    expect(mvcc.earliestInFlight).toBe(TIMESTAMP_MAX)
    expect(seen(mvcc.takeSnapshot(), 1, 2)).toEqual([])
  })

  test('begins where bootstrap ended', () => {
    const mvcc = new MvccManager(100)

    expect([mvcc.safeTime, mvcc.cleanTime]).toEqual([100, 100])
    expect(seen(mvcc.takeSnapshot(), 99, 100, 101)).toEqual([99, 100])
    expect(() => mvcc.startOp(100)).toThrow('after safe time')
  })

  test('shows an op from when it is applied, not while it is reserved or applying', () => {
    const mvcc = new MvccManager()

    mvcc.startOp(5)
    const reserved = mvcc.takeSnapshot()
    mvcc.startApplying(5)
    const applying = mvcc.takeSnapshot()
    mvcc.finishApplying(5)
    const applied = mvcc.takeSnapshot()

    expect(seen(reserved, 4, 5, 6)).toEqual([])
    expect(seen(applying, 4, 5, 6)).toEqual([])
    expect(seen(applied, 4, 5, 6)).toEqual([5])
  })

  test('keeps snapshots as they were when they were taken', () => {
    const mvcc = new MvccManager()
    mvcc.startOp(5)
    mvcc.startOp(6)
    apply(mvcc, 6)
    const before = mvcc.takeSnapshot()

    apply(mvcc, 5)
    mvcc.adjustNewOpLowerBound(6)

    expect(seen(before, 5, 6)).toEqual([6])
    expect(seen(mvcc.takeSnapshot(), 5, 6)).toEqual([5, 6])
  })

  test('lets several ops be in flight and finish in any order', () => {
    const mvcc = new MvccManager()
    mvcc.startOp(1)
    mvcc.startOp(2)
    mvcc.adjustNewOpLowerBound(2)

    apply(mvcc, 2)
    expect(seen(mvcc.takeSnapshot(), 1, 2)).toEqual([2])
    expect(mvcc.cleanTime).toBe(0)

    mvcc.startOp(3)
    mvcc.adjustNewOpLowerBound(3)
    apply(mvcc, 3)
    expect(seen(mvcc.takeSnapshot(), 1, 2, 3)).toEqual([2, 3])

    apply(mvcc, 1)
    const snapshot = mvcc.takeSnapshot()
    expect(seen(snapshot, 1, 2, 3)).toEqual([1, 2, 3])
    expect(snapshot.isClean).toBe(true)
    expect(mvcc.cleanTime).toBe(3)
  })

  test('lets an op begin before one that began or was applied already', () => {
    const mvcc = new MvccManager()
    mvcc.startOp(9)
    mvcc.startOp(7)
    apply(mvcc, 9)
    mvcc.startOp(5)

    expect(mvcc.earliestInFlight).toBe(5)
    apply(mvcc, 5)
    apply(mvcc, 7)

    expect(seen(mvcc.takeSnapshot(), 5, 6, 7, 8, 9)).toEqual([5, 7, 9])
  })

  test('moves safe time only when told to', () => {
    const mvcc = new MvccManager()

    mvcc.startOp(5)
    mvcc.startOp(8)
    apply(mvcc, 5)
    mvcc.abort(8)
    expect([mvcc.safeTime, mvcc.cleanTime]).toEqual([0, 0])

    mvcc.adjustNewOpLowerBound(6)
    expect([mvcc.safeTime, mvcc.cleanTime]).toEqual([6, 6])
    mvcc.adjustNewOpLowerBound(4)
    expect(mvcc.safeTime).toBe(6)
    expect(() => mvcc.startOp(6)).toThrow(AssertionError)
    mvcc.startOp(7)
  })

  //   5 ■   7 □   9 ■   |safe 20
  test('holds clean time right before the first op in flight', () => {
    const mvcc = new MvccManager()
    for (const at of [5, 7, 9]) mvcc.startOp(at)
    mvcc.adjustNewOpLowerBound(20)
    expect(mvcc.cleanTime).toBe(4)

    apply(mvcc, 9)
    expect(mvcc.cleanTime).toBe(4)
    apply(mvcc, 5)
    expect(mvcc.cleanTime).toBe(6)
    expect(seen(mvcc.takeSnapshot(), 5, 6, 7, 8, 9, 10)).toEqual([5, 6, 9])
    apply(mvcc, 7)
    expect(mvcc.cleanTime).toBe(20)
  })

  test('moves clean time to safe time when the last op in flight is applied', () => {
    const mvcc = new MvccManager()
    mvcc.startOp(5)
    mvcc.adjustNewOpLowerBound(30)

    apply(mvcc, 5)

    expect(mvcc.cleanTime).toBe(30)
    expect(mvcc.takeSnapshot().isClean).toBe(true)
  })

  test('never shows an aborted op, and aborting does not move safe time', () => {
    const mvcc = new MvccManager()
    for (const at of [1, 2, 3]) mvcc.startOp(at)

    mvcc.abort(1)
    expect([mvcc.safeTime, mvcc.cleanTime]).toEqual([0, 0])
    expect(seen(mvcc.takeSnapshot(), 1)).toEqual([])

    mvcc.adjustNewOpLowerBound(3)
    apply(mvcc, 3)
    expect(mvcc.cleanTime).toBe(1)
    apply(mvcc, 2)
    expect(mvcc.cleanTime).toBe(3)
  })

  test('no longer waits for an op that was aborted', () => {
    const mvcc = new MvccManager()
    mvcc.startOp(5)
    mvcc.adjustNewOpLowerBound(8)
    expect(mvcc.allAppliedAtOrBefore(8)).toBe(false)

    mvcc.abort(5)

    expect(mvcc.allAppliedAtOrBefore(8)).toBe(true)
  })

  describe('snapshotAt', () => {
    // Kudu's snapshot at T holds only ops < T; ours holds those ≤ T.
    test('holds the op at its time', () => {
      const mvcc = new MvccManager()
      for (const at of [1, 2, 3]) mvcc.startOp(at)
      mvcc.adjustNewOpLowerBound(3)
      for (const at of [1, 2, 3]) apply(mvcc, at)

      expect(seen(mvcc.snapshotAt(2), 1, 2, 3)).toEqual([1, 2])
    })

    test('is refused while an op at or before its time is in flight', () => {
      const mvcc = new MvccManager()
      mvcc.startOp(2)
      mvcc.startOp(4)
      mvcc.adjustNewOpLowerBound(9)

      expect(mvcc.allAppliedAtOrBefore(1)).toBe(true)
      expect(mvcc.snapshotAt(1).isApplied(1)).toBe(true)
      expect(mvcc.allAppliedAtOrBefore(2)).toBe(false)
      expect(() => mvcc.snapshotAt(2)).toThrow(AssertionError)
      apply(mvcc, 2)
      expect(mvcc.allAppliedAtOrBefore(3)).toBe(true)
      expect(mvcc.allAppliedAtOrBefore(4)).toBe(false)
      apply(mvcc, 4)
      expect(mvcc.allAppliedAtOrBefore(9)).toBe(true)
    })

    test('is refused above safe time, where ops may still begin', () => {
      const mvcc = new MvccManager()
      mvcc.adjustNewOpLowerBound(9)

      expect(mvcc.allAppliedAtOrBefore(9)).toBe(true)
      expect(mvcc.allAppliedAtOrBefore(10)).toBe(false)
      expect(() => mvcc.snapshotAt(10)).toThrow(AssertionError)
    })
  })

  test('counts ops that are applying apart from those reserved', () => {
    const mvcc = new MvccManager()
    for (const at of [1, 2, 3]) mvcc.startOp(at)
    mvcc.startApplying(2)
    mvcc.startApplying(3)

    expect([mvcc.inFlightCount, mvcc.applyingCount]).toEqual([3, 2])
    mvcc.finishApplying(3)
    mvcc.finishApplying(2)
    expect([mvcc.inFlightCount, mvcc.applyingCount, mvcc.earliestInFlight]).toEqual([1, 0, 1])
  })

  describe('asserts', () => {
    const reserved = () => {
      const mvcc = new MvccManager()
      mvcc.startOp(5)
      return mvcc
    }
    const applying = () => {
      const mvcc = reserved()
      mvcc.startApplying(5)
      return mvcc
    }
    const applied = () => {
      const mvcc = applying()
      mvcc.finishApplying(5)
      return mvcc
    }
    const aborted = () => {
      const mvcc = reserved()
      mvcc.abort(5)
      return mvcc
    }
    const fresh = () => new MvccManager()

    const illegal: [
      string,
      () => MvccManager,
      'startOp' | 'startApplying' | 'finishApplying' | 'abort',
    ][] = [
      ['a fresh op starts applying', fresh, 'startApplying'],
      ['a fresh op is finished', fresh, 'finishApplying'],
      ['a fresh op is aborted', fresh, 'abort'],
      ['a reserved op begins again', reserved, 'startOp'],
      ['a reserved op is finished', reserved, 'finishApplying'],
      ['an applying op begins again', applying, 'startOp'],
      ['an applying op starts applying again', applying, 'startApplying'],
      ['an applying op is aborted', applying, 'abort'],
      ['an applied op begins again', applied, 'startOp'],
      ['an applied op starts applying', applied, 'startApplying'],
      ['an applied op is finished again', applied, 'finishApplying'],
      ['an applied op is aborted', applied, 'abort'],
      ['an aborted op starts applying', aborted, 'startApplying'],
      ['an aborted op is finished', aborted, 'finishApplying'],
      ['an aborted op is aborted again', aborted, 'abort'],
    ]
    test.each(illegal)('when %s', (_, make, step) => {
      const mvcc = make()

      expect(() => mvcc[step](5)).toThrow(AssertionError)
    })

    test.each([0, -1, 1.5, Number.NaN, TIMESTAMP_MAX, 2 ** 60])('when an op begins at %s', (at) => {
      expect(() => new MvccManager().startOp(at)).toThrow(AssertionError)
    })

    test('when more ops are in flight than it tracks', () => {
      const mvcc = new MvccManager()
      for (let at = 1; at <= OP_TRACKED_COUNT_MAX; at++) mvcc.startOp(at)

      expect(() => mvcc.startOp(OP_TRACKED_COUNT_MAX + 1)).toThrow('in flight')
    })

    test('when safe time is never moved', () => {
      const mvcc = new MvccManager()
      const run = () => {
        for (let at = 1; at <= OP_TRACKED_COUNT_MAX + 1; at++) {
          mvcc.startOp(at)
          mvcc.startApplying(at)
          mvcc.finishApplying(at)
        }
      }

      expect(run).toThrow('left behind')
    })
  })

  test('needs no name for applied ops once safe time has passed them', () => {
    const mvcc = new MvccManager()
    for (let at = 1; at <= 100_000; at++) {
      mvcc.startOp(at)
      mvcc.adjustNewOpLowerBound(at)
      mvcc.startApplying(at)
      mvcc.finishApplying(at)
    }

    expect(mvcc.cleanTime).toBe(100_000)
    expect(mvcc.takeSnapshot().isClean).toBe(true)
  })
})
