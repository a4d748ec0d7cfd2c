import { describe, expect, test } from 'vitest'
import { ByteDictionary } from '../../../src/api/format/byte-dictionary.ts'
import { concatBytes, toHex, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'

function codeOf(dictionary: ByteDictionary, value: Uint8Array): number {
  // The value lies between other bytes.
  const bytes = concatBytes(Uint8Array.of(1, 2, 3), value, Uint8Array.of(4))
  return dictionary.codeOf(bytes, 3, 3 + value.length)
}

describe('ByteDictionary', () => {
  test('numbers different strings as they come, and equal ones alike', () => {
    for (let seed = 0; seed < 20; seed++) {
      const prng = new Prng(seed)
      const dictionary = new ByteDictionary()
      for (const round of [0, 1]) {
        const known = new Map<string, number>()
        const valueCount = prng.pick([10, 3000])
        for (let i = 0; i < valueCount; i++) {
          const length = prng.below(prng.pick([2, 4, 12]))
          const value = Uint8Array.from({ length }, () => prng.below(prng.pick([2, 256])))
          const expected = known.get(toHex(value)) ?? known.size
          known.set(toHex(value), expected)

          expect(codeOf(dictionary, value), `seed ${seed} round ${round}`).toBe(expected)
        }
        expect(dictionary.count).toBe(known.size)
        const values = Array.from({ length: known.size }, (_, code) => {
          return toHex(dictionary.values.key(code))
        })
        expect(values).toEqual([...known.keys()])
        dictionary.clear()
      }
    }
  })

  test('finds all of very many again', () => {
    const dictionary = new ByteDictionary()
    const values = Array.from({ length: 100_000 }, (_, i) => utf8Encode(`value ${i}`))
    for (const value of values) dictionary.codeOf(value, 0, value.length)

    const again = values.filter((value, i) => dictionary.codeOf(value, 0, value.length) !== i)
    // A few may have lost their place when the table grew.
    expect(again.length).toBeLessThan(10)
  })

  test('takes no time to speak of for strings that collide on purpose', () => {
    const dictionary = new ByteDictionary()
    const colliding = collisions(2000)
    for (let round = 0; round < 50; round++) {
      for (const value of colliding) dictionary.codeOf(value, 0, value.length)
    }

    // Those that find no place get numbers of their own again and again.
    expect(dictionary.count).toBeGreaterThan(colliding.length)
    expect(codeOf(dictionary, utf8Encode('another'))).toBe(dictionary.count - 1)
    expect(codeOf(dictionary, utf8Encode('another'))).toBe(dictionary.count - 1)
  })
})

/**
 * Different strings of eight bytes with one hash: the second word takes back what the first one did
 * to it.
 */
function collisions(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const first = i * 7919
    let hash = Math.imul(8 ^ first, 0x9e3779b1)
    hash ^= hash >>> 15
    const bytes = new Uint8Array(8)
    const view = new DataView(bytes.buffer)
    view.setInt32(0, first, true)
    view.setInt32(4, hash, true)
    return bytes
  })
}
