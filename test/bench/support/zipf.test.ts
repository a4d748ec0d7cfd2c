import { describe, expect, test } from 'vitest'
import { scramble, Zipf } from '../../../bench/support/zipf.ts'
import { Prng } from '../../../src/util/prng.ts'

const SEED = 3
const THETA = 0.99

describe('Zipf', () => {
  test('draws each number about as often as its law says', () => {
    const [count, drawCount] = [1000, 200_000]
    const zipf = new Zipf(new Prng(SEED))
    const drawn = new Uint32Array(count)
    for (let i = 0; i < drawCount; i++) drawn[zipf.next(count)]++
    let zeta = 0
    for (let i = 1; i <= count; i++) zeta += 1 / i ** THETA
    const shareBelow = (end: number): number =>
      drawn.subarray(0, end).reduce((sum, times) => sum + times, 0) / drawCount

    let expected = 0
    for (let i = 1; i <= count; i++) {
      expected += 1 / i ** THETA / zeta
      // The constant-time method is exact for the first two, and near for the others.
      if ([1, 2, 10, 100, 1000].includes(i)) expect(shareBelow(i)).toBeCloseTo(expected, 1)
    }
    expect(shareBelow(1)).toBeCloseTo(1 / zeta, 2)
  })

  test('draws from what has grown', () => {
    const zipf = new Zipf(new Prng(SEED))
    const greatest = [1, 2, 5, 5000].map((count) => {
      const drawn = Array.from({ length: 5000 }, () => zipf.next(count))
      return Math.max(...drawn) < count && Math.min(...drawn) === 0
    })

    expect(greatest).toEqual([true, true, true, true])
  })
})

describe('scramble', () => {
  test('keeps different numbers different', () => {
    const mixed = new Set(Array.from({ length: 100_000 }, (_, i) => scramble(i)))

    expect(mixed.size).toBe(100_000)
  })
})
