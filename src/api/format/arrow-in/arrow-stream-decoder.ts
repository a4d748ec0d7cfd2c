/**
 * Decodes an Arrow IPC stream as it comes: a schema, then record batches, and dictionaries among
 * them.
 *
 * A message is held whole, and nothing of it is decoded before all of it was found to be right;
 * then its columns are converted a run of rows at a time. A wrong cell is its row's problem; what
 * is not Arrow ends the stream.
 */

import { ARROW_DICTIONARY_BYTES_MAX } from '../../../common/limits.ts'
import type { Schema } from '../../../common/schema.ts'
import { invalidArgument, StatusError } from '../../../common/status.ts'
import type { ValueOptions } from '../../../common/value-options.ts'
import type { DecodedRows } from '../decoded-rows.ts'
import type { RowProblem } from '../json-row-decoder.ts'
import { shortenName } from '../show-scalar.ts'
import { readArrowArray } from './arrow-array.ts'
import { ArrowBuffers } from './arrow-buffers.ts'
import { ArrowFieldReader } from './arrow-field-reader.ts'
import type { ArrowBatch, ArrowField, ArrowMessage } from './arrow-message.ts'
import { ArrowMessageReader, type HoldBytes } from './arrow-message-reader.ts'
import { arrowTypeText, hasViews } from './arrow-type.ts'
import { endUnset, takeBackUnset } from './end-cells.ts'
import { type RowMark, RowMarks, RUN_ROW_COUNT_MAX } from './row-marks.ts'

const UNTOLD: RowProblem = { message: '' }
const NO_FIELD = -1

/**
 * Turns chunks of a stream into decoded rows, in memory bounded by a message and the dictionaries.
 *
 * What is no Arrow, or has no place in the table, ends the stream: `failure` is set, the rows of
 * the messages before are in `rows`, and what is pushed later is ignored.
 */
export class ArrowStreamDecoder {
  readonly rows: DecodedRows
  /** Why the stream ended early. */
  failure: StatusError | null = null

  readonly #schema: Schema
  readonly #options: ValueOptions
  readonly #operations: Uint8Array
  readonly #hold: HoldBytes
  readonly #messages: ArrowMessageReader
  readonly #marks = new RowMarks()
  /** Readers of the stream's columns; none until the schema was read. */
  #readers: ArrowFieldReader[] | null = null
  /** Of each column of the table its reader's position, or NO_FIELD. */
  readonly #readerOf: Int32Array
  /** Rows of the batch at hand, and how many of them were decoded. */
  #rowCount = 0
  #row = 0

  /** `hold` is told, before they are taken, how many bytes are held in all. */
  constructor(
    schema: Schema,
    options: ValueOptions,
    operation: number,
    rows: DecodedRows,
    hold: HoldBytes,
  ) {
    this.#schema = schema
    this.#options = options
    this.#operations = new Uint8Array(RUN_ROW_COUNT_MAX).fill(operation)
    this.rows = rows
    this.#hold = (bytes) => hold(bytes + this.#dictionaryBytes('heldBytes'))
    this.#messages = new ArrowMessageReader(this.#hold)
    this.#readerOf = new Int32Array(schema.columns.length).fill(NO_FIELD)
  }

  /** Whether rows are left of what was taken in. */
  get isPending(): boolean {
    return this.failure === null && this.#row < this.#rowCount
  }

  /**
   * Decodes the messages that end in `chunk[start, …)` until the batch is full.
   *
   * Returns: where it stopped; the end of the chunk when all of it was taken in, which then may be
   * reused. Then rows may still be pending.
   */
  pushUntilFull(chunk: Uint8Array, start: number): number {
    if (this.failure !== null) return chunk.length
    try {
      return this.#push(chunk, start)
    } catch (error) {
      this.#fail(error)
      return chunk.length
    }
  }

