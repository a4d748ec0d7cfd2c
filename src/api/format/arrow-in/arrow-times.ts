/** Timestamps and dates from Arrow into columns. Hot: words, never a bigint. */

import { CELL_ERRORS } from '../../../common/cell-error.ts'
import { DATE_DAYS_MAX, DATE_DAYS_MIN } from '../../../common/date.ts'
import { getBit } from '../../../util/bitmap.ts'
import type { ArrowRun } from './arrow-run.ts'
import { DATE_UNITS, TIME_UNITS } from './arrow-type.ts'

const WORD = 2 ** 32
const DAY_MILLIS = 86_400_000

/** Reads UNIXTIME_MICROS of seconds or milliseconds. */
export function convertCoarseTimes({ array, start, count, column, marks }: ArrowRun): void {
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const factor = type.unit === TIME_UNITS.second ? 1_000_000 : 1000
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    // Both products have at most 53 bits.
    const low = values[row * 2] * factor
    const high = (values[row * 2 + 1] | 0) * factor + Math.floor(low / WORD)
    if (high < -0x8000_0000 || high > 0x7fff_ffff) {
      marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
      continue
    }
    lanes[(rowCount + i) * 2] = low % WORD
    lanes[(rowCount + i) * 2 + 1] = high
  }
}

/** Reads UNIXTIME_MICROS of nanoseconds that are whole microseconds. */
export function convertNanoseconds({ array, start, count, column, marks }: ArrowRun): void {
  const { values, validity } = array
  const { lanes, rowCount } = column
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const high = values[row * 2 + 1] | 0
    const quotient = Math.floor(high / 1000)
    const rest = (high - quotient * 1000) * WORD + values[row * 2]
    const low = Math.floor(rest / 1000)
    if (rest !== low * 1000) {
      marks.mark(i, CELL_ERRORS.TOO_PRECISE)
      continue
    }
    lanes[(rowCount + i) * 2] = low
    lanes[(rowCount + i) * 2 + 1] = quotient
  }
}

/** Reads DATE of days, or of milliseconds that are whole days. */
export function convertDates({ array, start, count, column, marks }: ArrowRun): void {
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const isDays = type.unit === DATE_UNITS.day
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const days = isDays ? values[row] : daysOfMillis(values[row * 2], values[row * 2 + 1] | 0)
    if (Number.isNaN(days)) marks.mark(i, CELL_ERRORS.MALFORMED)
    else if (days < DATE_DAYS_MIN || days > DATE_DAYS_MAX) marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
    else lanes[rowCount + i] = days
  }
}

/** NaN when they are not whole days; a day that no calendar has when they are too many. */
function daysOfMillis(low: number, high: number): number {
  const millis = high * WORD + low
  if (Math.abs(millis) > Number.MAX_SAFE_INTEGER) return Number.POSITIVE_INFINITY
  return millis % DAY_MILLIS === 0 ? millis / DAY_MILLIS : Number.NaN
}
