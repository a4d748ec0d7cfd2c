/**
 * Writes the cells of one column as pages.
 *
 *   append ──► pending cells ── as many rows or bytes as a page has ──► page ──► packer ──► block
 *
 * A page is held twice at most while it is encoded, an unfinished block until it is full.
 */

import { ColumnBuilder } from '../common/column-builder.ts'
import { ColumnVector } from '../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../common/data-type.ts'
import type { Compression, Encoding } from '../common/schema.ts'
import { assert } from '../util/assert.ts'
import { bitmapBytes } from '../util/bitmap.ts'
import type { BlockWriter } from './block-id.ts'
import { BlockPacker } from './block-packer.ts'
import type { CFileMeta, PageForm } from './cfile-meta.ts'
import { DEFAULT_FILE_LAYOUT, type FileLayout } from './file-layout.ts'
import { describePage, encodePage, pageBodyBytes } from './page.ts'
import { PageListBuilder } from './page-list.ts'
import { encodeZoneMaps, type ZoneMap, zoneMapOf } from './zone-map.ts'

/** What of a column's definition its file depends on. */
export interface CFileColumn {
  readonly physical: Physical
  readonly encoding: Encoding
  readonly compression: Compression
}

/** Where a column is written: into blocks of its own, or beside others. */
export type CFileWriterOptions = {
  readonly column: CFileColumn
  readonly layout?: FileLayout
} & ({ readonly blocks: BlockWriter } | { readonly packer: BlockPacker })

/** Writes one column, from the first row to the last, in one transaction or over many. */
export class CFileWriter {
  readonly column: CFileColumn
  readonly #packer: BlockPacker
  readonly #layout: FileLayout
  readonly #isPackerShared: boolean
  readonly #pages: PageListBuilder
  readonly #pending: ColumnBuilder
  readonly #zones: ZoneMap[] = []
  readonly #forms = new Map<string, PageForm>()
  /** Bytes of values at which a page ends: most pages are like the one before. */
  #valueBytesMax: number
  #writtenRows = 0
  #nullCount = 0
  #meta: CFileMeta | null = null

  constructor(options: CFileWriterOptions) {
    const blocks = 'blocks' in options ? options.blocks : undefined
    const layout = options.layout ?? blocks?.layout ?? DEFAULT_FILE_LAYOUT
    this.column = options.column
    this.#layout = layout
    this.#valueBytesMax = layout.pageTextBytes
    this.#isPackerShared = 'packer' in options
    this.#packer =
      'packer' in options ? options.packer : new BlockPacker(options.blocks, layout.blockBytes)
    this.#pages = new PageListBuilder(this.#packer.file)
    this.#pending = new ColumnBuilder(options.column.physical, layout.pageRows)
  }

  /** Rows appended so far. */
  get rowCount(): number {
    return this.#writtenRows + this.#pending.rowCount
  }

  /** Bytes it holds: pending cells, and pages that wait for their block. */
  get heldBytes(): number {
    return this.#pending.heldBytes + this.#packer.heldBytes
  }

  /** What was finished, or null before. */
  get meta(): CFileMeta | null {
    return this.#meta
  }

  /**
   * Appends the cells `[start, end)`.
   *
   * Requires: inside a transaction; the column's physical type; every cell set, so that unset cells
   * of a write block were replaced by defaults before.
   */
  append(cells: ColumnVector, start = 0, end: number = cells.rowCount): void {
    assert(this.#meta === null, 'a finished column gets no more cells')
    assert(cells.physical === this.column.physical, 'cells have the physical type of the column')
    let next = start
    while (next < end) {
      const whole = this.#wholePage(cells, next, end)
      if (whole !== null) {
        this.#writePage(whole)
        next += whole.rowCount
      } else {
        const pageEnd = this.#pageEnd(cells, next, end)
        this.#pending.appendRange(cells, next, pageEnd)
        next = pageEnd
        if (this.#isPendingFull()) this.#writePending()
      }
    }
  }

  /**
   * Writes what is left. Returns what a directory says of the column; in a shared packer its last
   * pages may get their place later. Requires: inside a transaction.
   */
  finish(): CFileMeta {
    assert(this.#meta === null, 'a column is finished once')
    if (this.#pending.rowCount > 0) this.#writePending()
    if (this.#isPackerShared) this.#packer.endColumn()
    else this.#packer.flush()
    this.#meta = {
      physical: this.column.physical,
      pages: this.#pages,
      nullCount: this.#nullCount,
      forms: [...this.#forms.values()],
      zones: encodeZoneMaps(this.#zones, this.column.physical),
    }
    return this.#meta
  }

  /** A page's cells as they lie in `cells`, when nothing must be copied to make one; else null. */
  #wholePage(cells: ColumnVector, start: number, end: number): ColumnVector | null {
    const isBinary = cells.physical === PHYSICAL.binary
    const { pageRows } = this.#layout
    if (this.#pending.rowCount > 0 || end - start < pageRows) return null
    if (cells.isSet !== null || isBinary || start % 8 !== 0) return null
    const width = LANE_BYTES[cells.physical]
    const bytes = cells.bytes.subarray(start * width, (start + pageRows) * width)
    const firstByte = start / 8
    const validity = cells.validity?.subarray(firstByte, firstByte + bitmapBytes(pageRows)) ?? null
    return new ColumnVector(cells.physical, pageRows, bytes, null, validity, null)
  }

  /** Where the cells from `start` on fill the pending page, at most `end`. */
  #pageEnd(cells: ColumnVector, start: number, end: number): number {
    const last = Math.min(end, start + this.#layout.pageRows - this.#pending.rowCount)
    if (cells.physical !== PHYSICAL.binary) return last
    const full = cells.offsets[start] + this.#valueBytesMax - this.#pending.values.length
    if (cells.offsets[last] < full) return last
    let low = start + 1
    let high = last
    while (low < high) {
      const middle = (low + high) >>> 1
      if (cells.offsets[middle] < full) low = middle + 1
      else high = middle
    }
    return low
  }

  #isPendingFull(): boolean {
    const { rowCount, values } = this.#pending
    return rowCount >= this.#layout.pageRows || values.length >= this.#valueBytesMax
  }

  #writePending(): void {
    assert(this.#pending.unsetCount === 0, 'every cell of a column is set')
    this.#writePage(this.#pending.view())
    this.#pending.clear()
  }

  #writePage(cells: ColumnVector): void {
    const page = encodePage(cells, this.column)
    const zone = zoneMapOf(cells)
    this.#zones.push(zone)
    this.#nullCount += zone.nullCount
    this.#writtenRows += cells.rowCount
    const { encoding, compression } = describePage(page)
    this.#countForm(encoding, compression, page.length)
    const isMostlyCodes = encoding === 'DICT' && pageBodyBytes(page) < cells.bytes.length / 2
    this.#valueBytesMax = isMostlyCodes ? this.#layout.pageValueBytes : this.#layout.pageTextBytes
    this.#packer.add(this.#pages, this.#writtenRows, page)
  }

  #countForm(encoding: string, compression: string, bytes: number): void {
    const name = `${encoding} ${compression}`
    const former = this.#forms.get(name)
    this.#forms.set(name, {
      encoding,
      compression,
      pageCount: (former?.pageCount ?? 0) + 1,
      bytes: (former?.bytes ?? 0) + bytes,
    })
  }
}
