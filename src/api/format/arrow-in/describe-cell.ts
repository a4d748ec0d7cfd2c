/** What is wrong with a cell of an Arrow column, in words. For edges. */

import { type CellError, describeCellError } from '../../../common/cell-error.ts'
import { describeRowError, ROW_ERRORS } from '../../../common/row-error.ts'
import type { Column } from '../../../common/schema.ts'
import type { RowProblem } from '../json-row-decoder.ts'
import type { ArrowArray } from './arrow-array.ts'
import { halfToNumber } from './arrow-floats.ts'
import { bigintAt, numberTextAt } from './arrow-numbers.ts'
import { ARROW_TYPES, DATE_UNITS, TIME_UNIT_TEXTS } from './arrow-type.ts'
import { ROW_MARKS, type RowMark } from './row-marks.ts'

/** The problem of a row whose cell of `column`, shown as `shown`, has a mark. */
export function describeMark(mark: RowMark, column: Column, shown: string): RowProblem {
  const { name } = column
  if (mark === ROW_MARKS.keyIsNull) {
    return { message: describeRowError(ROW_ERRORS.KEY_COLUMN_NULL, name).message, column: name }
  }
  if (mark === ROW_MARKS.notUtf8) {
    return { message: `column "${name}": value is not UTF-8`, column: name }
  }
  return { message: describeCellError(mark as CellError, column, shown), column: name }
}

/** A cell as errors show it; empty for cells of bytes, of which errors show nothing. */
export function showCell({ type, values }: ArrowArray, row: number): string {
  switch (type.id) {
    case ARROW_TYPES.int:
    case ARROW_TYPES.decimal:
      return numberTextAt(type, values, row)
    case ARROW_TYPES.float:
      return String(type.bits === 16 ? halfToNumber(values[row]) : values[row])
    case ARROW_TYPES.timestamp:
      return `${bigintAt(type, values, row)} ${TIME_UNIT_TEXTS[type.unit]}`
    case ARROW_TYPES.date:
      if (type.unit === DATE_UNITS.day) return `day ${values[row]}`
      return `${bigintAt(type, values, row)} ms`
    default:
      return ''
  }
}
