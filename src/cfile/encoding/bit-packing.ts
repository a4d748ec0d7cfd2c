/**
 * Numbers of a few bits in 32-bit words, laid out so that reading them is a plain loop. Hot.
 *
 * `count` numbers are 32 rows of L = ⌈count / 32⌉; row r is the numbers [r × L, r × L + L). Column
 * c of all rows is packed into words c, L + c, 2L + c …, the lowest bits first: with a width of 5,
 *
 *   words 0 … L−1    bits 0–4 row 0, 5–9 row 1, … 25–29 row 5, and two bits of row 6
 *   words L … 2L−1   three bits of row 6, row 7, …
 *
 * So a row's shift is the same for all its numbers, and nothing is computed for a single one.
 */

/** Rows that numbers are laid out in: as many as a word has bits. */
const ROW_COUNT = 32

/** Words that `count` numbers of `width` bits take. */
export function packedWords(count: number, width: number): number {
  return rowLength(count) * width
}

function rowLength(count: number): number {
  return (count + ROW_COUNT - 1) >>> 5
}

/** Bits of a number, taken as unsigned. */
export function bitWidth(number: number): number {
  return 32 - Math.clz32(number)
}

function maskOf(width: number): number {
  return width === 32 ? -1 : (1 << width) - 1
}

/**
 * Packs the low `width` bits of `numbers[i] - base` for `[0, count)` into words from `at` on.
 *
 * Requires: `width` in 1 … 32; room for `packedWords(count, width)` words. Cost: about 1 ns a
 * number.
 */
export function packBits(
  numbers: Int32Array,
  count: number,
  base: number,
  width: number,
  words: Uint32Array,
  at: number,
): void {
  const length = rowLength(count)
  const mask = maskOf(width)
  words.fill(0, at, at + length * width)
  for (let row = 0, start = 0; start < count; row++, start += length) {
    const bit = row * width
    const shift = bit & 31
    const rowEnd = Math.min(start + length, count)
    const to = at + (bit >>> 5) * length - start
    if (shift + width <= 32) packWithin(numbers, start, rowEnd, base, mask, shift, words, to)
    else packAcross(numbers, start, rowEnd, base, mask, shift, words, to, length)
  }
}

function packWithin(
  numbers: Int32Array,
  start: number,
  end: number,
  base: number,
  mask: number,
  shift: number,
  words: Uint32Array,
  to: number,
): void {
  for (let i = start; i < end; i++) words[i + to] |= ((numbers[i] - base) & mask) << shift
}

/** The numbers of the row lie across two words each. */
function packAcross(
  numbers: Int32Array,
  start: number,
  end: number,
  base: number,
  mask: number,
  shift: number,
  words: Uint32Array,
  to: number,
  length: number,
): void {
  const rest = 32 - shift
  for (let i = start; i < end; i++) {
    const number = (numbers[i] - base) & mask
    words[i + to] |= number << shift
    words[i + to + length] |= number >>> rest
  }
}

/**
 * Undoes `packBits`: writes `base` plus each of the packed numbers, all modulo 2^32.
 *
 * Requires: `width` in 1 … 32; `words` are `packedWords(count, width)` long; `out` has room. Cost:
 * about 1 ns a number.
 */
export function unpackBits(
  words: Uint32Array,
  count: number,
  base: number,
  width: number,
  out: Int32Array,
): void {
  const length = rowLength(count)
  const mask = maskOf(width)
  for (let row = 0, start = 0; start < count; row++, start += length) {
    const bit = row * width
    const shift = bit & 31
    const rowEnd = Math.min(start + length, count)
    const from = (bit >>> 5) * length - start
    if (shift + width <= 32) unpackWithin(words, from, base, mask, shift, out, start, rowEnd)
    else unpackAcross(words, from, base, mask, shift, out, start, rowEnd, length)
  }
}

function unpackWithin(
  words: Uint32Array,
  from: number,
  base: number,
  mask: number,
  shift: number,
  out: Int32Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) out[i] = ((words[i + from] >>> shift) & mask) + base
}

function unpackAcross(
  words: Uint32Array,
  from: number,
  base: number,
  mask: number,
  shift: number,
  out: Int32Array,
  start: number,
  end: number,
  length: number,
): void {
  const rest = 32 - shift
  for (let i = start; i < end; i++) {
    const number = (words[i + from] >>> shift) | (words[i + from + length] << rest)
    out[i] = (number & mask) + base
  }
}

/**
 * As `unpackBits` with a base of 0, of the numbers `indexes[0, picked)` out of `count`, in whatever
 * order they are.
 *
 * Requires: `width` in 1 … 32; the indexes are below `count`. Cost: about 3 ns a number.
 */
export function pickBits(
  words: Uint32Array,
  count: number,
  width: number,
  indexes: Uint32Array,
  picked: number,
  out: Int32Array,
): void {
  const length = rowLength(count)
  const mask = maskOf(width)
  for (let i = 0; i < picked; i++) {
    const index = indexes[i]
    const row = (index / length) | 0
    const bit = row * width
    const shift = bit & 31
    const at = (bit >>> 5) * length + (index - row * length)
    let number = words[at] >>> shift
    if (shift + width > 32) number |= words[at + length] << (32 - shift)
    out[i] = number & mask
  }
}

/**
 * Finds the packed numbers in `[from, to]`: writes their indexes, which ascend, to `out`.
 *
 * Requires: `width` in 1 … 31; `out` has room for `count`. Returns: how many there are. Cost: 2 to
 * 3 ns a number.
 */
export function findBits(
  words: Uint32Array,
  count: number,
  width: number,
  from: number,
  to: number,
  out: Uint32Array,
): number {
  const length = rowLength(count)
  const mask = maskOf(width)
  let found = 0
  for (let row = 0, start = 0; start < count; row++, start += length) {
    const bit = row * width
    const shift = bit & 31
    const rowEnd = Math.min(start + length, count)
    const at = (bit >>> 5) * length - start
    found =
      shift + width <= 32
        ? findWithin(words, at, mask, shift, start, rowEnd, from, to, out, found)
        : findAcross(words, at, length, mask, shift, start, rowEnd, from, to, out, found)
  }
  return found
}

function findWithin(
  words: Uint32Array,
  at: number,
  mask: number,
  shift: number,
  start: number,
  end: number,
  from: number,
  to: number,
  out: Uint32Array,
  foundBefore: number,
): number {
  let found = foundBefore
  for (let i = start; i < end; i++) {
    const number = (words[i + at] >>> shift) & mask
    out[found] = i
    // Minus one when a difference is negative.
    found += 1 + (((number - from) | (to - number)) >> 31)
  }
  return found
}

function findAcross(
  words: Uint32Array,
  at: number,
  length: number,
  mask: number,
  shift: number,
  start: number,
  end: number,
  from: number,
  to: number,
  out: Uint32Array,
  foundBefore: number,
): number {
  const rest = 32 - shift
  let found = foundBefore
  for (let i = start; i < end; i++) {
    const number = ((words[i + at] >>> shift) | (words[i + at + length] << rest)) & mask
    out[found] = i
    found += 1 + (((number - from) | (to - number)) >> 31)
  }
  return found
}
