/**
 * Turns a run of rows on a tape into columns, one column after the other. Hot: a loop reads values
 * of one type into one array, with nothing looked up on the way; a value that is not written as
 * most are goes through `scanCell`, which takes everything.
 *
 * Cells are written behind the rows of the builder and become rows when all columns were read, so
 * that a run can be cut before the first row that has a wrong cell.
 */

import { decodeBase64 } from '../../common/base64.ts'
import { CELL_ERRORS } from '../../common/cell-error.ts'
import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import { CELL_FORMS, type CellForm, scanCell } from '../../common/cell-reader.ts'
import type { ColumnBuilder } from '../../common/column-builder.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { CELL_BYTES_MAX } from '../../common/limits.ts'
import { POWERS_OF_TEN, scratchNumber, scratchWords } from '../../common/scalar-scratch.ts'
import type { Schema } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { clearBit, setBits } from '../../util/bitmap.ts'
import type { DecodedRows } from './decoded-rows.ts'
import {
  PLAIN_DIGITS_MAX,
  plainDate,
  plainDecimal,
  plainFixed,
  plainInteger,
  plainTimestamp,
  roundsOnceToFloat,
} from './plain-values.ts'
import { type RowTape, TAPE_FORMS } from './row-tape.ts'

const WORD = 2 ** 32
const NO_CELL = -1
const BASE64_BYTES_MAX = Math.ceil(CELL_BYTES_MAX / 3) * 4

/** Decodes tapes for one schema into one batch of rows. */
export class TapeDecoder {
  readonly #rows: DecodedRows
  readonly #plans: readonly CellPlan[]
  readonly #keyColumnCount: number
  /** Cell of each column on the tape at hand, or NO_CELL; and how many rows of it were read. */
  readonly #cells: Int32Array
  readonly #read: Int32Array

  constructor(schema: Schema, options: ValueOptions, rows: DecodedRows) {
    this.#rows = rows
    this.#plans = schema.columns.map((column) => planCell(column, options))
    this.#keyColumnCount = schema.keyColumnCount
    this.#cells = new Int32Array(schema.columns.length)
    this.#read = new Int32Array(schema.columns.length)
  }

  /**
   * Decodes the rows of a tape over `bytes`, in their order, up to the first that has a cell which
   * its column cannot hold, or lacks a key cell.
   *
   * Returns: how many rows were decoded. They are rows of the batch now; the tape is as it was.
   */
  decode(tape: RowTape, bytes: Uint8Array, view: DataView): number {
    if (tape.rowCount === 0) return 0
    const { columns } = this.#rows.builder
    this.#placeCells(tape)
    let count = tape.rowCount
    for (let index = 0; index < this.#keyColumnCount; index++) {
      count = countOfKeys(tape, this.#cells[index], count)
    }
    for (let cell = 0; cell < tape.width; cell++) {
      const index = tape.layout[cell]
      const column = columns[index]
      column.reserve(count)
      this.#read[index] = count
      count = decodeColumn(tape, cell, count, bytes, view, this.#plans[index], column)
    }
    for (let index = 0; index < columns.length; index++) {
      endColumn(columns[index], tape, this.#cells[index], this.#read[index], count)
    }
    this.#rows.endRows(tape.operations, count)
    return count
  }

  #placeCells(tape: RowTape): void {
    this.#cells.fill(NO_CELL)
    for (let cell = 0; cell < tape.width; cell++) this.#cells[tape.layout[cell]] = cell
  }
}

/** How many rows from the first on have a cell that is not null. */
function countOfKeys(tape: RowTape, cell: number, count: number): number {
  if (cell === NO_CELL) return 0
  const { forms, width } = tape
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) return row
  }
  return count
}

/**
 * Makes rows of the first `count` of the `readCount` cells that were written behind a column, and
 * undoes the rest.
 */
function endColumn(
  column: ColumnBuilder,
  tape: RowTape,
  cell: number,
  readCount: number,
  count: number,
): void {
  if (cell === NO_CELL) {
    appendUnset(column, count)
    return
  }
  const first = column.rowCount
  const end = first + count
  if (readCount > count) clearCells(column, end, first + readCount)
  setBits(column.validity, first, end)
  setBits(column.isSet, first, end)
  const { forms, width } = tape
  for (let row = first, entry = cell; row < end; row++, entry += width) {
    const form = forms[entry]
    if (form !== TAPE_FORMS.null && form !== TAPE_FORMS.absent) continue
    clearBit(column.validity, row)
    column.nullCount++
    if (form === TAPE_FORMS.null) continue
    clearBit(column.isSet, row)
    column.unsetCount++
  }
  column.rowCount = end
}

function appendUnset(column: ColumnBuilder, count: number): void {
  column.reserve(count)
  const { rowCount } = column
  if (column.physical === PHYSICAL.binary) {
    column.offsets.fill(column.values.length, rowCount + 1, rowCount + count + 1)
  }
  column.nullCount += count
  column.unsetCount += count
  column.rowCount = rowCount + count
}

