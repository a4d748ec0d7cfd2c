/**
 * Writes the base of a DiskRowSet: all keys first, then one column after the other, so that only
 * one column's buffers are held at a time.
 *
 *   appendKeys … ► column(0) append … finish ► column(1) … ► … ► finish ► directory
 */

import type { BlockId, BlockWriter } from '../../cfile/block-id.ts'
import { BlockPacker } from '../../cfile/block-packer.ts'
import { type BloomMeta, BloomWriter } from '../../cfile/bloom-filter.ts'
import { CFileWriter } from '../../cfile/cfile-writer.ts'
import { DEFAULT_FILE_LAYOUT, type FileLayout } from '../../cfile/file-layout.ts'
import type { KeyFileMeta } from '../../cfile/key-file-meta.ts'
import { KeyFileWriter } from '../../cfile/key-file-writer.ts'
import { hashKeys } from '../../common/hash-keys.ts'
import { ROWSET_BOUND_BYTES_MAX } from '../../common/limits.ts'
import type { Column } from '../../common/schema.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { EMPTY_BYTES } from '../../util/bytes.ts'
import {
  blockSizesOf,
  bytesOf,
  type DirectoryColumn,
  pageListsOf,
  writeDirectory,
} from './directory.ts'

/** What a BaseWriter needs to know. */
export interface BaseWriterOptions {
  /** The columns to write, in the order in which they are written. */
  readonly columns: readonly Column[]
  /** Seed of the hashes that the Bloom filter is made of. */
  readonly keyHashSeed: number
  readonly blocks: BlockWriter
  readonly layout?: FileLayout
}

/** What RowSetMeta says of a base. */
export interface BaseMeta {
  readonly rowCount: number
  readonly directory: BlockId
  readonly baseBytes: number
  readonly lowerKey: Uint8Array
  readonly upperKey: Uint8Array
  readonly baseFiles: readonly number[]
}

/**
 * See the file's header. Every method but the getters may write blocks: call it inside a
 * transaction of the store. The work may be spread over any number of transactions.
 */
export class BaseWriter {
  readonly #options: BaseWriterOptions
  readonly #layout: FileLayout
  readonly #packer: BlockPacker
  readonly #keyWriter: KeyFileWriter
  readonly #bloomWriter = new BloomWriter()
  readonly #columns: DirectoryColumn[] = []
  #scratchHashes = new Uint32Array(0)
  #column: CFileWriter | null = null
  #columnIndex = -1
  #keys: KeyFileMeta | null = null
  #bloom: BloomMeta | null = null
  #isFinished = false

  constructor(options: BaseWriterOptions) {
    this.#options = options
    this.#layout = options.layout ?? options.blocks.layout ?? DEFAULT_FILE_LAYOUT
    this.#packer = new BlockPacker(options.blocks, this.#layout.blockBytes)
    this.#keyWriter = new KeyFileWriter(this.#packer, this.#layout)
  }

  /** Keys appended so far. */
  get rowCount(): number {
    return this.#keyWriter.rowCount
  }

  /** Bytes it holds. */
  get heldBytes(): number {
    const keys = this.#keyWriter.heldBytes + this.#bloomWriter.heldBytes
    return keys + (this.#column?.heldBytes ?? this.#packer.heldBytes)
  }

  /** Bytes of the blocks written so far. */
  get writtenBytes(): number {
    return this.#packer.writtenBytes
  }

  /**
   * Appends keys `[start, end)`; the hash of key `i` is `hashes[i]`, computed when left out.
   *
   * Requires: strictly ascending, above all keys before; no column was begun.
   */
  appendKeys(keys: KeyArena, start: number, end: number, hashes?: Uint32Array): void {
    assert(this.#keys === null, 'all keys come before the first column')
    if (start === end) return
    this.#keyWriter.append(keys, start, end)
    this.#bloomWriter.add(hashes ?? this.#hashesOf(keys, start, end), start, end)
  }

  /**
   * Begins a column: append its cells to what is returned, row by row as the keys, then call its
   * `finish`. Requires: at least one key; the column before is finished.
   */
  column(index: number): CFileWriter {
    this.#endKeys()
    this.#endColumn()
    assert(index === this.#columnIndex + 1, 'columns are written in their order')
    this.#columnIndex = index
    this.#column = new CFileWriter({
      column: this.#options.columns[index],
      packer: this.#packer,
      layout: this.#layout,
    })
    return this.#column
  }

  /** Writes the directory. Requires: every column was written. */
  finish(): BaseMeta {
    assert(!this.#isFinished, 'a base is finished once')
    this.#endKeys()
    this.#endColumn()
    const { columns, blocks } = this.#options
    assert(this.#columns.length === columns.length, 'every column was written')
    this.#packer.flush()
    const keys = this.#keys as KeyFileMeta
    const bloom = this.#bloom as BloomMeta
    const pages = { rowCount: this.rowCount, columns: this.#columns, keys, bloom }
    const sizes = blockSizesOf(pageListsOf(pages))
    const own = writeDirectory({ ...pages, blocks: sizes }, blocks)
    this.#isFinished = true
    return {
      rowCount: this.rowCount,
      directory: { file: own[0].file, block: own[0].block },
      baseBytes: bytesOf(sizes) + bytesOf(own),
      lowerKey: this.#keyWriter.firstKey.slice(0, ROWSET_BOUND_BYTES_MAX),
      upperKey: upperBoundOf(this.#keyWriter.lastKey),
      baseFiles: [blocks.file],
    }
  }

  #hashesOf(keys: KeyArena, start: number, end: number): Uint32Array {
    if (this.#scratchHashes.length < end) this.#scratchHashes = new Uint32Array(end)
    const upToEnd = new KeyArena(0, 0)
    upToEnd.bytes = keys.bytes
    upToEnd.ends = keys.ends
    upToEnd.count = end
    hashKeys(upToEnd, start, this.#options.keyHashSeed, this.#scratchHashes)
    return this.#scratchHashes
  }

  #endKeys(): void {
    if (this.#keys !== null) return
    this.#keys = this.#keyWriter.finish()
    this.#bloom = this.#bloomWriter.finish(this.#packer)
    this.#scratchHashes = new Uint32Array(0)
  }

  #endColumn(): void {
    if (this.#column === null) return
    const { meta, rowCount } = this.#column
    assert(meta !== null, 'a column is finished before the next one begins')
    assert(rowCount === this.rowCount, 'a column has a cell for every key')
    const columnId = this.#options.columns[this.#columnIndex].id
    this.#columns.push({ columnId, file: meta })
    this.#column = null
  }
}

/**
 * A key above `last` of at most ROWSET_BOUND_BYTES_MAX bytes: the next one when it is that short,
 * else the least that no key of the same beginning reaches; empty when there is none.
 */
export function upperBoundOf(last: Uint8Array): Uint8Array {
  if (last.length < ROWSET_BOUND_BYTES_MAX) {
    const next = new Uint8Array(last.length + 1)
    next.set(last)
    return next
  }
  let length = ROWSET_BOUND_BYTES_MAX
  while (length > 0 && last[length - 1] === 0xff) length--
  if (length === 0) return EMPTY_BYTES
  const bound = last.slice(0, length)
  bound[length - 1]++
  return bound
}
