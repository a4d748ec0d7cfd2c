/**
 * Numbers of a few bits, one behind the other in 32-bit words, the lowest bits first. Hot.
 *
 *   width 5   word 0: n0 n1 n2 n3 n4 n5 and 2 bits of n6   word 1: 3 bits of n6, n7 …
 */

/** Words that `count` numbers of `width` bits take. */
export function packedWords(count: number, width: number): number {
  return Math.ceil((count * width) / 32)
}

/** Bits of a number, taken as unsigned. */
export function bitWidth(number: number): number {
  return 32 - Math.clz32(number)
}

/**
 * Packs the low `width` bits of `numbers[i] - base` for `[0, count)` into words from `at` on.
 *
 * Requires: `width` in 1 … 32; the words have room.
 */
export function packBits(
  numbers: Int32Array,
  count: number,
  base: number,
  width: number,
  words: Uint32Array,
  at: number,
): void {
  const mask = maskOf(width)
  let word = 0
  let used = 0
  let out = at
  for (let i = 0; i < count; i++) {
    const number = (numbers[i] - base) & mask
    word |= number << used
    used += width
    if (used >= 32) {
      words[out++] = word
      used -= 32
      // A shift by 32 would be one by 0.
      word = used === 0 ? 0 : number >>> (width - used)
    }
  }
  if (used > 0) words[out] = word
}

/**
 * Undoes `packBits`: writes `base` plus each of the packed numbers, all modulo 2^32.
 *
 * Requires: `width` in 1 … 32; `words` are `packedWords(count, width)` long; `out` has room.
 */
export function unpackBits(
  words: Uint32Array,
  count: number,
  base: number,
  width: number,
  out: Int32Array,
): void {
  if (width === 32) {
    for (let i = 0; i < count; i++) out[i] = words[i] + base
  } else if (32 % width === 0) {
    unpackWithin(words, count, base, width, out)
  } else {
    unpackAcross(words, count, base, width, out)
  }
}

/** No number lies across two words. */
function unpackWithin(
  words: Uint32Array,
  count: number,
  base: number,
  width: number,
  out: Int32Array,
): void {
  const mask = maskOf(width)
  const perWord = 32 / width
  const wholeWords = Math.floor(count / perWord)
  let i = 0
  for (let at = 0; at < wholeWords; at++) {
    const word = words[at]
    for (let shift = 0; shift < 32; shift += width) out[i++] = ((word >>> shift) & mask) + base
  }
  for (let shift = 0; i < count; shift += width) {
    out[i++] = ((words[wholeWords] >>> shift) & mask) + base
  }
}

function unpackAcross(
  words: Uint32Array,
  count: number,
  base: number,
  width: number,
  out: Int32Array,
): void {
  const mask = maskOf(width)
  const lastWord = words.length - 1
  // The numbers that begin before the last word may read the word behind theirs without asking.
  const safeCount = Math.min(count, Math.floor((lastWord * 32 + width - 1) / width))
  let bit = 0
  let i = 0
  for (; i < safeCount; i++, bit += width) {
    const at = bit >>> 5
    const shift = bit & 31
    // Two shifts: one by 32 would be one by 0.
    const number = (words[at] >>> shift) | ((words[at + 1] << 1) << (31 - shift))
    out[i] = (number & mask) + base
  }
  for (; i < count; i++, bit += width) out[i] = ((words[lastWord] >>> (bit & 31)) & mask) + base
}

function maskOf(width: number): number {
  return width === 32 ? -1 : (1 << width) - 1
}
