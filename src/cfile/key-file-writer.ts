/** Writes the sorted keys of a rowset as pages, and what separates them. */

import { KEY_PAGE_ROWS, PAGE_VALUE_BYTES } from '../common/limits.ts'
import { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import type { BlockPacker } from './block-packer.ts'
import type { KeyFileMeta } from './key-file-meta.ts'
import { encodeKeyPage } from './key-page.ts'
import { PageListBuilder } from './page-list.ts'

/** Writes keys in ascending order, in one transaction or over many. */
export class KeyFileWriter {
  readonly #packer: BlockPacker
  readonly #pages: PageListBuilder
  readonly #pending = new KeyArena(KEY_PAGE_ROWS, KEY_PAGE_ROWS * 16)
  readonly #separators = new KeyArena()
  #firstKey: Uint8Array | null = null
  #lastKey: Uint8Array | null = null
  #writtenRows = 0

  constructor(packer: BlockPacker) {
    this.#packer = packer
    this.#pages = new PageListBuilder(packer.file)
  }

  /** Keys appended so far. */
  get rowCount(): number {
    return this.#writtenRows + this.#pending.count
  }

  /** Bytes it holds. */
  get heldBytes(): number {
    return this.#pending.bytes.length + this.#separators.bytes.length + KEY_PAGE_ROWS * 4
  }

  /** The least key. Requires: there is one, and `finish` was called. */
  get firstKey(): Uint8Array {
    assert(this.#firstKey !== null, 'there is a first key')
    return this.#firstKey
  }

  /** The greatest key. Requires: as `firstKey`. */
  get lastKey(): Uint8Array {
    assert(this.#lastKey !== null, 'there is a last key')
    return this.#lastKey
  }

  /**
   * Appends keys `[start, end)`. Requires: strictly ascending, and above all before; inside a
   * transaction.
   */
  append(keys: KeyArena, start: number, end: number): void {
    const pending = this.#pending
    for (let key = start; key < end; key++) {
      pending.append(keys.bytes, keys.start(key), keys.ends[key])
      pending.endKey()
      if (pending.count === KEY_PAGE_ROWS || pending.length >= PAGE_VALUE_BYTES) this.#writePage()
    }
  }

  /** Writes what is left. Requires: inside a transaction; at least one key. */
  finish(): KeyFileMeta {
    if (this.#pending.count > 0) this.#writePage()
    assert(this.#writtenRows > 0, 'a rowset has a key')
    this.#packer.endColumn()
    return { pages: this.#pages, separators: this.#separators }
  }

  #writePage(): void {
    const pending = this.#pending
    const first = pending.key(0)
    if (this.#lastKey === null) this.#firstKey = first
    this.#appendSeparator(first)
    this.#lastKey = pending.key(pending.count - 1)
    this.#writtenRows += pending.count
    this.#packer.add(this.#pages, this.#writtenRows, encodeKeyPage(pending, 0, pending.count))
    pending.clear()
  }

  /** The shortest key that is above the last one of the page before and not above `first`. */
  #appendSeparator(first: Uint8Array): void {
    const last = this.#lastKey
    if (last !== null) {
      let shared = 0
      while (shared < last.length && last[shared] === first[shared]) shared++
      const isAbove =
        shared < first.length && (shared === last.length || first[shared] > last[shared])
      assert(isAbove, 'keys are strictly ascending from page to page')
      this.#separators.append(first, 0, shared + 1)
    }
    this.#separators.endKey()
  }
}
