import { describe, expect, test } from 'vitest'
import { KeyBudget } from '../../../cli/perf/key-budget.ts'

describe('KeyBudget', () => {
  test('gives out a thousand, and again when ten minutes have passed', () => {
    const budget = new KeyBudget()
    for (let i = 0; i < 1000; i++) expect(budget.take(10, i)).toBe(true)

    expect(budget.take(10, 1000)).toBe(false)
    expect(budget.take(10, 599_999)).toBe(false)
    expect(budget.take(10, 600_000)).toBe(true)
    expect(budget.take(10, 600_000)).toBe(false)
    expect(budget.take(10, 600_001)).toBe(true)
  })

  test('counts a request of many rows as the shares that one tablet would make of it', () => {
    const budget = new KeyBudget()
    for (let i = 0; i < 40; i++) expect(budget.take(100_000, 0)).toBe(true)

    expect(budget.take(4096, 0)).toBe(false)
  })
})
