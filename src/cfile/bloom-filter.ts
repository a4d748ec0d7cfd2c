/**
 * A Bloom filter over the 32-bit hashes of a rowset's keys (common/hash-keys.ts), cut into pages so
 * that one probe reads one page. Hot.
 *
 *   hash ──► page        its high bits: ⌊hash × pages / 2^32⌋
 *        ──► 8 bits      of a mix of the hash, by double hashing with a growing step
 *
 *   page, integers little-endian (docs/formats/cfile.md)
 *   offset  bytes  field
 *        0      4  magic "NBF1"
 *        4      4  crc   CRC-32C of everything behind this field
 *        8      …  bits  32-bit words
 *
 * 16 bits a key and 8 probes: 0.06 % of absent keys seem to be there by themselves, and another
 * 0.02 % for each million keys, whose hashes collide. More bits are worth their place: a key that
 * seems to be there costs a read of a page of keys, far more than all its probes.
 */

import { CorruptionError } from '../common/status.ts'
import type { ByteArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { crc32c } from '../util/crc32c.ts'
import type { BlockReader } from './block-id.ts'
import type { BlockPacker } from './block-packer.ts'
import type { PageCache } from './page-cache.ts'
import {
  appendPageList,
  type PageList,
  PageListBuilder,
  pageText,
  readPage,
  readPageList,
} from './page-list.ts'
import { ReadAhead } from './read-ahead.ts'
import { appendVarint, type VarintReader } from './varint.ts'

const MAGIC = 0x3146424e
const HEADER_BYTES = 8
const BITS_PER_KEY = 16
const PROBE_COUNT = 8
/** A page has 2^9 to 2^15 bits: 64 bytes to 4 KiB. */
const PAGE_BITS_LOG_MIN = 9
const PAGE_BITS_LOG_MAX = 15
/** Pages are made smaller rather than fewer, so that the last is not mostly empty. */
const PAGE_COUNT_MIN = 8
/** Keys of a batch from which on missing pages are read many at a time. */
const BATCH_COUNT_MIN = 16
const BATCH_READ_BYTES = 512 * 1024
/**
 * A batch with a hash for this many pages reads all of them: one long read costs less than many
 * short ones, and what it leaves in the cache is found at once.
 */
const WHOLE_PAGES_PER_HASH = 8
/** A filter above this share of the cache is read and kept by the page. */
const WHOLE_SHARE_MAX = 1 / 8
/** Where the whole filter is kept: within its first page, where no page begins. */
const WHOLE_OFFSET = 1
/** Bytes of the objects of what is kept, about. */
const KEPT_OBJECT_BYTES = 200

/** What a directory says of a Bloom filter. */
export interface BloomMeta {
  readonly pages: PageList
  readonly pageBitsLog: number
}

/** Appends the stored form. */
export function appendBloomMeta(target: ByteArena, meta: BloomMeta): void {
  appendVarint(target, meta.pageBitsLog)
  appendPageList(target, meta.pages)
}

/** Reads what `appendBloomMeta` wrote. Throws: CORRUPTION. */
export function readBloomMeta(reader: VarintReader): BloomMeta {
  const pageBitsLog = reader.nextUpTo(PAGE_BITS_LOG_MAX)
  const pages = readPageList(reader)
  const pageBytes = HEADER_BYTES + (1 << pageBitsLog) / 8
  if (pageBitsLog < PAGE_BITS_LOG_MIN || pages.lengths.some((length) => length !== pageBytes)) {
    throw reader.corruption('has Bloom pages of another size')
  }
  if (pages.lengths.length === 0) throw reader.corruption('has no Bloom pages')
  return { pages, pageBitsLog }
}

/** Gathers hashes and makes a filter of them. Holds 4 bytes a key. */
export class BloomWriter {
  #hashes = new Uint32Array(1024)
  #count = 0

  /** Bytes it holds. */
  get heldBytes(): number {
    return this.#hashes.length * 4
  }

  /** Adds `hashes[start, end)`. */
  add(hashes: Uint32Array, start: number, end: number): void {
    const needed = this.#count + end - start
    if (needed > this.#hashes.length) {
      const grown = new Uint32Array(Math.max(needed, this.#hashes.length * 2))
      grown.set(this.#hashes.subarray(0, this.#count))
      this.#hashes = grown
    }
    this.#hashes.set(hashes.subarray(start, end), this.#count)
    this.#count = needed
  }

  /** Writes the filter and forgets the hashes. Requires: inside a transaction. */
  finish(packer: BlockPacker): BloomMeta {
    const bits = Math.max(this.#count * BITS_PER_KEY, 1)
    let pageBitsLog = PAGE_BITS_LOG_MAX
    while (pageBitsLog > PAGE_BITS_LOG_MIN && bits < PAGE_COUNT_MIN * 2 ** pageBitsLog)
      pageBitsLog--
    const pageCount = Math.ceil(bits / 2 ** pageBitsLog)
    const words = new Uint32Array(pageCount << (pageBitsLog - 5))
    for (let i = 0; i < this.#count; i++) {
      const hash = this.#hashes[i]
      addHash(words, pageOf(hash, pageCount) << (pageBitsLog - 5), pageBitsLog, hash)
    }
    this.#hashes = new Uint32Array(0)
    this.#count = 0
    const pages = new PageListBuilder(packer.file)
    const pageBytes = (1 << pageBitsLog) / 8
    const all = new Uint8Array(words.buffer)
    for (let i = 0; i < pageCount; i++) {
      packer.add(pages, i + 1, encodeBloomPage(all.subarray(i * pageBytes, (i + 1) * pageBytes)))
    }
    packer.endColumn()
    return { pages, pageBitsLog }
  }
}

function encodeBloomPage(bits: Uint8Array): Uint8Array {
  const page = new Uint8Array(HEADER_BYTES + bits.length)
  const view = new DataView(page.buffer)
  view.setUint32(0, MAGIC, true)
  page.set(bits, HEADER_BYTES)
  view.setUint32(4, crc32c(page, HEADER_BYTES), true)
  return page
}

/** Answers whether a key may be among those of a rowset. Immutable. */
export class BloomReader {
  readonly meta: BloomMeta
  readonly #blocks: BlockReader
  readonly #cache: PageCache
  readonly #owner: number
  readonly #where: string

  /** `where` names the filter in errors. */
  constructor(
    meta: BloomMeta,
    blocks: BlockReader,
    cache: PageCache,
    owner: number,
    where: string,
  ) {
    this.meta = meta
    this.#blocks = blocks
    this.#cache = cache
    this.#owner = owner
    this.#where = where
  }

  /**
   * Whether a key of this hash may be there; false is certain.
   *
   * Throws: CORRUPTION that names the block. Cost: a look-up in the cache, else 1 row read.
   */
  mayContain(hash: number): boolean {
    const { pageBitsLog, pages } = this.meta
    const page = pageOf(hash, pages.lengths.length)
    const bits = this.#cached(page)
    if (bits !== null) return hasHash(bits, 0, pageBitsLog, hash)
    const whole = this.#cachedWhole()
    if (whole !== null) return hasHash(whole, page << (pageBitsLog - 5), pageBitsLog, hash)
    return hasHash(this.#readPage(page), 0, pageBitsLog, hash)
  }

  /**
   * Writes to `out` those of `indexes[start, end)` whose hash `hashes[index]` may be there, in the
   * same order, and returns how many. `out` may be `indexes` itself if `start` is 0.
   *
   * Throws: CORRUPTION that names the block. Cost: tens of nanoseconds a hash and a look-up in the
   * cache. A large batch reads and keeps the whole filter, a small one single pages.
   */
  filter(
    hashes: Uint32Array,
    indexes: Uint32Array,
    start: number,
    end: number,
    out: Uint32Array,
  ): number {
    if (end - start < BATCH_COUNT_MIN) return this.#filterFew(hashes, indexes, start, end, out)
    const whole = this.#cachedWhole() ?? this.#readWhole(end - start)
    if (whole === null) return this.#filterByPage(hashes, indexes, start, end, out)
    const { pageBitsLog, pages } = this.meta
    const pageCount = pages.lengths.length
    const left = preselect(whole, pageCount, pageBitsLog, hashes, indexes, start, end, out)
    let count = 0
    for (let i = 0; i < left; i++) {
      const index = out[i]
      const hash = hashes[index]
      const first = pageOf(hash, pageCount) << (pageBitsLog - 5)
      if (hasHash(whole, first, pageBitsLog, hash)) out[count++] = index
    }
    return count
  }

  #filterByPage(
    hashes: Uint32Array,
    indexes: Uint32Array,
    start: number,
    end: number,
    out: Uint32Array,
  ): number {
    const { pageBitsLog, pages } = this.meta
    const pageCount = pages.lengths.length
    const words: (Uint32Array | null)[] = new Array(pageCount).fill(null)
    const ahead = new ReadAhead(pages, this.#blocks, BATCH_READ_BYTES, false)
    let count = 0
    for (let i = start; i < end; i++) {
      const index = indexes[i]
      const hash = hashes[index]
      const page = pageOf(hash, pageCount)
      let bits = words[page]
      if (bits === null) {
        bits = this.#cached(page) ?? this.#keep(page, ahead.page(page).slice())
        words[page] = bits
      }
      if (hasHash(bits, 0, pageBitsLog, hash)) out[count++] = index
    }
    return count
  }

  #filterFew(
    hashes: Uint32Array,
    indexes: Uint32Array,
    start: number,
    end: number,
    out: Uint32Array,
  ): number {
    let count = 0
    for (let i = start; i < end; i++) {
      if (this.mayContain(hashes[indexes[i]])) out[count++] = indexes[i]
    }
    return count
  }

  /** The bits of all pages, one behind the other, if they are in the cache. */
  #cachedWhole(): Uint32Array | null {
    const { blocks, offsets } = this.meta.pages
    return this.#cachedAt(blocks[0], offsets[0] + WHOLE_OFFSET)
  }

  /** The same, read and kept; null when that is not worth it for so many hashes. */
  #readWhole(hashCount: number): Uint32Array | null {
    const { pageBitsLog, pages } = this.meta
    const { file, lengths, blocks, offsets } = pages
    const pageCount = lengths.length
    const wordCount = pageCount << (pageBitsLog - 5)
    if (hashCount * WHOLE_PAGES_PER_HASH < pageCount) return null
    if (wordCount * 4 > this.#cache.bytesMax * WHOLE_SHARE_MAX) return null
    const whole = new Uint32Array(wordCount)
    const ahead = new ReadAhead(pages, this.#blocks, BATCH_READ_BYTES, false)
    for (let page = 0; page < pageCount; page++) {
      whole.set(this.#decode(page, ahead.page(page)), page << (pageBitsLog - 5))
    }
    const heldBytes = wordCount * 4 + KEPT_OBJECT_BYTES
    this.#cache.put(this.#owner, file, blocks[0], offsets[0] + WHOLE_OFFSET, whole, heldBytes)
    return whole
  }

  #cached(page: number): Uint32Array | null {
    const { blocks, offsets } = this.meta.pages
    return this.#cachedAt(blocks[page], offsets[page])
  }

  #cachedAt(block: number, offset: number): Uint32Array | null {
    const found = this.#cache.get(this.#owner, this.meta.pages.file, block, offset)
    if (found === undefined) return null
    assert(found instanceof Uint32Array, 'the place of a Bloom page has its bits in the cache')
    return found
  }

  #readPage(page: number): Uint32Array {
    return this.#keep(page, readPage(this.meta.pages, page, this.#blocks))
  }

  #keep(page: number, bytes: Uint8Array): Uint32Array {
    const { pages } = this.meta
    const words = this.#decode(page, bytes)
    const { file, blocks, offsets } = pages
    this.#cache.put(
      this.#owner,
      file,
      blocks[page],
      offsets[page],
      words,
      bytes.length + KEPT_OBJECT_BYTES,
    )
    return words
  }

  #decode(page: number, bytes: Uint8Array): Uint32Array {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const expected = view.getUint32(4, true)
    const found = crc32c(bytes, HEADER_BYTES)
    if (view.getUint32(0, true) !== MAGIC || expected !== found) {
      const where = pageText(this.#where, this.meta.pages, page)
      throw new CorruptionError(`${where}: checksum is ${expected}, bytes give ${found}`)
    }
    const wordCount = (bytes.length - HEADER_BYTES) / 4
    return new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, wordCount)
  }
}

