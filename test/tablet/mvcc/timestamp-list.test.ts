import { describe, expect, test } from 'vitest'
import { lowerBoundOf, TimestampList } from '../../../src/tablet/mvcc/timestamp-list.ts'
import { Prng } from '../../../src/util/prng.ts'

function listOf(...times: number[]): TimestampList {
  const list = new TimestampList()
  for (const at of times) list.add(at)
  return list
}

describe('TimestampList', () => {
  test('sorts what is added out of order', () => {
    const list = listOf(5, 1, 9, 3)

    expect([...list.toArray()]).toEqual([1, 3, 5, 9])
    expect([list.first, list.last, list.count]).toEqual([1, 9, 4])
  })

  test('refuses a timestamp that is there', () => {
    const list = listOf(5, 7)

    expect(list.add(5)).toBe(false)
    expect([...list.toArray()]).toEqual([5, 7])
  })

  test('tells whether what was removed had been there', () => {
    const list = listOf(5, 7)

    expect(list.remove(6)).toBe(false)
    expect(list.remove(5)).toBe(true)
    expect(list.remove(5)).toBe(false)
    expect([...list.toArray()]).toEqual([7])
  })

  test('removes everything up to a time, that time included', () => {
    const list = listOf(1, 3, 5, 9)

    list.removeAtOrBefore(0)
    expect(list.count).toBe(4)
    list.removeAtOrBefore(4)
    expect([...list.toArray()]).toEqual([5, 9])
    list.removeAtOrBefore(5)
    expect([...list.toArray()]).toEqual([9])
    list.removeAtOrBefore(100)
    expect(list.count).toBe(0)
  })

  test('has neither first nor last when empty', () => {
    expect(() => new TimestampList().first).toThrow('empty')
    expect(() => new TimestampList().last).toThrow('empty')
  })

  test('copies are not changed by what comes later', () => {
    const list = listOf(1, 2)
    const copy = list.toArray()

    list.remove(1)

    expect([...copy]).toEqual([1, 2])
  })

  test('is a sorted set, whatever is added and removed', () => {
    const seed = 20260101
    const prng = new Prng(seed)
    const list = new TimestampList()
    const model = new Set<number>()
    for (let step = 0; step < 3000; step++) {
      const at = prng.below(60)
      if (prng.chance(0.55)) {
        expect(list.add(at), `seed ${seed}`).toBe(!model.has(at))
        model.add(at)
      } else if (prng.chance(0.9)) {
        expect(list.remove(at), `seed ${seed}`).toBe(model.delete(at))
      } else {
        list.removeAtOrBefore(at)
        for (const each of [...model]) if (each <= at) model.delete(each)
      }
      expect(list.has(at), `seed ${seed}`).toBe(model.has(at))
      const sorted = [...model].sort((a, b) => a - b)
      expect([...list.toArray()], `seed ${seed}`).toEqual(sorted)
    }
  })
})

describe('lowerBoundOf', () => {
  test('finds the first that is not before', () => {
    const times = Float64Array.of(2, 4, 6, 100)

    expect([1, 2, 3, 4, 6, 7].map((at) => lowerBoundOf(times, 3, at))).toEqual([0, 0, 1, 1, 2, 3])
    expect(lowerBoundOf(times, 0, 1)).toBe(0)
  })
})
