import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../../src/common/hybrid-clock.ts'
import { MvccSnapshot } from '../../../src/tablet/mvcc/mvcc-snapshot.ts'

describe('MvccSnapshot', () => {
  // Kudu's snapshot at T holds only ops < T; ours holds those ≤ T.
  test('at a time holds the op of that time and no later one', () => {
    const snapshot = MvccSnapshot.at(10)

    expect([1, 9, 10, 11, 1000].map((at) => snapshot.isApplied(at))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(snapshot.isClean).toBe(true)
  })

  // all ≤ 10, and 13, 17: the drawing of the header in numbers
  test('holds what is certain and what is named, and nothing else', () => {
    const snapshot = new MvccSnapshot(10, Float64Array.of(13, 17))

    expect(
      [10, 11, 12, 13, 14, 16, 17, 18, TIMESTAMP_MAX].filter((at) => snapshot.isApplied(at)),
    ).toEqual([10, 13, 17])
    expect(snapshot.isClean).toBe(false)
    expect(snapshot.noneAppliedAfter).toBe(17)
    expect(String(snapshot)).toBe('all <= 10, and 13, 17')
  })

  test('may hold ops after a time only below its upper watermark', () => {
    const clean = MvccSnapshot.at(10)
    const open = new MvccSnapshot(10, Float64Array.of(13, 17))

    expect([9, 10, 11].map((at) => clean.mayHaveAppliedAfter(at))).toEqual([true, false, false])
    expect([10, 16, 17, 18].map((at) => open.mayHaveAppliedAfter(at))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  test('may lack ops up to a time only above its lower watermark', () => {
    const clean = MvccSnapshot.at(10)
    const open = new MvccSnapshot(10, Float64Array.of(13, 17))

    expect([9, 10, 11].map((at) => clean.mayHaveUnappliedAtOrBefore(at))).toEqual([
      false,
      false,
      true,
    ])
    expect([10, 11, 13, 20].map((at) => open.mayHaveUnappliedAtOrBefore(at))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  test('of everything sees the last timestamp, of nothing not the first', () => {
    expect(MvccSnapshot.everything().isApplied(TIMESTAMP_MAX)).toBe(true)
    expect(MvccSnapshot.everything().mayHaveUnappliedAtOrBefore(TIMESTAMP_MAX)).toBe(false)
    expect(MvccSnapshot.nothing().isApplied(1)).toBe(false)
    expect(MvccSnapshot.nothing().mayHaveAppliedAfter(0)).toBe(false)
  })

  test('equals another that sees the same ops', () => {
    const snapshot = new MvccSnapshot(10, Float64Array.of(13, 17))

    expect(snapshot.equals(new MvccSnapshot(10, Float64Array.of(13, 17)))).toBe(true)
    expect(snapshot.equals(new MvccSnapshot(10, Float64Array.of(13, 18)))).toBe(false)
    expect(snapshot.equals(new MvccSnapshot(10, Float64Array.of(13)))).toBe(false)
    expect(snapshot.equals(new MvccSnapshot(11, Float64Array.of(13, 17)))).toBe(false)
  })

  test('refuses a named op that the watermark covers', () => {
    expect(() => new MvccSnapshot(10, Float64Array.of(10, 17))).toThrow('named')
  })
})