function pageOf(hash: number, pageCount: number): number {
  return Math.floor((hash / 2 ** 32) * pageCount)
}

// The page is chosen by the high bits of the hash, so the bits within it come of a mix of all.

function addHash(words: Uint32Array, first: number, pageBitsLog: number, hash: number): void {
  const shift = 32 - pageBitsLog
  let place = mix(hash)
  let step = Math.imul(place, 0x85ebca6b) | 1
  for (let probe = 0; probe < PROBE_COUNT; probe++) {
    const bit = place >>> shift
    words[first + (bit >>> 5)] |= 1 << (bit & 31)
    place = (place + step) | 0
    step = (step + probe * 0x01000193) | 0
  }
}

function hasHash(words: Uint32Array, first: number, pageBitsLog: number, hash: number): boolean {
  const shift = 32 - pageBitsLog
  let place = mix(hash)
  let step = Math.imul(place, 0x85ebca6b) | 1
  for (let probe = 0; probe < PROBE_COUNT; probe++) {
    const bit = place >>> shift
    if ((words[first + (bit >>> 5)] & (1 << (bit & 31))) === 0) return false
    place = (place + step) | 0
    step = (step + probe * 0x01000193) | 0
  }
  return true
}

/**
 * Writes to `out` those of `indexes[start, end)` whose first three bits are set, and returns how
 * many: one in sixteen of the absent. Nothing is decided by a branch here: half of these would be
 * guessed wrong, and each would wait for its word to come from memory before the next is asked for.
 */
