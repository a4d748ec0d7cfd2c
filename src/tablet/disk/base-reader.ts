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
import { STORED_ROW_BYTES_MAX } from '../../common/limits.ts'
import { assert } from '../../util/assert.ts'
import {
  bytesOf,
  decodeBlocks,
  decodeBloom,
  decodeColumn,
  decodeDirectory,
  decodeKeys,
  readDirectory,
  type StoredDirectory,
} from './directory.ts'

/** Bytes of a page in a list of pages in memory, of its zone map, and of readers, about. */
const LIST_PAGE_BYTES = 32
const ZONE_BYTES = 170
const COLUMN_BYTES = 150
const READER_BYTES = 1024

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

/** A directory, with readers of what every read of a key needs. Columns are kept one by one. */
class OpenBase {
  readonly stored: StoredDirectory
  readonly keys: KeyFileReader
  readonly bloom: BloomReader

  constructor(stored: StoredDirectory, { blocks, cache, owner, where }: BaseReaderOptions) {
    const keys = decodeKeys(stored)
    const bloom = decodeBloom(stored)
    this.stored = stored
    this.keys = new KeyFileReader(keys, blocks, cache, owner, `${where}, keys`)
    this.bloom = new BloomReader(bloom, blocks, cache, owner, `${where}, Bloom filter`)
  }

  /** Bytes it holds, about. */
  get heldBytes(): number {
    const { stored, keys, bloom } = this
    const { separators } = keys.meta
    const pageCount = keys.pageCount + bloom.meta.pages.lengths.length
    const separatorBytes = separators.length + separators.count * 4
    const bytes = bytesOf(stored.ownBlocks) + separatorBytes
    return bytes + pageCount * LIST_PAGE_BYTES + stored.columns.size * COLUMN_BYTES + READER_BYTES
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
    return this.#open().stored.rowCount
  }

  /** Ids of the columns that the base has, in the order in which they were written. */
  get columnIds(): readonly number[] {
    return [...this.#open().stored.columns.keys()]
  }

  /** A column, or null when it is younger than the rowset. */
  column(columnId: number): CFileReader | null {
    const { stored } = this.#open()
    const section = stored.columns.get(columnId)
    if (section === undefined) return null
    const { blocks, cache, owner, directory, where } = this.options
    // Where the column's part of the directory lies: nothing else is kept there.
    const block = directory.block + Math.floor(section.offset / STORED_ROW_BYTES_MAX)
    const offset = section.offset % STORED_ROW_BYTES_MAX
    const found = cache.get(owner, directory.file, block, offset)
    if (found !== undefined) {
      assert(found instanceof CFileReader, 'the place of a column has its reader in the cache')
      return found
    }
    const decoded = decodeColumn(stored, columnId)
    assert(decoded !== null, 'a column that is listed is there')
    const meta = { ...decoded, zones: decoded.zones.slice() }
    const reader = new CFileReader(meta, blocks, cache, owner, `${where}, column ${columnId}`)
    const bytes = reader.pageCount * (LIST_PAGE_BYTES + ZONE_BYTES) + meta.zones.length
    cache.put(owner, directory.file, block, offset, reader, bytes + READER_BYTES)
    return reader
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
    return bytesOf(decodeBlocks(stored)) + bytesOf(stored.ownBlocks)
  }

  /** The directory as it is stored. */
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
    const stored = this.directory
    const directory = decodeDirectory(stored)
    return {
      rowCount: directory.rowCount,
      bytes: bytesOf(directory.blocks) + bytesOf(stored.ownBlocks),
      directoryBytes: bytesOf(stored.ownBlocks),
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
