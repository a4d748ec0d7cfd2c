/**
 * Finds keys of a rowset, and reads them in order. Hot.
 *
 *   separators   ""      "g"        "p"          in the directory
 *   pages        a c f │ g h m … │ p q │         searched without being decoded
 */

import { READ_AHEAD_BYTES } from '../common/limits.ts'
import { CorruptionError } from '../common/status.ts'
import type { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { compareBytes } from '../util/bytes.ts'
import type { BlockReader } from './block-id.ts'
import type { KeyFileMeta } from './key-file-meta.ts'
import { KeyPage } from './key-page.ts'
import type { PageCache, ReadIntent } from './page-cache.ts'
import { pageIndexOf, pageText, readPage, rowCountOf } from './page-list.ts'
import { ReadAhead } from './read-ahead.ts'

/** Keys of a batch from which on pages that are not at hand are read many at a time. */
const BATCH_COUNT_MIN = 16
/** Bytes of a page's objects beside its bytes, about. */
const PAGE_OBJECT_BYTES = 300

/** The keys of a rowset by ordinal. Immutable. */
export class KeyFileReader {
  readonly meta: KeyFileMeta
  readonly rowCount: number
  readonly #blocks: BlockReader
  readonly #cache: PageCache
  readonly #owner: number
  readonly #where: string

  /** `where` names the keys in errors. */
  constructor(
    meta: KeyFileMeta,
    blocks: BlockReader,
    cache: PageCache,
    owner: number,
    where: string,
  ) {
    this.meta = meta
    this.rowCount = rowCountOf(meta.pages)
    this.#blocks = blocks
    this.#cache = cache
    this.#owner = owner
    this.#where = where
  }

  /** How many pages there are. */
  get pageCount(): number {
    return this.meta.pages.rowEnds.length
  }

  /**
   * Looks for keys `order[start, end)`, and writes to `out[key]` the ordinal of each that is there;
   * leaves the others as they are.
   *
   * Requires: `order` lists keys in ascending order. Throws: CORRUPTION that names the block. Cost:
   * about a microsecond a key whose page is at hand; a page that is not costs 1 row read, less in
   * large batches.
   */
  findSorted(
    keys: KeyArena,
    order: Uint32Array,
    start: number,
    end: number,
    out: Int32Array,
  ): void {
    const ahead = end - start < BATCH_COUNT_MIN ? null : this.#readAhead()
    const { bytes, ends } = keys
    let index = -1
    let firstRow = 0
    let page: KeyPage | null = null
    for (let i = start; i < end; i++) {
      const key = order[i]
      const keyStart = key === 0 ? 0 : ends[key - 1]
      const next = this.#pageFrom(Math.max(index, 0), bytes, keyStart, ends[key])
      if (page === null || next !== index) {
        index = next
        page = this.#page(index, 'point', ahead)
        firstRow = this.#pageStart(index)
      }
      const found = page.find(bytes, keyStart, ends[key])
      if (found >= 0) out[key] = firstRow + found
    }
  }

  /**
   * Ordinal of the first key at or above `key`; `rowCount` when there is none. Throws: CORRUPTION.
   * Cost: at most 1 row read.
   */
  lowerBound(key: Uint8Array): number {
    const index = this.#pageFrom(0, key, 0, key.length)
    const page = this.#page(index, 'point', null)
    return this.#pageStart(index) + page.lowerBound(key, 0, key.length)
  }

  /**
   * Whether no key is at or above key `first` of `keys` and at or below key `last`, as far as one
   * page tells: false when others would have to be asked.
   *
   * Requires: key `first` is not above key `last`. Throws and cost: as `lowerBound`.
   */
  isGap(keys: KeyArena, first: number, last: number): boolean {
    const { bytes, ends } = keys
    const { separators } = this.meta
    const firstStart = keys.start(first)
    const lastStart = keys.start(last)
    const index = this.#pageFrom(0, bytes, firstStart, ends[first])
    const isOfOthers =
      index + 1 < separators.count && this.#isFrom(index + 1, bytes, lastStart, ends[last])
    if (isOfOthers) return false
    const page = this.#page(index, 'point', null)
    const place = page.lowerBound(bytes, firstStart, ends[first])
    if (place === page.rowCount) return true
    if (page.lowerBound(bytes, lastStart, ends[last]) > place) return false
    return page.find(bytes, lastStart, ends[last]) < 0
  }

  /** Ordinal of a key, or null when it is not there. Throws and cost: as `lowerBound`. */
  find(key: Uint8Array): number | null {
    const index = this.#pageFrom(0, key, 0, key.length)
    const found = this.#page(index, 'point', null).find(key, 0, key.length)
    return found < 0 ? null : this.#pageStart(index) + found
  }

  /**
   * Appends the keys of rows `[start, end)`, page by page through the cache. Throws: CORRUPTION.
   */
  appendKeys(start: number, end: number, into: KeyArena): void {
    let row = start
    while (row < end) {
      const index = pageIndexOf(this.meta.pages.rowEnds, row)
      const pageEnd = Math.min(end, this.meta.pages.rowEnds[index])
      const first = this.#pageStart(index)
      this.#page(index, 'point', null).appendTo(into, row - first, pageEnd - first)
      row = pageEnd
    }
  }

  /**
   * Reads keys in order, page after page. Each scan has its own. Pages are kept in the cache for
   * other scans unless `isCached` is false, for whoever reads keys that are dropped soon.
   */
  openCursor(isDescending = false, isCached = true): KeyFileCursor {
    const ahead = new ReadAhead(this.meta.pages, this.#blocks, READ_AHEAD_BYTES, isDescending)
    const { rowEnds } = this.meta.pages
    return new KeyFileCursor(rowEnds, ahead, (index) => {
      if (isCached) return this.#page(index, 'scan', ahead)
      return this.#cached(index, 'scan') ?? this.#open(index, ahead.page(index))
    })
  }

  #readAhead(): ReadAhead {
    return new ReadAhead(this.meta.pages, this.#blocks, READ_AHEAD_BYTES, false)
  }

  #pageStart(index: number): number {
    return index === 0 ? 0 : this.meta.pages.rowEnds[index - 1]
  }

  /**
   * The last page whose separator is not above a key. Requires: that of page `from` is not. Looks
   * near `from` first, since the keys of a batch ascend.
   */
  #pageFrom(from: number, bytes: Uint8Array, start: number, end: number): number {
    const { separators } = this.meta
    const { count } = separators
    let low = from + 1
    let step = 1
    while (low - 1 + step < count && this.#isFrom(low - 1 + step, bytes, start, end)) {
      low += step
      step *= 2
    }
    let high = Math.min(low - 1 + step, count)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isFrom(middle, bytes, start, end)) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Whether a key is at or above the separator of a page. */
  #isFrom(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { separators } = this.meta
    const separatorStart = separators.start(index)
    const separatorEnd = separators.ends[index]
    return compareBytes(separators.bytes, separatorStart, separatorEnd, bytes, start, end) <= 0
  }

  #page(index: number, intent: ReadIntent, ahead: ReadAhead | null): KeyPage {
    const found = this.#cached(index, intent)
    if (found !== null) return found
    const { pages } = this.meta
    // A page is searched in its bytes: what is kept must not keep the pages around it alive.
    const bytes = ahead === null ? readPage(pages, index, this.#blocks) : ahead.page(index).slice()
    const page = this.#open(index, bytes)
    const { file, blocks, offsets } = pages
    const heldBytes = page.heldBytes + PAGE_OBJECT_BYTES
    this.#cache.put(this.#owner, file, blocks[index], offsets[index], page, heldBytes)
    return page
  }

  #cached(index: number, intent: ReadIntent): KeyPage | null {
    const { file, blocks, offsets } = this.meta.pages
    const found = this.#cache.get(this.#owner, file, blocks[index], offsets[index], intent)
    if (found === undefined) return null
    assert(found instanceof KeyPage, 'the place of a page of keys has it in the cache')
    return found
  }

  #open(index: number, bytes: Uint8Array): KeyPage {
    const { pages } = this.meta
    const where = pageText(this.#where, pages, index)
    const page = KeyPage.open(bytes, where)
    const rowCount = pages.rowEnds[index] - this.#pageStart(index)
    if (page.rowCount !== rowCount) {
      throw new CorruptionError(`${where}: has ${page.rowCount} keys, not ${rowCount}`)
    }
    return page
  }
}

