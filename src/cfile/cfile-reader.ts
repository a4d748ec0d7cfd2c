/**
 * Reads the pages of one column: single ones through the page cache, or, with a CFileCursor, one
 * after the other with read-ahead. A page is decoded as a whole.
 */

import { ColumnVector } from '../common/column-vector.ts'
import type { Physical } from '../common/data-type.ts'
import { CorruptionError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import type { BlockReader } from './block-id.ts'
import type { CFileMeta } from './cfile-meta.ts'
import type { LaneRoom } from './lane-room.ts'
import { decodePage } from './page.ts'
import type { PageCache, ReadIntent } from './page-cache.ts'
import { type PageList, pageIndexOf, pageText, readPage, rowCountOf } from './page-list.ts'
import { decodeZoneMaps, type ZoneMap } from './zone-map.ts'

/** Bytes of the objects of a vector, about. */
const VECTOR_BYTES = 200

/** One column of a rowset's base. Immutable; any number of readers and cursors may share it. */
export class CFileReader {
  readonly meta: CFileMeta
  readonly rowCount: number
  /** Where its blocks are read from. */
  readonly blocks: BlockReader
  readonly #cache: PageCache
  readonly #owner: number
  readonly #where: string
  #zones: readonly ZoneMap[] | null = null

  /** `where` names the column in errors, as in `rowset 7, column 3`. */
  constructor(
    meta: CFileMeta,
    blocks: BlockReader,
    cache: PageCache,
    owner: number,
    where: string,
  ) {
    this.meta = meta
    this.rowCount = rowCountOf(meta.pages)
    this.blocks = blocks
    this.#cache = cache
    this.#owner = owner
    this.#where = where
  }

  /** How its cells are held. */
  get physical(): Physical {
    return this.meta.physical
  }

  /** Where its pages lie. */
  get pages(): PageList {
    return this.meta.pages
  }

  /** How many pages it has. */
  get pageCount(): number {
    return this.meta.pages.rowEnds.length
  }

  /** Index of the page that has a row. Requires: the row exists. Cost: O(log pages). */
  pageIndexOf(row: number): number {
    return pageIndexOf(this.meta.pages.rowEnds, row)
  }

  /** First row of a page. */
  pageStart(index: number): number {
    return index === 0 ? 0 : this.meta.pages.rowEnds[index - 1]
  }

  /** Row behind the last one of a page. */
  pageEnd(index: number): number {
    return this.meta.pages.rowEnds[index]
  }

  /** What is known of a page without reading it. Throws: CORRUPTION. */
  zone(index: number): ZoneMap {
    return this.zones()[index]
  }

  /** What is known of all pages without reading them. Throws: CORRUPTION. */
  zones(): readonly ZoneMap[] {
    if (this.#zones === null) {
      const zones = decodeZoneMaps(this.meta.zones, this.physical, `${this.#where}, zone maps`)
      if (zones.length !== this.pageCount) {
        throw new CorruptionError(`${this.#where}: has ${zones.length} zone maps`)
      }
      this.#zones = zones
    }
    return this.#zones
  }

  /**
   * The cells of a page: row `pageStart(index)` first. Shared: never written to.
   *
   * Throws: CORRUPTION that names the block. Cost: a look-up in the cache, else 1 row read and
   * decoding the page.
   */
  page(index: number, intent: ReadIntent = 'point'): ColumnVector {
    return this.cachedPage(index, intent) ?? this.#readPage(index)
  }

  /** The cells of a page if they are in the cache, else null. */
  cachedPage(index: number, intent: ReadIntent): ColumnVector | null {
    const { file, blocks, offsets } = this.meta.pages
    const found = this.#cache.get(this.#owner, file, blocks[index], offsets[index], intent)
    if (found === undefined) return null
    assert(found instanceof ColumnVector, 'the place of a page has its cells in the cache')
    return found.unjoined
  }

  /** Decodes a page's bytes, and keeps the cells in the cache. As `decodePage`. */
  keepPage(index: number, bytes: Uint8Array): ColumnVector {
    const cells = this.decodePage(index, bytes)
    const { file, blocks, offsets } = this.meta.pages
    // What a reader joins of a dictionary is not counted: what is kept is never joined.
    const kept = cells.unjoined
    this.#cache.put(this.#owner, file, blocks[index], offsets[index], kept, vectorBytes(kept))
    return cells
  }

  #readPage(index: number): ColumnVector {
    return this.keepPage(index, readPage(this.meta.pages, index, this.blocks))
  }

  /**
   * Decodes a page's bytes; the cells may be views of them, and lie in a `room`.
   *
   * Throws: CORRUPTION.
   */
  decodePage(index: number, bytes: Uint8Array, room: LaneRoom | null = null): ColumnVector {
    const where = pageText(this.#where, this.meta.pages, index)
    const cells = decodePage(bytes, this.meta.physical, where, room)
    const rowCount = this.pageEnd(index) - this.pageStart(index)
    if (cells.rowCount !== rowCount) {
      throw new CorruptionError(`${where}: has ${cells.rowCount} rows, not ${rowCount}`)
    }
    return cells
  }
}

/** Bytes that cells hold in memory. */
export function vectorBytes(cells: ColumnVector): number {
  return cells.heldBytes + (cells.dictionary === null ? VECTOR_BYTES : 2 * VECTOR_BYTES)
}
