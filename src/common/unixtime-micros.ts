/**
 * UNIXTIME_MICROS as text: RFC 3339 with a required offset, and integers of micro- or milliseconds.
 * Hot: a value is two 32-bit words, never a bigint.
 *
 *   2026-01-31T23:59:59.000001Z      printed always with six digits of a second, and in UTC
 *   -290308-12-21T19:59:05.224192Z   years beyond RFC 3339's four digits, in and out
 *
 * Arithmetic runs on the value plus 2^63, which is never negative: its high word has the sign bit
 * flipped.
 */

import type { ByteArena } from '../util/arena.ts'
import { CELL_ERRORS, type CellError } from './cell-error.ts'
import {
  civilOfDays,
  readMonthAndDay,
  readYear,
  scratchCivil,
  twoDigits,
  writeTwoDigits,
  writeYear,
} from './date.ts'
import {
  fitsInt64,
  numberScan,
  readFixed,
  readInt64,
  readPlainFixed,
  skipDigits,
} from './fixed-point.ts'
import { appendFixed, appendInt64 } from './fixed-point-text.ts'
import { scratchNumber, scratchWords, splitNumber } from './scalar-scratch.ts'

const DAY_SECONDS = 86_400
const MICROS = 1_000_000
const WORD = 2 ** 32
// 2^63 microseconds.
const BIAS_SECONDS = 9_223_372_036_854
const BIAS_MICROS = 775_808
const TEXT_BYTES_MAX = 32
// Products with 1,000 below this are safe integers.
const PLAIN_MILLIS_MAX = 9_000_000_000_000
const EXACT_MILLIS_SECONDS = 9_000_000_000_000

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const COLON = 0x3a
const ZERO = 0x30
const UPPER_T = 0x54
const UPPER_Z = 0x5a

// What the parts of one text leave for the next: seconds, then microseconds behind them.
const scratchSeconds = new Float64Array(2)
let isFiner = false

/**
 * Reads a timestamp with an offset into the low two `scratchWords`.
 *
 * `isText` also takes a space for `T` and offsets `±HH` and `±HHMM`. `T` and `Z` may be lower case.
 * Returns: NONE; MALFORMED; LEAP_SECOND for second 60; TOO_PRECISE when digits behind the sixth are
 * not zero, with the microsecond before it in `scratchWords`; OUT_OF_RANGE of 64 bits, with the
 * sign of the side in `scratchNumber[0]`.
 */
export function readTimestamp(
  bytes: Uint8Array,
  start: number,
  end: number,
  isText: boolean,
): CellError {
  const dateOffset = readYear(bytes, start, end)
  // The shortest rest is -MM-DDTHH:MM:SSZ.
  if (dateOffset < 0 || end - dateOffset < 16) return CELL_ERRORS.MALFORMED
  const days = readMonthAndDay(bytes, dateOffset, scratchCivil.year)
  if (Number.isNaN(days)) return CELL_ERRORS.MALFORMED
  const separator = bytes[dateOffset + 6]
  if ((separator & 0xdf) !== UPPER_T && !(isText && separator === 0x20)) {
    return CELL_ERRORS.MALFORMED
  }
  const timeError = readTime(bytes, dateOffset + 7)
  if (timeError === CELL_ERRORS.MALFORMED) return timeError
  const fractionEnd = readFraction(bytes, dateOffset + 15, end)
  if (fractionEnd < 0) return CELL_ERRORS.MALFORMED
  const offsetSeconds = readOffset(bytes, fractionEnd, end, isText)
  if (Number.isNaN(offsetSeconds)) return CELL_ERRORS.MALFORMED
  if (timeError !== CELL_ERRORS.NONE) return timeError
  scratchSeconds[0] += days * DAY_SECONDS - offsetSeconds
  return joinSeconds()
}