function preselect(
  words: Uint32Array,
  pageCount: number,
  pageBitsLog: number,
  hashes: Uint32Array,
  indexes: Uint32Array,
  start: number,
  end: number,
  out: Uint32Array,
): number {
  const shift = 32 - pageBitsLog
  const pageShift = pageBitsLog - 5
  let count = 0
  for (let i = start; i < end; i++) {
    const index = indexes[i]
    const hash = hashes[index]
    const first = pageOf(hash, pageCount) << pageShift
    const place = mix(hash)
    const step = Math.imul(place, 0x85ebca6b) | 1
    const a = place >>> shift
    const b = (place + step) >>> shift
    const c = (place + 2 * step) >>> shift
    const isSet =
      (words[first + (a >>> 5)] >>> (a & 31)) &
      (words[first + (b >>> 5)] >>> (b & 31)) &
      (words[first + (c >>> 5)] >>> (c & 31))
    out[count] = index
    count += isSet & 1
  }
  return count
}

/** Spreads a hash over 32 bits again (the finisher of MurmurHash3, public domain). */
function mix(hash: number): number {
  let value = hash ^ (hash >>> 16)
  value = Math.imul(value, 0x85ebca6b)
  value ^= value >>> 13
  value = Math.imul(value, 0xc2b2ae35)
  return value ^ (value >>> 16)
}
