import { describe, expect, test } from 'vitest'
import { fillKnapsack, GreedyKnapsack } from '../../../src/tablet/maintenance/knapsack.ts'
import { Prng } from '../../../src/util/prng.ts'

const SEED = 4_711

interface Drawn {
  readonly values: number[]
  readonly weights: number[]
  readonly capacity: number
}

function draw(prng: Prng): Drawn {
  const capacity = prng.between(5, 20)
  const count = prng.between(1, 10)
  return {
    capacity,
    values: Array.from({ length: count }, () => prng.unit() + 0.01),
    weights: Array.from({ length: count }, () => prng.between(1, capacity)),
  }
}

/** What the best choice of the first items is worth, by trying all. */
function bestOf({ values, weights, capacity }: Drawn, count: number): number {
  let best = 0
  for (let set = 0; set < 2 ** count; set++) {
    let value = 0
    let weight = 0
    for (let item = 0; item < count; item++) {
      if ((set & (1 << item)) === 0) continue
      value += values[item]
      weight += weights[item]
    }
    if (weight <= capacity) best = Math.max(best, value)
  }
  return best
}

function worth(drawn: Drawn, choice: readonly number[]): number {
  const weight = choice.reduce((sum, item) => sum + drawn.weights[item], 0)
  expect(weight).toBeLessThanOrEqual(drawn.capacity)
  return choice.reduce((sum, item) => sum + drawn.values[item], 0)
}

describe('GreedyKnapsack', () => {
  test('bounds the best choice from both sides after every item', () => {
    const prng = new Prng(SEED)
    for (let round = 0; round < 300; round++) {
      const drawn = draw(prng)
      const greedy = new GreedyKnapsack(drawn.capacity, drawn.values.length)
      for (let item = 0; item < drawn.values.length; item++) {
        greedy.add(item, drawn.values[item], drawn.weights[item])
        const best = bestOf(drawn, item + 1)
        const where = `seed ${SEED}, round ${round}, item ${item}`
        expect(greedy.upperBound, where).toBeGreaterThan(best - 1e-9)
        expect(greedy.lowerBound, where).toBeLessThan(best + 1e-9)
        expect(greedy.lowerBound, where).toBeGreaterThan(best / 2 - 1e-9)
        expect(worth(drawn, greedy.choice()), where).toBeCloseTo(greedy.lowerBound)
      }
    }
  })

  test('begins anew when it is cleared', () => {
    const greedy = new GreedyKnapsack(4, 2)
    greedy.add(0, 1, 4)
    greedy.clear()
    greedy.add(1, 0.5, 4)

    expect(greedy.choice()).toEqual([1])
    expect(greedy.upperBound).toBe(0.5)
  })
})

describe('fillKnapsack', () => {
  test('is the best choice of the first items, for every number of them', () => {
    const prng = new Prng(SEED)
    for (let round = 0; round < 200; round++) {
      const drawn = draw(prng)
      const filled = fillKnapsack(drawn.capacity, drawn.values, drawn.weights)
      for (let count = 0; count <= drawn.values.length; count++) {
        const where = `seed ${SEED}, round ${round}, count ${count}`
        expect(filled.values[count], where).toBeCloseTo(bestOf(drawn, count))
        expect(worth(drawn, filled.choice(count)), where).toBeCloseTo(filled.values[count])
      }
    }
  })
})