/** Reads `HH:MM:SS` into `scratchSeconds[0]`. Requires: eight bytes exist. */
function readTime(bytes: Uint8Array, offset: number): CellError {
  const hour = twoDigits(bytes, offset)
  const minute = twoDigits(bytes, offset + 3)
  const second = twoDigits(bytes, offset + 6)
  if (bytes[offset + 2] !== COLON || bytes[offset + 5] !== COLON) return CELL_ERRORS.MALFORMED
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0) return CELL_ERRORS.MALFORMED
  if (second > 59) return second === 60 ? CELL_ERRORS.LEAP_SECOND : CELL_ERRORS.MALFORMED
  scratchSeconds[0] = hour * 3600 + minute * 60 + second
  return CELL_ERRORS.NONE
}

/**
 * Reads a fraction of a second, if there is one, into `scratchSeconds[1]`. Returns: its end, or −1.
 */
function readFraction(bytes: Uint8Array, start: number, end: number): number {
  isFiner = false
  scratchSeconds[1] = 0
  if (start >= end || bytes[start] !== POINT) return start
  const digitsEnd = skipDigits(bytes, start + 1, end)
  if (digitsEnd === start + 1) return -1
  let micros = 0
  for (let i = start + 1; i < start + 7; i++) {
    micros = micros * 10 + (i < digitsEnd ? bytes[i] - ZERO : 0)
  }
  for (let i = start + 7; i < digitsEnd; i++) if (bytes[i] !== ZERO) isFiner = true
  scratchSeconds[1] = micros
  return digitsEnd
}

/** The offset that fills `[start, end)` in seconds east of UTC, or NaN. */
function readOffset(bytes: Uint8Array, start: number, end: number, isText: boolean): number {
  const length = end - start
  if (length === 1) return (bytes[start] & 0xdf) === UPPER_Z ? 0 : Number.NaN
  const isEast = bytes[start] === PLUS
  if (length < 3 || (!isEast && bytes[start] !== MINUS)) return Number.NaN
  const hours = twoDigits(bytes, start + 1)
  let minutes = 0
  if (length === 6 && bytes[start + 3] === COLON) minutes = twoDigits(bytes, start + 4)
  else if (length === 5 && isText) minutes = twoDigits(bytes, start + 3)
  else if (length !== 3 || !isText) return Number.NaN
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN
  const seconds = hours * 3600 + minutes * 60
  return isEast ? seconds : -seconds
}

/** Sets the words to `scratchSeconds`, checking the range. */
function joinSeconds(): CellError {
  let seconds = scratchSeconds[0] + BIAS_SECONDS
  let micros = scratchSeconds[1] + BIAS_MICROS
  if (micros >= MICROS) {
    micros -= MICROS
    seconds++
  }
  const secondsHigh = Math.floor(seconds / WORD)
  const lowPart = (seconds - secondsHigh * WORD) * MICROS + micros
  const high = secondsHigh * MICROS + Math.floor(lowPart / WORD)
  if (seconds < 0 || high >= WORD) {
    scratchNumber[0] = scratchSeconds[0]
    return CELL_ERRORS.OUT_OF_RANGE
  }
  scratchWords[0] = lowPart
  scratchWords[1] = (high ^ 0x8000_0000) >>> 0
  return isFiner ? CELL_ERRORS.TOO_PRECISE : CELL_ERRORS.NONE
}

/**
 * Reads an integer of microseconds, or of milliseconds, into the low two `scratchWords`.
 *
 * Returns: NONE; MALFORMED; NOT_INTEGER when it is no whole number of its unit; OUT_OF_RANGE of 64
 * bits of microseconds.
 */
