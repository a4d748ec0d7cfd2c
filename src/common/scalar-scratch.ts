/**
 * Where readers of single values leave what they read: one set for the whole isolate, overwritten
 * by the next value, never held across a call of another reader. Hot: typed arrays, so that nothing
 * is boxed.
 */

/** An integer in two's complement, low word first: two words hold an int64, all four an int128. */
export const scratchWords = new Uint32Array(4)

/**
 * The same bytes by halves of words; hosts are little-endian, as the lanes of columns need it
 * already.
 */
export const scratchHalves = new Uint16Array(scratchWords.buffer)

/** A number in `[0]`. */
export const scratchNumber = new Float64Array(1)

/** 10^0 … 10^22: the powers of ten that a double holds exactly. */
export const POWERS_OF_TEN = new Float64Array(
  Array.from({ length: 23 }, (_, power) => Number(`1e${power}`)),
)

/** Splits an integer of at most 53 bits into the low two words of `scratchWords`. */
export function splitNumber(value: number): void {
  scratchWords[0] = value
  scratchWords[1] = Math.floor(value / 2 ** 32)
}

/** Replaces the 128-bit integer in `scratchWords` by its negative. */
export function negateWords(): void {
  let carry = 1
  for (let i = 0; i < 8; i++) {
    const half = (~scratchHalves[i] & 0xffff) + carry
    scratchHalves[i] = half
    carry = half >>> 16
  }
}
