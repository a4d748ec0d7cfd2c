/**
 * Decodes the header and the records of CSV text a run at a time, and says what is wrong with those
 * that are not decoded.
 */

import { CELL_ERRORS, describeCellError } from '../../common/cell-error.ts'
import { type CellPlan, planCell } from '../../common/cell-plan.ts'
import { CELL_FORMS, scanCell } from '../../common/cell-reader.ts'
import { LINE_BYTES_MAX } from '../../common/limits.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { invalidArgument, type StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { utf8Decode } from '../../util/bytes.ts'
import { CSV_ERRORS, CsvRowScanner } from './csv-row-scanner.ts'
import type { DecodedRows } from './decoded-rows.ts'
import type { RowProblem } from './json-row-decoder.ts'
import { TAPE_FORMS } from './row-tape.ts'
import { shortenName, showScalar } from './show-scalar.ts'
import { TapeDecoder } from './tape-decoder.ts'

const NEWLINE = 0x0a
const FIRST_RUN_ROW_COUNT = 64

const ERROR_TEXTS: ReadonlyMap<number, string> = new Map([
  [CSV_ERRORS.strayQuote, 'a quote stands inside an unquoted field'],
  [CSV_ERRORS.textAfterQuote, 'text follows the closing quote of a field'],
  [CSV_ERRORS.notUtf8, 'not UTF-8'],
  [CSV_ERRORS.notClosed, 'a quoted field is not closed'],
])

/** Decodes records into one batch. */
export class CsvRunDecoder {
  /** Why decoding ended for good; names the line on which the record begins. */
  failure: StatusError | null = null
  /** Whether the last run ended at a record that goes on behind the text. */
  isIncomplete = false

  readonly #rows: DecodedRows
  readonly #schema: Schema
  readonly #options: ValueOptions
  readonly #operation: number
  readonly #scanner: CsvRowScanner
  readonly #decoder: TapeDecoder
  /** Plans of the header's columns, by field; none until it was read. */
  #plans: readonly CellPlan[] = []
  /** Lines before the record at hand, and before each row of the run. */
  #lineCount = 0
  readonly #rowLines: number[] = []
  #rowCountMax = 1

  constructor(
    schema: Schema,
    options: ValueOptions,
    nullText: Uint8Array,
    operation: number,
    rows: DecodedRows,
  ) {
    this.#rows = rows
    this.#schema = schema
    this.#options = options
    this.#operation = operation
    this.#scanner = new CsvRowScanner(nullText)
    this.#scanner.tape.setLayout(schema.columns.map((column) => column.index))
    this.#decoder = new TapeDecoder(schema, options, rows)
  }

  /** Points the decoder at `bytes[0, end)`; `isLast` when nothing follows. */
  reset(bytes: Uint8Array, end: number, isLast: boolean): void {
    this.#scanner.reset(bytes, end, isLast)
    this.isIncomplete = false
  }

  /**
   * Decodes the header, or some records, from `start` on.
   *
   * Returns: the start of the next record, unless `failure` or `isIncomplete` say that it is none.
   * Requires: text is left.
   */
  decodeRun(start: number): number {
    const scanner = this.#scanner
    const { tape } = scanner
    if (this.#plans.length === 0) return this.#decodeHeader(start)
    let position = start
    let next = start
    let isOfWidth = true
    while (tape.rowCount < this.#rowCountMax && position < scanner.end) {
      this.#rowLines[tape.rowCount] = this.#lineCount
      next = this.#scanRecord(position)
      isOfWidth = scanner.fieldCount === tape.width || scanner.fieldCount === 0
      if (next < 0 || !isOfWidth) break
      this.#lineCount += scanner.lineCount
      position = next
    }
    const scanned = tape.rowCount
    const decoded = this.#decoder.decode(tape, scanner.bytes, scanner.view)
    if (decoded < scanned) {
      this.#rows.failRow(this.#problemOf(decoded))
      position = this.#goBehind(decoded, position)
    } else if (next < 0) {
      this.#stop(next)
    } else if (!isOfWidth) {
      this.#rows.failRow(this.#widthProblem())
      this.#lineCount += scanner.lineCount
      position = next
    }
    // What was scanned behind a wrong row is scanned again, so runs are as short as they were good.
    this.#rowCountMax =
      decoded < scanned ? Math.max(1, decoded) : Math.min(this.#rowCountMax * 2, tape.rowCountMax)
    tape.clear()
    return position
  }

  /** Ends decoding at a record that is too long. */
  failTooLong(): void {
    this.#fail(`record is longer than the limit of ${LINE_BYTES_MAX} bytes`)
  }

  /** As the scanner's, and ends decoding when the record is too long. */
  #scanRecord(start: number): number {
    const scanner = this.#scanner
    const next = scanner.scanRecord(start, this.#operation)
    const recordEnd = next > 0 && scanner.bytes[next - 1] === NEWLINE ? next - 1 : next
    if (recordEnd - start <= LINE_BYTES_MAX) return next
    if (scanner.fieldCount === scanner.tape.width) scanner.tape.rowCount--
    return CSV_ERRORS.tooLong
  }

  /** The start of what follows row `row` of the tape, behind whose last row is `end`. */
  #goBehind(row: number, end: number): number {
    const { tape } = this.#scanner
    if (row + 1 === tape.rowCount) return end
    this.#lineCount = this.#rowLines[row + 1]
    return tape.rowStarts[row + 1]
  }

  #stop(error: number): void {
    if (error === CSV_ERRORS.incomplete) this.isIncomplete = true
    else if (error === CSV_ERRORS.tooLong) this.failTooLong()
    else this.#fail(ERROR_TEXTS.get(error) ?? 'not CSV')
  }

