/**
 * Decimal texts as integers scaled by a power of ten: what INT8 … INT64 (scale 0) and DECIMAL hold.
 * Exact, and of bounded cost whatever the exponent says: `1e999999999` is refused by counting
 * digits. Hot.
 *
 * A text is a number by the grammar of JSON: `-0`, `1`, `1.50`, `2e3`; not `+1`, `01`, `.5`, `5.`.
 */

import { CELL_ERRORS, type CellError } from './cell-error.ts'
import {
  negateWords,
  POWERS_OF_TEN,
  scratchHalves,
  scratchNumber,
  scratchWords,
} from './scalar-scratch.ts'

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const BILLION = 1_000_000_000

/** Digits that a number holds exactly with room to spare. */
const PLAIN_DIGITS_MAX = 15
// Far above any count of digits that a body can hold, so that adding both never changes who is
// greater.
const EXPONENT_MAX = 1_000_000_000

/**
 * What `scanNumber` found. The value is ± the digits in `[digitsStart, digitsEnd)` read as one
 * integer, the point among them skipped, times ten to the `exponent`. The digits neither begin nor
 * end with a zero; there are none when the value is zero.
 */
export const numberScan = {
  isNegative: false,
  digitsStart: 0,
  digitsEnd: 0,
  digitCount: 0,
  exponent: 0,
}

/** Whether a byte is one of `0` … `9`. */
export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39
}

/** The first offset in `[start, end)` that holds no digit, or `end`. */
export function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && isDigit(bytes[i])) i++
  return i
}

/** Reads a number of JSON's grammar into `numberScan`. Returns: whether `[start, end)` is one. */
export function scanNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const isNegative = start < end && bytes[start] === MINUS
  const wholeStart = isNegative ? start + 1 : start
  const wholeEnd = skipDigits(bytes, wholeStart, end)
  if (wholeEnd === wholeStart) return false
  if (bytes[wholeStart] === ZERO && wholeEnd > wholeStart + 1) return false
  let fractionEnd = wholeEnd
  if (wholeEnd < end && bytes[wholeEnd] === POINT) {
    fractionEnd = skipDigits(bytes, wholeEnd + 1, end)
    if (fractionEnd === wholeEnd + 1) return false
  }
  let exponent = 0
  if (fractionEnd < end) {
    exponent = scanExponent(bytes, fractionEnd, end)
    if (Number.isNaN(exponent)) return false
  }
  numberScan.isNegative = isNegative
  trimZeros(bytes, wholeStart, wholeEnd, fractionEnd, exponent)
  return true
}

/** The exponent that fills `[start, end)`, cut to ± EXPONENT_MAX; NaN when it is none. */
function scanExponent(bytes: Uint8Array, start: number, end: number): number {
  if ((bytes[start] | 0x20) !== 0x65) return Number.NaN
  let i = start + 1
  const hasSign = i < end && (bytes[i] === PLUS || bytes[i] === MINUS)
  const isNegative = hasSign && bytes[i] === MINUS
  if (hasSign) i++
  if (i === end) return Number.NaN
  let exponent = 0
  for (; i < end; i++) {
    if (!isDigit(bytes[i])) return Number.NaN
    if (exponent < EXPONENT_MAX) exponent = exponent * 10 + bytes[i] - ZERO
  }
  if (exponent > EXPONENT_MAX) exponent = EXPONENT_MAX
  return isNegative ? -exponent : exponent
}

function trimZeros(
  bytes: Uint8Array,
  wholeStart: number,
  wholeEnd: number,
  fractionEnd: number,
  exponent: number,
): void {
  let first = wholeStart
  let last = fractionEnd
  while (first < last && (bytes[first] === ZERO || bytes[first] === POINT)) first++
  while (last > first && (bytes[last - 1] === ZERO || bytes[last - 1] === POINT)) last--
  const hasPoint = first < wholeEnd && last > wholeEnd
  const lastPower = last <= wholeEnd ? wholeEnd - last : wholeEnd + 1 - last
  numberScan.digitsStart = first
  numberScan.digitsEnd = last
  numberScan.digitCount = last - first - (hasPoint ? 1 : 0)
  numberScan.exponent = first === last ? 0 : exponent + lastPower
}

