/**
 * A page of encoded keys, ascending: searched without being decoded, since looking for a key is
 * what every insert does (docs/formats/cfile.md). Hot. All integers little-endian.
 *
 *   offset  bytes  field
 *        0      1  format        0xC2
 *        1      3  zero
 *        4      4  pageBytes     of the whole page, a multiple of 8
 *        8      4  keyCount
 *       12      4  crc           CRC-32C of everything else
 *       16    4×r  restarts      where keys 0, 16, 32 … begin, r = ⌈keyCount / 16⌉
 *        …      …  keys          then zeros up to a multiple of 8
 *
 *   key     lengths   1 byte: shared × 16 + rest; 15 says that a varint of what is above 15
 *                     follows, that of `shared` first
 *           rest      bytes behind the first `shared` ones, which are those of the key before
 *
 * Every 16th key shares nothing: a search halves these, then walks at most 15 keys.
 */

import { CorruptionError } from '../common/status.ts'
import type { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { compareBytes } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import { BodyWriter } from './encoding/body-writer.ts'

/** First byte of every page of keys. */
export const KEY_PAGE_FORMAT = 0xc2

const HEADER_BYTES = 16
const CRC_OFFSET = 12
const RESTART_SHIFT = 4
const RESTART_MASK = 15
const NIBBLE_MAX = 15
/** Bytes of the lengths of one key at most: both as varints. */
const LENGTHS_BYTES_MAX = 1 + 5 + 5

const scratchPage = new BodyWriter()

/**
 * Encodes the keys `[start, end)` as one page.
 *
 * Requires: at least one, strictly ascending by bytes. Returns: fresh bytes, a multiple of 8.
 */
export function encodeKeyPage(keys: KeyArena, start: number, end: number): Uint8Array {
  assert(end > start, 'a page of keys has one')
  const count = end - start
  const restartCount = (count + RESTART_MASK) >>> RESTART_SHIFT
  const firstKey = HEADER_BYTES + restartCount * 4
  const writer = scratchPage
  writer.truncate(0)
  const keyBytes = keys.ends[end - 1] - keys.start(start)
  writer.reserve(firstKey + keyBytes + count * LENGTHS_BYTES_MAX + 8)
  writer.length = firstKey
  for (let i = 0; i < count; i++) {
    let shared = 0
    if (i > 0) shared = mustShare(keys, start + i)
    if ((i & RESTART_MASK) === 0) {
      writer.words[(HEADER_BYTES >>> 2) + (i >>> RESTART_SHIFT)] = writer.length
      shared = 0
    }
    appendKey(writer, keys.bytes, keys.start(start + i), keys.ends[start + i], shared)
  }
  writer.pad(8)
  const page = writer.bytes.slice(0, writer.length)
  page.fill(0, 0, 4)
  page[0] = KEY_PAGE_FORMAT
  const words = new Uint32Array(page.buffer, 0, HEADER_BYTES / 4)
  words[1] = page.length
  words[2] = count
  words[3] = keyPageCrc(page)
  return page
}

/**
 * Bytes of the page of keys that begins at `offset`. Returns: 0 when no whole one begins there.
 */
export function keyPageBytesAt(bytes: Uint8Array, offset: number): number {
  if (offset + HEADER_BYTES > bytes.length || bytes[offset] !== KEY_PAGE_FORMAT) return 0
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES)
  const pageBytes = view.getUint32(4, true)
  const isWhole = pageBytes >= HEADER_BYTES && offset + pageBytes <= bytes.length
  return isWhole && pageBytes % 8 === 0 ? pageBytes : 0
}

/** Bytes that key `index` shares with the one before it, which it must be above. */
function mustShare(keys: KeyArena, index: number): number {
  const { bytes } = keys
  const before = keys.start(index - 1)
  const start = keys.start(index)
  const bytesMax = Math.min(start - before, keys.ends[index] - start)
  let shared = 0
  while (shared < bytesMax && bytes[before + shared] === bytes[start + shared]) shared++
  const isAbove =
    shared < bytesMax
      ? bytes[start + shared] > bytes[before + shared]
      : keys.ends[index] - start > start - before
  assert(isAbove, 'keys of a page ascend')
  return shared
}

