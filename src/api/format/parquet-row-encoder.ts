/**
 * Rows as a Parquet file: row groups as they fill, then the metadata. What is kept in memory is a
 * row group and what the metadata tells of those before it. Hot.
 */

import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import { invalidArgument } from '../../common/status.ts'
import type { ByteArena } from '../../util/arena.ts'
import { HeldRows, type RowSegment } from './held-rows.ts'
import { type ColumnChunk, type PageRows, writeColumnChunk } from './parquet-column.ts'
import { PARQUET_MAGIC, ParquetFooter } from './parquet-footer.ts'
import { parquetSchema } from './parquet-schema.ts'
import { STEP_ROW_COUNT } from './step-row-count.ts'

/** Rows of a row group; only the last has fewer, unless they are large. */
const GROUP_ROW_COUNT = 65_536
/** Bytes of cells at which a row group is full. */
const GROUP_BYTES = 4 * 1024 * 1024
/** Rows of a page. */
const PAGE_ROW_COUNT = 16_384

/** To compress a byte of a column takes about as long as to make so many of text. */
const COLUMN_COST = 8

/** A row group that is full, and is written a column at a time. */
interface FullGroup {
  readonly fileOffset: number
  readonly pages: readonly PageRows[]
  readonly chunks: ColumnChunk[]
}

/** Writes a file; see StreamEncoder. */
export class ParquetRowEncoder {
  readonly stepRowCount = STEP_ROW_COUNT.columns
  readonly #columns: readonly Column[]
  readonly #held: HeldRows
  readonly #footer: ParquetFooter
  readonly #sink = new ByteWriter()
  #group: FullGroup | null = null

  /** Throws: INVALID_ARGUMENT when there is no column, which no file can hold. */
  constructor(columns: readonly Column[]) {
    if (columns.length === 0) {
      throw invalidArgument('columns: a Parquet file has one column at least')
    }
    this.#columns = columns
    this.#held = new HeldRows(columns)
    this.#footer = new ParquetFooter(parquetSchema(columns))
  }

  get holdsRows(): boolean {
    return this.#held.rowCount > 0
  }

  appendHeader(out: ByteArena): void {
    this.#sink.appendUint32(PARQUET_MAGIC)
    this.#drain(out)
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    const held = this.#held
    for (let first = start; first < end; ) {
      this.#endGroup(out)
      const last = Math.min(end, first + GROUP_ROW_COUNT - held.rowCount)
      held.add(block, first, last)
      first = last
      if (held.rowCount === GROUP_ROW_COUNT || held.bytes >= GROUP_BYTES) this.#beginGroup()
    }
  }

  catchUp(out: ByteArena): number {
    const group = this.#group
    if (group === null) return 0
    const bytes = Math.ceil((this.#held.bytes / this.#columns.length) * COLUMN_COST)
    const { fileOffset, pages, chunks } = group
    const index = chunks.length
    chunks.push(writeColumnChunk(this.#columns[index], pages, index, this.#sink))
    this.#drain(out)
    if (chunks.length === this.#columns.length) {
      this.#footer.addRowGroup(this.#held.rowCount, fileOffset, chunks)
      this.#held.clear()
      this.#group = null
    }
    return bytes
  }

  appendFooter(out: ByteArena): void {
    this.#endGroup(out)
    if (this.#held.rowCount > 0) {
      this.#beginGroup()
      this.#endGroup(out)
    }
    this.#footer.write(this.#sink)
    this.#drain(out)
  }

  #beginGroup(): void {
    const pages = pagesOf(this.#held.segments)
    this.#group = { fileOffset: this.#sink.offset, pages, chunks: [] }
  }

  #endGroup(out: ByteArena): void {
    while (this.#group !== null) this.catchUp(out)
  }

  /** Hands on what the sink holds. */
  #drain(out: ByteArena): void {
    const bytes = this.#sink.getBytes()
    out.append(bytes, 0, bytes.length)
    // The offset goes on, the buffer begins anew.
    this.#sink.index = 0
  }
}

/** Rows cut into pages. */
function pagesOf(segments: readonly RowSegment[]): PageRows[] {
  const pages: PageRows[] = []
  let page: RowSegment[] = []
  let rowCount = 0
  for (const { block, start, end } of segments) {
    for (let first = start; first < end; ) {
      const last = Math.min(end, first + PAGE_ROW_COUNT - rowCount)
      page.push({ block, start: first, end: last })
      rowCount += last - first
      first = last
      if (rowCount < PAGE_ROW_COUNT) continue
      pages.push({ segments: page, rowCount })
      page = []
      rowCount = 0
    }
  }
  if (rowCount > 0) pages.push({ segments: page, rowCount })
  return pages
}
