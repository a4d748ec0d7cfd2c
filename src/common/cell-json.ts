/**
 * One cell as JSON and as text, both ways, exactly as the REST contract spells values. For edges:
 * defaults, range bounds, path segments. Bodies of rows go through cell-reader.ts and
 * cell-writer.ts.
 */

import { ByteArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { EMPTY_BYTES, utf8Decode, utf8Encode } from '../util/bytes.ts'
import { CELL_ERRORS, type CellError, cellError } from './cell-error.ts'
import { type CellPlan, planCell } from './cell-plan.ts'
import { CELL_FORMS, type CellForm, scanCell, scannedCell } from './cell-reader.ts'
import { appendJsonCell, appendTextCell } from './cell-writer.ts'
import { ColumnBuilder } from './column-builder.ts'
import type { ColumnVector } from './column-vector.ts'
import type { Cell } from './data-type.ts'
import { NumberLiteral } from './number-literal.ts'
import { describeRowError, ROW_ERRORS } from './row-error.ts'
import type { Column } from './schema.ts'
import { invalidArgument } from './status.ts'
import type { ValueOptions } from './value-options.ts'

export { type JsonScalar, NumberLiteral } from './number-literal.ts'
export { DEFAULT_VALUE_OPTIONS, type ValueOptions } from './value-options.ts'

/** A JSON value as readers of cells take it. */
export interface WrittenValue {
  readonly form: CellForm
  readonly bytes: Uint8Array
  /** What errors show: strings in quotes. */
  readonly shown: string
}

/**
 * A JSON value that is not null, as readers of cells take it.
 *
 * Throws: INVALID_ARGUMENT for arrays, objects and lone surrogates.
 */
export function writtenValue(column: Column, value: unknown): WrittenValue {
  assert(typeof value !== 'number', 'numbers of JSON come as NumberLiteral')
  assert(value !== undefined && value !== null, 'a value is written')
  if (value instanceof NumberLiteral) {
    return { form: CELL_FORMS.jsonNumber, bytes: utf8Encode(value.text), shown: value.text }
  }
  if (typeof value === 'boolean') {
    const form = value ? CELL_FORMS.jsonTrue : CELL_FORMS.jsonFalse
    return { form, bytes: EMPTY_BYTES, shown: String(value) }
  }
  if (typeof value === 'string') return writtenText(column, value, CELL_FORMS.jsonString)
  const shown = Array.isArray(value) ? 'an array' : 'an object'
  throw cellError(CELL_ERRORS.WRONG_KIND, column, shown)
}

/** A text as readers of cells take it. Throws: INVALID_ARGUMENT for lone surrogates. */
export function writtenText(column: Column, text: string, form: CellForm): WrittenValue {
  if (!text.isWellFormed()) throw cellError(CELL_ERRORS.LONE_SURROGATE, column, '')
  return { form, bytes: utf8Encode(text), shown: JSON.stringify(text.slice(0, 80).toWellFormed()) }
}

/**
 * The cell that a JSON value stands for; null for null.
 *
 * Throws: INVALID_ARGUMENT, `column "value": 300 is out of range for INT8`, with the column in its
 * details; also for null where the column is not nullable, and for arrays and objects.
 */
export function cellFromJson(column: Column, value: unknown, options: ValueOptions): Cell | null {
  if (value === null) {
    if (column.isNullable) return null
    const error = column.isKey ? ROW_ERRORS.KEY_COLUMN_NULL : ROW_ERRORS.NULL_NOT_ALLOWED
    throw invalidArgument(describeRowError(error, column.name).message, { column: column.name })
  }
  return cellOf(planCell(column, options), writtenValue(column, value))
}

/** The cell that a text stands for (CSV field, path segment). Throws: as `cellFromJson`. */
export function cellFromText(column: Column, text: string, options: ValueOptions): Cell {
  return cellOf(planCell(column, options), writtenText(column, text, CELL_FORMS.text))
}

function cellOf(plan: CellPlan, written: WrittenValue): Cell {
  const { form, bytes, shown } = written
  const error: CellError = scanCell(plan, form, bytes, 0, bytes.length)
  if (error !== CELL_ERRORS.NONE) throw cellError(error, plan.column, shown)
  return scannedCell(plan, bytes, 0, bytes.length)
}

/** A cell as JSON text; `null` for null. */
export function cellToJson(column: Column, cell: Cell | null, options: ValueOptions): string {
  const arena = new ByteArena()
  appendJsonCell(arena, planCell(column, options), vectorOf(column, cell), 0)
  return utf8Decode(arena.bytes.subarray(0, arena.length))
}

/** A cell as text without quotes (CSV field, path segment). */
export function cellToText(column: Column, cell: Cell, options: ValueOptions): string {
  const arena = new ByteArena()
  appendTextCell(arena, planCell(column, options), vectorOf(column, cell), 0)
  return utf8Decode(arena.bytes.subarray(0, arena.length))
}

function vectorOf(column: Column, cell: Cell | null): ColumnVector {
  const builder = new ColumnBuilder(column.physical, 1)
  builder.appendCell(cell)
  return builder.view()
}