/**
 * The text times 10^scale, when it is written without an exponent and with at most fifteen digits.
 *
 * Returns: an integer, never −0; NaN when the text is written otherwise, is no number, or is finer
 * than the scale: then `readFixed` has the answer.
 */
export function readPlainFixed(
  bytes: Uint8Array,
  start: number,
  end: number,
  scale: number,
): number {
  const isNegative = start < end && bytes[start] === MINUS
  let i = isNegative ? start + 1 : start
  const wholeStart = i
  let value = 0
  while (i < end && isDigit(bytes[i])) value = value * 10 + bytes[i++] - ZERO
  const wholeDigits = i - wholeStart
  if (wholeDigits === 0 || (wholeDigits > 1 && bytes[wholeStart] === ZERO)) return Number.NaN
  let fractionDigits = 0
  if (i < end) {
    if (bytes[i++] !== POINT) return Number.NaN
    const fractionStart = i
    while (i < end && isDigit(bytes[i])) value = value * 10 + bytes[i++] - ZERO
    fractionDigits = i - fractionStart
    if (i < end || fractionDigits === 0 || fractionDigits > scale) return Number.NaN
  }
  if (wholeDigits + scale > PLAIN_DIGITS_MAX) return Number.NaN
  if (fractionDigits < scale) value *= POWERS_OF_TEN[scale - fractionDigits]
  return isNegative ? 0 - value : value
}

/**
 * Reads the text times 10^scale into all four `scratchWords`.
 *
 * Returns: NONE; MALFORMED; TOO_PRECISE when it is finer than the scale; OUT_OF_RANGE when the
 * result has more than `digitsMax` digits, of which `numberScan.isNegative` tells the side.
 * Requires: `digitsMax` ≤ 38.
 */
export function readFixed(
  bytes: Uint8Array,
  start: number,
  end: number,
  scale: number,
  digitsMax: number,
): CellError {
  if (!scanNumber(bytes, start, end)) return CELL_ERRORS.MALFORMED
  const { digitCount } = numberScan
  const zeros = numberScan.exponent + scale
  if (digitCount === 0) {
    scratchWords.fill(0)
    return CELL_ERRORS.NONE
  }
  if (digitCount + zeros > digitsMax) return CELL_ERRORS.OUT_OF_RANGE
  if (zeros < 0) return CELL_ERRORS.TOO_PRECISE
  joinDigits(bytes, numberScan.digitsStart, numberScan.digitsEnd, zeros)
  if (numberScan.isNegative) negateWords()
  return CELL_ERRORS.NONE
}

/**
 * Sets `scratchWords` to the digits in `[start, end)`, a point skipped, and `zeros` zeros behind
 * them. Requires: at most 38 digits in all.
 */
function joinDigits(bytes: Uint8Array, start: number, end: number, zeros: number): void {
  scratchWords.fill(0)
  let chunk = 0
  let chunkDigits = 0
  let chunkCount = 0
  for (let i = start; i < end; i++) {
    if (bytes[i] === POINT) continue
    chunk = chunk * 10 + bytes[i] - ZERO
    if (++chunkDigits < 9) continue
    if (++chunkCount === 1) scratchWords[0] = chunk
    else multiplyWords(BILLION, chunk, chunkCount)
    chunk = 0
    chunkDigits = 0
  }
  if (chunkDigits > 0) multiplyWords(POWERS_OF_TEN[chunkDigits], chunk, ++chunkCount)
  for (let left = zeros; left > 0; left -= 9) {
    multiplyWords(POWERS_OF_TEN[left < 9 ? left : 9], 0, ++chunkCount)
  }
}

