/**
 * FLOAT and DOUBLE as text. Reading rounds once, to the nearest value, ties to even; printing gives
 * the fewest digits that read back as the same value, laid out as ECMAScript lays out numbers, and
 * `-0` for −0. Hot: the common cases make no string.
 */

import type { ByteArena } from '../util/arena.ts'
import { utf8Decode } from '../util/bytes.ts'
import { CELL_ERRORS, type CellError } from './cell-error.ts'
import { compareDecimal, scannedDigits } from './exact-decimal.ts'
import { numberScan, scanNumber } from './fixed-point.ts'
import { appendFixed, appendInteger } from './fixed-point-text.ts'
import { POWERS_OF_TEN, scratchNumber } from './scalar-scratch.ts'

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const LOWER_E = 0x65

/** The greatest finite FLOAT. */
export const FLOAT_MAX = 3.4028234663852886e38
/** Half a step above it: from here on a number rounds to infinity. */
const FLOAT_OVERFLOW = 3.4028235677973366e38
const EXACT_POWER_MAX = 22
const FLOAT_DIGITS_MAX = 9
const UNIQUE_DIGITS_MAX = 6
// The least FLOAT that has all its bits.
const FLOAT_NORMAL_MIN = 2 ** -126
const LOG10_OF_2 = 0.301029995663981
// Products of halves that this splits a double into are exact (Dekker).
const SPLITTER = 2 ** 27 + 1

const scratchFloat = new Float32Array(1)
const scratchFloatBits = new Uint32Array(scratchFloat.buffer)

/**
 * Reads a number into `scratchNumber[0]`, rounded to the nearest double.
 *
 * Returns: NONE; MALFORMED; OUT_OF_RANGE when it rounds to infinity. `numberScan` is left as the
 * scan found it.
 */
export function readDouble(bytes: Uint8Array, start: number, end: number): CellError {
  if (!scanNumber(bytes, start, end)) return CELL_ERRORS.MALFORMED
  let value = magnitudeOfScan(bytes)
  if (Number.isNaN(value)) value = Math.abs(Number(utf8Decode(bytes.subarray(start, end))))
  scratchNumber[0] = numberScan.isNegative ? -value : value
  return value === Number.POSITIVE_INFINITY ? CELL_ERRORS.OUT_OF_RANGE : CELL_ERRORS.NONE
}

/**
 * Reads a number into `scratchNumber[0]`, rounded once to the nearest FLOAT.
 *
 * Returns: as `readDouble`.
 */
export function readFloat(bytes: Uint8Array, start: number, end: number): CellError {
  const error = readDouble(bytes, start, end)
  if (error !== CELL_ERRORS.NONE) return error
  const value = Math.abs(scratchNumber[0])
  const float = floatOf(bytes, value)
  scratchNumber[0] = numberScan.isNegative ? -float : float
  return float === Number.POSITIVE_INFINITY ? CELL_ERRORS.OUT_OF_RANGE : CELL_ERRORS.NONE
}

/** The FLOAT nearest to the scanned number, whose nearest double is `value`. */
function floatOf(bytes: Uint8Array, value: number): number {
  const float = Math.fround(value)
  const isExact = numberScan.exponent >= 0 && value < Number.MAX_SAFE_INTEGER
  if (float === value || isExact) return float
  const across =
    float === Number.POSITIVE_INFINITY && value === FLOAT_OVERFLOW ? FLOAT_MAX : value * 2 - float
  if (Math.fround(across) !== across || across === Number.NEGATIVE_INFINITY) return float
  // The double lies halfway between two FLOATs; the number itself may lie to either side of it.
  const side = compareDecimal(scannedDigits(bytes), numberScan.exponent, value)
  if (side === 0) return float
  return side < 0 ? Math.min(float, across) : Math.max(float, across)
}

/** The double nearest to the scanned magnitude, or NaN when the quick ways cannot tell. */
function magnitudeOfScan(bytes: Uint8Array): number {
  const { digitCount, exponent, digitsStart, digitsEnd } = numberScan
  if (digitCount === 0) return 0
  if (digitCount > 19 || exponent > EXACT_POWER_MAX || exponent < -EXACT_POWER_MAX) {
    return Number.NaN
  }
  let upper = 0
  let lower = 0
  let left = digitCount
  for (let i = digitsStart; i < digitsEnd; i++) {
    const digit = bytes[i] - ZERO
    if (bytes[i] === POINT) continue
    if (left-- > 9) upper = upper * 10 + digit
    else lower = lower * 10 + digit
  }
  const power = POWERS_OF_TEN[exponent < 0 ? -exponent : exponent]
  if (digitCount > 15) return scaleLong(upper, lower, power, exponent < 0)
  // Both operands are exact, so the one operation rounds once.
  const mantissa = upper * 1e9 + lower
  return exponent < 0 ? mantissa / power : mantissa * power
}

