/**
 * Integers and decimals from Arrow into columns, exactly. Hot: what has at most 53 bits is a
 * number; only what has more, and another scale than its column, becomes a bigint and a text.
 */

import { CELL_ERRORS, type CellError } from '../../../common/cell-error.ts'
import { CELL_KINDS, type CellPlan } from '../../../common/cell-plan.ts'
import { CELL_FORMS, scanCell } from '../../../common/cell-reader.ts'
import type { Lanes } from '../../../common/column-vector.ts'
import { LANE_BYTES } from '../../../common/data-type.ts'
import { DECIMAL_PRECISION_MAX } from '../../../common/limits.ts'
import { POWERS_OF_TEN, scratchNumber, scratchWords } from '../../../common/scalar-scratch.ts'
import { getBit } from '../../../util/bitmap.ts'
import { utf8Encode } from '../../../util/bytes.ts'
import { roundsOnceToFloat } from '../plain-values.ts'
import type { ArrowValues } from './arrow-array.ts'
import type { ArrowRun, Converter } from './arrow-run.ts'
import { ARROW_TYPES, type ArrowType } from './arrow-type.ts'

const WORD = 2 ** 32
const EXACT_POWER_MAX = 22
/** 10^p in four words each: what a DECIMAL of p digits stays below. */
const BOUNDS = new Uint32Array((DECIMAL_PRECISION_MAX + 1) * 4)
for (let power = 0; power <= DECIMAL_PRECISION_MAX; power++) {
  const bound = 10n ** BigInt(power)
  for (let word = 0; word < 4; word++) {
    BOUNDS[power * 4 + word] = Number(BigInt.asUintN(32, bound >> BigInt(word * 32)))
  }
}

/** Words of an integer or a decimal; 1 where values are numbers themselves. */
export function wordsOf({ bits }: ArrowType): number {
  return bits <= 32 ? 1 : bits / 32
}

/** Reads BOOL. */
export function convertBools({ array, start, count, column }: ArrowRun): void {
  const { values, validity } = array
  const { lanes, rowCount } = column
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    lanes[rowCount + i] = (values[row >>> 3] >>> (row & 7)) & 1
  }
}

/** Reads lanes that are what Arrow has, every value of which the column can hold. */
export function convertAlike({ array, start, count, column }: ArrowRun): void {
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const words = wordsOf(type)
  lanes.set(values.subarray(start * words, (start + count) * words), rowCount * words)
  if (validity === null) return
  for (let i = 0; i < count; i++) {
    if (getBit(validity, start + i)) continue
    for (let word = 0; word < words; word++) lanes[(rowCount + i) * words + word] = 0
  }
}

/** Reads INT8, INT16, INT32 from integers of at most 32 bits. */
export function convertIntegers({ array, start, count, column, plan, marks }: ArrowRun): void {
  const { values, validity } = array
  const { lanes, rowCount } = column
  const { low, high } = plan
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const value = values[row]
    if (value >= low && value <= high) lanes[rowCount + i] = value
    else marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
  }
}

/**
 * Reads any integer or decimal into a column of integers: INT8 … INT64, DECIMAL, or
 * UNIXTIME_MICROS. `shift` is how many more digits behind the point the column has.
 */
export function convertFixed(shift: number): Converter {
  const isExact = Math.abs(shift) <= EXACT_POWER_MAX
  const power = isExact ? POWERS_OF_TEN[Math.abs(shift)] : Number.NaN
  return (run) => {
    const { array, start, count, column, plan, marks } = run
    const { values, validity, type } = array
    const { lanes, rowCount, physical } = column
    const words = wordsOf(type)
    const isSigned = type.id !== ARROW_TYPES.int || type.isSigned
    const laneWords = Math.max(1, LANE_BYTES[physical] >> 2)
    const low = lowOf(plan)
    const high = highOf(plan)
    for (let i = 0; i < count; i++) {
      const row = start + i
      if (validity !== null && !getBit(validity, row)) continue
      const value = numberAt(values, row, words, isSigned)
      const scaled = shift < 0 ? value / power : value * power
      if (Math.abs(scaled) <= Number.MAX_SAFE_INTEGER && Number.isInteger(scaled)) {
        if (shift >= 0 || scaled * power === value) {
          if (scaled < low || scaled > high) marks.mark(i, CELL_ERRORS.OUT_OF_RANGE)
          else storeNumber(lanes, rowCount + i, laneWords, scaled)
          continue
        }
      }
      const error = storeWide(array.type, values, row, lanes, rowCount + i, plan, shift)
      if (error !== CELL_ERRORS.NONE) marks.mark(i, error)
    }
  }
}

/** Reads any integer or decimal into FLOAT or DOUBLE, rounded once. */
export function convertFixedToFloats(run: ArrowRun): void {
  const { array, start, count, column, plan, marks } = run
  const { values, validity, type } = array
  const { lanes, rowCount } = column
  const words = wordsOf(type)
  const isSigned = type.id !== ARROW_TYPES.int || type.isSigned
  const isDouble = plan.kind === CELL_KINDS.double
  const { scale } = type
  const power = scale >= 0 && scale <= EXACT_POWER_MAX ? POWERS_OF_TEN[scale] : Number.NaN
  for (let i = 0; i < count; i++) {
    const row = start + i
    if (validity !== null && !getBit(validity, row)) continue
    const value = numberAt(values, row, words, isSigned) / power
    const isRounded = isDouble || scale === 0 || roundsOnceToFloat(value)
    if (isRounded && !Number.isNaN(value)) {
      lanes[rowCount + i] = value
      continue
    }
    const error = scanWide(type, values, row, plan)
    if (error !== CELL_ERRORS.NONE) marks.mark(i, error)
    else lanes[rowCount + i] = scratchNumber[0]
  }
}

