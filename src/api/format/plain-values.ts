/**
 * Values that are written as most are, read a word at a time; what is written otherwise is left to
 * the readers of `common`, which take everything. Hot.
 *
 * The text of a value is `[start, end)`; `view` is of the same bytes.
 */

import { daysOfCivil, daysOfMonth } from '../../common/date.ts'
import { scaleLong } from '../../common/float.ts'
import { POWERS_OF_TEN } from '../../common/scalar-scratch.ts'
import { fourDigits, isFourDigits } from './ascii-words.ts'

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const UPPER_T = 0x54
const UPPER_Z = 0x5a
/** Digits of an integer that a double holds exactly with room to spare. */
export const PLAIN_DIGITS_MAX = 15

/**
 * An integer of at most fifteen digits.
 *
 * Returns: NaN when the text is not one; −0 for `-0`.
 */
export function plainInteger(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  const digits = end - first
  if (digits < 1 || digits > PLAIN_DIGITS_MAX) return Number.NaN
  if (digits > 1 && bytes[first] === ZERO) return Number.NaN
  const value = plainDigits(bytes, view, first, end)
  return isNegative ? -value : value
}

/** The integer of at most fifteen digits `[start, end)`, NaN when there are other characters. */
function plainDigits(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let value = 0
  let offset = start
  for (; offset <= end - 4; offset += 4) {
    const word = view.getInt32(offset, true)
    if (!isFourDigits(word)) return Number.NaN
    value = value * 10_000 + fourDigits(word)
  }
  for (; offset < end; offset++) {
    const digit = bytes[offset] - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/**
 * The double nearest to a decimal without an exponent, of at most nineteen digits.
 *
 * Returns: NaN when the text is not one, or when the nearest double is hard to tell.
 */
export function plainDecimal(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  const point = pointOf(bytes, first, end)
  if (point === end) return plainInteger(bytes, view, start, end)
  const wholeDigits = point - first
  const fractionDigits = end - point - 1
  if (wholeDigits < 1 || fractionDigits < 1) return Number.NaN
  if (wholeDigits > 1 && bytes[first] === ZERO) return Number.NaN
  if (wholeDigits + fractionDigits > PLAIN_DIGITS_MAX) {
    const magnitude = longDecimal(bytes, view, first, point, end)
    return isNegative ? -magnitude : magnitude
  }
  const whole = plainDigits(bytes, view, first, point)
  const fraction = plainDigits(bytes, view, point + 1, end)
  // Both operands of the division are exact, so it rounds once.
  const power = POWERS_OF_TEN[fractionDigits]
  const value = (whole * power + fraction) / power
  return isNegative ? -value : value
}

/** The offset of the first point in `[start, end)`, or `end`. */
function pointOf(bytes: Uint8Array, start: number, end: number): number {
  let point = start
  while (point < end && bytes[point] !== POINT) point++
  return point
}

/** As `plainDecimal`, for sixteen digits and more around `point`. */
function longDecimal(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  point: number,
  end: number,
): number {
  const upperEnd = end - 9
  const fractionDigits = end - point - 1
  const upperDigits = upperEnd - point - 1
  const wholeDigits = bytes[start] === ZERO ? 0 : point - start
  if (upperDigits < 0 || wholeDigits + upperDigits > 10 || fractionDigits > 22) return Number.NaN
  const whole = plainDigits(bytes, view, start, point)
  const upper = plainDigits(bytes, view, point + 1, upperEnd)
  const lower = plainDigits(bytes, view, upperEnd, end)
  return scaleLong(
    whole * POWERS_OF_TEN[upperDigits] + upper,
    lower,
    POWERS_OF_TEN[fractionDigits],
    true,
  )
}

/**
 * A decimal times 10^scale, when that is an integer of at most fifteen digits.
 *
 * Returns: NaN when it is not, or when the text is no decimal without an exponent; never −0.
 */
export function plainFixed(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  scale: number,
): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  const point = pointOf(bytes, first, end)
  const wholeDigits = point - first
  if (wholeDigits < 1 || wholeDigits + scale > PLAIN_DIGITS_MAX) return Number.NaN
  if (wholeDigits > 1 && bytes[first] === ZERO) return Number.NaN
  let value = plainDigits(bytes, view, first, point) * POWERS_OF_TEN[scale]
  if (point < end) {
    const fractionDigits = end - point - 1
    if (fractionDigits < 1 || fractionDigits > scale) return Number.NaN
    const fraction = plainDigits(bytes, view, point + 1, end)
    value += fraction * POWERS_OF_TEN[scale - fractionDigits]
  }
  return isNegative ? 0 - value : value
}

const scratchDouble = new Float64Array(1)
const scratchDoubleWords = new Uint32Array(scratchDouble.buffer)
const FLOAT_MAX = 3.4028234663852886e38
const FLOAT_NORMAL_MIN = 1.1754943508222875e-38

/**
 * Whether rounding the double nearest to a decimal gives the float nearest to that decimal: unless
 * the double lies in the middle between two floats, where the decimal may lie on either side of it.
 */
export function roundsOnceToFloat(double: number): boolean {
  const size = Math.abs(double)
  if (size === 0) return true
  if (!(size >= FLOAT_NORMAL_MIN && size <= FLOAT_MAX)) return false
  scratchDouble[0] = double
  return (scratchDoubleWords[0] & 0x1fff_ffff) !== 0x1000_0000
}

// The day that was read last: most rows of a body are of few days.
let lastDayKey = 0
let lastDays = 0

/**
 * Days since 1970-01-01 of `YYYY-MM-DD` at `start`, for the years from 1583 on.
 *
 * Returns: NaN when it is not written so. Requires: ten bytes exist.
 */
export function plainDate(bytes: Uint8Array, view: DataView, start: number): number {
  const yearWord = view.getInt32(start, true)
  if (!isFourDigits(yearWord)) return Number.NaN
  const month = twoDigits(bytes, start + 5)
  const day = twoDigits(bytes, start + 8)
  if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS) return Number.NaN
  const year = fourDigits(yearWord)
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1583) return Number.NaN
  const key = (year << 9) | (month << 5) | day
  if (key === lastDayKey) return lastDays
  if (day > daysOfMonth(year, month)) return Number.NaN
  lastDayKey = key
  lastDays = daysOfCivil(year, month, day)
  return lastDays
}