/**
 * (upper × 10^9 + lower) × or ÷ power, rounded once; NaN when the result is too near a tie to tell.
 *
 * The value is kept as the unevaluated sum of two doubles, good to about 2^−100 of itself.
 * Requires: upper below 10^10, lower below 10^9, a power of ten up to 10^22.
 */
export function scaleLong(upper: number, lower: number, power: number, isDivided: boolean): number {
  const product = upper * 1e9
  const high = product + lower
  const low = productError(upper, 1e9, product) + (lower - (high - product))
  let result: number
  let rest: number
  if (isDivided) {
    result = high / power
    const back = result * power
    rest = (high - back - productError(result, power, back) + low) / power
  } else {
    result = high * power
    rest = productError(high, power, result) + low * power
  }
  const doubt = result * 2 ** -98
  const rounded = result + (rest - doubt)
  return rounded === result + (rest + doubt) ? rounded : Number.NaN
}

/** What `product`, the rounded a × b, lacks of the exact one. */
function productError(a: number, b: number, product: number): number {
  const aScaled = a * SPLITTER
  const aHigh = aScaled - (aScaled - a)
  const aLow = a - aHigh
  const bScaled = b * SPLITTER
  const bHigh = bScaled - (bScaled - b)
  const bLow = b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

/** Appends a DOUBLE; NaN and the infinities by name, without quotes. */
export function appendDouble(arena: ByteArena, value: number): void {
  const magnitude = Math.abs(value)
  if (magnitude < 1e15 && Math.floor(magnitude) === magnitude) {
    appendWhole(arena, value)
    return
  }
  if (magnitude < 1e9) {
    // A decimal of at most fifteen digits that reads back as the value is the only one, so the
    // shortest.
    for (let scale = 2; scale <= 6; scale += 2) {
      const power = POWERS_OF_TEN[scale]
      const unscaled = Math.round(magnitude * power)
      if (unscaled / power !== magnitude) continue
      const isShorter = unscaled % 10 === 0
      const shortest = isShorter ? unscaled / 10 : unscaled
      appendFixed(arena, value < 0 ? -shortest : shortest, isShorter ? scale - 1 : scale)
      return
    }
  }
  appendAscii(arena, String(value))
}

/** Appends an integer of at most 53 bits, −0 as `-0`. */
function appendWhole(arena: ByteArena, value: number): void {
  if (Object.is(value, -0)) appendAscii(arena, '-0')
  else appendInteger(arena, value)
}

/**
 * Appends a FLOAT; NaN and the infinities by name, without quotes. Requires: `value` is a FLOAT.
 *
 * A decimal of at most six digits is the only such one that reads back as a normal FLOAT, so with
 * its zeros stripped it is the shortest; beyond six, digits are added one by one.
 */
export function appendFloat(arena: ByteArena, value: number): void {
  const magnitude = Math.abs(value)
  if (magnitude < 2 ** 24 && Math.floor(magnitude) === magnitude) {
    appendWhole(arena, value)
    return
  }
  if (!(magnitude <= FLOAT_MAX)) {
    appendAscii(arena, String(value))
    return
  }
  scratchFloat[0] = magnitude
  const bits = scratchFloatBits[0]
  const isEven = (bits & 1) === 0
  scratchFloatBits[0] = bits - 1
  const low = (magnitude + scratchFloat[0]) / 2
  scratchFloatBits[0] = bits + 1
  const high = magnitude === FLOAT_MAX ? FLOAT_OVERFLOW : (magnitude + scratchFloat[0]) / 2
  let scale = (magnitude < FLOAT_NORMAL_MIN ? 0 : UNIQUE_DIGITS_MAX - 1) - decadeOf(magnitude, bits)
  let mantissa = mantissaWithin(magnitude, scale, low, high, isEven)
  // Nine digits always tell a FLOAT from its neighbours, so this ends.
  while (mantissa === 0) mantissa = mantissaWithin(magnitude, ++scale, low, high, isEven)
  appendScientific(arena, value < 0, mantissa, scale)
}

/** The power of ten of the first digit. Requires: a finite FLOAT above 0 and its bits. */
function decadeOf(magnitude: number, bits: number): number {
  const isNormal = magnitude >= FLOAT_NORMAL_MIN
  // Both guesses are right or one too small: the first is that of the power of two under the
  // magnitude, and no FLOAT lies so near under a power of ten that its logarithm could be rounded
  // up to it.
  const logarithm = isNormal ? ((bits >>> 23) - 127) * LOG10_OF_2 : Math.log10(magnitude)
  const guess = Math.floor(logarithm)
  return scaleUp(magnitude, -guess) >= 10 ? guess + 1 : guess
}

/** magnitude × 10^scale, rounded at most three times. */
function scaleUp(magnitude: number, scale: number): number {
  let value = magnitude
  let left = scale
  for (; left > EXACT_POWER_MAX; left -= EXACT_POWER_MAX) value *= 1e22
  for (; left < -EXACT_POWER_MAX; left += EXACT_POWER_MAX) value /= 1e22
  return left < 0 ? value / POWERS_OF_TEN[-left] : value * POWERS_OF_TEN[left]
}

/**
 * The integer m nearest to magnitude × 10^scale for which m × 10^−scale lies between `low` and
 * `high`; 0 when there is none. The nearest of all may lie outside while its neighbour does not:
 * under a power of two the interval is half as wide as above it.
 */
function mantissaWithin(
  magnitude: number,
  scale: number,
  low: number,
  high: number,
  isClosed: boolean,
): number {
  const scaled = scaleUp(magnitude, scale)
  const floor = Math.floor(scaled)
  const fraction = scaled - floor
  const isUpper = fraction > 0.5 || (fraction === 0.5 && floor % 2 === 1)
  const nearest = isUpper ? floor + 1 : floor
  if (isWithin(nearest, scale, low, high, isClosed)) return nearest
  const other = isUpper ? floor : floor + 1
  return isWithin(other, scale, low, high, isClosed) ? other : 0
}

function isWithin(
  mantissa: number,
  scale: number,
  low: number,
  high: number,
  isClosed: boolean,
): boolean {
  const isExactPower = scale <= EXACT_POWER_MAX && scale >= -EXACT_POWER_MAX
  const value = isExactPower ? scaleUp(mantissa, -scale) : Number(`${mantissa}e${-scale}`)
  if (value !== low && value !== high) return value > low && value < high
  const digits = String(mantissa)
  const trimmed = digits.replace(/0+$/, '')
  const side = compareDecimal(trimmed, digits.length - trimmed.length - scale, value)
  if (side === 0) return isClosed
  return value === low ? side > 0 : side < 0
}

/** Appends mantissa × 10^−scale. */
function appendScientific(
  arena: ByteArena,
  isNegative: boolean,
  mantissa: number,
  scale: number,
): void {
  let digits = mantissa
  let behind = scale
  for (; digits % 10 === 0; digits /= 10) behind--
  const digitCount = countDigits(digits)
  const pointAt = digitCount - behind
  if (pointAt > -6 && pointAt <= 21 && behind >= 0) {
    appendFixed(arena, isNegative ? -digits : digits, behind)
  } else if (pointAt > -6 && pointAt <= 21) {
    appendInteger(arena, isNegative ? -digits : digits)
    arena.reserve(-behind)
    for (; behind < 0; behind++) arena.bytes[arena.length++] = ZERO
  } else {
    appendFixed(arena, isNegative ? -digits : digits, digitCount - 1)
    arena.reserve(2)
    arena.bytes[arena.length++] = LOWER_E
    arena.bytes[arena.length++] = pointAt > 0 ? PLUS : MINUS
    appendInteger(arena, Math.abs(pointAt - 1))
  }
}

function countDigits(value: number): number {
  let count = 1
  while (count < FLOAT_DIGITS_MAX && value >= POWERS_OF_TEN[count]) count++
  return count
}

/** Appends a text of ASCII characters. */
export function appendAscii(arena: ByteArena, text: string): void {
  arena.reserve(text.length)
  const bytes = arena.bytes
  let offset = arena.length
  for (let i = 0; i < text.length; i++) bytes[offset++] = text.charCodeAt(i)
  arena.length = offset
}
