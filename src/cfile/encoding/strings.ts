/**
 * Binary values. Hot. From a multiple of 8 on:
 *
 *   PLAIN   a stream of lengths, then the values joined
 *   DICT    a word with the count of different values, a stream of their lengths, these values
 *           joined in the order in which they first appear, zeros up to a multiple of 4, a stream
 *           of which one each cell is
 *   PREFIX  a stream of how many bytes each shares with the one before, a stream of the lengths of
 *           the rest, the rests joined
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import type { Encoding } from '../../common/schema.ts'
import { copyBytes } from '../../util/arena.ts'
import { equalBytes } from '../../util/bytes.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { appendNumbers, readNumbers } from './number-stream.ts'
import { scratchCodes, scratchHigh, scratchLow } from './scratch.ts'
import { type DecodedValues, STORED_ENCODINGS } from './stored-encodings.ts'

/** Bytes of all values of a page at most: far above what one takes. */
const VALUE_BYTES_MAX = 2 ** 28
/** Different values at most; the table of slots is twice that. */
const VALUE_COUNT_MAX = 16_384
const SLOT_MASK = VALUE_COUNT_MAX * 2 - 1
/** Cells looked at to choose an encoding. */
const SAMPLE_COUNT = 256
/** A dictionary is tried when at most this share of the sample is different. */
const SAMPLE_DIFFERENT_MAX = 0.6
/** A dictionary is kept when at most this share of the cells is different. */
const DIFFERENT_MAX = 0.5
/** Prefixes are taken out when they are at least this share of all bytes of a sorted page. */
const SHARED_MIN = 0.3

const firstRows = new Int32Array(VALUE_COUNT_MAX)
const hashes = new Int32Array(VALUE_COUNT_MAX)
const slots = new Int32Array(SLOT_MASK + 1)

/** Appends binary values that are not null. Returns: the stored encoding. */
export function encodeStrings(cells: ColumnVector, encoding: Encoding, body: BodyWriter): number {
  const isAuto = encoding === 'AUTO_ENCODING'
  if (encoding === 'DICT_ENCODING' || (isAuto && looksRepeated(cells))) {
    if (appendDictionary(cells, body)) return STORED_ENCODINGS.DICT
  }
  if (encoding === 'PREFIX_ENCODING' || (isAuto && looksSorted(cells))) {
    appendPrefixes(cells, body)
    return STORED_ENCODINGS.PREFIX
  }
  appendPlain(cells, body)
  return STORED_ENCODINGS.PLAIN
}

/** Reads `count` binary values. Throws: CORRUPTION when they are not what was written. */
export function decodeStrings(encoding: number, count: number, reader: BodyReader): DecodedValues {
  switch (encoding) {
    case STORED_ENCODINGS.PLAIN:
      return readPlain(count, reader)
    case STORED_ENCODINGS.DICT:
      return readDictionary(count, reader)
    case STORED_ENCODINGS.PREFIX:
      return readPrefixes(count, reader)
    default:
      throw reader.corrupt(`unknown encoding ${encoding}`)
  }
}

function appendPlain(cells: ColumnVector, body: BodyWriter): void {
  const { offsets, rowCount, bytes } = cells
  for (let i = 0; i < rowCount; i++) scratchLow[i] = offsets[i + 1] - offsets[i]
  appendNumbers(scratchLow, rowCount, 'may', body)
  body.appendBytes(bytes, offsets[0], offsets[rowCount])
}

function readPlain(count: number, reader: BodyReader): DecodedValues {
  const offsets = readOffsets(count, reader)
  return { bytes: reader.view(offsets[count]), offsets, codes: null }
}