function appendKey(
  writer: BodyWriter,
  source: Uint8Array,
  start: number,
  end: number,
  shared: number,
): void {
  const rest = end - start - shared
  const { bytes } = writer
  const sharedNibble = shared < NIBBLE_MAX ? shared : NIBBLE_MAX
  const restNibble = rest < NIBBLE_MAX ? rest : NIBBLE_MAX
  let at = writer.length
  bytes[at++] = (sharedNibble << 4) | restNibble
  if (sharedNibble === NIBBLE_MAX) at = writeVarint(bytes, at, shared - NIBBLE_MAX)
  if (restNibble === NIBBLE_MAX) at = writeVarint(bytes, at, rest - NIBBLE_MAX)
  for (let i = start + shared; i < end; i++) bytes[at++] = source[i]
  writer.length = at
}

function writeVarint(bytes: Uint8Array, offset: number, value: number): number {
  let at = offset
  let left = value
  while (left >= 0x80) {
    bytes[at++] = (left & 0x7f) | 0x80
    left >>>= 7
  }
  bytes[at++] = left
  return at
}

function keyPageCrc(page: Uint8Array): number {
  return crc32c(page, HEADER_BYTES, page.length, crc32c(page, 0, CRC_OFFSET))
}

/**
 * The keys of one page. Immutable; keeps the bytes it was opened with.
 *
 * Keys are read by a cursor of module-level numbers, good until the next call of any method.
 */
export class KeyPage {
  readonly rowCount: number
  readonly #bytes: Uint8Array
  readonly #restarts: Uint32Array

  private constructor(bytes: Uint8Array, rowCount: number) {
    this.rowCount = rowCount
    this.#bytes = bytes
    const restartCount = (rowCount + RESTART_MASK) >>> RESTART_SHIFT
    this.#restarts = new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, restartCount)
  }

  /**
   * The page that `bytes` begins with. Keeps the bytes, which must not change.
   *
   * Throws: CORRUPTION that begins with `where` when it is not what was written.
   */
  static open(bytes: Uint8Array, where: string): KeyPage {
    const pageBytes = keyPageBytesAt(bytes, 0)
    if (pageBytes === 0) throw new CorruptionError(`${where}: no page of keys begins there`)
    const isAligned = (bytes.byteOffset & 7) === 0
    const page = isAligned ? bytes.subarray(0, pageBytes) : bytes.slice(0, pageBytes)
    const words = new Uint32Array(page.buffer, page.byteOffset, HEADER_BYTES / 4)
    if (keyPageCrc(page) !== words[3]) {
      throw new CorruptionError(`${where}: the checksum of the page of keys is wrong`)
    }
    const keyCount = words[2]
    const restartCount = Math.ceil(keyCount / (RESTART_MASK + 1))
    if (keyCount === 0 || HEADER_BYTES + restartCount * 4 > pageBytes) {
      throw new CorruptionError(`${where}: the page of keys has no room for ${keyCount} keys`)
    }
    return new KeyPage(page, keyCount)
  }

  /** Bytes it holds in memory. */
  get heldBytes(): number {
    return this.#bytes.length
  }

