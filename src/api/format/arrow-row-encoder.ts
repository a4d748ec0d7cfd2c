/**
 * Rows as an Arrow IPC stream: a schema, record batches, an end. Hot.
 *
 * With dictionaries the schema waits for the first rows: they show which columns are shorter so.
 */

import { PHYSICAL } from '../../common/data-type.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { type ArrowColumnWriter, PlainArrowColumn } from './arrow-column.ts'
import { DictionaryArrowColumn } from './arrow-dictionary.ts'
import {
  ARROW_END,
  type ArrowBody,
  alignArrow,
  dictionaryBatchMessage,
  recordBatchMessage,
  schemaMessage,
} from './arrow-metadata.ts'
import { HeldRows, type RowSegment } from './held-rows.ts'
import { STEP_ROW_COUNT } from './step-row-count.ts'

/** Rows of a record batch; only the last has fewer, unless they are large. */
const BATCH_ROW_COUNT = 32_768
/** Bytes of cells at which a record batch is full. */
const BATCH_BYTES = 1024 * 1024

/** Writes a stream; see StreamEncoder. */
export class ArrowRowEncoder {
  readonly stepRowCount = STEP_ROW_COUNT.columns
  readonly #columns: readonly Column[]
  readonly #hasDictionaries: boolean
  readonly #writers: ArrowColumnWriter[]
  /** The columns that are written as numbers of values; their position is their dictionary's id. */
  readonly #dictionaries = new Map<number, DictionaryArrowColumn>()
  readonly #held: HeldRows
  #hasSchema = false

  /** `hasDictionaries`: whether text and bytes may be numbers of values. */
  constructor(columns: readonly Column[], hasDictionaries: boolean) {
    this.#columns = columns
    this.#hasDictionaries = hasDictionaries
    this.#writers = columns.map((column, index) => new PlainArrowColumn(column, index))
    this.#held = new HeldRows(columns)
  }

  get holdsRows(): boolean {
    return this.#held.rowCount > 0
  }

  appendHeader(out: ByteArena): void {
    if (!this.#hasDictionaries) this.#appendSchema(out)
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    const held = this.#held
    for (let first = start; first < end; ) {
      const last = Math.min(end, first + BATCH_ROW_COUNT - held.rowCount)
      held.add(block, first, last)
      first = last
      if (held.rowCount === BATCH_ROW_COUNT || held.bytes >= BATCH_BYTES) this.#flush(out)
    }
  }

  appendFooter(out: ByteArena): void {
    if (this.#held.rowCount > 0) this.#flush(out)
    if (!this.#hasSchema) this.#appendSchema(out)
    appendWhole(out, ARROW_END)
  }

  #appendSchema(out: ByteArena): void {
    appendWhole(out, schemaMessage(this.#columns, new Set(this.#dictionaries.keys())))
    this.#hasSchema = true
  }

  #flush(out: ByteArena): void {
    const held = this.#held
    const { segments, rowCount } = held
    if (!this.#hasSchema) {
      this.#chooseDictionaries(segments, rowCount)
      this.#appendSchema(out)
    }
    for (const writer of this.#writers) writer.measure(segments, rowCount)
    for (const [id, writer] of this.#dictionaries) this.#appendNewValues(id, writer, out)
    appendBatch(this.#writers, segments, rowCount, recordBatchMessage, out)
    held.clear()
  }

  #chooseDictionaries(segments: readonly RowSegment[], rowCount: number): void {
    this.#columns.forEach((column, index) => {
      if (column.physical !== PHYSICAL.binary) return
      const writer = new DictionaryArrowColumn(column, index)
      writer.measure(segments, rowCount)
      if (!writer.pays) return
      this.#writers[index] = writer
      this.#dictionaries.set(index, writer)
    })
  }

  #appendNewValues(id: number, writer: DictionaryArrowColumn, out: ByteArena): void {
    const found = writer.takeNewValues()
    if (found === null) return
    const { segment, isDelta } = found
    const values = new PlainArrowColumn(this.#columns[id], 0)
    values.measure([segment], segment.end)
    const messageOf = (body: ArrowBody) => dictionaryBatchMessage(id, body, isDelta)
    appendBatch([values], [segment], segment.end, messageOf, out)
  }
}

/**
 * Appends the message of a batch with its body. Requires: the writers have measured it, and the
 * arena is at a multiple of 8.
 */
function appendBatch(
  writers: readonly ArrowColumnWriter[],
  segments: readonly RowSegment[],
  rowCount: number,
  messageOf: (body: ArrowBody) => Uint8Array,
  out: ByteArena,
): void {
  const body = bodyOf(writers, rowCount)
  appendWhole(out, messageOf(body))
  out.reserve(body.bytes)
  assert((out.bytes.byteOffset + out.length) % 8 === 0, 'a body begins at a multiple of 8')
  const target = out.bytes.subarray(out.length, out.length + body.bytes)
  let buffer = 0
  for (const writer of writers) {
    const offsets = writer.bufferBytes.map((_, i) => body.buffers[(buffer + i) * 2])
    writer.write(segments, target, offsets)
    zeroPadding(target, offsets, writer.bufferBytes)
    buffer += offsets.length
  }
  out.length += body.bytes
}

/** Where what the writers have measured lies in a body. */
function bodyOf(writers: readonly ArrowColumnWriter[], rowCount: number): ArrowBody {
  const nodes: number[] = []
  const buffers: number[] = []
  let bytes = 0
  for (const writer of writers) {
    nodes.push(rowCount, writer.nullCount)
    for (const length of writer.bufferBytes) {
      buffers.push(bytes, length)
      bytes += alignArrow(length)
    }
  }
  return { rowCount, nodes: Float64Array.from(nodes), buffers: Float64Array.from(buffers), bytes }
}

/** Zeroes what is between buffers; the arena may have held other bytes there. */
function zeroPadding(
  target: Uint8Array,
  offsets: readonly number[],
  lengths: readonly number[],
): void {
  for (let i = 0; i < offsets.length; i++) {
    target.fill(0, offsets[i] + lengths[i], offsets[i] + alignArrow(lengths[i]))
  }
}

function appendWhole(out: ByteArena, bytes: Uint8Array): void {
  out.append(bytes, 0, bytes.length)
}