/** The integer of a row, or NaN when it has more than 53 bits. */
function numberAt(values: ArrowValues, row: number, words: number, isSigned: boolean): number {
  if (words === 1) return values[row]
  const at = row * words
  const high = isSigned ? values[at + 1] | 0 : values[at + 1]
  for (let word = 2; word < words; word++) {
    if ((values[at + word] | 0) !== high >> 31) return Number.NaN
  }
  const value = high * WORD + values[at]
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : Number.NaN
}

/** The unscaled integer of a row. For edges. */
export function bigintAt(type: ArrowType, values: ArrowValues, row: number): bigint {
  const words = wordsOf(type)
  if (words === 1) return BigInt(values[row])
  let value = 0n
  for (let word = words - 1; word >= 0; word--) {
    value = (value << 32n) | BigInt(values[row * words + word])
  }
  const isSigned = type.id !== ARROW_TYPES.int || type.isSigned
  return isSigned ? BigInt.asIntN(words * 32, value) : value
}

/** The integer or decimal of a row as JSON writes numbers. For edges. */
export function numberTextAt(type: ArrowType, values: ArrowValues, row: number): string {
  const unscaled = bigintAt(type, values, row)
  if (type.scale === 0) return String(unscaled)
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString()
  const sign = unscaled < 0n ? '-' : ''
  if (type.scale < 0) return `${unscaled}e${-type.scale}`
  const padded = digits.padStart(type.scale + 1, '0')
  return `${sign}${padded.slice(0, -type.scale)}.${padded.slice(-type.scale)}`
}

function storeNumber(lanes: Lanes, lane: number, laneWords: number, value: number): void {
  if (laneWords === 1) {
    lanes[lane] = value
    return
  }
  const at = lane * laneWords
  lanes[at] = value
  lanes[at + 1] = Math.floor(value / WORD)
  if (laneWords === 2) return
  lanes[at + 2] = value < 0 ? -1 : 0
  lanes[at + 3] = value < 0 ? -1 : 0
}

/** Stores a value of more than 53 bits, or one that is finer than its column. */
function storeWide(
  type: ArrowType,
  values: ArrowValues,
  row: number,
  lanes: Lanes,
  lane: number,
  plan: CellPlan,
  shift: number,
): CellError {
  const words = wordsOf(type)
  if (shift === 0 && words === 4 && plan.kind === CELL_KINDS.decimal128) {
    if (!isWithin(values, row * 4, plan.precision)) return CELL_ERRORS.OUT_OF_RANGE
    for (let word = 0; word < 4; word++) lanes[lane * 4 + word] = values[row * 4 + word]
    return CELL_ERRORS.NONE
  }
  const error = scanWide(type, values, row, plan)
  if (error !== CELL_ERRORS.NONE) return error
  switch (plan.kind) {
    case CELL_KINDS.int64:
    case CELL_KINDS.timestamp:
    case CELL_KINDS.decimal64:
      lanes[lane * 2] = scratchWords[0]
      lanes[lane * 2 + 1] = scratchWords[1]
      break
    case CELL_KINDS.decimal128:
      for (let word = 0; word < 4; word++) lanes[lane * 4 + word] = scratchWords[word]
      break
    default:
      lanes[lane] = scratchNumber[0]
  }
  return CELL_ERRORS.NONE
}

/** Reads a value as if it were written in JSON, into the scratch of scalars. */
function scanWide(type: ArrowType, values: ArrowValues, row: number, plan: CellPlan): CellError {
  const text = utf8Encode(`${bigintAt(type, values, row)}e${-type.scale}`)
  return scanCell(plan, CELL_FORMS.jsonNumber, text, 0, text.length)
}

/** Whether the four words at `at` are a number of at most `precision` digits. */
function isWithin(values: ArrowValues, at: number, precision: number): boolean {
  const isNegative = (values[at + 3] | 0) < 0
  let carry = isNegative ? 1 : 0
  let isBelow = false
  // Of the magnitude and the bound, the highest word that differs decides.
  for (let word = 0; word < 4; word++) {
    const plain = values[at + word]
    const sum = isNegative ? (~plain >>> 0) + carry : plain
    const magnitude = sum % WORD
    carry = sum >= WORD ? 1 : 0
    const bound = BOUNDS[precision * 4 + word]
    if (magnitude !== bound) isBelow = magnitude < bound
  }
  return isBelow
}

/** The least integer that a column holds, as far as numbers of 53 bits can tell. */
function lowOf(plan: CellPlan): number {
  return plan.kind === CELL_KINDS.integer ? plan.low : -highOf(plan)
}

function highOf(plan: CellPlan): number {
  if (plan.kind === CELL_KINDS.integer) return plan.high
  if (plan.precision === 0 || plan.precision > EXACT_POWER_MAX) return Number.POSITIVE_INFINITY
  return POWERS_OF_TEN[plan.precision] - 1
}
