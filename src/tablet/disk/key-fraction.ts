/**
 * How much of a range of keys lies below a key, as if keys were spread evenly in it. For estimates
 * of where the rows of a rowset are.
 */

import { assert } from '../../util/assert.ts'

/** Bytes behind the common prefix that are looked at: as many as a double holds exactly. */
const DIGIT_COUNT = 6

/**
 * The part of `[lower, upper)` that is below `key`, from 0 to 1. An empty `upper` is above all
 * keys.
 *
 * The keys are read as fractions in base 256 behind the prefix that the bounds have in common.
 * Requires: `lower` is below `upper`.
 */
export function keyFraction(lower: Uint8Array, upper: Uint8Array, key: Uint8Array): number {
  const prefix = upper.length === 0 ? 0 : commonPrefix(lower, upper)
  const start = placeBehind(lower, prefix)
  const end = upper.length === 0 ? 1 : placeBehind(upper, prefix)
  const place = placeAmong(key, lower, prefix)
  if (end <= start) return place > start ? 1 : 0
  return Math.min(1, Math.max(0, (place - start) / (end - start)))
}

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < length && a[prefix] === b[prefix]) prefix++
  return prefix
}

/** The bytes from `start` on as a fraction: 0.b₀b₁b₂… in base 256. */
function placeBehind(bytes: Uint8Array, start: number): number {
  let place = 0
  for (let i = DIGIT_COUNT - 1; i >= 0; i--) {
    const index = start + i
    place = ((index < bytes.length ? bytes[index] : 0) + place) / 256
  }
  assert(place < 1, 'a fraction is below one')
  return place
}

/** As `placeBehind`; a key that lacks the prefix is below 0 or above 1. */
function placeAmong(key: Uint8Array, like: Uint8Array, prefix: number): number {
  for (let i = 0; i < prefix; i++) {
    const byte = i < key.length ? key[i] : -1
    if (byte !== like[i]) return byte < like[i] ? -1 : 2
  }
  return placeBehind(key, prefix)
}
