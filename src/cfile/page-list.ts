/**
 * Where the pages of a column, of keys or of a Bloom filter lie.
 *
 *   file 7   block 1 │ page 0 │ page 1 │ …        pages of one list follow each other in a block
 *            block 2 │ page 5 │ other list's │
 */

import type { ByteArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import type { BlockReader } from './block-id.ts'
import { appendVarint, type VarintReader } from './varint.ts'

/** Pages are as long as a multiple of this, and so begin at one in their block. */
export const PAGE_ALIGNMENT = 8

/** Pages in the order of their rows. One element a page in each array. */
export interface PageList {
  /** The file of their blocks. */
  readonly file: number
  /** Row behind the last one of each page. */
  readonly rowEnds: readonly number[]
  readonly blocks: readonly number[]
  /** Where in its block a page begins, a multiple of 8. */
  readonly offsets: readonly number[]
  /** Bytes of a page, a multiple of 8. */
  readonly lengths: readonly number[]
}

/** A list while its pages are written. */
export class PageListBuilder implements PageList {
  readonly file: number
  readonly rowEnds: number[] = []
  readonly blocks: number[] = []
  readonly offsets: number[] = []
  readonly lengths: number[] = []

  constructor(file: number) {
    this.file = file
  }

  /** Adds a page that has no place yet. Returns its index. */
  add(rowEnd: number, bytes: number): number {
    assert(bytes % PAGE_ALIGNMENT === 0, 'a page is a multiple of 8 bytes')
    this.blocks.push(0)
    this.offsets.push(0)
    this.lengths.push(bytes)
    return this.rowEnds.push(rowEnd) - 1
  }

  /** Says where a page was written. */
  place(index: number, block: number, offset: number): void {
    this.blocks[index] = block
    this.offsets[index] = offset
  }
}

/** Rows of all pages. */
export function rowCountOf({ rowEnds }: PageList): number {
  return rowEnds.length === 0 ? 0 : rowEnds[rowEnds.length - 1]
}

/** Bytes of all pages. */
export function pageBytesOf({ lengths }: PageList): number {
  let bytes = 0
  for (const length of lengths) bytes += length
  return bytes
}

/** Index of the page that has a row. Requires: there is one. Cost: O(log pages). */
export function pageIndexOf(rowEnds: readonly number[], row: number): number {
  let low = 0
  let high = rowEnds.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rowEnds[middle] <= row) low = middle + 1
    else high = middle
  }
  assert(low < rowEnds.length, 'the row is in a page')
  return low
}

/** Numbers of the blocks of a list, each once, in its order. */
export function blocksOf({ blocks }: PageList): number[] {
  return blocks.filter((block, index) => index === 0 || block !== blocks[index - 1])
}

/** Reads one page's bytes: the receiver's own, 8-aligned. Cost: 1 row read. */
export function readPage(pages: PageList, index: number, blocks: BlockReader): Uint8Array {
  const offset = pages.offsets[index]
  return blocks.readBlock(pages.file, pages.blocks[index], offset, offset + pages.lengths[index])
}

/** How an error names a page. */
export function pageText(where: string, pages: PageList, index: number): string {
  return `${where}: file ${pages.file}, block ${pages.blocks[index]}, page ${index}`
}

/** Appends the stored form of a list: two or three bytes a page. */
export function appendPageList(target: ByteArena, pages: PageList): void {
  const { rowEnds, lengths } = pages
  const pageCount = rowEnds.length
  const uniform = uniformRows(rowEnds)
  appendVarint(target, pages.file)
  appendVarint(target, pageCount)
  appendVarint(target, rowCountOf(pages))
  appendVarint(target, uniform)
  if (uniform === 0) {
    for (let i = 0; i < pageCount; i++) appendVarint(target, rowEnds[i] - (rowEnds[i - 1] ?? 0))
  }
  for (const length of lengths) appendVarint(target, length / PAGE_ALIGNMENT)
  for (let i = 0; i < pageCount; ) {
    const end = runEnd(pages, i)
    assert(pages.blocks[i] > 0, 'a page has its place')
    appendVarint(target, end - i)
    appendVarint(target, pages.blocks[i])
    appendVarint(target, pages.offsets[i] / PAGE_ALIGNMENT)
    i = end
  }
}

/** Reads what `appendPageList` wrote. Throws: CORRUPTION. */
export function readPageList(reader: VarintReader): PageList {
  const pages = new PageListBuilder(reader.next())
  // Every page takes a byte at least.
  const pageCount = reader.nextUpTo(reader.bytes.length - reader.offset)
  const rowCount = reader.next()
  const uniform = reader.next()
  const { rowEnds, lengths } = pages
  for (let i = 0; i < pageCount; i++) {
    if (uniform === 0) rowEnds.push((rowEnds[i - 1] ?? 0) + reader.next())
    else rowEnds.push(Math.min((i + 1) * uniform, rowCount))
  }
  if (rowCountOf(pages) !== rowCount) throw reader.corruption('has pages of other rows')
  for (let i = 0; i < pageCount; i++) lengths.push(reader.next() * PAGE_ALIGNMENT)
  while (pages.blocks.length < pageCount) {
    const count = reader.nextUpTo(pageCount - pages.blocks.length)
    if (count === 0) throw reader.corruption('has an empty run of pages')
    const block = reader.next()
    let offset = reader.next() * PAGE_ALIGNMENT
    for (let i = 0; i < count; i++) {
      pages.offsets.push(offset)
      offset += lengths[pages.blocks.push(block) - 1]
    }
  }
  return pages
}

/** Rows of each page but the last, which has no more; 0 when they differ. */
function uniformRows(rowEnds: readonly number[]): number {
  const rows = rowEnds[0] ?? 0
  for (let i = 1; i < rowEnds.length - 1; i++) if (rowEnds[i] !== (i + 1) * rows) return 0
  const last = rowEnds.length - 1
  return last > 0 && rowEnds[last] - rowEnds[last - 1] > rows ? 0 : rows
}

/** End of the pages from `start` on that lie behind each other in one block. */
export function runEnd({ blocks, offsets, lengths }: PageList, start: number): number {
  let end = start + 1
  while (
    end < blocks.length &&
    blocks[end] === blocks[start] &&
    offsets[end] === offsets[end - 1] + lengths[end - 1]
  ) {
    end++
  }
  return end
}
