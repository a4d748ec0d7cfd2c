import { describe, expect, test } from 'vitest'
import { SHARE_ROW_COUNT_MAX } from '../../../src/common/limits.ts'
import { giveLockMemory, takeLockMemory } from '../../../src/tablet/lock/lock-memory.ts'

describe('takeLockMemory', () => {
  test('has room for one node more than asked, and slots for twice as many', () => {
    for (const nodeCount of [0, 63, 64, 1000, 1023, 1024]) {
      const memory = takeLockMemory(nodeCount)

      expect(memory.capacity).toBeGreaterThan(nodeCount)
      expect(memory.slots.length).toBe(2 * memory.capacity)
      expect(memory.nodes.length).toBe(8 * memory.capacity)
    }
  })

  test('hands on what was given back, to one taker', () => {
    const memory = takeLockMemory(5000)
    giveLockMemory(memory)

    expect(takeLockMemory(5000)).toBe(memory)
    expect(takeLockMemory(5000)).not.toBe(memory)
  })

  test('prefers the larger of two given back', () => {
    const small = takeLockMemory(100)
    const large = takeLockMemory(6000)
    giveLockMemory(large)
    giveLockMemory(small)

    expect(takeLockMemory(100)).toBe(large)
  })
})

describe('giveLockMemory', () => {
  test('keeps what two full shares need, and lets go of more', () => {
    while (takeLockMemory(1).capacity > 64) {
      // Whatever other tests gave back is taken first.
    }
    const kept = takeLockMemory(2 * SHARE_ROW_COUNT_MAX - 1)
    const huge = takeLockMemory(100_000)

    giveLockMemory(huge)
    expect(takeLockMemory(50_000)).not.toBe(huge)
    giveLockMemory(kept)
    expect(takeLockMemory(1)).toBe(kept)
  })

  test('asserts, in verify builds, when a slot is in use', () => {
    const memory = takeLockMemory(100)
    memory.slots[7] = 1

    expect(() => giveLockMemory(memory)).toThrow('left')
  })
})