  #fail(what: string): void {
    const line = this.#lineCount + 1
    this.failure ??= invalidArgument(`line ${line}: ${what}`, { line })
  }

  #decodeHeader(start: number): number {
    const scanner = this.#scanner
    const next = this.#scanRecord(start)
    if (next < 0) {
      this.#stop(next)
      return start
    }
    if (scanner.fieldCount > 0) this.#readHeader()
    this.#lineCount += scanner.lineCount
    return next
  }

  /** Takes the header's columns from the tape, which has room for as many fields as columns. */
  #readHeader(): void {
    const { tape, fieldCount } = this.#scanner
    const columns: Column[] = []
    for (let field = 0; field < Math.min(fieldCount, tape.width); field++) {
      const name = this.#textOf(field)
      const column = this.#schema.byName(name)
      if (column === undefined) {
        this.#fail(`unknown column "${shortenName(name)}" in the header`)
        return
      }
      if (columns.includes(column)) {
        this.#fail(`column "${name}" is twice in the header`)
        return
      }
      columns.push(column)
    }
    if (fieldCount > tape.width) {
      this.#fail('the header has more fields than the table has columns')
      return
    }
    tape.clear()
    tape.setLayout(columns.map((column) => column.index))
    this.#rowCountMax = Math.min(FIRST_RUN_ROW_COUNT, tape.rowCountMax)
    this.#plans = columns.map((column) => planCell(column, this.#options))
  }

  #textOf(entry: number): string {
    const { tape, bytes } = this.#scanner
    const source = tape.forms[entry] >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
    return utf8Decode(source.subarray(tape.starts[entry], tape.ends[entry]))
  }

  #widthProblem(): RowProblem {
    const { fieldCount, tape } = this.#scanner
    return { message: `record has ${fieldCount} fields, the header ${tape.width}` }
  }

  /** What is wrong with a row of the tape. */
  #problemOf(row: number): RowProblem {
    const { tape, bytes } = this.#scanner
    for (let field = 0; field < tape.width; field++) {
      const entry = row * tape.width + field
      const form = tape.forms[entry]
      if (form === TAPE_FORMS.null) continue
      const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
      const start = tape.starts[entry]
      const end = tape.ends[entry]
      const plan = this.#plans[field]
      const error = scanCell(plan, CELL_FORMS.text, source, start, end)
      if (error === CELL_ERRORS.NONE) continue
      const shown = showScalar(CELL_FORMS.text, source, start, end)
      const message = describeCellError(error, plan.column, shown)
      return { message, column: plan.column.name }
    }
    return this.#keyProblemOf(row)
  }

  #keyProblemOf(row: number): RowProblem {
    const { tape } = this.#scanner
    for (const { index, name } of this.#schema.keyColumns) {
      const field = this.#plans.findIndex((plan) => plan.column.index === index)
      const isNull = field !== -1 && tape.forms[row * tape.width + field] === TAPE_FORMS.null
      if (field !== -1 && !isNull) continue
      const code = isNull ? ROW_ERRORS.KEY_COLUMN_NULL : ROW_ERRORS.KEY_COLUMN_UNSET
      return { message: describeRowError(code, name).message, column: name }
    }
    return { message: 'row cannot be decoded' }
  }
}