  /**
   * Index of the key `bytes[start, end)`, or −1.
   *
   * Cost: O(log) comparisons of keys and a walk over at most 16 keys; no allocation.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    const index = this.lowerBound(bytes, start, end)
    return foundEqual ? index : -1
  }

  /** Index of the first key that is not below `bytes[start, end)`, or `rowCount`. */
  lowerBound(bytes: Uint8Array, start: number, end: number): number {
    const page = this.#bytes
    const restarts = this.#restarts
    foundEqual = false
    // The last restart whose key is at or below the probe.
    let low = 0
    let high = restarts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      readLengths(page, restarts[middle])
      const order = compareBytes(page, cursorAt, cursorAt + cursorRest, bytes, start, end)
      if (order === 0) {
        foundEqual = true
        return middle << RESTART_SHIFT
      }
      if (order < 0) low = middle + 1
      else high = middle
    }
    if (low === 0) return 0
    return this.#walk(low - 1, bytes, start, end)
  }

  /**
   * Index of the first key behind a restart's, whose own key is below the probe, that is not below
   * it.
   *
   * `matched` is how many bytes the probe shares with the key before. A key that shares more than
   * that with its neighbour stands on the same side of the probe as its neighbour: below. One that
   * shares less is above.
   */
  #walk(restart: number, probe: Uint8Array, start: number, end: number): number {
    const page = this.#bytes
    const probeBytes = end - start
    const first = restart << RESTART_SHIFT
    const count = Math.min(this.rowCount, first + RESTART_MASK + 1)
    readLengths(page, this.#restarts[restart])
    let matched = matchBytes(page, cursorAt, cursorRest, probe, start, probeBytes)
    for (let index = first + 1; index < count; index++) {
      readLengths(page, cursorAt + cursorRest)
      if (cursorShared > matched) continue
      if (cursorShared < matched) return index
      const more = matchBytes(
        page,
        cursorAt,
        cursorRest,
        probe,
        start + matched,
        probeBytes - matched,
      )
      matched += more
      if (matched === probeBytes) {
        foundEqual = more === cursorRest
        return index
      }
      if (more < cursorRest && page[cursorAt + more] > probe[start + matched]) return index
    }
    return count
  }

  /** Appends the keys `[start, end)`. */
  appendTo(keys: KeyArena, start: number, end: number): void {
    if (start >= end) return
    assert(end <= this.rowCount, 'keys of a page are within it')
    const page = this.#bytes
    keys.reserveKeys(end - start)
    const restart = start >>> RESTART_SHIFT
    // Keys before `start` are built behind the arena's end, each over the one before.
    let base = keys.length
    let before = base
    let beforeBytes = 0
    cursorAt = this.#restarts[restart]
    cursorRest = 0
    for (let index = restart << RESTART_SHIFT; index < end; index++) {
      if ((index & RESTART_MASK) === 0) readLengths(page, this.#restarts[index >>> RESTART_SHIFT])
      else readLengths(page, cursorAt + cursorRest)
      const keyBytes = cursorShared + cursorRest
      assert(cursorShared <= beforeBytes, 'a key shares bytes that the one before has')
      assert(cursorAt + cursorRest <= page.length, 'a key lies within its page')
      keys.length = before + beforeBytes
      keys.reserve(keyBytes)
      const target = keys.bytes
      if (before !== base)
        for (let i = 0; i < cursorShared; i++) target[base + i] = target[before + i]
      for (let i = 0, to = base + cursorShared; i < cursorRest; i++)
        target[to + i] = page[cursorAt + i]
      before = base
      beforeBytes = keyBytes
      if (index < start) continue
      base += keyBytes
      keys.length = base
      keys.endKey()
    }
    keys.length = base
  }
}

// The key that was read last: where its rest lies and how long it is, and what it shares.
let cursorAt = 0
let cursorRest = 0
let cursorShared = 0
/** Whether the last search found its probe itself. */
let foundEqual = false

/** Reads the lengths of the key at `offset`. */
function readLengths(page: Uint8Array, offset: number): void {
  const lengths = page[offset]
  let shared = lengths >>> 4
  let rest = lengths & NIBBLE_MAX
  cursorAt = offset + 1
  if (shared === NIBBLE_MAX) shared += readVarint(page)
  if (rest === NIBBLE_MAX) rest += readVarint(page)
  cursorShared = shared
  cursorRest = rest
}

function readVarint(page: Uint8Array): number {
  let value = 0
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = page[cursorAt++]
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
  assert(false, 'a varint of a page of keys ends')
  return value
}

/** How many bytes two slices begin with in common. */
function matchBytes(
  a: Uint8Array,
  aStart: number,
  aBytes: number,
  b: Uint8Array,
  bStart: number,
  bBytes: number,
): number {
  const bytesMax = aBytes < bBytes ? aBytes : bBytes
  let matched = 0
  while (matched < bytesMax && a[aStart + matched] === b[bStart + matched]) matched++
  return matched
}