export function readTimestampInteger(
  bytes: Uint8Array,
  start: number,
  end: number,
  isMillis: boolean,
): CellError {
  if (!isMillis) return readInt64(bytes, start, end)
  const plain = readPlainFixed(bytes, start, end, 0)
  if (plain >= -PLAIN_MILLIS_MAX && plain <= PLAIN_MILLIS_MAX) {
    splitNumber(plain * 1000)
    return CELL_ERRORS.NONE
  }
  const error = readFixed(bytes, start, end, 3, 19)
  if (error === CELL_ERRORS.TOO_PRECISE) return CELL_ERRORS.NOT_INTEGER
  if (error !== CELL_ERRORS.NONE) return error
  if (numberScan.exponent < 0) return CELL_ERRORS.NOT_INTEGER
  return fitsInt64() ? CELL_ERRORS.NONE : CELL_ERRORS.OUT_OF_RANGE
}

/**
 * Sets `scratchSeconds` to the whole seconds of an int64 of microseconds, rounded down, and what is
 * left.
 */
function splitSeconds(low: number, high: number): void {
  const biasedHigh = (high ^ 0x8000_0000) >>> 0
  const quotientHigh = Math.floor(biasedHigh / MICROS)
  const lowPart = (biasedHigh - quotientHigh * MICROS) * WORD + (low >>> 0)
  const quotientLow = Math.floor(lowPart / MICROS)
  const seconds = quotientHigh * WORD + quotientLow - BIAS_SECONDS
  const micros = lowPart - quotientLow * MICROS - BIAS_MICROS
  scratchSeconds[0] = micros < 0 ? seconds - 1 : seconds
  scratchSeconds[1] = micros < 0 ? micros + MICROS : micros
}

/** Appends an int64 of microseconds as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, in UTC. */
export function appendTimestamp(arena: ByteArena, low: number, high: number): void {
  splitSeconds(low, high)
  const days = Math.floor(scratchSeconds[0] / DAY_SECONDS)
  const secondOfDay = (scratchSeconds[0] - days * DAY_SECONDS) | 0
  const micros = scratchSeconds[1] | 0
  civilOfDays(days)
  arena.reserve(TEXT_BYTES_MAX)
  const bytes = arena.bytes
  let offset = writeYear(bytes, arena.length, scratchCivil.year)
  bytes[offset] = MINUS
  offset = writeTwoDigits(bytes, offset + 1, scratchCivil.month)
  bytes[offset] = MINUS
  offset = writeTwoDigits(bytes, offset + 1, scratchCivil.day)
  bytes[offset] = UPPER_T
  const minuteOfDay = (secondOfDay / 60) | 0
  const hour = (minuteOfDay / 60) | 0
  offset = writeTwoDigits(bytes, offset + 1, hour)
  bytes[offset] = COLON
  offset = writeTwoDigits(bytes, offset + 1, minuteOfDay - hour * 60)
  bytes[offset] = COLON
  offset = writeTwoDigits(bytes, offset + 1, secondOfDay - minuteOfDay * 60)
  bytes[offset] = POINT
  const tenths = (micros / 100) | 0
  const upper = (tenths / 100) | 0
  offset = writeTwoDigits(bytes, offset + 1, upper)
  offset = writeTwoDigits(bytes, offset, tenths - upper * 100)
  offset = writeTwoDigits(bytes, offset, micros - tenths * 100)
  bytes[offset] = UPPER_Z
  arena.length = offset + 1
}

/** Appends an int64 of microseconds as whole milliseconds, rounded down. */
export function appendMillis(arena: ByteArena, low: number, high: number): void {
  splitSeconds(low, high)
  const millis = Math.floor(scratchSeconds[1] / 1000)
  const seconds = scratchSeconds[0]
  if (seconds >= -EXACT_MILLIS_SECONDS && seconds <= EXACT_MILLIS_SECONDS) {
    appendFixed(arena, seconds * 1000 + millis, 0)
    return
  }
  // Beyond the year 287,000 the sum may not be a safe integer.
  const exact = BigInt(seconds) * 1000n + BigInt(millis)
  appendInt64(arena, Number(BigInt.asUintN(32, exact)), Number(BigInt.asUintN(32, exact >> 32n)))
}