/**
 * `scratchWords` = `scratchWords` × factor + addend, unsigned. Requires: both ≤ 10^9, and a result
 * of at most `chunkCount` times nine digits, for which a word each is room enough.
 */
function multiplyWords(factor: number, addend: number, chunkCount: number): void {
  const halves = chunkCount < 4 ? chunkCount * 2 : 8
  let carry = addend
  for (let i = 0; i < halves; i++) {
    const product = scratchHalves[i] * factor + carry
    scratchHalves[i] = product
    carry = Math.floor(product / 65536)
  }
}

/**
 * Reads an integer into the low two `scratchWords`, when it is written as at most nineteen
 * digits and is not the least of all.
 *
 * Returns: whether it was; if not, `readFixed` has the answer.
 */
function readPlainInt64(bytes: Uint8Array, start: number, end: number): boolean {
  const isNegative = start < end && bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  const digitCount = end - first
  if (digitCount < 1 || digitCount > 19 || (digitCount > 1 && bytes[first] === ZERO)) return false
  const middle = digitCount > 9 ? end - 9 : first
  let upper = 0
  let lower = 0
  for (let i = first; i < middle; i++) {
    if (!isDigit(bytes[i])) return false
    upper = upper * 10 + bytes[i] - ZERO
  }
  for (let i = middle; i < end; i++) {
    if (!isDigit(bytes[i])) return false
    lower = lower * 10 + bytes[i] - ZERO
  }
  // The product is taken by parts of `upper`, so that each is a safe integer.
  const upperHigh = Math.floor(upper / 65536)
  const upperPart = upperHigh * BILLION
  const lowPart = (upper - upperHigh * 65536) * BILLION + lower + (upperPart % 65536) * 65536
  const low = lowPart >>> 0
  const high = Math.floor(upperPart / 65536) + Math.floor(lowPart / 2 ** 32)
  if (high > 0x7fff_ffff) return false
  scratchWords[0] = isNegative ? -low : low
  scratchWords[1] = isNegative ? ~high + (low === 0 ? 1 : 0) : high
  return true
}

/**
 * Reads an integer into the low two `scratchWords`.
 *
 * Returns: NONE, MALFORMED, NOT_INTEGER, or OUT_OF_RANGE of 64 bits.
 */
export function readInt64(bytes: Uint8Array, start: number, end: number): CellError {
  if (readPlainInt64(bytes, start, end)) return CELL_ERRORS.NONE
  const error = readFixed(bytes, start, end, 0, 19)
  if (error === CELL_ERRORS.TOO_PRECISE) return CELL_ERRORS.NOT_INTEGER
  if (error !== CELL_ERRORS.NONE) return error
  return fitsInt64() ? CELL_ERRORS.NONE : CELL_ERRORS.OUT_OF_RANGE
}

/** Whether the integer in all four `scratchWords` is the one in the low two. */
export function fitsInt64(): boolean {
  const sign = (scratchWords[1] | 0) >> 31
  return (scratchWords[2] | 0) === sign && (scratchWords[3] | 0) === sign
}

/**
 * Reads an integer of at most 32 bits into `scratchNumber[0]`.
 *
 * Returns: NONE, MALFORMED, NOT_INTEGER, or OUT_OF_RANGE of `[low, high]`.
 */
export function readInt32(
  bytes: Uint8Array,
  start: number,
  end: number,
  low: number,
  high: number,
): CellError {
  let value = readPlainFixed(bytes, start, end, 0)
  if (Number.isNaN(value)) {
    const error = readInt64(bytes, start, end)
    if (error !== CELL_ERRORS.NONE) return error
    value = scratchWords[0] | 0
    if ((scratchWords[1] | 0) !== value >> 31) return CELL_ERRORS.OUT_OF_RANGE
  }
  if (value < low || value > high) return CELL_ERRORS.OUT_OF_RANGE
  scratchNumber[0] = value
  return CELL_ERRORS.NONE
}
