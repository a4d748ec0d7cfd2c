/**
 * Turns a run of rows on a tape into columns, one column after the other. Hot: a loop reads values
 * of one type into one array, with nothing looked up on the way; a value that is not written as
 * most are goes through `scanCell`, which takes everything.
 *
 * Cells are written behind the rows of the builder and become rows when all columns were read, so
 * that a run can be cut before the first row that has a wrong cell.
 */

import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import type { ColumnBuilder } from '../../common/column-builder.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import type { Schema } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { clearBit, setBits } from '../../util/bitmap.ts'
import type { DecodedRows } from './decoded-rows.ts'
import { type RowTape, TAPE_FORMS } from './row-tape.ts'
import type { TapeColumn } from './tape-column.ts'
import {
  decodeBools,
  decodeDecimal32s,
  decodeDecimals,
  decodeDoubles,
  decodeFloats,
  decodeInt64s,
  decodeIntegers,
} from './tape-numbers.ts'
import { decodeBinaries, decodeStrings } from './tape-texts.ts'
import { decodeDates, decodeTimestamps } from './tape-times.ts'

const NO_CELL = -1

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
      count = decodeColumn({ tape, cell, count, bytes, view, plan: this.#plans[index], column })
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

function decodeColumn(it: TapeColumn): number {
  switch (it.plan.kind) {
    case CELL_KINDS.integer:
      return decodeIntegers(it)
    case CELL_KINDS.int64:
      return decodeInt64s(it)
    case CELL_KINDS.double:
      return decodeDoubles(it)
    case CELL_KINDS.float:
      return decodeFloats(it)
    case CELL_KINDS.bool:
      return decodeBools(it)
    case CELL_KINDS.decimal32:
      return decodeDecimal32s(it)
    case CELL_KINDS.decimal64:
    case CELL_KINDS.decimal128:
      return decodeDecimals(it)
    case CELL_KINDS.string:
      return decodeStrings(it)
    case CELL_KINDS.binary:
      return decodeBinaries(it)
    case CELL_KINDS.timestamp:
      return decodeTimestamps(it)
    case CELL_KINDS.date:
      return decodeDates(it)
  }
}
