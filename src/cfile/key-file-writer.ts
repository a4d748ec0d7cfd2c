/** Writes the sorted keys of a rowset as pages, and what separates them. */

import { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import type { BlockPacker } from './block-packer.ts'
import { DEFAULT_FILE_LAYOUT, type FileLayout } from './file-layout.ts'
import type { KeyFileMeta } from './key-file-meta.ts'
import { encodeKeyPage } from './key-page.ts'
import { PageListBuilder } from './page-list.ts'

/** Writes keys in ascending order, in one transaction or over many. */
export class KeyFileWriter {
  readonly #packer: BlockPacker
  readonly #layout: FileLayout
  readonly #pages: PageListBuilder
  readonly #pending = new KeyArena()
  readonly #separators = new KeyArena()
  #firstKey: Uint8Array | null = null
  #lastKey: Uint8Array | null = null
  #writtenRows = 0

  constructor(packer: BlockPacker, layout: FileLayout = DEFAULT_FILE_LAYOUT) {
    this.#packer = packer
    this.#layout = layout
    this.#pages = new PageListBuilder(packer.file)
  }

  /** Keys appended so far. */
  get rowCount(): number {
    return this.#writtenRows + this.#pending.count
  }

  /** Bytes it holds. */
  get heldBytes(): number {
    return arenaBytes(this.#pending) + arenaBytes(this.#separators)
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
    const { keyPageRows, pageValueBytes } = this.#layout
    const pending = this.#pending
    let key = start
    while (key < end) {
      const pageEnd = this.#pageEnd(keys, key, end)
      const count = pending.count + pageEnd - key
      const bytes = pending.length + keys.ends[pageEnd - 1] - keys.start(key)
      const isFull = count === keyPageRows || bytes >= pageValueBytes
      if (isFull && pending.count === 0) {
        this.#writePage(keys, key, pageEnd)
      } else {
        appendRange(keys, key, pageEnd, pending)
        if (isFull) this.#writePending()
      }
      key = pageEnd
    }
  }

  /** Writes what is left. Requires: inside a transaction; at least one key. */
  finish(): KeyFileMeta {
    if (this.#pending.count > 0) this.#writePending()
    assert(this.#writtenRows > 0, 'a rowset has a key')
    this.#packer.endColumn()
    return { pages: this.#pages, separators: this.#separators }
  }

  /** Where the keys from `start` on fill the pending page, at most `end`. */
  #pageEnd(keys: KeyArena, start: number, end: number): number {
    const { keyPageRows, pageValueBytes } = this.#layout
    const last = Math.min(end, start + keyPageRows - this.#pending.count)
    const full = keys.start(start) + pageValueBytes - this.#pending.length
    let next = start + 1
    if (keys.ends[last - 1] < full) return last
    while (keys.ends[next - 1] < full) next++
    return next
  }

  #writePending(): void {
    this.#writePage(this.#pending, 0, this.#pending.count)
    this.#pending.clear()
  }

  #writePage(keys: KeyArena, start: number, end: number): void {
    const first = keys.key(start)
    if (this.#lastKey === null) this.#firstKey = first
    this.#appendSeparator(first)
    this.#lastKey = keys.key(end - 1)
    this.#writtenRows += end - start
    this.#packer.add(this.#pages, this.#writtenRows, encodeKeyPage(keys, start, end))
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

/** Appends keys `[start, end)` to others. */
function appendRange(keys: KeyArena, start: number, end: number, target: KeyArena): void {
  const from = keys.start(start)
  const shift = target.append(keys.bytes, from, keys.ends[end - 1]) - from
  target.reserveKeys(end - start)
  for (let key = start; key < end; key++) target.ends[target.count++] = keys.ends[key] + shift
}

function arenaBytes({ bytes, ends }: KeyArena): number {
  return bytes.length + ends.length * 4
}
