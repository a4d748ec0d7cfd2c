/**
 * MurmurHash64A (Austin Appleby, public domain), the hash behind hash partitions: a row's bucket is
 * the hash of its encoded hash columns, unsigned, modulo the number of buckets. Hot: 64-bit words
 * are pairs of 32-bit ones, and products are made of 16-bit halves, since neither bigint nor double
 * is fast and exact here.
 */

import { assert } from '../util/assert.ts'

// The multiplier c6a4a7935bd1e995, and the halves of its low word.
const M_HIGH = 0xc6a4a793
const M_LOW = 0x5bd1e995
const M_LOW_HIGH = M_LOW >>> 16
const M_LOW_LOW = M_LOW & 0xffff

/** Buckets of one dimension at most: a remainder and 16 bits more are 32 bits. */
const BUCKET_COUNT_MAX = 0x10000

/** The last hash: high word, low word. */
const scratchHash = new Int32Array(2)

/**
 * The hash bucket of `bytes[start, end)`: its 64-bit hash modulo `bucketCount`.
 *
 * Requires: `seed` is an unsigned 32-bit integer, `bucketCount` in 1 … 65,536. Cost: no allocation.
 */
export function murmur2Bucket(
  bytes: Uint8Array,
  start: number,
  end: number,
  seed: number,
  bucketCount: number,
): number {
  assert(bucketCount > 0 && bucketCount <= BUCKET_COUNT_MAX, 'bucket count is out of bounds')
  hashWords(bytes, start, end, seed)
  const count = bucketCount >>> 0
  const low = scratchHash[1]
  if ((count & (count - 1)) === 0) return low & (count - 1)
  // Long division in steps of 16 bits: each remainder is below 2^16, so each dividend below 2^32.
  let rest = (scratchHash[0] >>> 0) % count
  rest = (((rest << 16) | (low >>> 16)) >>> 0) % count
  return (((rest << 16) | (low & 0xffff)) >>> 0) % count
}

/**
 * The unsigned 64-bit hash of `bytes`. For edges. Requires: `seed` is an unsigned 32-bit integer.
 */
export function murmur2Hash64(bytes: Uint8Array, seed: number): bigint {
  hashWords(bytes, 0, bytes.length, seed)
  return (BigInt(scratchHash[0] >>> 0) << 32n) | BigInt(scratchHash[1] >>> 0)
}

/**
 * High word of the product of two unsigned 32-bit words, the second being the multiplier's low
 * word.
 */
function highOfLowProduct(low: number): number {
  const a1 = low >>> 16
  const a0 = low & 0xffff
  const middle = (Math.imul(a1, M_LOW_LOW) >>> 0) + (Math.imul(a0, M_LOW_LOW) >>> 16)
  const cross = (Math.imul(a0, M_LOW_HIGH) >>> 0) + (middle & 0xffff)
  return (Math.imul(a1, M_LOW_HIGH) + (middle >>> 16) + (cross >>> 16)) | 0
}

/** High word of the 64-bit product of (high, low) and the multiplier. */
function highOfProduct(high: number, low: number): number {
  return (highOfLowProduct(low) + Math.imul(low, M_HIGH) + Math.imul(high, M_LOW)) | 0
}

/** Little-endian integer of `bytes[start, end)`, which are at most three. */
function lastBytes(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return 0
  let value = bytes[start]
  if (start + 1 < end) value |= bytes[start + 1] << 8
  if (start + 2 < end) value |= bytes[start + 2] << 16
  return value
}

/** Leaves the hash in `scratchHash`. */
function hashWords(bytes: Uint8Array, start: number, end: number, seed: number): void {
  const length = end - start
  let high = highOfProduct(0, length)
  let low = Math.imul(length, M_LOW) ^ seed
  let i = start
  for (const lastWord = end - 7; i < lastWord; i += 8) {
    let wordLow = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
    let wordHigh = bytes[i + 4] | (bytes[i + 5] << 8) | (bytes[i + 6] << 16) | (bytes[i + 7] << 24)
    wordHigh = highOfProduct(wordHigh, wordLow)
    wordLow = Math.imul(wordLow, M_LOW)
    // Shifting right by 47 leaves the high word's top 17 bits in the low word.
    wordLow ^= wordHigh >>> 15
    wordHigh = highOfProduct(wordHigh, wordLow)
    wordLow = Math.imul(wordLow, M_LOW)
    high ^= wordHigh
    low ^= wordLow
    high = highOfProduct(high, low)
    low = Math.imul(low, M_LOW)
  }
  if (i < end) {
    let tailLow = 0
    let tailHigh = 0
    if (i + 4 <= end) {
      tailLow = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
      tailHigh = lastBytes(bytes, i + 4, end)
    } else {
      tailLow = lastBytes(bytes, i, end)
    }
    high ^= tailHigh
    low ^= tailLow
    high = highOfProduct(high, low)
    low = Math.imul(low, M_LOW)
  }
  low ^= high >>> 15
  high = highOfProduct(high, low)
  low = Math.imul(low, M_LOW)
  low ^= high >>> 15
  scratchHash[0] = high
  scratchHash[1] = low
}
