/**
 * DATE as text: days since 1970-01-01 in the proleptic Gregorian calendar, `YYYY-MM-DD`. Hot.
 */

import type { ByteArena } from '../util/arena.ts'
import { CELL_ERRORS, type CellError } from './cell-error.ts'
import { isDigit } from './fixed-point.ts'
import { scratchNumber } from './scalar-scratch.ts'

/** 0001-01-01. */
export const DATE_DAYS_MIN = -719_162
/** 9999-12-31. */
export const DATE_DAYS_MAX = 2_932_896

const MINUS = 0x2d
const ZERO = 0x30
const DATE_BYTES = 10

// Days are counted from 0000-03-01, so that a leap day ends a year, and in eras of 400 years, which
// all have the same number of days.
const ERA_DAYS = 146_097
const EPOCH_DAYS = 719_468

/** A day of the calendar: what `civilOfDays` found. */
export const scratchCivil = { year: 0, month: 0, day: 0 }

/** Days since 1970-01-01 of a day of the calendar. Requires: it exists; year within ± 1,000,000. */
export function daysOfCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const marchMonth = month <= 2 ? month + 9 : month - 3
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * ERA_DAYS + dayOfEra - EPOCH_DAYS
}

/**
 * Sets `scratchCivil` to the day that lies `days` after 1970-01-01. Requires: days within ±
 * 110,000,000.
 */
export function civilOfDays(days: number): void {
  const shifted = (days + EPOCH_DAYS) | 0
  const era = Math.floor(shifted / ERA_DAYS)
  const dayOfEra = shifted - era * ERA_DAYS
  const leapFree =
    dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)
  const yearOfEra = (leapFree / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  scratchCivil.day = dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1
  scratchCivil.month = month
  scratchCivil.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
}

/** Days of a month of a year. Requires: month in 1 … 12. */
export function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * The two digits at `offset` as a number, or −1 when they are not both digits. Requires: they
 * exist.
 */
export function twoDigits(bytes: Uint8Array, offset: number): number {
  const tens = bytes[offset] - ZERO
  const units = bytes[offset + 1] - ZERO
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9 ? tens * 10 + units : -1
}

/**
 * Reads `-MM-DD` at `offset` and returns days since 1970-01-01, or NaN. Requires: six bytes exist.
 */
export function readMonthAndDay(bytes: Uint8Array, offset: number, year: number): number {
  const month = twoDigits(bytes, offset + 1)
  const day = twoDigits(bytes, offset + 4)
  if (bytes[offset] !== MINUS || bytes[offset + 3] !== MINUS) return Number.NaN
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return Number.NaN
  return daysOfCivil(year, month, day)
}

/**
 * Reads `YYYY-MM-DD` into `scratchNumber[0]` as days since 1970-01-01.
 *
 * Returns: NONE; MALFORMED, also for days that no calendar has; OUT_OF_RANGE in the year 0000,
 * which lies before all dates.
 */
export function readDate(bytes: Uint8Array, start: number, end: number): CellError {
  if (end - start !== DATE_BYTES) return CELL_ERRORS.MALFORMED
  const century = twoDigits(bytes, start)
  const yearOfCentury = twoDigits(bytes, start + 2)
  if (century < 0 || yearOfCentury < 0) return CELL_ERRORS.MALFORMED
  const days = readMonthAndDay(bytes, start + 4, century * 100 + yearOfCentury)
  if (Number.isNaN(days)) return CELL_ERRORS.MALFORMED
  if (days < DATE_DAYS_MIN) return CELL_ERRORS.OUT_OF_RANGE
  scratchNumber[0] = days
  return CELL_ERRORS.NONE
}

/** Appends a day as `YYYY-MM-DD`; years outside 0000 … 9999 with a sign or with more digits. */
export function appendDate(arena: ByteArena, days: number): void {
  civilOfDays(days)
  arena.reserve(16)
  let offset = writeYear(arena.bytes, arena.length, scratchCivil.year)
  arena.bytes[offset++] = MINUS
  offset = writeTwoDigits(arena.bytes, offset, scratchCivil.month)
  arena.bytes[offset++] = MINUS
  arena.length = writeTwoDigits(arena.bytes, offset, scratchCivil.day)
}

/** Writes a number below 100 as two digits. Returns the offset behind them. */
export function writeTwoDigits(bytes: Uint8Array, offset: number, value: number): number {
  const tens = (value / 10) | 0
  bytes[offset] = ZERO + tens
  bytes[offset + 1] = ZERO + value - tens * 10
  return offset + 2
}

/** Writes a year with at least four digits, at most seven bytes. Returns the offset behind it. */
export function writeYear(bytes: Uint8Array, offset: number, year: number): number {
  let at = offset
  let magnitude = year
  if (year < 0) {
    bytes[at++] = MINUS
    magnitude = -year
  }
  if (magnitude > 9999) {
    const leading = (magnitude / 10_000) | 0
    if (leading > 9) bytes[at++] = ZERO + ((leading / 10) | 0)
    bytes[at++] = ZERO + (leading % 10)
    magnitude -= leading * 10_000
  }
  const century = (magnitude / 100) | 0
  at = writeTwoDigits(bytes, at, century)
  return writeTwoDigits(bytes, at, magnitude - century * 100)
}

/**
 * Reads a year as `writeYear` writes it: four digits, or a minus or more digits for the years that
 * four do not reach.
 *
 * Returns: the offset behind it, with the year in `scratchCivil.year`; −1 when there is none.
 */
export function readYear(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = start < end && bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  let year = 0
  let i = first
  while (i < end && isDigit(bytes[i]) && i - first < 6) year = year * 10 + bytes[i++] - ZERO
  const digits = i - first
  if (digits < 4 || (digits > 4 && bytes[first] === ZERO)) return -1
  if (isNegative && year === 0) return -1
  scratchCivil.year = isNegative ? -year : year
  return i
}