function clearCells(column: ColumnBuilder, start: number, end: number): void {
  if (column.physical === PHYSICAL.binary) {
    column.values.truncate(column.offsets[start])
    return
  }
  const lanes = column.physical === PHYSICAL.int64 ? 2 : column.physical === PHYSICAL.int128 ? 4 : 1
  column.lanes.fill(0, start * lanes, end * lanes)
}

/**
 * Reads the first `count` cells of a column of the tape behind the rows of `column`.
 *
 * Returns: how many were read; the cell behind them cannot be held. Requires: room for `count` rows.
 */
function decodeColumn(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
  switch (plan.kind) {
    case CELL_KINDS.integer:
      return decodeIntegers(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.int64:
      return decodeInt64s(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.double:
      return decodeDoubles(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.float:
      return decodeFloats(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.string:
      return decodeStrings(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.binary:
      return decodeBinaries(tape, cell, count, bytes, column)
    case CELL_KINDS.timestamp:
      return decodeTimestamps(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.date:
      return decodeDates(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.bool:
      return decodeBools(tape, cell, count, bytes, plan, column)
    case CELL_KINDS.decimal32:
      return decodeDecimal32s(tape, cell, count, bytes, view, plan, column)
    case CELL_KINDS.decimal64:
    case CELL_KINDS.decimal128:
      return decodeDecimals(tape, cell, count, bytes, view, plan, column)
  }
}

/** Reads the cell of an entry exactly into scratch. Returns: whether its column can hold it. */
function isScanned(tape: RowTape, entry: number, bytes: Uint8Array, plan: CellPlan): boolean {
  const form = tape.forms[entry]
  const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
  const cellForm = (form & (TAPE_FORMS.inScratch - 1)) as CellForm
  return scanCell(plan, cellForm, source, tape.starts[entry], tape.ends[entry]) === CELL_ERRORS.NONE
}

function decodeIntegers(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeInt64s(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeDoubles(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeFloats(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeTimestamps(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeDates(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

function decodeStrings(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
  const { starts, ends, forms, width } = tape
  const { offsets, values, rowCount } = column
  values.reserve(bytesOfColumn(tape, cell, count) + 4)
  const target = values.bytes
  const targetView = new DataView(target.buffer, target.byteOffset, target.length)
  const wordsEnd = bytes.length - 4
  const lengthMax = plan.lengthMax === 0 ? CELL_BYTES_MAX : plan.lengthMax
  let length = values.length
  let readCount = count
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form !== TAPE_FORMS.null && form !== TAPE_FORMS.absent) {
      const start = starts[entry]
      const end = ends[entry]
      const isPlain = form === CELL_FORMS.jsonString || form === CELL_FORMS.text
      if ((!isPlain || end - start > lengthMax) && !isScanned(tape, entry, bytes, plan)) {
        readCount = row
        break
      }
      if (isPlain && end - start <= 64 && end <= wordsEnd) {
        for (let from = start, to = length; from < end; from += 4, to += 4) {
          targetView.setInt32(to, view.getInt32(from, true), true)
        }
      } else {
        const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
        target.set(source.subarray(start, end), length)
      }
      length += end - start
    }
    offsets[rowCount + row + 1] = length
  }
  values.truncate(length)
  return readCount
}

/** Bytes of the texts of a column, those left out that no cell can hold. */
function bytesOfColumn(tape: RowTape, cell: number, count: number): number {
  const { starts, ends, forms, width } = tape
  let total = 0
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) continue
    const length = ends[entry] - starts[entry]
    if (length <= CELL_BYTES_MAX) total += length
  }
  return total
}

function decodeBinaries(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  column: ColumnBuilder,
): number {
  const { starts, ends, forms, width } = tape
  const { offsets, values, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form !== TAPE_FORMS.null && form !== TAPE_FORMS.absent) {
      const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
      const cellForm = form & (TAPE_FORMS.inScratch - 1)
      const isText = cellForm === CELL_FORMS.jsonString || cellForm === CELL_FORMS.text
      const length = values.length
      const isRead =
        isText &&
        ends[entry] - starts[entry] <= BASE64_BYTES_MAX &&
        decodeBase64(source, starts[entry], ends[entry], values)
      if (!isRead || values.length - length > CELL_BYTES_MAX) {
        values.truncate(length)
        return row
      }
    }
    offsets[rowCount + row + 1] = values.length
  }
  return count
}

function decodeBools(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

/** DECIMAL of at most nine digits. */
function decodeDecimal32s(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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

/** DECIMAL of more digits: two or four words a lane. */
function decodeDecimals(
  tape: RowTape,
  cell: number,
  count: number,
  bytes: Uint8Array,
  view: DataView,
  plan: CellPlan,
  column: ColumnBuilder,
): number {
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
