/**
 * Four bytes of text at a time, as a 32-bit word whose lowest byte comes first. Hot: several times
 * as fast as looking at single bytes.
 */

/** The highest bit of each byte. */
export const HIGH_BITS = 0x8080_8080 | 0

/** Whether all four bytes are digits. */
export function isFourDigits(word: number): boolean {
  // Adding 6 carries what lies above '9' out of the row of digits.
  return (word & (word + 0x0606_0606) & 0xf0f0_f0f0) === 0x3030_3030
}

/** The integer that four digits write. Requires: `isFourDigits(word)`. */
export function fourDigits(word: number): number {
  const pairs = (Math.imul(word & 0x0f0f_0f0f, 0xa01) >>> 8) & 0x00ff_00ff
  return Math.imul(pairs, 0x64_0001) >>> 16
}

/**
 * Marks bytes that are not plain text: quotes, control characters, bytes of longer UTF-8 sequences,
 * and `other`, given four times. A byte is marked by its highest bit, the other bits mean nothing;
 * the lowest mark is right, and any above it may be wrong.
 */
export function markSpecial(word: number, other: number): number {
  const quote = word ^ 0x2222_2222
  const rest = word ^ other
  // A borrow can only make a wrong mark above a right one.
  return (
    ((quote - 0x0101_0101) & ~quote) |
    ((rest - 0x0101_0101) & ~rest) |
    ((word - 0x2020_2020) & ~word) |
    word
  )
}

/** The offset, 0 … 3, of the first byte that `markSpecial` marks; 4 when there is none. */
export function plainBytes(word: number, other: number): number {
  const stops = markSpecial(word, other) & HIGH_BITS
  return stops === 0 ? 4 : (31 - Math.clz32(stops & -stops)) >>> 3
}

/** Whether one of the bytes is a quote, or of a longer UTF-8 sequence. */
export function hasQuoteOrHigh(word: number): boolean {
  const quote = word ^ 0x2222_2222
  return ((((quote - 0x0101_0101) & ~quote) | word) & HIGH_BITS) !== 0
}

/** How many of the bytes are line feeds. */
export function countNewlines(word: number): number {
  const feed = word ^ 0x0a0a_0a0a
  // No carry leaves its byte here, so that each mark is right.
  const marks = ~(((feed & 0x7f7f_7f7f) + 0x7f7f_7f7f) | feed | 0x7f7f_7f7f)
  return Math.imul(marks >>> 7, 0x0101_0101) >>> 24
}
