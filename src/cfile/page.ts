/**
 * A page: the cells of one column over a run of rows, the unit of encoding, checksum and decoding
 * (docs/formats/cfile.md). Hot. All integers little-endian.
 *
 *   offset  bytes  field
 *        0      1  format       0xC1
 *        1      1  physical
 *        2      1  encoding     what the values are in: never AUTO
 *        3      1  codec        what the body is compressed with
 *        4      4  storedBytes  of the body as stored
 *        8      4  bodyBytes    of the body before compression
 *       12      4  rowCount
 *       16      4  nullCount
 *       20      4  crc          CRC-32C of everything else, the padding at the end included
 *       24      …  body, then zeros up to a multiple of 8
 *
 *   body    validity  a bit a row, up to a multiple of 8; absent when no cell or every cell is null
 *           values    of the cells that are not null
 */

import { ColumnVector, lanesOf } from '../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../common/data-type.ts'
import { gatherLanes } from '../common/gather-lanes.ts'
import { CFILE_PAGE_ROW_COUNT_MAX } from '../common/limits.ts'
import type { Compression, Encoding } from '../common/schema.ts'
import { CorruptionError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import { bitmapBytes, getBit } from '../util/bitmap.ts'
import { align8, equalBytes } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import { VERIFY } from '../util/verify.ts'
import {
  CODECS,
  codecOf,
  compressBytes,
  decompressBytes,
  looksCompressible,
} from './compression.ts'
import { BodyReader } from './encoding/body-reader.ts'
import { BodyWriter } from './encoding/body-writer.ts'
import { expandLanes } from './encoding/expand-lanes.ts'
import { openPacked } from './encoding/open-packed.ts'
import { type DecodedValues, STORED_ENCODINGS } from './encoding/stored-encodings.ts'
import { arePacked, decodeValues, encodeValues } from './encoding/values.ts'
import type { LaneRoom } from './lane-room.ts'

/** First byte of every page. A page of another version begins with another. */
export const PAGE_FORMAT = 0xc1
/** Bytes of a page before its body. */
export const PAGE_HEADER_BYTES = 24

const CRC_OFFSET = 20
/** Far above what a page takes in memory: whatever one says, no more is allocated. */
const BODY_BYTES_MAX = 2 ** 28

/** How a column wants its pages. */
export interface PageOptions {
  readonly encoding: Encoding
  readonly compression: Compression
}

/** What a page says of itself, for reports. */
export interface PageDescription {
  readonly encoding: string
  readonly compression: string
  readonly rowCount: number
  readonly nullCount: number
}

const scratchBody = new BodyWriter()

/**
 * Encodes all cells of a vector as one page; set bits are not kept.
 *
 * An encoding that cannot hold the cells, or not in less room than plain, is replaced by PLAIN, and
 * AUTO is what the cells are smallest in. A compression that saves less than a tenth is left out.
 * Requires: at most CFILE_PAGE_ROW_COUNT_MAX rows. Returns: fresh bytes, a multiple of 8.
 */
export function encodePage(cells: ColumnVector, options: PageOptions): Uint8Array {
  const { rowCount, physical } = cells
  assert(rowCount <= CFILE_PAGE_ROW_COUNT_MAX, 'page has too many rows')
  const body = scratchBody
  body.truncate(0)
  const nullCount = cells.validity === null ? 0 : appendValidity(cells.validity, rowCount, body)
  let encoding: number = STORED_ENCODINGS.PLAIN
  if (nullCount < rowCount) {
    const present = nullCount === 0 ? cells : presentCells(cells, rowCount - nullCount)
    encoding = encodeValues(present, options.encoding, body)
  }
  const bodyBytes = body.length
  assert(bodyBytes <= BODY_BYTES_MAX, 'body of a page is too large')
  const isPacked = arePacked(physical, encoding, rowCount - nullCount, bodyBytes)
  let codec = codecOf(options.compression, isPacked)
  const plain = body.bytes.subarray(0, bodyBytes)
  // Floating point numbers without order are not worth the try; texts nearly always are.
  if (codec !== CODECS.NONE && physical !== PHYSICAL.binary && !looksCompressible(codec, plain)) {
    codec = CODECS.NONE
  }
  const compressed = compressBytes(codec, plain)
  if (compressed === null) codec = CODECS.NONE
  const stored = compressed ?? plain

  const page = new Uint8Array(align8(PAGE_HEADER_BYTES + stored.length))
  page[0] = PAGE_FORMAT
  page[1] = physical
  page[2] = encoding
  page[3] = codec
  const words = new Uint32Array(page.buffer, 0, PAGE_HEADER_BYTES / 4)
  words[1] = stored.length
  words[2] = bodyBytes
  words[3] = rowCount
  words[4] = nullCount
  page.set(stored, PAGE_HEADER_BYTES)
  words[5] = pageCrc(page)
  if (VERIFY) checkEncoded(page, cells)
  return page
}

/**
 * Decodes a page: `bytes` begins with it and may go on behind it.
 *
 * Returns: its cells, without set bits; lanes of null cells are zero. They may be views of `bytes`,
 * which must then not change. With a `room` their lanes may lie in it, or be decoded into it when
 * they are asked for. Throws:
 * CORRUPTION that begins with `where` when the page is not what was written, or of another physical
 * type.
 */
export function decodePage(
  bytes: Uint8Array,
  physical: Physical,
  where: string,
  room: LaneRoom | null = null,
): ColumnVector {
  const page = checkedPage(bytes, where)
  if (page[1] !== physical) throw new CorruptionError(`${where}: the page is of another type`)
  const words = new Uint32Array(page.buffer, page.byteOffset, PAGE_HEADER_BYTES / 4)
  const storedBytes = words[1]
  const bodyBytes = words[2]
  const rowCount = words[3]
  const nullCount = words[4]
  if (rowCount > CFILE_PAGE_ROW_COUNT_MAX || nullCount > rowCount) {
    throw new CorruptionError(`${where}: the page has ${nullCount} nulls in ${rowCount} rows`)
  }
  const stored = page.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + storedBytes)
  const codec = page[3]
  if (bodyBytes > BODY_BYTES_MAX) throw new CorruptionError(`${where}: the page is too large`)
  const body = codec === CODECS.NONE ? stored : decompressBytes(codec, stored, bodyBytes, where)
  const reader = new BodyReader(body, where)
  if (nullCount === rowCount) return nullCells(physical, rowCount)
  if (nullCount === 0) {
    const packed = room === null ? null : openPacked(physical, page[2], rowCount, reader, room)
    if (packed !== null) return ColumnVector.ofPacked(physical, rowCount, packed)
    const values = decodeValues(physical, page[2], rowCount, rowCount, reader, room)
    if (values.codes !== null) return ofCodes(values, values.codes, null)
    return new ColumnVector(physical, rowCount, values.bytes, values.offsets, null, null)
  }
  const validity = reader.view(bitmapBytes(rowCount))
  reader.align(8)
  const presentCount = rowCount - nullCount
  if (countBits(validity, rowCount) !== presentCount) {
    throw new CorruptionError(`${where}: the page counts its nulls wrong`)
  }
  const values = decodeValues(physical, page[2], presentCount, rowCount, reader, room)
  if (values.codes !== null) {
    return ofCodes(values, expandCodes(values.codes, validity, rowCount), validity)
  }
  if (physical === PHYSICAL.binary) {
    const offsets = expandOffsets(values.offsets, validity, rowCount, presentCount)
    return new ColumnVector(physical, rowCount, values.bytes, offsets, validity, null)
  }
  expandLanes(physical, values.bytes, validity, rowCount, presentCount)
  return new ColumnVector(physical, rowCount, values.bytes, null, validity, null)
}

