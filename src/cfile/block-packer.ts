/**
 * Packs pages into blocks. A block is what is billed, so it is filled: pages of one column follow
 * each other up to BLOCK_BYTES_TARGET, and columns that leave a block nearly empty share it.
 */

import { BLOCK_BYTES_TARGET, STORED_ROW_BYTES_MAX } from '../common/limits.ts'
import { assert } from '../util/assert.ts'
import type { BlockWriter } from './block-id.ts'
import type { PageListBuilder } from './page-list.ts'

/** A block that holds less when a column ends is filled up with the next column's pages. */
const BLOCK_BYTES_MIN = 64 * 1024

/**
 * Pages on their way into blocks of one file.
 *
 *  I1  pages are written in the order in which they were added;
 *  I2  after `flush` every page that was added has its place in its list.
 */
export class BlockPacker {
  readonly #blocks: BlockWriter
  #pages: Uint8Array[] = []
  #lists: PageListBuilder[] = []
  #indexes: number[] = []
  #heldBytes = 0
  #writtenBytes = 0

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks
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
    if (this.#heldBytes + page.length > STORED_ROW_BYTES_MAX) this.flush()
    this.#pages.push(page)
    this.#lists.push(list)
    this.#indexes.push(list.add(rowEnd, page.length))
    this.#heldBytes += page.length
    if (this.#heldBytes >= BLOCK_BYTES_TARGET) this.flush()
  }

  /**
   * Ends a column: its block is written unless it is small enough to share. Requires: inside a
   * transaction.
   */
  endColumn(): void {
    if (this.#heldBytes >= BLOCK_BYTES_MIN) this.flush()
  }

  /** Writes what waits. Requires: inside a transaction. */
  flush(): void {
    if (this.#pages.length === 0) return
    const bytes = new Uint8Array(this.#heldBytes)
    let offset = 0
    for (const page of this.#pages) {
      bytes.set(page, offset)
      offset += page.length
    }
    const block = this.#blocks.append(bytes)
    offset = 0
    for (let i = 0; i < this.#pages.length; i++) {
      this.#lists[i].place(this.#indexes[i], block, offset)
      offset += this.#pages[i].length
    }
    this.#writtenBytes += bytes.length
    this.#pages = []
    this.#lists = []
    this.#indexes = []
    this.#heldBytes = 0
  }
}
