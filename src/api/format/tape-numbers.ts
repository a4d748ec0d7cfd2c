/** Columns of numbers from a tape, a loop a type. Hot. */

import { CELL_FORMS } from '../../common/cell-reader.ts'
import { LANE_BYTES } from '../../common/data-type.ts'
import { POWERS_OF_TEN, scratchNumber, scratchWords } from '../../common/scalar-scratch.ts'
import {
  PLAIN_DIGITS_MAX,
  plainDecimal,
  plainFixed,
  plainInteger,
  roundsOnceToFloat,
} from './plain-values.ts'
import { TAPE_FORMS } from './row-tape.ts'
import { isScanned, type TapeColumn } from './tape-column.ts'

const WORD = 2 ** 32

/** Reads INT8, INT16 or INT32. */
export function decodeIntegers(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { low, high } = plan
  const { lanes, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonNumber || form === CELL_FORMS.text) {
      const value = plainInteger(bytes, view, starts[entry], ends[entry])
      if (value >= low && value <= high) {
        lanes[rowCount + row] = value
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    lanes[rowCount + row] = scratchNumber[0]
  }
  return count
}

/** Reads INT64. */
export function decodeInt64s(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes } = column
  let lane = column.rowCount * 2
  for (let row = 0, entry = cell; row < count; row++, entry += width, lane += 2) {
    const form = forms[entry]
    if (form < TAPE_FORMS.null) {
      const value = plainInteger(bytes, view, starts[entry], ends[entry])
      if (!Number.isNaN(value)) {
        lanes[lane] = value
        lanes[lane + 1] = Math.floor(value / WORD)
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    lanes[lane] = scratchWords[0]
    lanes[lane + 1] = scratchWords[1]
  }
  return count
}

/** Reads DOUBLE. */
export function decodeDoubles(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonNumber || form === CELL_FORMS.text) {
      const value = plainDecimal(bytes, view, starts[entry], ends[entry])
      if (!Number.isNaN(value)) {
        lanes[rowCount + row] = value
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    lanes[rowCount + row] = scratchNumber[0]
  }
  return count
}

/** Reads FLOAT. */
export function decodeFloats(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonNumber || form === CELL_FORMS.text) {
      const value = plainDecimal(bytes, view, starts[entry], ends[entry])
      if (roundsOnceToFloat(value)) {
        lanes[rowCount + row] = value
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    lanes[rowCount + row] = scratchNumber[0]
  }
  return count
}

/** Reads BOOL. */
export function decodeBools(it: TapeColumn): number {
  const { tape, cell, count, bytes, plan, column } = it
  const { forms, width } = tape
  const { lanes, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonTrue) {
      lanes[rowCount + row] = 1
    } else if (form === CELL_FORMS.text) {
      if (!isScanned(tape, entry, bytes, plan)) return row
      lanes[rowCount + row] = scratchNumber[0]
    } else if (
      form !== CELL_FORMS.jsonFalse &&
      form !== TAPE_FORMS.null &&
      form !== TAPE_FORMS.absent
    ) {
      return row
    }
  }
  return count
}

/** Reads DECIMAL of at most nine digits. */
export function decodeDecimal32s(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes, rowCount } = column
  const { scale } = plan
  const bound = POWERS_OF_TEN[plan.precision]
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form < TAPE_FORMS.null) {
      const value = plainFixed(bytes, view, starts[entry], ends[entry], scale)
      if (value < bound && value > -bound && isNumeric(form)) {
        lanes[rowCount + row] = value
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    lanes[rowCount + row] = scratchNumber[0]
  }
  return count
}

/** Reads DECIMAL of more digits: two or four words a lane. */
export function decodeDecimals(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes } = column
  const { scale } = plan
  const bound = POWERS_OF_TEN[Math.min(plan.precision, PLAIN_DIGITS_MAX)]
  const laneWords = LANE_BYTES[column.physical] >> 2
  let lane = column.rowCount * laneWords
  for (let row = 0, entry = cell; row < count; row++, entry += width, lane += laneWords) {
    const form = forms[entry]
    if (form < TAPE_FORMS.null) {
      const value = plainFixed(bytes, view, starts[entry], ends[entry], scale)
      if (value < bound && value > -bound && isNumeric(form)) {
        lanes[lane] = value
        lanes[lane + 1] = Math.floor(value / WORD)
        if (laneWords === 4) lanes.fill(value < 0 ? -1 : 0, lane + 2, lane + 4)
        continue
      }
    } else if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) {
      continue
    }
    if (!isScanned(tape, entry, bytes, plan)) return row
    for (let word = 0; word < laneWords; word++) lanes[lane + word] = scratchWords[word]
  }
  return count
}

/** Whether a form may be a number: `true` and `false` have texts like any other. */
function isNumeric(form: number): boolean {
  return form !== CELL_FORMS.jsonTrue && form !== CELL_FORMS.jsonFalse
}