/** Offsets from a stream of lengths. */
function readOffsets(count: number, reader: BodyReader): Uint32Array {
  const lengths = scratchLow
  readNumbers(reader, count, lengths)
  const offsets = new Uint32Array(count + 1)
  let offset = 0
  let signs = 0
  for (let i = 0; i < count; i++) {
    signs |= lengths[i]
    offset += lengths[i]
    offsets[i + 1] = offset
  }
  if (signs < 0 || offset > VALUE_BYTES_MAX) throw reader.corrupt('values of impossible lengths')
  return offsets
}

/** Whether few cells of a sample are different. */
function looksRepeated(cells: ColumnVector): boolean {
  const { rowCount } = cells
  const sampleCount = Math.min(rowCount, SAMPLE_COUNT)
  const different = assignCodes(cells, rowCount / sampleCount, sampleCount, sampleCount)
  return different <= sampleCount * SAMPLE_DIFFERENT_MAX
}

/** Appends a dictionary. Returns: false, and nothing is appended, when it would not pay. */
function appendDictionary(cells: ColumnVector, body: BodyWriter): boolean {
  const { offsets, rowCount, bytes } = cells
  const differentMax = Math.min(VALUE_COUNT_MAX, Math.ceil(rowCount * DIFFERENT_MAX))
  const different = assignCodes(cells, 1, rowCount, differentMax)
  if (different === 0) return false
  body.appendWord(different)
  let valueBytes = 0
  for (let code = 0; code < different; code++) {
    const row = firstRows[code]
    scratchLow[code] = offsets[row + 1] - offsets[row]
    valueBytes += scratchLow[code]
  }
  appendNumbers(scratchLow, different, 'may', body)
  body.reserve(valueBytes)
  let at = body.length
  for (let code = 0; code < different; code++) {
    const row = firstRows[code]
    copyBytes(bytes, offsets[row], offsets[row + 1], body.bytes, at)
    at += offsets[row + 1] - offsets[row]
  }
  body.length = at
  body.pad(4)
  appendNumbers(scratchCodes, rowCount, 'may', body)
  return true
}

/**
 * Numbers the different values of `count` cells, `stride` apart. Returns: how many there are, 0
 * when there are more than `differentMax`.
 */
function assignCodes(
  cells: ColumnVector,
  stride: number,
  count: number,
  differentMax: number,
): number {
  const { bytes, offsets } = cells
  slots.fill(-1)
  let different = 0
  for (let i = 0; i < count; i++) {
    const row = Math.floor(i * stride)
    const start = offsets[row]
    const end = offsets[row + 1]
    const hash = hashOf(bytes, start, end)
    let slot = hash & SLOT_MASK
    let code = slots[slot]
    while (code >= 0) {
      const first = firstRows[code]
      if (
        hashes[code] === hash &&
        equalBytes(bytes, offsets[first], offsets[first + 1], bytes, start, end)
      ) {
        break
      }
      slot = (slot + 1) & SLOT_MASK
      code = slots[slot]
    }
    if (code < 0) {
      if (different >= differentMax) return 0
      code = different++
      slots[slot] = code
      firstRows[code] = row
      hashes[code] = hash
    }
    scratchCodes[i] = code
  }
  return different
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193)
  return hash ^ (hash >>> 15)
}

function readDictionary(count: number, reader: BodyReader): DecodedValues {
  const different = reader.word()
  if (different > count) throw reader.corrupt('more different values than values')
  const starts = readOffsets(different, reader)
  // A copy, so that cells do not keep the whole page.
  const bytes = reader.view(starts[different]).slice()
  reader.align(4)
  readNumbers(reader, count, scratchCodes)
  const codes = new Uint16Array(count)
  // Negative once a code is: or what is left above it, of one that is too large.
  let signs = 0
  for (let i = 0; i < count; i++) {
    const code = scratchCodes[i]
    signs |= code | (different - 1 - code)
    codes[i] = code
  }
  if (signs < 0) throw reader.corrupt('a code of no value')
  checkJoinedBytes(starts, different, codes, reader)
  return { bytes, offsets: starts, codes }
}

