/** Goes through the pages of a column, forwards or backwards. */

import type { ColumnVector } from '../common/column-vector.ts'
import { READ_AHEAD_BYTES } from '../common/limits.ts'
import type { CFileReader } from './cfile-reader.ts'
import { LaneRoom } from './lane-room.ts'
import type { ReadIntent } from './page-cache.ts'
import { ReadAhead } from './read-ahead.ts'

/** How a cursor goes. */
export interface CFileCursorOptions {
  /** From the last row to the first. */
  readonly isDescending?: boolean
  /** Bytes to read at a time, but at least a page. */
  readonly readAheadBytes?: number
  /**
   * Whether pages are kept in the cache for other scans: false for whoever reads a whole file that
   * is dropped soon.
   */
  readonly isCached?: boolean
  /**
   * Whether cells are good until the next page is asked for, and no longer; then nothing is kept in
   * the cache either.
   */
  readonly isBorrowed?: boolean
  /** Pages outside `[pageStart, pageEnd)` are not read ahead; left out: all may be. */
  readonly pageStart?: number
  readonly pageEnd?: number
  /** What the cache makes of its asking: a scan's, unless it is about a few rows. */
  readonly intent?: ReadIntent
  /** Counts the pages that are asked for, and their bytes. */
  readonly stats?: PageCounters
}

/** Counters of pages. */
export interface PageCounters {
  pagesRead: number
  pagesFromCache: number
  bytesDecoded: number
}

/**
 * One scan's place in a column. Pages may be left out, and the last one asked for again.
 *
 * Holds at most `readAheadBytes`, or one page, and the cells of one page.
 */
export class CFileCursor {
  readonly reader: CFileReader
  readonly #ahead: ReadAhead
  readonly #isCached: boolean
  /** Where the lanes of the last page lie; null: pages are not borrowed. */
  readonly #room: LaneRoom | null
  readonly #intent: ReadIntent
  readonly #stats: PageCounters | null
  #index = -1
  #cells: ColumnVector | null = null

  constructor(reader: CFileReader, options: CFileCursorOptions = {}) {
    const { isDescending = false, readAheadBytes = READ_AHEAD_BYTES, isCached = true } = options
    this.reader = reader
    this.#isCached = isCached
    this.#room = options.isBorrowed === true ? new LaneRoom() : null
    this.#intent = options.intent ?? 'scan'
    this.#stats = options.stats ?? null
    const { pageStart, pageEnd } = options
    const { pages, blocks } = reader
    this.#ahead = new ReadAhead(pages, blocks, readAheadBytes, isDescending, pageStart, pageEnd)
  }

  /** Bytes read ahead. */
  get heldBytes(): number {
    return this.#ahead.heldBytes
  }

  /**
   * The cells of a page. Shared: never written to; good for as long as they are held, unless they
   * are borrowed.
   *
   * Throws: CORRUPTION that names the block. Cost: 1 row read for every `readAheadBytes` of pages
   * in a row; decoding the page unless it is in the cache or the last one asked for.
   */
  page(index: number): ColumnVector {
    if (this.#cells === null || this.#index !== index) {
      const kept = this.reader.cachedPage(index, this.#intent)
      if (this.#stats !== null) this.#count(this.#stats, index, kept !== null)
      this.#cells = kept ?? this.#read(index)
      this.#index = index
    }
    return this.#cells
  }

  #count(stats: PageCounters, index: number, isFromCache: boolean): void {
    stats.pagesRead++
    if (isFromCache) stats.pagesFromCache++
    else stats.bytesDecoded += this.reader.pages.lengths[index]
  }

  /** Lets go of what it holds; it may be used again. */
  clear(): void {
    this.#ahead.clear()
    this.#cells = null
  }

  #read(index: number): ColumnVector {
    const bytes = this.#ahead.page(index)
    if (this.#room !== null) return this.reader.decodePage(index, bytes, this.#room)
    // Cells may be views of the bytes: what is kept must not keep the pages around it alive.
    return this.#isCached
      ? this.reader.keepPage(index, bytes.slice())
      : this.reader.decodePage(index, bytes)
  }
}