/**
 * Bytes of the page that begins at `offset`, a multiple of 8: where the next one begins.
 *
 * Returns: 0 when no whole page begins there.
 */
export function pageBytesAt(bytes: Uint8Array, offset: number): number {
  if (offset + PAGE_HEADER_BYTES > bytes.length || bytes[offset] !== PAGE_FORMAT) return 0
  const storedBytes =
    bytes[offset + 4] +
    bytes[offset + 5] * 2 ** 8 +
    bytes[offset + 6] * 2 ** 16 +
    bytes[offset + 7] * 2 ** 24
  if (offset + PAGE_HEADER_BYTES + storedBytes > bytes.length) return 0
  const pageBytes = align8(PAGE_HEADER_BYTES + storedBytes)
  return offset + pageBytes <= bytes.length ? pageBytes : 0
}

/** Bytes of a page's body before compression. Requires: the page was checked, or just made. */
export function pageBodyBytes(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, PAGE_HEADER_BYTES).getUint32(8, true)
}

/** What a page says of itself. Requires: it was checked, by `decodePage`. */
export function describePage(bytes: Uint8Array): PageDescription {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PAGE_HEADER_BYTES)
  return {
    encoding: nameOf(STORED_ENCODINGS, bytes[2]),
    compression: nameOf(CODECS, bytes[3]),
    rowCount: view.getUint32(12, true),
    nullCount: view.getUint32(16, true),
  }
}

function nameOf(numbers: Readonly<Record<string, number>>, number: number): string {
  return Object.keys(numbers).find((name) => numbers[name] === number) ?? `unknown ${number}`
}

/** The bytes of the page alone, at a multiple of 8. */
function checkedPage(bytes: Uint8Array, where: string): Uint8Array {
  const pageBytes = pageBytesAt(bytes, 0)
  if (pageBytes === 0) throw new CorruptionError(`${where}: no page begins there`)
  const isAligned = (bytes.byteOffset & 7) === 0
  const page = isAligned ? bytes.subarray(0, pageBytes) : bytes.slice(0, pageBytes)
  const expected = new Uint32Array(page.buffer, page.byteOffset + CRC_OFFSET, 1)[0]
  if (pageCrc(page) !== expected) {
    throw new CorruptionError(`${where}: the checksum of the page is wrong`)
  }
  return page
}

function pageCrc(page: Uint8Array): number {
  return crc32c(page, PAGE_HEADER_BYTES, page.length, crc32c(page, 0, CRC_OFFSET))
}

