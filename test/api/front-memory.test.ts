import { describe, expect, test } from 'vitest'
import { FrontMemory } from '../../src/api/front-memory.ts'
import { FRONT_MEMORY_BYTES_MAX } from '../../src/common/limits.ts'

describe('FrontMemory', () => {
  test('has room up to its limit, for all requests together', () => {
    const memory = new FrontMemory()
    const first = memory.open()
    const second = memory.open()
    first.grow(FRONT_MEMORY_BYTES_MAX - 10)

    expect(second.tryGrow(10)).toBe(true)
    expect(second.tryGrow(11)).toBe(false)
    expect(() => second.grow(11)).toThrow('too many large requests at once')
    first.release()
    expect(second.tryGrow(11)).toBe(true)
    expect(memory.heldBytes).toBe(11)
    second.release()
    second.release()
    expect(memory.heldBytes).toBe(0)
  })

  test('counts what a request holds once, however often it grows', () => {
    const memory = new FrontMemory()
    const holding = memory.open()
    for (const bytes of [5, 3, 8, 8]) holding.grow(bytes)

    expect(memory.heldBytes).toBe(8)
  })
})
