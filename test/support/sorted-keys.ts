import { KeyArena } from '../../src/util/arena.ts'
import { compareWhole } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'

/** An arena of keys, in the order given. */
export function keyArenaOf(keys: readonly Uint8Array[]): KeyArena {
  const arena = new KeyArena()
  for (const key of keys) {
    arena.append(key, 0, key.length)
    arena.endKey()
  }
  return arena
}

/** The keys of an arena. */
export function keysOf(arena: KeyArena): Uint8Array[] {
  return Array.from({ length: arena.count }, (_, i) => arena.key(i))
}

/** Different keys in ascending order: short and long ones, many with the same beginning. */
export function randomSortedKeys(prng: Prng, count: number, bytesMax: number): Uint8Array[] {
  const keys = new Map<string, Uint8Array>()
  const beginnings = Array.from({ length: 20 }, () => {
    return Uint8Array.from({ length: prng.below(bytesMax) }, () => prng.below(256))
  })
  while (keys.size < count) {
    const beginning = prng.pick(beginnings)
    const tail = Uint8Array.from({ length: prng.between(1, 4) }, () => prng.below(256))
    const key = Uint8Array.from([...beginning, ...tail])
    keys.set(key.join(), key)
  }
  return [...keys.values()].sort(compareWhole)
}
