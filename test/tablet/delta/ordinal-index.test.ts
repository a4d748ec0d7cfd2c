import { describe, expect, test } from 'vitest'
import { lowerOrdinal, NO_VALUE, OrdinalIndex } from '../../../src/tablet/delta/ordinal-index.ts'
import { Prng } from '../../../src/util/prng.ts'

describe('OrdinalIndex', () => {
  test.each([1, 2, 3, 4, 5, 6])('holds what a map holds, sorted at any time (seed %i)', (seed) => {
    const prng = new Prng(seed)
    const index = new OrdinalIndex()
    const model = new Map<number, number>()
    const bound = prng.pick([10, 5000, 2 ** 32])
    for (let step = 0; step < 3000; step++) {
      const ordinal = prng.below(bound)
      expect(index.get(ordinal), `seed ${seed}`).toBe(model.get(ordinal) ?? NO_VALUE)
      index.set(ordinal, step)
      model.set(ordinal, step)
      if (!prng.chance(0.01)) continue
      const ordinals = [...model.keys()].sort((a, b) => a - b)
      expect([...index.sorted().subarray(0, index.count)], `seed ${seed}`).toEqual(ordinals)
      const probe = prng.below(bound)
      expect(lowerOrdinal(index.sorted(), index.count, probe)).toBe(
        ordinals.filter((it) => it < probe).length,
      )
    }
    index.checkInvariants()
    expect(index.count).toBe(model.size)
  })

  test('holds rows that are far apart and rows of one stride in little memory', () => {
    const index = new OrdinalIndex()
    for (let i = 0; i < 10_000; i++) index.set(i * 65_536, i)
    index.sorted()

    index.checkInvariants()
    expect(index.heldBytes).toBeLessThan(10_000 * 48)
  })
})
