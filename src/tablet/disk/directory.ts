/**
 * The directory of a rowset's base: where the pages of each column, of the keys and of the Bloom
 * filter lie, with zone maps and the index of the keys (docs/formats/cfile.md). Little-endian.
 *
 *   offset  bytes  field
 *        0      4  magic "NDR1"
 *        4      4  crc    CRC-32C of everything behind this field
 *        8      4  bytes  of the directory, a multiple of 8
 *       12      4  zero
 *       16      …  rowCount, blocks, columns, keys, Bloom filter as varints; then zeros
 *
 * Each part says how long it is, so that those of columns which nobody asks for stay as they are:
 * a table may have hundreds.
 *
 * It is one block unless it is longer than a stored row: then consecutive blocks, all but the last
 * of STORED_ROW_BYTES_MAX bytes.
 */

import type { BlockId, BlockReader, BlockWriter } from '../../cfile/block-id.ts'
import { appendBloomMeta, type BloomMeta, readBloomMeta } from '../../cfile/bloom-filter.ts'
import { appendCFileMeta, type CFileMeta, readCFileMeta } from '../../cfile/cfile-meta.ts'
import { appendKeyFileMeta, type KeyFileMeta, readKeyFileMeta } from '../../cfile/key-file-meta.ts'
import { type PageList, rowCountOf } from '../../cfile/page-list.ts'
import { appendVarint, VarintReader } from '../../cfile/varint.ts'
import { STORED_ROW_BYTES_MAX } from '../../common/limits.ts'
import { CorruptionError } from '../../common/status.ts'
import { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { align8 } from '../../util/bytes.ts'
import { crc32c } from '../../util/crc32c.ts'

const MAGIC = 0x3152444e
const HEADER_BYTES = 16
/** Far above what a rowset of the largest keys needs. */
const DIRECTORY_BYTES_MAX = 64 * 1024 * 1024

/** A block of pages, and how long it is. */
export interface BlockSize extends BlockId {
  readonly bytes: number
}

/** A column of the base. */
export interface DirectoryColumn {
  readonly columnId: number
  readonly file: CFileMeta
}

/** See the file's header. Immutable. */
export interface Directory {
  readonly rowCount: number
  /** Every block that has a page of the base, by file and number. */
  readonly blocks: readonly BlockSize[]
  readonly columns: readonly DirectoryColumn[]
  readonly keys: KeyFileMeta
  readonly bloom: BloomMeta
}

/** A part of a directory's bytes. */
export interface DirectorySection {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** A directory as it is stored, its parts not decoded. */
export interface StoredDirectory {
  readonly rowCount: number
  readonly blocks: DirectorySection
  /** By column id, in the order of the columns. */
  readonly columns: ReadonlyMap<number, DirectorySection>
  readonly keys: DirectorySection
  readonly bloom: DirectorySection
  /** Its own blocks, with their sizes. */
  readonly ownBlocks: readonly BlockSize[]
  /** How errors name it. */
  readonly where: string
}

/** All lists of pages of a directory. */
export function pageListsOf({ columns, keys, bloom }: Omit<Directory, 'blocks'>): PageList[] {
  return [...columns.map(({ file }) => file.pages), keys.pages, bloom.pages]
}

/** The blocks that lists have pages in, by file and number; a block ends with its last page. */
export function blockSizesOf(lists: readonly PageList[]): BlockSize[] {
  const sizes = new Map<string, BlockSize>()
  for (const { file, blocks, offsets, lengths } of lists) {
    for (let i = 0; i < blocks.length; i++) {
      const name = `${file} ${blocks[i]}`
      const bytes = offsets[i] + lengths[i]
      const former = sizes.get(name)
      if (former === undefined || former.bytes < bytes) {
        sizes.set(name, { file, block: blocks[i], bytes })
      }
    }
  }
  return [...sizes.values()].sort((a, b) => a.file - b.file || a.block - b.block)
}

/**
 * Writes a directory. Requires: inside a transaction, in which nobody else appends to the file in
 * between; all pages have their places.
 */
export function writeDirectory(directory: Directory, blocks: BlockWriter): BlockSize[] {
  const bytes = encodeDirectory(directory)
  assert(bytes.length <= DIRECTORY_BYTES_MAX, 'a directory is bounded by its rowset')
  const sizes: BlockSize[] = []
  for (let start = 0; start < bytes.length; start += STORED_ROW_BYTES_MAX) {
    const part = bytes.subarray(start, Math.min(start + STORED_ROW_BYTES_MAX, bytes.length))
    const block = blocks.append(part)
    assert(block === (sizes[0]?.block ?? block) + sizes.length, 'its blocks are consecutive')
    sizes.push({ file: blocks.file, block, bytes: part.length })
  }
  return sizes
}

/** The stored form. */
export function encodeDirectory(directory: Directory): Uint8Array {
  const target = new ByteArena(4096)
  const part = new ByteArena(4096)
  target.reserve(HEADER_BYTES)
  target.length = HEADER_BYTES
  appendVarint(target, directory.rowCount)
  for (const { file, block, bytes } of directory.blocks) {
    appendVarint(part, file)
    appendVarint(part, block)
    appendVarint(part, bytes)
  }
  appendPart(target, part)
  appendVarint(target, directory.columns.length)
  for (const { columnId, file } of directory.columns) {
    appendVarint(target, columnId)
    appendCFileMeta(part, file)
    appendPart(target, part)
  }
  appendKeyFileMeta(part, directory.keys)
  appendPart(target, part)
  appendBloomMeta(part, directory.bloom)
  appendPart(target, part)
  const bytes = new Uint8Array(align8(target.length))
  bytes.set(target.bytes.subarray(0, target.length))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(8, bytes.length, true)
  view.setUint32(12, 0, true)
  view.setUint32(4, crc32c(bytes, 8), true)
  return bytes
}

function appendPart(target: ByteArena, part: ByteArena): void {
  appendVarint(target, part.length)
  target.append(part.bytes, 0, part.length)
  part.truncate(0)
}

/**
 * Reads a directory. Throws: CORRUPTION that names its block. Cost: 1 row read, or one for each
 * STORED_ROW_BYTES_MAX.
 */
export function readDirectory(blocks: BlockReader, first: BlockId, where: string): StoredDirectory {
  const { file, block } = first
  const place = `${where}: directory in file ${file}, block ${block}`
  let bytes = blocks.readBlock(file, block)
  const sizes = [{ file, block, bytes: bytes.length }]
  if (bytes.length < HEADER_BYTES) throw new CorruptionError(`${place}: shorter than its header`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const bytesMax = bytes.length === STORED_ROW_BYTES_MAX ? DIRECTORY_BYTES_MAX : bytes.length
  const total = view.getUint32(8, true)
  if (total > bytesMax) throw new CorruptionError(`${place}: cut off`)
  if (total > bytes.length) bytes = readParts(blocks, bytes, total, sizes)
  return openDirectory(bytes, sizes, place)
}

function readParts(
  blocks: BlockReader,
  first: Uint8Array,
  total: number,
  sizes: BlockSize[],
): Uint8Array {
  const bytes = new Uint8Array(total)
  bytes.set(first)
  let length = first.length
  while (length < total) {
    const { file, block } = sizes[sizes.length - 1]
    const end = Math.min(total - length, STORED_ROW_BYTES_MAX)
    bytes.set(blocks.readBlock(file, block + 1, 0, end), length)
    sizes.push({ file, block: block + 1, bytes: end })
    length += end
  }
  return bytes
}

/** The parts of a directory: views of the bytes. Throws: CORRUPTION. */
export function openDirectory(
  bytes: Uint8Array,
  ownBlocks: readonly BlockSize[],
  where: string,
): StoredDirectory {
  checkDirectory(bytes, where)
  const reader = new VarintReader(bytes, HEADER_BYTES, where)
  const rowCount = reader.next()
  const blocks = nextSection(reader)
  const columns = new Map<number, DirectorySection>()
  for (let left = reader.nextUpTo(bytes.length); left > 0; left--) {
    columns.set(reader.next(), nextSection(reader))
  }
  const keys = nextSection(reader)
  const bloom = nextSection(reader)
  return { rowCount, blocks, columns, keys, bloom, ownBlocks, where }
}

function checkDirectory(bytes: Uint8Array, where: string): void {
  if (bytes.length < HEADER_BYTES) throw new CorruptionError(`${where}: shorter than its header`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw new CorruptionError(`${where}: wrong magic`)
  const expected = view.getUint32(4, true)
  const found = crc32c(bytes, 8)
  if (expected !== found) {
    throw new CorruptionError(`${where}: checksum is ${expected}, bytes give ${found}`)
  }
  if (view.getUint32(8, true) !== bytes.length) throw new CorruptionError(`${where}: wrong size`)
}

function nextSection(reader: VarintReader): DirectorySection {
  const bytes = reader.nextSized()
  return { offset: reader.offset - bytes.length, bytes }
}

/** All of a directory. Throws: CORRUPTION. */
export function decodeDirectory(stored: StoredDirectory): Directory {
  const columns = [...stored.columns.keys()].map((columnId) => ({
    columnId,
    file: mustColumn(stored, columnId),
  }))
  return {
    rowCount: stored.rowCount,
    blocks: decodeBlocks(stored),
    columns,
    keys: decodeKeys(stored),
    bloom: decodeBloom(stored),
  }
}

function mustColumn(stored: StoredDirectory, columnId: number): CFileMeta {
  const file = decodeColumn(stored, columnId)
  assert(file !== null, 'a column that is listed is there')
  return file
}

/** A column, or null when there is none. Throws: CORRUPTION. */
export function decodeColumn(stored: StoredDirectory, columnId: number): CFileMeta | null {
  const section = stored.columns.get(columnId)
  if (section === undefined) return null
  const reader = new VarintReader(section.bytes, 0, `${stored.where}, column ${columnId}`)
  const file = readCFileMeta(reader)
  if (rowCountOf(file.pages) !== stored.rowCount) throw reader.corruption('has other rows')
  return file
}

/** The keys. Throws: CORRUPTION. */
export function decodeKeys(stored: StoredDirectory): KeyFileMeta {
  const reader = new VarintReader(stored.keys.bytes, 0, `${stored.where}, keys`)
  const keys = readKeyFileMeta(reader)
  if (rowCountOf(keys.pages) !== stored.rowCount) throw reader.corruption('have other rows')
  return keys
}

/** The Bloom filter. Throws: CORRUPTION. */
export function decodeBloom(stored: StoredDirectory): BloomMeta {
  return readBloomMeta(new VarintReader(stored.bloom.bytes, 0, `${stored.where}, Bloom filter`))
}

/** The blocks that have pages. Throws: CORRUPTION. */
export function decodeBlocks(stored: StoredDirectory): BlockSize[] {
  const reader = new VarintReader(stored.blocks.bytes, 0, `${stored.where}, blocks`)
  const sizes: BlockSize[] = []
  while (reader.offset < reader.bytes.length) {
    sizes.push({ file: reader.next(), block: reader.next(), bytes: reader.next() })
  }
  return sizes
}

/** Sum of the sizes of blocks. */
export function bytesOf(sizes: readonly BlockSize[]): number {
  let bytes = 0
  for (const size of sizes) bytes += size.bytes
  return bytes
}
