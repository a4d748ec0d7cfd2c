/**
 * Reads the base of a DiskRowSet. Nothing is read before it is needed; what was read lies in the
 * page cache, so a reader by itself holds nothing.
 */

import type { BlockId, BlockReader } from '../../cfile/block-id.ts'
import { BloomReader } from '../../cfile/bloom-filter.ts'
import type { PageForm } from '../../cfile/cfile-meta.ts'
import { CFileReader } from '../../cfile/cfile-reader.ts'
import { KeyFileReader } from '../../cfile/key-file-reader.ts'
import type { PageCache } from '../../cfile/page-cache.ts'
import { blocksOf, pageBytesOf } from '../../cfile/page-list.ts'
import { assert } from '../../util/assert.ts'
import { bytesOf } from './base-writer.ts'
import { pageListsOf, readDirectory, type StoredDirectory } from './directory.ts'

/** Where a base is, and what its pages are kept in. */
export interface BaseReaderOptions {
  readonly blocks: BlockReader
  readonly cache: PageCache
  /** The tablet's number in the cache. */
  readonly owner: number
  readonly directory: BlockId
  /** How errors name the rowset, as in `rowset 7`. */
  readonly where: string
}

/** A column of a base, for reports. */
export interface ColumnReport {
  readonly columnId: number
  readonly bytes: number
  readonly pageCount: number
  readonly nullCount: number
  readonly forms: readonly PageForm[]
}

/** A base, for reports. */
export interface BaseReport {
  readonly rowCount: number
  readonly bytes: number
  readonly directoryBytes: number
  readonly keyBytes: number
  readonly bloomBytes: number
  readonly columns: readonly ColumnReport[]
}

/** What a directory says, with readers for it. */
class OpenBase {
  readonly stored: StoredDirectory
  readonly columns = new Map<number, CFileReader>()
  readonly keys: KeyFileReader
  readonly bloom: BloomReader

  constructor(stored: StoredDirectory, { blocks, cache, owner, where }: BaseReaderOptions) {
    const { directory } = stored
    this.stored = stored
    this.keys = new KeyFileReader(directory.keys, blocks, cache, owner, `${where}, keys`)
    this.bloom = new BloomReader(directory.bloom, blocks, cache, owner, `${where}, Bloom filter`)
    for (const { columnId, file } of directory.columns) {
      const name = `${where}, column ${columnId}`
      this.columns.set(columnId, new CFileReader(file, blocks, cache, owner, name))
    }
  }

  /** Bytes it holds, about: zone maps as if they were all decoded. */
  get heldBytes(): number {
    const { columns, keys } = this.stored.directory
    let pageCount = 0
    for (const list of pageListsOf(this.stored.directory)) pageCount += list.rowEnds.length
    const zoneBytes = columns.reduce((sum, { file }) => sum + file.zones.length, 0)
    const separatorBytes = keys.separators.length + keys.separators.count * 4
    return bytesOf(this.stored.blocks) + pageCount * 200 + zoneBytes + separatorBytes + 2048
  }
}

/**
 * See the file's header. Every member may read the directory, and so may throw CORRUPTION that
 * names its block, and cost 1 row read when the cache does not have it.
 */
export class BaseReader {
  readonly options: BaseReaderOptions

  constructor(options: BaseReaderOptions) {
    this.options = options
  }

  /** Rows, deleted ones included. */
  get rowCount(): number {
    return this.#open().stored.directory.rowCount
  }

  /** Ids of the columns that the base has, in the order in which they were written. */
  get columnIds(): readonly number[] {
    return this.#open().stored.directory.columns.map(({ columnId }) => columnId)
  }

  /** A column, or null when it is younger than the rowset. */
  column(columnId: number): CFileReader | null {
    return this.#open().columns.get(columnId) ?? null
  }

  /** The keys. */
  get keys(): KeyFileReader {
    return this.#open().keys
  }

  /** The Bloom filter over the hashes of the keys. */
  get bloom(): BloomReader {
    return this.#open().bloom
  }

  /** Whether a key of this hash may be there. For batches see `bloom.filter`. */
  mayContain(hash: number): boolean {
    return this.#open().bloom.mayContain(hash)
  }

  /** Bytes of its blocks, those of the directory included. */
  get baseBytes(): number {
    const { stored } = this.#open()
    return bytesOf(stored.directory.blocks) + bytesOf(stored.blocks)
  }

  /** The directory, and the blocks it is in. */
  get directory(): StoredDirectory {
    return this.#open().stored
  }

  /** Blocks that have pages of a column; other columns may share them. */
  blockIdsOf(columnId: number): BlockId[] {
    const pages = this.column(columnId)?.pages
    if (pages === undefined) return []
    return blocksOf(pages).map((block) => ({ file: pages.file, block }))
  }

  /** What it is made of. */
  describe(): BaseReport {
    const { directory, blocks } = this.directory
    return {
      rowCount: directory.rowCount,
      bytes: this.baseBytes,
      directoryBytes: bytesOf(blocks),
      keyBytes: pageBytesOf(directory.keys.pages),
      bloomBytes: pageBytesOf(directory.bloom.pages),
      columns: directory.columns.map(({ columnId, file }) => ({
        columnId,
        bytes: pageBytesOf(file.pages),
        pageCount: file.pages.rowEnds.length,
        nullCount: file.nullCount,
        forms: file.forms,
      })),
    }
  }

  #open(): OpenBase {
    const { blocks, cache, owner, directory, where } = this.options
    const found = cache.get(owner, directory.file, directory.block, 0)
    if (found !== undefined) {
      assert(found instanceof OpenBase, 'the place of a directory has it in the cache')
      return found
    }
    const open = new OpenBase(readDirectory(blocks, directory, where), this.options)
    cache.put(owner, directory.file, directory.block, 0, open, open.heldBytes)
    return open
  }
}
