import { describe, expect, test } from 'vitest'
import { averageHeight, layOut } from '../../../src/tablet/maintenance/key-space.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aCandidate, drawnRowSets } from '../../support/key-intervals.ts'

function places(picture: string): (readonly [number, number])[] {
  const { starts, ends } = layOut(drawnRowSets(picture))
  return Array.from(starts, (start, index) => {
    return [Math.round(start * 1000) / 1000, Math.round(ends[index] * 1000) / 1000] as const
  })
}

describe('layOut', () => {
  test('gives neighbours the widths of their bytes, and the gap between them none', () => {
    expect(
      places(`
        [a ─ b]1
                     [x ─ z]3
      `),
    ).toEqual([
      [0, 0.25],
      [0.25, 1],
    ])
  })

  test('spreads the bytes of a rowset evenly over its keys', () => {
    expect(
      places(`
        [a ─────────────── e]
                 [c ─ d]
      `),
    ).toEqual([
      [0, 1],
      [0.25, 0.875],
    ])
  })

  test('takes rowsets with the same keys for the same', () => {
    expect(
      places(`
        [a ─── d]
        [a ─── d]
      `),
    ).toEqual([
      [0, 1],
      [0, 1],
    ])
  })

  test('an empty upper key is above all', () => {
    const { ends } = layOut([
      aCandidate(Uint8Array.of(1), Uint8Array.of()),
      aCandidate(Uint8Array.of(2), Uint8Array.of(255, 255)),
    ])

    expect(ends[0]).toBe(1)
    expect(ends[1]).toBeLessThan(1)
    expect(ends[1]).toBeGreaterThan(0.99)
  })

  test('orders keys whose numbers are the same', () => {
    const long = (tail: number) => Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, tail)
    const { starts, ends } = layOut([
      aCandidate(Uint8Array.of(0), Uint8Array.of(9)),
      aCandidate(long(1), long(3)),
      aCandidate(long(2), long(4)),
    ])

    expect(starts[1]).toBeLessThan(ends[1])
    expect(starts[2]).toBeLessThan(ends[1])
    expect(ends[1]).toBeLessThan(ends[2])
  })

  test('keeps the order of keys and the sum of bytes', () => {
    const seed = 20_261
    const prng = new Prng(seed)
    for (let round = 0; round < 200; round++) {
      const intervals = Array.from({ length: prng.between(1, 12) }, () => {
        const a = prng.below(200)
        const key = (number: number) => Uint8Array.of(7, number, prng.below(2))
        return aCandidate(key(a), key(a + 1 + prng.below(50)), prng.between(1, 5))
      })
      const { starts, ends } = layOut(intervals)
      const where = `seed ${seed}, round ${round}`
      expect(Math.min(...starts), where).toBe(0)
      expect(Math.max(...ends), where).toBe(1)
      for (let i = 0; i < intervals.length; i++) {
        expect(starts[i], where).toBeLessThan(ends[i])
        for (let j = 0; j < intervals.length; j++) {
          const order = Buffer.compare(intervals[i].lowerKey, intervals[j].lowerKey)
          expect(Math.sign(starts[i] - starts[j]), where).toBe(Math.sign(order))
        }
      }
    }
  })
})

describe('averageHeight', () => {
  test('is 1 for rowsets that do not overlap, and their number for those that all do', () => {
    const height = (picture: string) => averageHeight(layOut(drawnRowSets(picture)))

    expect(height('[a ─ b] [b ─ c] [x ─ z]')).toBeCloseTo(1)
    expect(height('[a ─ b] [a ─ b] [a ─ b]')).toBeCloseTo(3)
    expect(height('')).toBe(0)
  })
})
