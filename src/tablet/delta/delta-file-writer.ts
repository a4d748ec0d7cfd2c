/**
 * Writes delta files. Hot.
 *
 *   rows      4 4 9 9 9 │ 12 15 15 │ 20 20 20 … 20 │ 20 20 21 …
 *   block          1          2            3              4
 *
 * A block ends between two rows. Only a row whose records alone are too many for a block is cut: it
 * begins a block, and the blocks behind begin with it too. A block that is larger than a stored row
 * is stored as several, all but the last of STORED_ROW_BYTES_MAX bytes; that takes one record with
 * megabytes of cells.
 */

import type { BlockWriter } from '../../cfile/block-id.ts'
import { DEFAULT_FILE_LAYOUT } from '../../cfile/file-layout.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { TIMESTAMP_MAX, TIMESTAMP_MIN } from '../../common/hybrid-clock.ts'
import { STORED_ROW_BYTES_MAX } from '../../common/limits.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import { decodeDeltaBlock, encodeDeltaBlock } from './delta-block.ts'
import type { DeltaRecords } from './delta-records.ts'
import { DeltaRecordsBuilder } from './delta-records-builder.ts'

const NO_ROW = -1

/** Writes one delta file, over any number of transactions. */
export class DeltaFileWriter {
  /** Records so far. */
  recordCount = 0
  /** Bytes of the blocks written so far. */
  writtenBytes = 0
  readonly #blocks: BlockWriter
  #pending = new DeltaRecordsBuilder()
  #spare = new DeltaRecordsBuilder()
  /** Bytes of the cells pending, and of those of the last row. */
  #pendingBytes = 0
  #rowBytes = 0
  /** The last row, and the index of its first record among those pending. */
  #row = NO_ROW
  #rowStart = 0
  #firstBlock = 0
  readonly #firstOrdinals: number[] = []
  readonly #cellCounts = new Map<number, number>()
  #deleteCount = 0
  #reinsertCount = 0
  #oldest = TIMESTAMP_MAX
  #newest = TIMESTAMP_MIN

  /** The blocks of the file follow each other: nothing else is written to it until `finish`. */
  constructor(blocks: BlockWriter) {
    this.#blocks = blocks
  }

  /** Bytes held in memory. Cost: O(columns). */
  get heldBytes(): number {
    return this.#pending.heldBytes + this.#spare.heldBytes
  }

  /** Appends copies of records. Requires: they are behind those so far; inside a transaction. */
  append(records: DeltaRecords): void {
    const { count, ordinals, timestamps, cellEnds } = records
    const widths = widthsOf(records)
    let copied = 0
    let cell = 0
    for (let i = 0; i < count; i++) {
      const bytes = cellEnds[i] === cell ? 0 : recordBytes(records, cell, cellEnds[i], widths)
      cell = cellEnds[i]
      const isFull = this.#isFull(i - copied, bytes)
      if (isFull) {
        this.#pending.appendRecords(records, copied, i)
        copied = i
      }
      if (ordinals[i] !== this.#row) this.#beginRow(ordinals[i], this.#pending.count + i - copied)
      if (isFull) this.#cut(bytes)
      this.#pendingBytes += bytes
      this.#rowBytes += bytes
      if (timestamps[i] < this.#oldest) this.#oldest = timestamps[i]
      if (timestamps[i] > this.#newest) this.#newest = timestamps[i]
    }
    this.#pending.appendRecords(records, copied, count)
    this.recordCount += count
  }

  #beginRow(ordinal: number, start: number): void {
    this.#row = ordinal
    this.#rowStart = start
    this.#rowBytes = 0
  }

  /** Whether a record of `bytes` does not fit behind those pending and `notCopied` more. */
  #isFull(notCopied: number, bytes: number): boolean {
    const count = this.#pending.count + notCopied
    if (count === 0) return false
    const { deltaBlockRecords, blockBytes } = this.#blocks.layout ?? DEFAULT_FILE_LAYOUT
    return count >= deltaBlockRecords || this.#pendingBytes + bytes > blockBytes
  }

  /** Writes a block that ends before the last row, and one more if its records are too many. */
  #cut(bytes: number): void {
    if (this.#rowStart > 0) {
      this.#writeFirst(this.#rowStart)
      this.#rowStart = 0
      this.#pendingBytes = this.#rowBytes
    }
    if (this.#isFull(0, bytes)) {
      this.#writeFirst(this.#pending.count)
      this.#pendingBytes = 0
      this.#rowBytes = 0
    }
  }

