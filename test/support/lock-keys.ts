import { KeyArena } from '../../src/util/arena.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/** Keys of a batch with their hashes, as LockManager and LockTable take them. */
export interface LockKeys {
  readonly keys: KeyArena
  readonly hashes: Uint32Array
  readonly count: number
}

/** Keys from texts; hashed by `hash`, by default well (FNV-1a with a final mix). */
export function lockKeys(texts: readonly string[], hash: (text: string) => number = mix): LockKeys {
  const keys = new KeyArena()
  const hashes = new Uint32Array(texts.length)
  for (let i = 0; i < texts.length; i++) {
    const bytes = utf8Encode(texts[i])
    keys.append(bytes, 0, bytes.length)
    keys.endKey()
    hashes[i] = hash(texts[i])
  }
  return { keys, hashes, count: texts.length }
}

function mix(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of utf8Encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash ^= hash >>> 16
  return Math.imul(hash, 0x85ebca6b) >>> 0
}