  /** Notices a stream that was cut off. */
  finish(): void {
    if (this.failure !== null) return
    try {
      this.#messages.finish()
      if (this.#readers === null) throw invalidArgument('the stream has no schema')
    } catch (error) {
      this.#fail(error)
    }
  }

  #push(chunk: Uint8Array, start: number): number {
    const messages = this.#messages
    let position = start
    for (;;) {
      while (this.#row < this.#rowCount) {
        this.#decodeRun()
        const isEnough = this.rows.isFull || this.rows.failedCount >= RUN_ROW_COUNT_MAX
        if (isEnough) return position
      }
      if (position === chunk.length) return position
      position = messages.take(chunk, position)
      if (messages.message === null || !messages.isWhole) continue
      this.#begin(messages.message)
      if (this.#rowCount === 0) messages.release()
    }
  }

  #fail(error: unknown): void {
    if (!(error instanceof StatusError)) throw error
    const { code, message, details, cause } = error
    const where = `message ${this.#messages.messageCount} of the stream`
    this.failure = new StatusError(code, `${where}: ${message}`, details, cause)
    this.#rowCount = 0
    this.#row = 0
  }

  #begin(message: ArrowMessage): void {
    const { body } = this.#messages
    if (message.kind === 'schema') this.#readSchema(message.fields)
    else if (message.kind === 'batch') this.#beginBatch(message.batch, body)
    else this.#readDictionary(message.batch, body, message.id, message.isDelta)
  }

  #readSchema(fields: readonly ArrowField[]): void {
    if (this.#readers !== null) throw invalidArgument('the stream has a schema already')
    const readers: ArrowFieldReader[] = []
    for (const field of fields) {
      const column = this.#schema.byName(field.name)
      if (column === undefined) {
        const name = shortenName(field.name)
        throw invalidArgument(`unknown column "${name}"`, { column: name })
      }
      if (this.#readerOf[column.index] !== NO_FIELD) {
        throw invalidArgument(`column "${column.name}" is twice in the schema`)
      }
      this.#readerOf[column.index] = readers.length
      readers.push(new ArrowFieldReader(field, column, this.#options))
    }
    for (const { index, name } of this.#schema.keyColumns) {
      if (this.#readerOf[index] !== NO_FIELD) continue
      throw invalidArgument(`the schema has no key column "${name}"`, { column: name })
    }
    this.#readers = readers
  }

  #readDictionary(batch: ArrowBatch, body: Uint8Array, id: bigint, isDelta: boolean): void {
    const readers = this.#mustReaders().filter(({ field, dictionary }) => {
      return dictionary !== null && field.dictionaryId === id
    })
    if (readers.length === 0) throw invalidArgument(`dictionary ${id} is that of no column`)
    const { type } = readers[0].field
    const isOneType = readers.every((reader) => {
      return arrowTypeText(reader.field.type) === arrowTypeText(type)
    })
    if (!isOneType) throw invalidArgument(`dictionary ${id} is that of columns of several types`)
    if (batch.nodes.length !== 2) throw invalidArgument('dictionary has not one column')
    const buffers = new ArrowBuffers(batch, body, (bytes) => this.#holdBeside(bytes))
    const node = {
      rowCount: batch.rowCount,
      nullCount: batch.nodes[1],
      variadicCount: hasViews(type) ? (batch.variadicCounts[0] ?? 0) : 0,
    }
    const values = readArrowArray(type, node, buffers)
    buffers.finish()
    for (const reader of readers) {
      const others = this.#dictionaryBytes('usedBytes') - (reader.dictionary?.usedBytes ?? 0)
      reader.loadDictionary(values, isDelta, ARROW_DICTIONARY_BYTES_MAX - others)
    }
    this.#holdBeside(0)
  }

  #beginBatch(batch: ArrowBatch, body: Uint8Array): void {
    const readers = this.#mustReaders()
    const { rowCount, nodes, variadicCounts } = batch
    if (nodes.length !== readers.length * 2) {
      throw invalidArgument(`batch has ${nodes.length / 2} columns, the schema ${readers.length}`)
    }
    const buffers = new ArrowBuffers(batch, body, (bytes) => this.#holdBeside(bytes))
    let viewColumnCount = 0
    for (let i = 0; i < readers.length; i++) {
      const reader = readers[i]
      const variadicCount = hasViews(reader.storedType)
        ? (variadicCounts[viewColumnCount++] ?? 0)
        : 0
      if (nodes[i * 2] !== rowCount) {
        const { name } = reader.column
        throw invalidArgument(`column "${name}" has ${nodes[i * 2]} of ${rowCount} rows`)
      }
      reader.begin({ rowCount, nullCount: nodes[i * 2 + 1], variadicCount }, buffers)
    }
    buffers.finish()
    this.#rowCount = rowCount
    this.#row = 0
  }

  #endBatch(): void {
    this.#rowCount = 0
    this.#row = 0
    for (const reader of this.#mustReaders()) reader.end()
    this.#messages.release()
  }

  #mustReaders(): readonly ArrowFieldReader[] {
    if (this.#readers === null) throw invalidArgument('the stream does not begin with a schema')
    return this.#readers
  }

  #holdBeside(bytes: number): void {
    this.#hold(this.#messages.heldBytes + bytes)
  }

  #dictionaryBytes(which: 'usedBytes' | 'heldBytes'): number {
    let bytes = 0
    for (const { dictionary } of this.#readers ?? []) bytes += dictionary?.[which] ?? 0
    return bytes
  }

  /** Decodes as many rows of the batch at hand as go into one run. */
  #decodeRun(): void {
    const start = this.#row
    const count = this.#runRowCount(start)
    this.#marks.clear()
    this.#appendCells(start, count)
    if (this.#marks.count === 0) this.rows.endRows(this.#operations, count)
    else this.#decodeAroundMarks(start, count)
    this.#row = start + count
    if (this.#row === this.#rowCount) this.#endBatch()
  }

  /** Rows that are not too many, or too large together, for the batch that is being filled. */
  #runRowCount(start: number): number {
    const readers = this.#mustReaders()
    const bytesMax = this.rows.bytesLeft
    let count = Math.min(this.#rowCount - start, RUN_ROW_COUNT_MAX, this.rows.rowsLeft)
    for (;;) {
      let bytes = 0
      for (const reader of readers) bytes += reader.bytesOf(start, count)
      if (bytes <= bytesMax || count === 1) return count
      count = Math.ceil(count / 2)
    }
  }

  #appendCells(start: number, count: number): void {
    const readers = this.#mustReaders()
    const { columns } = this.rows.builder
    for (let i = 0; i < readers.length; i++) {
      const reader = readers[i]
      this.#marks.field = i
      reader.append(columns[reader.column.index], start, count, this.#marks)
    }
    for (let index = 0; index < columns.length; index++) {
      if (this.#readerOf[index] !== NO_FIELD) continue
      columns[index].reserve(count)
      endUnset(columns[index], count)
    }
  }

  /** Takes a run back and decodes it anew without the rows that have a mark. */
  #decodeAroundMarks(start: number, count: number): void {
    const { marks, fields } = this.#marks
    this.#takeBack(count)
    let row = 0
    while (row < count) {
      const first = row
      while (row < count && marks[row] === 0) row++
      if (row > first) {
        this.#appendCells(start + first, row - first)
        this.rows.endRows(this.#operations, row - first)
      }
      for (; row < count && marks[row] !== 0; row++) {
        this.rows.failRow(this.#problemOf(start + row, marks[row] as RowMark, fields[row]))
      }
    }
  }

  #takeBack(count: number): void {
    const { columns } = this.rows.builder
    for (const reader of this.#mustReaders()) reader.takeBack(columns[reader.column.index])
    for (let index = 0; index < columns.length; index++) {
      if (this.#readerOf[index] === NO_FIELD) takeBackUnset(columns[index], count)
    }
  }

  #problemOf(row: number, mark: RowMark, field: number): RowProblem {
    if (!this.rows.keepsProblems) return UNTOLD
    return this.#mustReaders()[field].describe(row, mark)
  }
}
