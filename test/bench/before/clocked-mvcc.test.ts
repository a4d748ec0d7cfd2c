import { describe, expect, test } from 'vitest'
import { ClockedMvcc, MvccClock } from '../../../bench/before/clocked-mvcc.ts'
import { AssertionError } from '../../../src/util/assert.ts'

describe('ClockedMvcc', () => {
  test('gives ascending times while the clock stands, and moves safe time along', () => {
    const port = { nowMicros: () => 1000 }
    const mvcc = new ClockedMvcc(port, 0)
    const times = [1, 2, 3].map(() => {
      const at = mvcc.begin(0)
      mvcc.startOp(at)
      mvcc.startApplying(at)
      mvcc.finishApplying(at)
      mvcc.checkInvariants()
      return at
    })

    expect(times).toEqual([1000, 1001, 1002])
    expect([mvcc.safeTime, mvcc.cleanTime]).toEqual([1002, 1002])
  })

  test('begins no op but the one that got a time', () => {
    const mvcc = new ClockedMvcc({ nowMicros: () => 1000 }, 0)
    mvcc.begin(0)

    expect(() => mvcc.startOp(999)).toThrow(AssertionError)
  })
})

test('MvccClock gives times above all that it heard', () => {
  const port = { nowMicros: () => 1000 }
  const clock = new MvccClock(port, new ClockedMvcc(port, 0), 0, 0)
  clock.hear(800_000)

  expect(clock.next()).toBe(800_001)
})
