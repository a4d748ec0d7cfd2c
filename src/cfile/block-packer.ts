/**
 * Packs pages into blocks. A block is what is billed, so it is filled: pages of one column follow
 * each other until the block has its size, and columns that are small share a block.
 *
 *   block 1   keys, Bloom filter, c0, c1     together at most SHARED_BYTES_MAX
 *   block 2   c2                             a column that is larger begins a block of its own,
 *   block 3   c2                             so that the block can go when the column is replaced
 *   block 4   c3, c4
 */

import { STORED_ROW_BYTES_MAX } from '../common/limits.ts'
import { assert } from '../util/assert.ts'
import type { BlockWriter } from './block-id.ts'
import { DEFAULT_FILE_LAYOUT } from './file-layout.ts'
import type { PageListBuilder } from './page-list.ts'

/** Bytes of a block that several columns share. */
const SHARED_BYTES_MAX = 128 * 1024

/**
 * Pages on their way into blocks of one file.
 *
 *  I1  pages are written in the order in which they were added;
 *  I2  a block with pages of more than one column has at most SHARED_BYTES_MAX bytes;
 *  I3  after `flush` every page that was added has its place in its list.
 */
export class BlockPacker {
  readonly #blocks: BlockWriter
  readonly #blockBytes: number
  readonly #pages: Uint8Array[] = []
  readonly #lists: PageListBuilder[] = []
  readonly #indexes: number[] = []
  #heldBytes = 0
  /** How many of the pages that wait are of columns that have ended. */
  #endedCount = 0
  #writtenBytes = 0

  constructor(blocks: BlockWriter, blockBytes: number = DEFAULT_FILE_LAYOUT.blockBytes) {
    this.#blocks = blocks
    this.#blockBytes = blockBytes
  }

  /** The file it writes to. */
  get file(): number {
    return this.#blocks.file
  }

  /** Bytes of pages that wait for their block to be full. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Bytes of the blocks written so far. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /**
   * Adds a page to a list; its place becomes known when its block is written. The bytes are kept
   * until then. Requires: inside a transaction.
   */
  add(list: PageListBuilder, rowEnd: number, page: Uint8Array): void {
    assert(page.length <= STORED_ROW_BYTES_MAX, 'a page fits one stored row')
    const bytes = this.#heldBytes + page.length
    if (this.#endedCount > 0 && bytes > SHARED_BYTES_MAX) this.#write(this.#endedCount)
    if (this.#heldBytes + page.length > STORED_ROW_BYTES_MAX) this.flush()
    this.#pages.push(page)
    this.#lists.push(list)
    this.#indexes.push(list.add(rowEnd, page.length))
    this.#heldBytes += page.length
    if (this.#heldBytes >= this.#blockBytes) this.flush()
  }

  /** Ends a column: what comes next is of another. */
  endColumn(): void {
    this.#endedCount = this.#pages.length
  }

  /** Writes what waits. Requires: inside a transaction. */
  flush(): void {
    if (this.#pages.length > 0) this.#write(this.#pages.length)
  }

  /** Writes the first `count` pages that wait as one block. */
  #write(count: number): void {
    let length = 0
    for (let i = 0; i < count; i++) length += this.#pages[i].length
    const bytes = new Uint8Array(length)
    let offset = 0
    for (let i = 0; i < count; i++) {
      bytes.set(this.#pages[i], offset)
      offset += this.#pages[i].length
    }
    const block = this.#blocks.append(bytes)
    offset = 0
    for (let i = 0; i < count; i++) {
      this.#lists[i].place(this.#indexes[i], block, offset)
      offset += this.#pages[i].length
    }
    this.#pages.splice(0, count)
    this.#lists.splice(0, count)
    this.#indexes.splice(0, count)
    this.#heldBytes -= length
    this.#endedCount = Math.max(this.#endedCount - count, 0)
    this.#writtenBytes += length
  }
}
