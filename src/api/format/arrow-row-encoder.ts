/** Rows as an Arrow IPC stream: a schema, record batches, an end. Hot. */

import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { type ArrowColumnWriter, PlainArrowColumn } from './arrow-column.ts'
import {
  ARROW_END,
  type ArrowBody,
  alignArrow,
  recordBatchMessage,
  schemaMessage,
} from './arrow-metadata.ts'
import { HeldRows, type RowSegment } from './held-rows.ts'

/** Rows of a record batch; only the last has fewer, unless they are large. */
const BATCH_ROW_COUNT = 32_768
/** Bytes of cells at which a record batch is full. */
const BATCH_BYTES = 1024 * 1024

const NO_DICTIONARIES: ReadonlySet<number> = new Set()

/** Writes a stream; see StreamEncoder. */
export class ArrowRowEncoder {
  readonly #columns: readonly Column[]
  readonly #writers: readonly ArrowColumnWriter[]
  readonly #held: HeldRows

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#writers = columns.map((column, index) => new PlainArrowColumn(column, index))
    this.#held = new HeldRows(columns)
  }

  appendHeader(out: ByteArena): void {
    appendWhole(out, schemaMessage(this.#columns, NO_DICTIONARIES))
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
    appendWhole(out, ARROW_END)
  }

  #flush(out: ByteArena): void {
    const held = this.#held
    appendRecordBatch(this.#writers, held.segments, held.rowCount, out)
    held.clear()
  }
}

/** Appends a record batch with its body. Requires: the arena is at a multiple of 8. */
function appendRecordBatch(
  writers: readonly ArrowColumnWriter[],
  segments: readonly RowSegment[],
  rowCount: number,
  out: ByteArena,
): void {
  const body = measureBody(writers, segments, rowCount)
  appendWhole(out, recordBatchMessage(body))
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

function measureBody(
  writers: readonly ArrowColumnWriter[],
  segments: readonly RowSegment[],
  rowCount: number,
): ArrowBody {
  const nodes: number[] = []
  const buffers: number[] = []
  let bytes = 0
  for (const writer of writers) {
    writer.measure(segments, rowCount)
    nodes.push(rowCount, writer.nullCount)
    for (const length of writer.bufferBytes) {
      buffers.push(bytes, length)
      bytes += alignArrow(length)
    }
  }
  return { rowCount, nodes: Float64Array.from(nodes), buffers: Float64Array.from(buffers), bytes }
}

function appendWhole(out: ByteArena, bytes: Uint8Array): void {
  out.append(bytes, 0, bytes.length)
}