  /** Writes the first `count` pending records; the others stay. */
  #writeFirst(count: number): void {
    const pending = this.#pending
    const records = pending.finish()
    if (count < pending.count) {
      const first = this.#spare
      first.appendRecords(records, 0, count)
      this.#write(first)
      first.clear()
      first.appendRecords(records, count, pending.count)
      this.#pending = first
      this.#spare = pending
    } else {
      this.#write(pending)
    }
    pending.clear()
  }

  #write(builder: DeltaRecordsBuilder): void {
    const records = builder.finish()
    const bytes = encodeDeltaBlock(records)
    if (VERIFY) decodeDeltaBlock(bytes, 'a block just encoded')
    for (let start = 0; start < bytes.length; start += STORED_ROW_BYTES_MAX) {
      const end = Math.min(start + STORED_ROW_BYTES_MAX, bytes.length)
      const block = this.#blocks.append(bytes.subarray(start, end))
      if (this.#firstOrdinals.length === 0) this.#firstBlock = block
      const isNext = block === this.#firstBlock + this.#firstOrdinals.length
      assert(isNext, 'blocks of a delta file follow each other')
      this.#firstOrdinals.push(records.ordinals[0])
    }
    this.writtenBytes += bytes.length
    this.#deleteCount += builder.deleteCount
    this.#reinsertCount += builder.reinsertCount
    for (const { columnId, cells } of records.columns) {
      const before = this.#cellCounts.get(columnId) ?? 0
      if (cells.rowCount > 0) this.#cellCounts.set(columnId, before + cells.rowCount)
    }
  }

  /** Writes what is left. Requires: there are records; inside a transaction. */
  finish(): DeltaFileMeta {
    assert(this.recordCount > 0, 'a delta file has records')
    this.#writeFirst(this.#pending.count)
    const columns = [...this.#cellCounts].map(([columnId, cellCount]) => ({ columnId, cellCount }))
    return {
      file: this.#blocks.file,
      firstBlock: this.#firstBlock,
      firstOrdinals: this.#firstOrdinals,
      recordCount: this.recordCount,
      deleteCount: this.#deleteCount,
      reinsertCount: this.#reinsertCount,
      oldest: this.#oldest,
      newest: this.#newest,
      bytes: this.writtenBytes,
      columns: columns.sort((a, b) => a.columnId - b.columnId),
    }
  }
}

/** Writes records as a delta file. Requires: there are some; inside a transaction. */
export function writeDeltaFile(records: DeltaRecords, blocks: BlockWriter): DeltaFileMeta {
  const writer = new DeltaFileWriter(blocks)
  writer.append(records)
  return writer.finish()
}

/** Bytes of a cell of each column, 0 where it depends on the cell. */
function widthsOf({ columns }: DeltaRecords): Uint8Array {
  return Uint8Array.from(columns, ({ physical }) => LANE_BYTES[physical])
}

/** Bytes of the cells `[start, end)` of a record, plain. */
function recordBytes(
  { cellColumns, cellPositions, columns }: DeltaRecords,
  start: number,
  end: number,
  widths: Uint8Array,
): number {
  let bytes = 0
  for (let cell = start; cell < end; cell++) {
    const column = cellColumns[cell]
    if (widths[column] !== LANE_BYTES[PHYSICAL.binary]) {
      bytes += widths[column]
      continue
    }
    const { offsets } = columns[column].cells
    const position = cellPositions[cell]
    bytes += offsets[position + 1] - offsets[position] + 4
  }
  return bytes
}