/** Appends validity bits unless all are the same. Returns how many cells are null. */
function appendValidity(validity: Uint8Array, rowCount: number, body: BodyWriter): number {
  const nullCount = rowCount - countBits(validity, rowCount)
  if (nullCount === 0 || nullCount === rowCount) return nullCount
  const start = body.length
  body.appendBytes(validity, 0, bitmapBytes(rowCount))
  if ((rowCount & 7) !== 0) {
    body.bytes[start + (rowCount >>> 3)] &= (1 << (rowCount & 7)) - 1
  }
  body.pad(8)
  return nullCount
}

const BIT_COUNTS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0
  for (let bits = byte; bits !== 0; bits &= bits - 1) count++
  return count
})

/** How many of the first `count` bits are 1. */
function countBits(bitmap: Uint8Array, count: number): number {
  const wholeBytes = count >>> 3
  let ones = 0
  for (let i = 0; i < wholeBytes; i++) ones += BIT_COUNTS[bitmap[i]]
  if ((count & 7) === 0) return ones
  return ones + BIT_COUNTS[bitmap[wholeBytes] & ((1 << (count & 7)) - 1)]
}

const scratchRows = new Uint32Array(CFILE_PAGE_ROW_COUNT_MAX)

/** The cells that are not null, by themselves. */
function presentCells(cells: ColumnVector, presentCount: number): ColumnVector {
  const { physical, rowCount } = cells
  const validity = cells.validity as Uint8Array
  const rows = scratchRows
  let count = 0
  for (let row = 0; row < rowCount; row++) if (getBit(validity, row)) rows[count++] = row
  assert(count === presentCount, 'cells that are not null were counted')
  if (physical === PHYSICAL.binary) {
    // Values of null cells are empty: without them the offsets still are those of the others.
    const offsets = new Uint32Array(presentCount + 1)
    for (let i = 0; i < count; i++) offsets[i] = cells.offsets[rows[i]]
    offsets[count] = cells.offsets[rowCount]
    return new ColumnVector(physical, count, cells.bytes, offsets, null, null)
  }
  const bytes = new Uint8Array(count * LANE_BYTES[physical])
  gatherLanes(physical, cells.lanes, rows, 0, count, lanesOf(physical, bytes, count), 0)
  return new ColumnVector(physical, count, bytes, null, null, null)
}

/** The cells of codes, with the different values that were decoded. */
function ofCodes(
  { bytes, offsets }: DecodedValues,
  codes: Uint16Array,
  validity: Uint8Array | null,
): ColumnVector {
  const count = offsets.length - 1
  const values = new ColumnVector(PHYSICAL.binary, count, bytes, offsets, null, null)
  return ColumnVector.ofDictionary({ codes, values }, validity)
}

/** Codes of all rows from those of the cells that are not null. */
function expandCodes(present: Uint16Array, validity: Uint8Array, rowCount: number): Uint16Array {
  const codes = new Uint16Array(rowCount)
  for (let row = 0, index = 0; row < rowCount; row++) {
    if (getBit(validity, row)) codes[row] = present[index++]
  }
  return codes
}

/** Offsets of all rows from those of the cells that are not null. */
function expandOffsets(
  present: Uint32Array,
  validity: Uint8Array,
  rowCount: number,
  presentCount: number,
): Uint32Array {
  const offsets = new Uint32Array(rowCount + 1)
  for (let row = 0, index = 0; row < rowCount; row++) {
    if (getBit(validity, row)) index++
    offsets[row + 1] = present[index]
  }
  assert(offsets[rowCount] === present[presentCount], 'the last value ends where all do')
  return offsets
}

function nullCells(physical: Physical, rowCount: number): ColumnVector {
  const bytes = new Uint8Array(rowCount * LANE_BYTES[physical])
  const offsets = physical === PHYSICAL.binary ? new Uint32Array(rowCount + 1) : null
  const validity = rowCount === 0 ? null : new Uint8Array(bitmapBytes(rowCount))
  return new ColumnVector(physical, rowCount, bytes, offsets, validity, null)
}

/** Decodes what was just encoded, and compares. */
function checkEncoded(page: Uint8Array, cells: ColumnVector): void {
  const decoded = decodePage(page, cells.physical, 'verify')
  assert(decoded.rowCount === cells.rowCount, 'a page decodes to as many rows')
  const { lanes } = cells
  const perRow = cells.rowCount === 0 ? 0 : lanes.length / cells.rowCount
  for (let row = 0; row < cells.rowCount; row++) {
    assert(decoded.isNull(row) === cells.isNull(row), 'a page decodes to the same nulls')
    if (cells.isNull(row)) continue
    for (let i = row * perRow; i < (row + 1) * perRow; i++) {
      assert(Object.is(decoded.lanes[i], lanes[i]), 'a page decodes to the same lanes')
    }
    if (cells.physical === PHYSICAL.binary) {
      const isSame = equalBytes(
        cells.bytes,
        cells.offsets[row],
        cells.offsets[row + 1],
        decoded.bytes,
        decoded.offsets[row],
        decoded.offsets[row + 1],
      )
      assert(isSame, 'a page decodes to the same values')
    }
  }
}
