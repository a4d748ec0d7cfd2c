/**
 * Integers and decimals as text, appended to an arena straight from the words of a lane. Hot:
 * digits are made from the last to the first in scratch and copied once; nothing is allocated, no
 * bigint.
 */

import type { ByteArena } from '../util/arena.ts'

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const BILLION = 1_000_000_000

// 39 digits of an int128, or 38 digits with a zero before the point; rounded up.
const SCRATCH_BYTES = 48
const scratchDigits = new Uint8Array(SCRATCH_BYTES)
const scratchLimbs = new Uint16Array(8)

// The digits of 00 … 99: two are made by one division.
const PAIRS = new Uint8Array(200)
for (let i = 0; i < 100; i++) {
  PAIRS[i * 2] = ZERO + Math.floor(i / 10)
  PAIRS[i * 2 + 1] = ZERO + (i % 10)
}

/** Appends an integer of at most 53 bits. */
export function appendInteger(arena: ByteArena, value: number): void {
  if (value > -BILLION && value < BILLION) appendSmall(arena, value | 0)
  else appendFixed(arena, value, 0)
}

/** Appends an integer of at most nine digits. */
function appendSmall(arena: ByteArena, value: number): void {
  arena.reserve(10)
  const { bytes } = arena
  let magnitude = value
  let start = arena.length
  if (value < 0) {
    bytes[start++] = MINUS
    magnitude = -value
  }
  let first = start + countDigits(magnitude)
  arena.length = first
  while (magnitude >= 10) {
    const quotient = (magnitude / 100) | 0
    const pair = (magnitude - quotient * 100) * 2
    bytes[--first] = PAIRS[pair + 1]
    bytes[--first] = PAIRS[pair]
    magnitude = quotient
  }
  if (first > start) bytes[start] = ZERO + magnitude
}

/** Digits of an integer in `[0, 10^9)`, one for 0. */
function countDigits(value: number): number {
  if (value < 100_000) {
    if (value < 100) return value < 10 ? 1 : 2
    return value < 1000 ? 3 : value < 10_000 ? 4 : 5
  }
  if (value < 10_000_000) return value < 1_000_000 ? 6 : 7
  return value < 100_000_000 ? 8 : 9
}

/** Appends an int64 given by its words. */
export function appendInt64(arena: ByteArena, low: number, high: number): void {
  appendFixed64(arena, low, high, 0)
}

/**
 * Appends an integer of at most 53 bits divided by 10^scale, with exactly `scale` digits behind the
 * point.
 */
export function appendFixed(arena: ByteArena, unscaled: number, scale: number): void {
  const first = digitsOfNumber(unscaled < 0 ? -unscaled : unscaled, SCRATCH_BYTES)
  appendDigits(arena, unscaled < 0, first, scale)
}

/**
 * Appends an int64 given by its words, divided by 10^scale, with exactly `scale` digits behind the
 * point.
 */
export function appendFixed64(arena: ByteArena, low: number, high: number, scale: number): void {
  const isNegative = (high | 0) < 0
  const lowWord = isNegative ? -low >>> 0 : low >>> 0
  const highWord = (isNegative ? ~high + (lowWord === 0 ? 1 : 0) : high) >>> 0
  const first =
    highWord < 0x20_0000
      ? digitsOfNumber(highWord * 2 ** 32 + lowWord, SCRATCH_BYTES)
      : digitsOfWords(lowWord, highWord)
  appendDigits(arena, isNegative, first, scale)
}

