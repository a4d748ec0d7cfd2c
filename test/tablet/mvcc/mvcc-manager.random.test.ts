import { describe, expect, test } from 'vitest'
import { MvccManager } from '../../../src/tablet/mvcc/mvcc-manager.ts'
import type { MvccSnapshot } from '../../../src/tablet/mvcc/mvcc-snapshot.ts'
import { Prng } from '../../../src/util/prng.ts'

type State = 'reserved' | 'applying' | 'applied' | 'aborted'

/** Slow and obvious: the state of every op there ever was. */
class MvccModel {
  readonly ops = new Map<number, State>()
  safeTime = 0

  inState(state: State): number[] {
    return [...this.ops].filter((op) => op[1] === state).map((op) => op[0])
  }

  get cleanTime(): number {
    const first = Math.min(...this.inState('reserved'), ...this.inState('applying'))
    return Math.min(first - 1, this.safeTime)
  }

  /** Times of the ops that a snapshot taken now sees. */
  applied(): Set<number> {
    return new Set(this.inState('applied'))
  }
}

const SPAN = 40

/** One random step on both. */
function step(prng: Prng, mvcc: MvccManager, model: MvccModel): void {
  const reserved = model.inState('reserved')
  const applying = model.inState('applying')
  const at = model.safeTime + prng.between(1, SPAN)
  switch (prng.below(6)) {
    case 0:
    case 1:
      if (model.ops.get(at) === undefined) {
        mvcc.startOp(at)
        model.ops.set(at, 'reserved')
      }
      return
    case 2:
      if (reserved.length > 0) {
        const op = prng.pick(reserved)
        mvcc.startApplying(op)
        model.ops.set(op, 'applying')
      }
      return
    case 3:
      if (applying.length > 0) {
        const op = prng.pick(applying)
        mvcc.finishApplying(op)
        model.ops.set(op, 'applied')
      }
      return
    case 4:
      if (reserved.length > 0 && prng.chance(0.3)) {
        const op = prng.pick(reserved)
        mvcc.abort(op)
        model.ops.set(op, 'aborted')
      }
      return
    default: {
      const to = model.safeTime + prng.between(-3, 5)
      mvcc.adjustNewOpLowerBound(to)
      model.safeTime = Math.max(model.safeTime, to)
    }
  }
}

function disagreements(snapshot: MvccSnapshot, model: MvccModel, applied: Set<number>): number[] {
  return [...model.ops.entries()]
    .filter(([at, state]) => state !== 'aborted' && snapshot.isApplied(at) !== applied.has(at))
    .map(([at]) => at)
}

/** Times about which a "may" answer was a wrong no. */
function hastyAnswers(snapshot: MvccSnapshot, model: MvccModel, applied: Set<number>): number[] {
  const last = Math.max(0, ...applied)
  const firstMissing = Math.min(...model.inState('reserved'), ...model.inState('applying'))
  const wrong: number[] = []
  for (let at = model.cleanTime - 2; at < model.safeTime + SPAN; at++) {
    if (last > at && !snapshot.mayHaveAppliedAfter(at)) wrong.push(at)
    if (firstMissing <= at && !snapshot.mayHaveUnappliedAtOrBefore(at)) wrong.push(at)
  }
  return wrong
}

describe('MvccManager', () => {
  test.each([1, 2, 3, 4])('shows what a model of every op shows, seed %i', (seed) => {
    const prng = new Prng(seed)
    const mvcc = new MvccManager()
    const model = new MvccModel()
    const kept: { snapshot: MvccSnapshot; applied: Set<number>; born: number }[] = []
    for (let i = 0; i < 600; i++) {
      step(prng, mvcc, model)
      mvcc.checkInvariants()

      const where = `seed ${seed} step ${i}`
      const applied = model.applied()
      const snapshot = mvcc.takeSnapshot()
      expect(mvcc.safeTime, where).toBe(model.safeTime)
      expect(mvcc.cleanTime, where).toBe(model.cleanTime)
      expect(mvcc.inFlightCount, where).toBe(
        model.inState('reserved').length + model.inState('applying').length,
      )
      expect(disagreements(snapshot, model, applied), where).toEqual([])
      expect(hastyAnswers(snapshot, model, applied), where).toEqual([])
      if (i % 60 === 0) kept.push({ snapshot, applied, born: i })
    }
    for (const { snapshot, applied, born } of kept) {
      const wrong = disagreements(snapshot, model, applied)
      expect(wrong, `seed ${seed} snapshot of step ${born}`).toEqual([])
    }
  })
})
