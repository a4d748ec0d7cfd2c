/**
 * Makes another directory for a base in which some columns were written anew: the others stay where
 * they are.
 *
 *   file 7   keys, Bloom filter, c0, c1, c2, directory ┐
 *   file 9   c1 anew, directory ───────────────────────┴─► c0 and c2 in file 7, c1 in file 9
 */

import type { BlockId, BlockWriter } from '../../cfile/block-id.ts'
import type { CFileMeta } from '../../cfile/cfile-meta.ts'
import { rowCountOf } from '../../cfile/page-list.ts'
import { assert } from '../../util/assert.ts'
import type { BaseReader } from './base-reader.ts'
import {
  type BlockSize,
  blockSizesOf,
  bytesOf,
  type Directory,
  decodeDirectory,
  pageListsOf,
  writeDirectory,
} from './directory.ts'

/** What a new directory changes of a RowSetMeta. */
export interface EditedBase {
  readonly directory: BlockId
  readonly baseBytes: number
  readonly baseFiles: readonly number[]
  /** Blocks of the old base that the new one does not have, its directory's among them. */
  readonly replacedBlocks: readonly BlockId[]
}

/** Gathers changes to a base's columns, then writes the new directory. */
export class DirectoryEditor {
  readonly #former: Directory
  readonly #formerOwnBlocks: readonly BlockSize[]
  readonly #columns = new Map<number, CFileMeta>()

  constructor(base: BaseReader) {
    const stored = base.directory
    this.#former = decodeDirectory(stored)
    this.#formerOwnBlocks = stored.ownBlocks
    for (const { columnId, file } of this.#former.columns) this.#columns.set(columnId, file)
  }

  /** Puts a column in place of what there was of it, or beside the others. */
  setColumn(columnId: number, file: CFileMeta): void {
    assert(rowCountOf(file.pages) === this.#former.rowCount, 'a column has a cell for every key')
    this.#columns.set(columnId, file)
  }

  /** Leaves a column out. */
  dropColumn(columnId: number): void {
    this.#columns.delete(columnId)
  }

  /** Writes the new directory. Requires: inside a transaction; all columns were finished. */
  finish(blocks: BlockWriter): EditedBase {
    const former = this.#former
    const columns = [...this.#columns].map(([columnId, file]) => ({ columnId, file }))
    const pages = { ...former, columns }
    const sizes = sizesOf(pages, former.blocks)
    const own = writeDirectory({ ...pages, blocks: sizes }, blocks)
    const names = new Set(sizes.map(nameOf))
    const formerBlocks = [...former.blocks, ...this.#formerOwnBlocks]
    const files = new Set([...sizes, ...own].map(({ file }) => file))
    return {
      directory: { file: own[0].file, block: own[0].block },
      baseBytes: bytesOf(sizes) + bytesOf(own),
      baseFiles: [...files].sort((a, b) => a - b),
      replacedBlocks: formerBlocks
        .filter((block) => !names.has(nameOf(block)))
        .map(({ file, block }) => ({ file, block })),
    }
  }
}

/** Sizes of the blocks in use; a block of the former base may be longer than its pages in use. */
function sizesOf(pages: Directory, former: readonly BlockSize[]): BlockSize[] {
  const formerSizes = new Map(former.map((size) => [nameOf(size), size]))
  return blockSizesOf(pageListsOf(pages)).map((size) => formerSizes.get(nameOf(size)) ?? size)
}

function nameOf({ file, block }: BlockId): string {
  return `${file} ${block}`
}
