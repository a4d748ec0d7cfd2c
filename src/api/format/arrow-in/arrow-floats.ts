/** Floats of all sizes from Arrow into columns. Hot. */

import { CELL_ERRORS } from '../../../common/cell-error.ts'
import { CELL_KINDS } from '../../../common/cell-plan.ts'
import { getBit } from '../../../util/bitmap.ts'
import type { ArrowRun } from './arrow-run.ts'

const WORD = 2 ** 32
const INT64_BOUND = 2 ** 63

/** Reads FLOAT or DOUBLE, rounded once. There is one NaN, whichever was sent. */
export function convertFloats({ array, start, count, column, plan, marks }: ArrowRun): void {
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const isHalf = type.bits === 16
  const isNarrowed = type.bits === 64 && plan.kind === CELL_KINDS.float
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const value = isHalf ? halfToNumber(values[row]) : values[row]
    // biome-ignore lint/suspicious/noSelfCompare: the test for NaN that costs least.
    lanes[rowCount + i] = value === value ? value : Number.NaN
    if (isNarrowed && Math.abs(lanes[rowCount + i]) === Number.POSITIVE_INFINITY) {
      if (Math.abs(value) !== Number.POSITIVE_INFINITY) marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
    }
  }
}

/** Reads INT8 … INT64: a float that is an integer is that integer. */
export function convertFloatsToIntegers(run: ArrowRun): void {
  const { array, start, count, column, plan, marks } = run
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const isHalf = type.bits === 16
  const isWide = plan.kind === CELL_KINDS.int64
  const low = isWide ? -INT64_BOUND : plan.low
  const high = isWide ? INT64_BOUND : plan.high + 1
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const value = isHalf ? halfToNumber(values[row]) : values[row]
    if (!Number.isFinite(value)) marks.mark(i, CELL_ERRORS.WRONG_KIND)
    else if (value < low || value >= high) marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
    else if (!Number.isInteger(value)) marks.mark(i, CELL_ERRORS.NOT_INTEGER)
    else if (isWide) {
      const upper = Math.floor(value / WORD)
      lanes[(rowCount + i) * 2] = value - upper * WORD
      lanes[(rowCount + i) * 2 + 1] = upper
    } else {
      lanes[rowCount + i] = value
    }
  }
}

/** The number that 16 bits are: sign, five bits of exponent, ten of fraction. */
export function halfToNumber(bits: number): number {
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  let magnitude: number
  if (exponent === 0) magnitude = fraction * 2 ** -24
  else if (exponent < 31) magnitude = (1024 + fraction) * 2 ** (exponent - 25)
  else magnitude = fraction === 0 ? Number.POSITIVE_INFINITY : Number.NaN
  return (bits & 0x8000) === 0 ? magnitude : -magnitude
}
