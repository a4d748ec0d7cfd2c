/**
 * Names of stored rows. A tablet's store keeps blocks in files:
 *
 *   file 7   block 1 │ block 2 │ block 3 …      a file is written by one maintenance op, and
 *   file 9   block 1 │ …                        dropped as a whole when nothing in it is alive
 */

import type { FileLayout } from './file-layout.ts'

/** One stored row: the unit of billing, at most STORED_ROW_BYTES_MAX bytes. */
export interface BlockId {
  readonly file: number
  /** From 1, in the order of writing. */
  readonly block: number
}

/** Reads blocks. */
export interface BlockReader {
  /**
   * Bytes `[start, end)` of a block, or all of it. The array is the receiver's own and begins at a
   * multiple of 8 in its buffer.
   *
   * Throws: CORRUPTION that names the block when it is missing or shorter than `end`. Cost: 1 row
   * read.
   */
  readBlock(file: number, block: number, start?: number, end?: number): Uint8Array
}

/** Appends blocks to one file. */
export interface BlockWriter {
  readonly file: number
  /** How rows are cut into its pages and blocks; left out: as usual. */
  readonly layout?: FileLayout
  /**
   * Writes a block and returns its number: 1, 2, 3 … The bytes are not kept.
   *
   * Requires: inside a transaction of the store; at most STORED_ROW_BYTES_MAX bytes. Cost: 1 row
   * written.
   */
  append(bytes: Uint8Array): number
}

/** How an error names a block. */
export function blockText({ file, block }: BlockId): string {
  return `file ${file}, block ${block}`
}
