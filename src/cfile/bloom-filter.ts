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
/** A filter above this share of the cache is kept by the page only. */
const WHOLE_SHARE_MAX = 1 / 8
/** Where the bits of all pages are kept: within the first page, where no page begins. */
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

/** The bits of all pages, one behind the other, as far as they were needed. */
class BloomBits {
  readonly words: Uint32Array
  /** One a page: whether its bits are there. */
  readonly isThere: Uint8Array
  missingCount: number

  constructor(pageCount: number, wordCount: number) {
    this.words = new Uint32Array(wordCount)
    this.isThere = new Uint8Array(pageCount)
    this.missingCount = pageCount
  }
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
    const bits = this.#cachedPage(page)
    if (bits !== null) return hasHash(bits, 0, pageBitsLog, hash)
    const all = this.#cachedBits()
    if (all !== null && all.isThere[page] === 1) {
      return hasHash(all.words, page << (pageBitsLog - 5), pageBitsLog, hash)
    }
    return hasHash(this.#readPage(page), 0, pageBitsLog, hash)
  }

  /**
   * Writes to `out` those of `indexes[start, end)` whose hash `hashes[index]` may be there, in the
   * same order, and returns how many. `out` may be `indexes` itself if `start` is 0.
   *
   * Throws: CORRUPTION that names the block. Cost: tens of nanoseconds a hash and a look-up in the
   * cache; a batch reads the pages that it lacks with 1 row read, or few.
   */
  filter(
    hashes: Uint32Array,
    indexes: Uint32Array,
    start: number,
    end: number,
    out: Uint32Array,
  ): number {
    if (end - start < BATCH_COUNT_MIN) return this.#filterFew(hashes, indexes, start, end, out)
    const bits = this.#cachedBits() ?? this.#keepBits()
    if (bits === null) return this.#filterByPage(hashes, indexes, start, end, out)
    if (bits.missingCount > 0) this.#readMissing(bits, hashes, indexes, start, end)
    const { pageBitsLog, pages } = this.meta
    const { words } = bits
    const pageCount = pages.lengths.length
    const left = preselect(words, pageCount, pageBitsLog, hashes, indexes, start, end, out)
    let count = 0
    for (let i = 0; i < left; i++) {
      const index = out[i]
      const hash = hashes[index]
      const first = pageOf(hash, pageCount) << (pageBitsLog - 5)
      if (hasHash(words, first, pageBitsLog, hash)) out[count++] = index
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
        bits = this.#cachedPage(page) ?? this.#keep(page, ahead.page(page).slice())
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

  #cachedBits(): BloomBits | null {
    const found = this.#cached(0, WHOLE_OFFSET)
    assert(found === null || found instanceof BloomBits, 'the bits of all pages are in their place')
    return found
  }

  /** Room for the bits of all pages, kept in the cache; null when that would be much of it. */
  #keepBits(): BloomBits | null {
    const { pageBitsLog, pages } = this.meta
    const { file, lengths, blocks, offsets } = pages
    const wordCount = lengths.length << (pageBitsLog - 5)
    if (wordCount * 4 > this.#cache.bytesMax * WHOLE_SHARE_MAX) return null
    const bits = new BloomBits(lengths.length, wordCount)
    const heldBytes = wordCount * 4 + lengths.length + KEPT_OBJECT_BYTES
    this.#cache.put(this.#owner, file, blocks[0], offsets[0] + WHOLE_OFFSET, bits, heldBytes)
    // Batches go from rowset to rowset and come back to each in the next batch. What is only put
    // would have been let go by then, for many rowsets, and be read anew each time.
    this.#cachedBits()
    return bits
  }

  /** Reads the pages that some hashes need and that are not there. */
  #readMissing(
    bits: BloomBits,
    hashes: Uint32Array,
    indexes: Uint32Array,
    start: number,
    end: number,
  ): void {
    const { pageBitsLog, pages } = this.meta
    const pageCount = pages.lengths.length
    const isNeeded = new Uint8Array(pageCount)
    for (let i = start; i < end; i++) isNeeded[pageOf(hashes[indexes[i]], pageCount)] = 1
    const ahead = new ReadAhead(pages, this.#blocks, BATCH_READ_BYTES, false)
    for (let page = 0; page < pageCount; page++) {
      if (isNeeded[page] === 0 || bits.isThere[page] === 1) continue
      bits.words.set(this.#decode(page, ahead.page(page)), page << (pageBitsLog - 5))
      bits.isThere[page] = 1
      bits.missingCount--
    }
  }

  #cachedPage(page: number): Uint32Array | null {
    const found = this.#cached(page, 0)
    assert(found === null || found instanceof Uint32Array, 'a Bloom page is in its place')
    return found
  }

  #cached(page: number, shift: number): object | null {
    const { file, blocks, offsets } = this.meta.pages
    return this.#cache.get(this.#owner, file, blocks[page], offsets[page] + shift) ?? null
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
