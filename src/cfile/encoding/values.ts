/** Which encoding the values of a page are in, and the way to it. */

import type { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { Encoding } from '../../common/schema.ts'
import type { LaneRoom } from '../lane-room.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { appendFloats, readFloats } from './floats.ts'
import { appendIntegers, readIntegers } from './integers.ts'
import { appendLaneDictionary, hasFewLanes, readLaneDictionary } from './lane-dictionary.ts'
import { NUMBER_FORMS } from './number-stream.ts'
import { type DecodedValues, STORED_ENCODINGS } from './stored-encodings.ts'
import { decodeStrings, encodeStrings } from './strings.ts'

/** Packed numbers are kept when they take at most this share of plain lanes. */
const PACKED_RATIO_MAX = 0.95
/** A dictionary of lanes takes longer to read than packed numbers: it shall be clearly smaller. */
const DICTIONARY_RATIO_MAX = 0.8

/** Bytes of a cell up to which a page with a dictionary is mostly codes. */
const PACKED_CODE_BYTES = 3

const NO_OFFSETS = new Uint32Array(1)

/**
 * Whether compression has hardly anything left to find in the `bodyBytes` of `count` values: these
 * are packed numbers, or numbers of a dictionary that takes little beside them.
 */
export function arePacked(
  physical: Physical,
  encoding: number,
  count: number,
  bodyBytes: number,
): boolean {
  if (physical !== PHYSICAL.binary) return encoding !== STORED_ENCODINGS.PLAIN
  return encoding === STORED_ENCODINGS.DICT && bodyBytes <= count * PACKED_CODE_BYTES
}

/**
 * Appends values to a body that ends at a multiple of 8.
 *
 * Requires: at least one cell, none of them null. Returns: the stored encoding.
 */
export function encodeValues(cells: ColumnVector, encoding: Encoding, body: BodyWriter): number {
  const start = body.length
  if (cells.physical === PHYSICAL.binary) return encodeStrings(cells, encoding, body)
  if (encoding === 'PLAIN_ENCODING') return appendPlainLanes(cells, body)
  const stored = isFloating(cells.physical)
    ? encodeFloats(cells, body)
    : encodeIntegers(cells, encoding, body)
  // Plain lanes are read without being touched: what is hardly smaller is not worth reading.
  const plainBytes = cells.rowCount * LANE_BYTES[cells.physical]
  if (body.length - start <= plainBytes * PACKED_RATIO_MAX) return stored
  body.truncate(start)
  return appendPlainLanes(cells, body)
}

function isFloating(physical: Physical): boolean {
  return physical === PHYSICAL.float32 || physical === PHYSICAL.float64
}

function appendPlainLanes(cells: ColumnVector, body: BodyWriter): number {
  body.appendBytes(cells.bytes, 0, cells.rowCount * LANE_BYTES[cells.physical])
  return STORED_ENCODINGS.PLAIN
}

function encodeIntegers(cells: ColumnVector, encoding: Encoding, body: BodyWriter): number {
  const start = body.length
  const runs = encoding === 'RLE' ? 'must' : encoding === 'BIT_SHUFFLE' ? 'never' : 'may'
  const form = appendIntegers(cells, runs, body)
  const stored = form === NUMBER_FORMS.RUNS ? STORED_ENCODINGS.RLE : STORED_ENCODINGS.BIT_SHUFFLE
  if (encoding !== 'AUTO_ENCODING' || LANE_BYTES[cells.physical] < 4) return stored
  return tryDictionary(cells, start, body) ? STORED_ENCODINGS.DICT : stored
}

function encodeFloats(cells: ColumnVector, body: BodyWriter): number {
  const start = body.length
  appendFloats(cells, body)
  return tryDictionary(cells, start, body) ? STORED_ENCODINGS.DICT : STORED_ENCODINGS.BIT_SHUFFLE
}

/**
 * Replaces what was appended from `start` on by a dictionary of lanes, where one looks as if it
 * were smaller. Returns: whether it did.
 */
function tryDictionary(cells: ColumnVector, start: number, body: BodyWriter): boolean {
  const packedBytes = body.length - start
  if (packedBytes < cells.rowCount || !hasFewLanes(cells)) return false
  const end = body.length
  if (appendLaneDictionary(cells, body)) {
    const dictionaryBytes = body.length - end
    if (dictionaryBytes < packedBytes * DICTIONARY_RATIO_MAX) {
      body.bytes.copyWithin(start, end, body.length)
      body.truncate(start + dictionaryBytes)
      return true
    }
  }
  body.truncate(end)
  return false
}

/**
 * Reads `count` values. Lanes get room for `rowCount`, and the values are the first ones. With a
 * `room` lanes may lie in it.
 *
 * Throws: CORRUPTION when they are not what `encodeValues` writes.
 */
export function decodeValues(
  physical: Physical,
  encoding: number,
  count: number,
  rowCount: number,
  reader: BodyReader,
  room: LaneRoom | null = null,
): DecodedValues {
  if (physical === PHYSICAL.binary) return decodeStrings(encoding, count, reader)
  const laneBytes = LANE_BYTES[physical]
  if (encoding === STORED_ENCODINGS.PLAIN) {
    const view = reader.view(count * laneBytes)
    if (count === rowCount) return { bytes: view, offsets: NO_OFFSETS, codes: null }
    const lanes = new Uint8Array(rowCount * laneBytes)
    lanes.set(view)
    return { bytes: lanes, offsets: NO_OFFSETS, codes: null }
  }
  const byteCount = rowCount * laneBytes
  const bytes = room === null ? new Uint8Array(byteCount) : room.take(byteCount)
  if (encoding === STORED_ENCODINGS.DICT && laneBytes >= 4) {
    readLaneDictionary(physical, count, reader, bytes)
  } else if (encoding === STORED_ENCODINGS.RLE || encoding === STORED_ENCODINGS.BIT_SHUFFLE) {
    if (isFloating(physical)) readFloats(physical, count, reader, bytes)
    else readIntegers(physical, count, reader, bytes)
  } else {
    throw reader.corrupt(`unknown encoding ${encoding}`)
  }
  return { bytes, offsets: NO_OFFSETS, codes: null }
}
