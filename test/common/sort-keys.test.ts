import { describe, expect, test } from 'vitest'
import { sortKeys } from '../../src/common/sort-keys.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { compareWhole } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'

function anArena(keys: readonly Uint8Array[]): KeyArena {
  const arena = new KeyArena()
  for (const key of keys) {
    arena.append(key, 0, key.length)
    arena.endKey()
  }
  return arena
}

function sorted(keys: readonly Uint8Array[]): Uint8Array[] {
  const order = Uint32Array.from(keys, (_, index) => index)
  sortKeys(anArena(keys), order, keys.length)
  expect([...order].sort((a, b) => a - b)).toEqual(keys.map((_, index) => index))
  return [...order].map((index) => keys[index])
}

function aKey(prng: Prng, shape: number): Uint8Array {
  const length = shape === 0 ? 8 : prng.below(24)
  const letters = shape === 1 ? 2 : 256
  const key = Uint8Array.from({ length }, () => prng.below(letters))
  return shape === 2 ? Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, ...key) : key
}

describe('sortKeys', () => {
  test('sorts keys as bytes are compared, whatever they have in common', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const prng = new Prng(seed)
      const keys = Array.from({ length: prng.below(400) }, () => aKey(prng, seed % 3))

      expect(sorted(keys), `seed ${seed}`).toEqual([...keys].sort(compareWhole))
    }
  })

  test('sorts many keys that are all the same but for zeros at their end', () => {
    const keys = Array.from({ length: 200 }, (_, i) => new Uint8Array((i * 37) % 90))

    expect(sorted(keys)).toEqual([...keys].sort(compareWhole))
  })

  test('sorts a part of the order and leaves the rest', () => {
    const keys = [3, 1, 2, 0].map((byte) => Uint8Array.of(byte))
    const order = Uint32Array.of(0, 1, 2, 3)
    sortKeys(anArena(keys), order, 3)

    expect([...order]).toEqual([1, 2, 0, 3])
  })
})
