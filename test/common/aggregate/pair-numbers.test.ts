import { describe, expect, test } from 'vitest'
import { PairNumbers } from '../../../src/common/aggregate/pair-numbers.ts'
import { Prng } from '../../../src/util/prng.ts'

describe('PairNumbers', () => {
  test('gives equal pairs, and no others, the same number', () => {
    const prng = new Prng(3)
    const pairs = new PairNumbers()
    const known = new Map<string, number>()
    for (let batch = 0; batch < 40; batch++) {
      const a = Uint32Array.from({ length: 100 }, () => prng.below(60))
      const b = Uint32Array.from({ length: 100 }, () => prng.pick([prng.below(40), 2 ** 32 - 1]))
      const expected = Array.from(a, (first, i) => {
        const text = `${first} ${b[i]}`
        if (!known.has(text)) known.set(text, known.size)
        return known.get(text)
      })

      // The numbers may take the place of a side.
      const out = prng.pick([a, b, new Uint32Array(100)])
      pairs.assign(a, b, 100, out)

      expect(Array.from(out)).toEqual(expected)
    }
    const found = Array.from({ length: pairs.count }, (_, n) => {
      return `${pairs.first[n]} ${pairs.second[n]}`
    })
    expect(found).toEqual([...known.keys()])
  })
})
