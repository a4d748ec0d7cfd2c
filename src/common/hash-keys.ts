/**
 * The 32-bit hash of encoded keys, computed once a key and batch and used by every table keyed by
 * primary key. It is HalfSipHash-1-3 (Aumasson and Bernstein, public domain): whoever does not know
 * the seed cannot make keys that collide, so a writer cannot turn a tablet's hash tables into
 * lists. Hot.
 */

import type { KeyArena } from '../util/arena.ts'

/**
 * Writes the hash of each key `i` of `[first, keys.count)` to `out[i]`.
 *
 * Requires: `seed` is a non-negative safe integer that clients cannot guess; `out` has a place for
 * each key.
 * Cost: about 15 ns and 1 ns a byte on a slow core, no allocation.
 */
export function hashKeys(keys: KeyArena, first: number, seed: number, out: Uint32Array): void {
  const { bytes, ends, count } = keys
  const seedLow = seed | 0
  const seedHigh = Math.floor(seed / 2 ** 32) | 0
  let start = keys.start(first)
  for (let key = first; key < count; key++) {
    const end = ends[key]
    let v0 = seedLow
    let v1 = seedHigh
    let v2 = 0x6c79_6765 ^ seedLow
    let v3 = 0x7465_6462 ^ seedHigh
    let i = start
    // The round is written out three times: one that is called, with its four words, costs twice as
    // much.
    for (const lastWord = end - 3; i < lastWord; i += 4) {
      const word = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
      v3 ^= word
      v0 = (v0 + v1) | 0
      v2 = (v2 + v3) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v1) | 0
      v0 = (v0 + v3) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    let word = (end - start) << 24
    if (i < end) {
      word |= bytes[i]
      if (i + 1 < end) word |= bytes[i + 1] << 8
      if (i + 2 < end) word |= bytes[i + 2] << 16
    }
    v3 ^= word
    v0 = (v0 + v1) | 0
    v2 = (v2 + v3) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v1) | 0
    v0 = (v0 + v3) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = ((v2 << 16) | (v2 >>> 16)) ^ 0xff
    v0 ^= word
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0
      v2 = (v2 + v3) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v1) | 0
      v0 = (v0 + v3) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    out[key] = (v1 ^ v3) >>> 0
    start = end
  }
}
