import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FrontMemory, type Holding } from '../../src/api/front-memory.ts'
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

  test('holds room for something that lives on until it is released', () => {
    const memory = new FrontMemory()
    const owner = {}
    const holding = memory.holdFor(owner, FRONT_MEMORY_BYTES_MAX)

    expect(() => memory.holdFor({}, 1)).toThrow('too many large requests at once')
    expect(memory.open().tryGrow(1)).toBe(false)
    holding.release()
    expect(memory.heldBytes).toBe(0)
    expect(memory.holdFor(owner, 1).isEmpty).toBe(false)
    expect(memory.heldBytes).toBe(1)
  })

  describe('when room is short', () => {
    const gone = new Set<object>()

    class Weak {
      readonly #owner: object
      constructor(owner: object) {
        this.#owner = owner
      }
      deref(): object | undefined {
        return gone.has(this.#owner) ? undefined : this.#owner
      }
    }

    beforeEach(() => {
      vi.stubGlobal('WeakRef', Weak)
    })

    afterEach(() => {
      vi.unstubAllGlobals()
    })

    test('takes back what was held for what is gone, once', () => {
      const memory = new FrontMemory()
      const owner = {}
      const holding = memory.holdFor(owner, FRONT_MEMORY_BYTES_MAX)

      expect(memory.open().tryGrow(1)).toBe(false)
      gone.add(owner)
      expect(memory.open().tryGrow(1)).toBe(true)
      expect(memory.heldBytes).toBe(1)
      holding.release()
      expect(memory.heldBytes).toBe(1)
    })

    test('takes back what a request held that was ended before it could release it', () => {
      const memory = new FrontMemory()
      const holdings: Holding[] = []
      void memory.lend((holding) => {
        holding.grow(FRONT_MEMORY_BYTES_MAX)
        holdings.push(holding)
        return new Promise(() => undefined)
      })

      expect(memory.open().tryGrow(1)).toBe(false)
      gone.add(holdings[0])
      expect(memory.open().tryGrow(1)).toBe(true)
      expect(memory.heldBytes).toBe(1)
    })
  })
})