/** One scan's place among the keys. Holds at most READ_AHEAD_BYTES, or one page, and one page. */
export class KeyFileCursor {
  readonly #rowEnds: readonly number[]
  readonly #ahead: ReadAhead
  readonly #open: (index: number) => KeyPage
  /** Pages it went through. */
  pageCount = 0
  #index = -1
  #page: KeyPage | null = null

  constructor(rowEnds: readonly number[], ahead: ReadAhead, open: (index: number) => KeyPage) {
    this.#rowEnds = rowEnds
    this.#ahead = ahead
    this.#open = open
  }

  /** Bytes read ahead. */
  get heldBytes(): number {
    return this.#ahead.heldBytes
  }

  /**
   * Appends the keys of rows `[start, end)`. Throws: CORRUPTION that names the block. Cost: 1 row
   * read for every READ_AHEAD_BYTES of pages in a row.
   */
  appendKeys(start: number, end: number, into: KeyArena): void {
    let row = start
    while (row < end) {
      const index = this.#pageOf(row)
      const first = index === 0 ? 0 : this.#rowEnds[index - 1]
      const pageEnd = Math.min(end, this.#rowEnds[index])
      if (this.#page === null || index !== this.#index) {
        this.#page = this.#open(index)
        this.#index = index
        this.pageCount++
      }
      this.#page.appendTo(into, row - first, pageEnd - first)
      row = pageEnd
    }
  }

  /** Lets go of what it holds; it may be used again. */
  clear(): void {
    this.#ahead.clear()
    this.#page = null
  }

  #pageOf(row: number): number {
    const index = this.#index
    if (index >= 0 && row < this.#rowEnds[index] && row >= (this.#rowEnds[index - 1] ?? 0)) {
      return index
    }
    return pageIndexOf(this.#rowEnds, row)
  }
}
