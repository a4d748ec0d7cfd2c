/**
 * Key intervals drawn as pictures: one row a rowset, a column a key.
 *
 *   [a ──── d]
 *        [c ──── f]
 *
 * Only the letters count: `[a…d]` is the keys from a to d. A number behind the bracket is the
 * rowset's size in units of a full one (1 when there is none).
 */

import type { CompactionCandidate } from '../../src/tablet/maintenance/compaction-policy.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/** Bytes of a full rowset in pictures. */
export const FULL_BYTES = 1024 * 1024
/** Rows of a full rowset in pictures. */
export const FULL_ROWS = 10_000

/** The rowsets of a picture, from top to bottom and in a line from left to right. */
export function drawnRowSets(picture: string): CompactionCandidate[] {
  const pattern = /\[(\w+)[^\]\w]+(\w+)\]([\d.]*)/g
  return [...picture.matchAll(pattern)].map(([, lower, upper, size]) => {
    return aCandidate(utf8Encode(lower), utf8Encode(upper), size === '' ? 1 : Number(size))
  })
}

/** A rowset of a size in units of a full one. */
export function aCandidate(
  lowerKey: Uint8Array,
  upperKey: Uint8Array,
  fullness = 1,
): CompactionCandidate {
  return {
    lowerKey,
    upperKey,
    bytes: fullness * FULL_BYTES,
    rowCount: fullness * FULL_ROWS,
    fullness,
    isFree: true,
  }
}