/** Appends an int128 given by its words, low word first, divided by 10^scale. */
export function appendFixed128(
  arena: ByteArena,
  words: ArrayLike<number>,
  offset: number,
  scale: number,
): void {
  const isNegative = (words[offset + 3] | 0) < 0
  let carry = isNegative ? 1 : 0
  for (let i = 0; i < 8; i++) {
    const half = (words[offset + (i >> 1)] >>> ((i & 1) << 4)) & 0xffff
    const limb = (isNegative ? ~half & 0xffff : half) + carry
    scratchLimbs[i] = limb
    carry = isNegative ? limb >>> 16 : 0
  }
  let first = SCRATCH_BYTES
  let top = 7
  for (;;) {
    while (top >= 0 && scratchLimbs[top] === 0) top--
    if (top < 2) break
    first = nineDigits(divideLimbs(top), first)
  }
  // What was at least 2^32 and lost nine digits is not zero: no zero comes to stand in front.
  first = digitsOfNumber(scratchLimbs[1] * 65536 + scratchLimbs[0], first)
  appendDigits(arena, isNegative, first, scale)
}

/** Divides `scratchLimbs[0 … top]` by 10^9 in place. Returns the remainder. */
function divideLimbs(top: number): number {
  let remainder = 0
  for (let i = top; i >= 0; i--) {
    const dividend = remainder * 65536 + scratchLimbs[i]
    const quotient = Math.floor(dividend / BILLION)
    scratchLimbs[i] = quotient
    remainder = dividend - quotient * BILLION
  }
  return remainder
}

/** Digits of an unsigned 64-bit integer, ending at the end of scratch. Returns where they begin. */
function digitsOfWords(low: number, high: number): number {
  const quotient1 = Math.floor(high / BILLION)
  const dividend2 = (high - quotient1 * BILLION) * 65536 + (low >>> 16)
  const quotient2 = Math.floor(dividend2 / BILLION)
  const dividend3 = (dividend2 - quotient2 * BILLION) * 65536 + (low & 0xffff)
  const quotient3 = Math.floor(dividend3 / BILLION)
  const first = nineDigits(dividend3 - quotient3 * BILLION, SCRATCH_BYTES)
  return digitsOfNumber(quotient1 * 2 ** 32 + quotient2 * 65536 + quotient3, first)
}

/**
 * Digits of an integer in `[0, 2^53]`, ending before `end`, at least one. Returns where they begin.
 */
function digitsOfNumber(value: number, end: number): number {
  let rest = value
  let first = end
  while (rest >= BILLION) {
    const quotient = Math.floor(rest / BILLION)
    first = nineDigits(rest - quotient * BILLION, first)
    rest = quotient
  }
  let small = rest | 0
  while (small >= 10) {
    const quotient = (small / 100) | 0
    const pair = (small - quotient * 100) * 2
    scratchDigits[--first] = PAIRS[pair + 1]
    scratchDigits[--first] = PAIRS[pair]
    small = quotient
  }
  if (small > 0 || first === end) scratchDigits[--first] = ZERO + small
  return first
}

/** Nine digits of an integer below 10^9, leading zeros too, ending before `end`. */
function nineDigits(value: number, end: number): number {
  let small = value | 0
  let first = end
  while (first > end - 8) {
    const quotient = (small / 100) | 0
    const pair = (small - quotient * 100) * 2
    scratchDigits[--first] = PAIRS[pair + 1]
    scratchDigits[--first] = PAIRS[pair]
    small = quotient
  }
  scratchDigits[--first] = ZERO + small
  return first
}

/**
 * Appends the digits from `first` to the end of scratch, the point before the last `scale` of them.
 */
function appendDigits(arena: ByteArena, isNegative: boolean, first: number, scale: number): void {
  let from = first
  while (SCRATCH_BYTES - from <= scale) scratchDigits[--from] = ZERO
  arena.reserve(SCRATCH_BYTES + 2)
  const bytes = arena.bytes
  let offset = arena.length
  if (isNegative) bytes[offset++] = MINUS
  const point = SCRATCH_BYTES - scale
  while (from < point) bytes[offset++] = scratchDigits[from++]
  if (scale > 0) {
    bytes[offset++] = POINT
    while (from < SCRATCH_BYTES) bytes[offset++] = scratchDigits[from++]
  }
  arena.length = offset
}
