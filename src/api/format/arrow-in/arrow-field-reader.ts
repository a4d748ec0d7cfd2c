/** One column of an Arrow stream and the column of the table that it goes into. */

import { type CellPlan, planCell } from '../../../common/cell-plan.ts'
import type { ColumnBuilder } from '../../../common/column-builder.ts'
import type { Column } from '../../../common/schema.ts'
import { invalidArgument, StatusError } from '../../../common/status.ts'
import type { ValueOptions } from '../../../common/value-options.ts'
import { getBit } from '../../../util/bitmap.ts'
import type { RowProblem } from '../json-row-decoder.ts'
import { type ArrowArray, type ArrowNode, readArrowArray } from './arrow-array.ts'
import type { ArrowBuffers } from './arrow-buffers.ts'
import { ArrowDictionary } from './arrow-dictionary.ts'
import type { ArrowField } from './arrow-message.ts'
import type { Converter } from './arrow-run.ts'
import { ARROW_TYPES, type ArrowType, arrowTypeText } from './arrow-type.ts'
import { rangeBytes } from './byte-ranges.ts'
import { chooseConverter } from './choose-converter.ts'
import { describeMark, showCell } from './describe-cell.ts'
import { endCells, takeBack } from './end-cells.ts'
import { ROW_MARKS, type RowMark, type RowMarks } from './row-marks.ts'

/** Reads the cells of one column, batch after batch. */
export class ArrowFieldReader {
  readonly column: Column
  readonly field: ArrowField
  /** Type of what lies in the buffers of batches. */
  readonly storedType: ArrowType
  /** Values that the cells are numbers of, if they are. */
  readonly dictionary: ArrowDictionary | null
  readonly #plan: CellPlan
  readonly #convert: Converter
  #array: ArrowArray | null = null
  /** The column as it was before the last run. */
  #firstRow = 0
  #nullCount = 0

  /** Throws: INVALID_ARGUMENT when the column does not take cells of the field's type. */
  constructor(field: ArrowField, column: Column, options: ValueOptions) {
    this.field = field
    this.column = column
    this.#plan = planCell(column, options)
    this.#convert = chooseConverter(field.type, this.#plan)
    this.storedType = field.indexType ?? field.type
    this.dictionary =
      field.indexType === null ? null : new ArrowDictionary(this.#plan, this.#convert)
    if (column.isKey && isNothing(this.storedType)) {
      const type = arrowTypeText(this.storedType)
      throw columnError(column, invalidArgument(`${type} does not go into a key column`))
    }
  }

  /** Takes the buffers of the column in a batch. Throws: INVALID_ARGUMENT naming the column. */
  begin(node: ArrowNode, buffers: ArrowBuffers): void {
    try {
      const array = readArrowArray(this.storedType, node, buffers)
      this.dictionary?.check(array)
      this.#array = array
    } catch (error) {
      throw columnError(this.column, error)
    }
  }

  /**
   * Takes values of the dictionary, which may have `bytesMax` bytes in all.
   *
   * Throws: INVALID_ARGUMENT naming the column.
   */
  loadDictionary(values: ArrowArray, isDelta: boolean, bytesMax: number): void {
    try {
      this.dictionary?.load(values, isDelta, bytesMax)
    } catch (error) {
      throw columnError(this.column, error)
    }
  }

  /** Lets go of the batch. */
  end(): void {
    this.#array = null
  }

  /** The most bytes of values that rows `[start, start + count)` have. */
  bytesOf(start: number, count: number): number {
    const array = this.#mustArray()
    if (this.dictionary !== null) return this.dictionary.bytesOf(array, start, count)
    return rangeBytes(array, start, count)
  }

  /** Appends the cells of rows `[start, start + count)` to `column`, and marks wrong ones. */
  append(column: ColumnBuilder, start: number, count: number, marks: RowMarks): void {
    const array = this.#mustArray()
    this.#firstRow = column.rowCount
    this.#nullCount = column.nullCount
    column.reserve(count)
    if (this.dictionary === null) {
      this.#convert({ array, start, count, column, plan: this.#plan, marks })
      endCells(column, array, start, count)
    } else {
      this.dictionary.appendCells(array, start, count, column, marks)
    }
    if (this.column.isKey && column.nullCount > this.#nullCount) this.#markNulls(column, marks)
  }

  /** Takes the cells of the last run back. */
  takeBack(column: ColumnBuilder): void {
    takeBack(column, this.#firstRow, column.nullCount - this.#nullCount)
  }

  /** The problem of a row whose cell here has a mark. */
  describe(row: number, mark: RowMark): RowProblem {
    const array = this.#mustArray()
    const isShown = mark < ROW_MARKS.keyIsNull
    if (!isShown) return describeMark(mark, this.column, '')
    const shown = this.dictionary?.shown(array, row) ?? showCell(array, row)
    return describeMark(mark, this.column, shown)
  }

  #markNulls(column: ColumnBuilder, marks: RowMarks): void {
    for (let row = this.#firstRow; row < column.rowCount; row++) {
      if (!getBit(column.validity, row)) marks.mark(row - this.#firstRow, ROW_MARKS.keyIsNull)
    }
  }

  #mustArray(): ArrowArray {
    if (this.#array === null) throw new TypeError('no batch is being read')
    return this.#array
  }
}

/** Whether cells of a type take no bytes, so that a batch could have any number of them. */
function isNothing({ id, bits }: ArrowType): boolean {
  return id === ARROW_TYPES.null || (id === ARROW_TYPES.fixedSizeBinary && bits === 0)
}

function columnError({ name }: Column, error: unknown): unknown {
  if (!(error instanceof StatusError) || error.details.column !== undefined) return error
  const { code, message, details } = error
  return new StatusError(code, `column "${name}": ${message}`, { ...details, column: name })
}
