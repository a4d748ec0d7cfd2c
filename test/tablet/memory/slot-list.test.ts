import { describe, expect, test } from 'vitest'
import { SlotList } from '../../../src/tablet/memory/slot-list.ts'

describe('SlotList', () => {
  test('keeps what it was given, over any growth', () => {
    const list = new SlotList()
    for (let i = 0; i < 1000; i++) list.push(i * 3)

    expect(list.count).toBe(1000)
    expect([...list.items.subarray(0, 1000)]).toEqual(Array.from({ length: 1000 }, (_, i) => i * 3))
    expect(list.heldBytes).toBe(list.items.length * 4)
  })

  test('finds the first item that is not less', () => {
    const list = new SlotList()
    for (const item of [2, 4, 4, 9]) list.push(item)

    expect([0, 2, 3, 4, 5, 9, 10].map((item) => list.lowerBound(item))).toEqual([
      0, 0, 1, 1, 3, 3, 4,
    ])
    expect(new SlotList().lowerBound(5)).toBe(0)
  })
})
