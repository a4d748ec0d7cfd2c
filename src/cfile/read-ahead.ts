/**
 * Reads pages that follow each other with one row read, and keeps their bytes until they are asked
 * for.
 */

import type { BlockReader } from './block-id.ts'
import type { PageList } from './page-list.ts'

/** Pages of one list as one reader goes through them, forwards or backwards. */
export class ReadAhead {
  readonly #pages: PageList
  readonly #blocks: BlockReader
  readonly #bytesMax: number
  readonly #isDescending: boolean
  /** Pages that may be asked for: `[start, end)`. */
  readonly #pageStart: number
  readonly #pageEnd: number
  #first = 0
  #end = 0
  #run: Uint8Array | null = null

  /** Pages outside `[pageStart, pageEnd)` are not read ahead. */
  constructor(
    pages: PageList,
    blocks: BlockReader,
    bytesMax: number,
    isDescending: boolean,
    pageStart = 0,
    pageEnd = pages.lengths.length,
  ) {
    this.#pages = pages
    this.#blocks = blocks
    this.#bytesMax = bytesMax
    this.#isDescending = isDescending
    this.#pageStart = pageStart
    this.#pageEnd = pageEnd
  }

  /** Bytes of the pages at hand. */
  get heldBytes(): number {
    return this.#run === null ? 0 : this.#run.length
  }

  /**
   * The bytes of a page, 8-aligned. Borrowed: a view of what is at hand, which it keeps alive.
   * Cost: 1 row read when it is not at hand, for it and as many of the next as `bytesMax` allows.
   */
  page(index: number): Uint8Array {
    if (this.#run === null || index < this.#first || index >= this.#end) this.#read(index)
    const run = this.#run as Uint8Array
    const { offsets, lengths } = this.#pages
    const offset = offsets[index] - offsets[this.#first]
    return run.subarray(offset, offset + lengths[index])
  }

  /** Lets go of the bytes at hand. */
  clear(): void {
    this.#run = null
  }

  #read(index: number): void {
    const { file, blocks, offsets, lengths } = this.#pages
    let bytes = lengths[index]
    let first = index
    let end = index + 1
    if (this.#isDescending) {
      while (
        first > this.#pageStart &&
        this.#follows(first - 1) &&
        bytes + lengths[first - 1] <= this.#bytesMax
      ) {
        bytes += lengths[--first]
      }
    } else {
      while (
        end < this.#pageEnd &&
        this.#follows(end - 1) &&
        bytes + lengths[end] <= this.#bytesMax
      ) {
        bytes += lengths[end++]
      }
    }
    this.#run = null
    const start = offsets[first]
    this.#run = this.#blocks.readBlock(file, blocks[index], start, start + bytes)
    this.#first = first
    this.#end = end
  }

  /** Whether page `index + 1` lies behind page `index` in the same block. */
  #follows(index: number): boolean {
    const { blocks, offsets, lengths } = this.#pages
    return (
      blocks[index] === blocks[index + 1] && offsets[index] + lengths[index] === offsets[index + 1]
    )
  }
}
