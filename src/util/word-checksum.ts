import { assert } from './assert.ts'

// Odd, so that multiplying loses nothing; their bits are mixed well (those of xxHash32).
const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d

/**
 * A checksum of `bytes[start, end)`, as an unsigned integer, against bytes that were cut, lost or
 * mixed up on the way between two objects. `before` is the checksum of what precedes them.
 *
 * Four lanes, which do not wait for each other, take the words in turns; each step maps its word
 * and its lane to the next lane one to one, so that a change of one word alone is always seen. It
 * takes less than half of a CRC-32C's time.
 *
 * Requires: `start` lies at a multiple of 8 in the buffer, and their count is a multiple of 8.
 * Cost: about a third of a nanosecond a byte, no allocation but one view.
 */
export function wordChecksum(
  bytes: Uint8Array,
  start: number,
  end: number,
  before: number,
): number {
  assert(((bytes.byteOffset + start) & 7) === 0, 'a checksum begins at a multiple of 8')
  assert(((end - start) & 7) === 0, 'a checksum is of whole pairs of words')
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (end - start) >> 2)
  const count = words.length
  const fours = count & ~3
  let a = before ^ count
  let b = ~before
  let c = before + PRIME_2
  let d = before ^ PRIME_3
  for (let i = 0; i < fours; i += 4) {
    a = Math.imul(a ^ words[i], PRIME_1)
    b = Math.imul(b ^ words[i + 1], PRIME_1)
    c = Math.imul(c ^ words[i + 2], PRIME_1)
    d = Math.imul(d ^ words[i + 3], PRIME_1)
    a = (a << 13) | (a >>> 19)
    b = (b << 13) | (b >>> 19)
    c = (c << 13) | (c >>> 19)
    d = (d << 13) | (d >>> 19)
  }
  if (fours < count) {
    a = Math.imul(a ^ words[fours], PRIME_2)
    b = Math.imul(b ^ words[fours + 1], PRIME_2)
  }
  // Joined one after the other, so that two lanes that changed places do not come to the same.
  const ab = Math.imul(a ^ (b >>> 15) ^ (b << 17), PRIME_2)
  const abc = Math.imul(ab ^ (ab >>> 13) ^ c, PRIME_3)
  const abcd = Math.imul(abc ^ (abc >>> 16) ^ d, PRIME_1)
  return (abcd ^ (abcd >>> 15)) >>> 0
}