/** Throws: CORRUPTION when the values of all codes are more bytes together than a page can have. */
function checkJoinedBytes(
  starts: Uint32Array,
  different: number,
  codes: Uint16Array,
  reader: BodyReader,
): void {
  let longest = 0
  for (let code = 0; code < different; code++) {
    longest = Math.max(longest, starts[code + 1] - starts[code])
  }
  if (longest * codes.length <= VALUE_BYTES_MAX) return
  let total = 0
  for (let i = 0; i < codes.length; i++) total += starts[codes[i] + 1] - starts[codes[i]]
  if (total > VALUE_BYTES_MAX) throw reader.corrupt('values of impossible lengths')
}

/** Whether a sample of neighbours ascends and shares much. */
function looksSorted(cells: ColumnVector): boolean {
  const { bytes, offsets, rowCount } = cells
  const stride = Math.max(1, Math.floor(rowCount / SAMPLE_COUNT))
  let shared = 0
  let total = 0
  for (let row = 1; row < rowCount; row += stride) {
    const common = sharedBytes(bytes, offsets, row)
    const before = offsets[row - 1] + common
    const at = offsets[row] + common
    const isBelow =
      at < offsets[row + 1]
        ? before < offsets[row] && bytes[before] > bytes[at]
        : before < offsets[row]
    if (isBelow) return false
    shared += common
    total += offsets[row + 1] - offsets[row]
  }
  return shared > total * SHARED_MIN
}

/** Bytes that a value begins with as does the one before it. */
function sharedBytes(bytes: Uint8Array, offsets: Uint32Array, row: number): number {
  const before = offsets[row - 1]
  const start = offsets[row]
  const bytesMax = Math.min(start - before, offsets[row + 1] - start)
  let shared = 0
  while (shared < bytesMax && bytes[before + shared] === bytes[start + shared]) shared++
  return shared
}

function appendPrefixes(cells: ColumnVector, body: BodyWriter): void {
  const { bytes, offsets, rowCount } = cells
  const shared = scratchLow
  const rests = scratchHigh
  for (let row = 0; row < rowCount; row++) {
    shared[row] = row === 0 ? 0 : sharedBytes(bytes, offsets, row)
    rests[row] = offsets[row + 1] - offsets[row] - shared[row]
  }
  appendNumbers(shared, rowCount, 'may', body)
  appendNumbers(rests, rowCount, 'may', body)
  body.reserve(offsets[rowCount] - offsets[0])
  let at = body.length
  for (let row = 0; row < rowCount; row++) {
    copyBytes(bytes, offsets[row] + shared[row], offsets[row + 1], body.bytes, at)
    at += rests[row]
  }
  body.length = at
}

function readPrefixes(count: number, reader: BodyReader): DecodedValues {
  const shared = scratchLow
  const rests = scratchHigh
  readNumbers(reader, count, shared)
  readNumbers(reader, count, rests)
  const offsets = new Uint32Array(count + 1)
  let restBytes = 0
  let lengthBefore = 0
  let total = 0
  for (let row = 0; row < count; row++) {
    if (shared[row] < 0 || shared[row] > lengthBefore || rests[row] < 0) {
      throw reader.corrupt('a value shares bytes that the one before does not have')
    }
    restBytes += rests[row]
    lengthBefore = shared[row] + rests[row]
    total += lengthBefore
    offsets[row + 1] = total
  }
  if (total > VALUE_BYTES_MAX) throw reader.corrupt('values of impossible lengths')
  const source = reader.view(restBytes)
  const bytes = new Uint8Array(total)
  for (let row = 0, from = 0, to = 0, before = 0; row < count; row++) {
    const start = to
    for (let i = 0; i < shared[row]; i++) bytes[to++] = bytes[before + i]
    copyBytes(source, from, from + rests[row], bytes, to)
    to += rests[row]
    from += rests[row]
    before = start
  }
  return { bytes, offsets, codes: null }
}