/** The two digits at `offset` as a number, or −1. */
function twoDigits(bytes: Uint8Array, offset: number): number {
  const tens = bytes[offset] - ZERO
  const units = bytes[offset + 1] - ZERO
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9 ? tens * 10 + units : -1
}

/**
 * Microseconds since the epoch of `YYYY-MM-DDTHH:MM:SS[.f…]Z`, at most six digits behind the
 * point, for the years 1970 to 2254, where they are a safe integer.
 *
 * Returns: NaN when the text is not one.
 */
export function plainTimestamp(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): number {
  const length = end - start
  if (length < 20 || length > 27 || bytes[end - 1] !== UPPER_Z) return Number.NaN
  const days = plainDate(bytes, view, start)
  const hour = twoDigits(bytes, start + 11)
  const minute = twoDigits(bytes, start + 14)
  const second = twoDigits(bytes, start + 17)
  if (bytes[start + 10] !== UPPER_T) return Number.NaN
  if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return Number.NaN
  if (!(days >= 0 && days < 104_000) || hour < 0 || hour > 23) return Number.NaN
  if (minute < 0 || minute > 59 || second < 0 || second > 59) return Number.NaN
  let micros = 0
  if (length > 20) {
    const digits = length - 21
    if (bytes[start + 19] !== POINT || digits === 0) return Number.NaN
    micros = plainDigits(bytes, view, start + 20, end - 1) * POWERS_OF_TEN[6 - digits]
  }
  return (days * 86_400 + hour * 3600 + minute * 60 + second) * 1_000_000 + micros
}
