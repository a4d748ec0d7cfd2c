/**
 * A file while it is written, over as many transactions as it takes.
 *
 *   begun ──append──► … ──► finished by the commit that names it, or abandoned
 *
 * Until then the superblock names it as an orphan, so that a crash leaves nothing behind.
 */

import type { BlockWriter } from '../cfile/block-id.ts'
import type { FileLayout } from '../cfile/file-layout.ts'
import { assert } from '../util/assert.ts'
import type { TabletStore } from './ports.ts'

/** See the file's header. Made by `TabletParts.beginFile`. */
export class FileWriter implements BlockWriter {
  readonly file: number
  readonly layout: FileLayout
  readonly #store: TabletStore
  #blockCount = 0
  #isOpen = true

  constructor(store: TabletStore, file: number, layout: FileLayout) {
    this.#store = store
    this.layout = layout
    this.file = file
  }

  /** Blocks written so far. */
  get blockCount(): number {
    return this.#blockCount
  }

  /** Whether more may be written, so that the file must not be dropped. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  append(bytes: Uint8Array): number {
    assert(this.#isOpen, 'a block is appended to a file that is not finished')
    this.#blockCount++
    return this.#store.appendBlock(this.file, bytes)
  }

  /**
   * Ends the writing. A file that no commit makes part of a rowset is dropped by the next commit.
   * Doing so twice is no error.
   */
  close(): void {
    this.#isOpen = false
  }
}
