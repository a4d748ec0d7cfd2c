/** Columns of timestamps and dates from a tape. Hot. */

import { CELL_FORMS } from '../../common/cell-reader.ts'
import { scratchNumber, scratchWords } from '../../common/scalar-scratch.ts'
import { plainDate, plainTimestamp } from './plain-values.ts'
import { TAPE_FORMS } from './row-tape.ts'
import { isScanned, type TapeColumn } from './tape-column.ts'

const WORD = 2 ** 32

/** Reads UNIXTIME_MICROS. */
export function decodeTimestamps(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes } = column
  let lane = column.rowCount * 2
  for (let row = 0, entry = cell; row < count; row++, entry += width, lane += 2) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonString || form === CELL_FORMS.text) {
      const value = plainTimestamp(bytes, view, starts[entry], ends[entry])
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

/** Reads DATE. */
export function decodeDates(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { lanes, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === CELL_FORMS.jsonString || form === CELL_FORMS.text) {
      const start = starts[entry]
      const days = ends[entry] - start === 10 ? plainDate(bytes, view, start) : Number.NaN
      if (!Number.isNaN(days)) {
        lanes[rowCount + row] = days
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
