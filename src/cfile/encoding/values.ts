/** Which encoding the values of a page are in, and the way to it. */

import type { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { Encoding } from '../../common/schema.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { decodePlainStrings, encodePlainStrings } from './plain-strings.ts'

/** Encodings as stored, numbered as Kudu numbers them (K§1.3). Never reused. */
export const STORED_ENCODINGS = { PLAIN: 1, PREFIX: 2, RLE: 4, DICT: 5, BIT_SHUFFLE: 6 } as const

/** Decoded values: all of a page that are not null. */
export interface DecodedValues {
  /** Lanes, with room for all rows of the page, or binary values joined. */
  readonly bytes: Uint8Array
  /** Binary: one offset more than values. Else anything. */
  readonly offsets: Uint32Array
}

const NO_OFFSETS = new Uint32Array(1)

/** Whether compression has nothing left to find in an encoding. */
export function isPackedEncoding(physical: Physical, encoding: number): boolean {
  return physical !== PHYSICAL.binary && encoding !== STORED_ENCODINGS.PLAIN
}

/**
 * Appends values to a body that ends at a multiple of 8.
 *
 * Requires: at least one cell, none of them null. Returns: the stored encoding.
 */
export function encodeValues(cells: ColumnVector, encoding: Encoding, body: BodyWriter): number {
  void encoding
  if (cells.physical === PHYSICAL.binary) encodePlainStrings(cells, body)
  else body.appendBytes(cells.bytes, 0, cells.rowCount * LANE_BYTES[cells.physical])
  return STORED_ENCODINGS.PLAIN
}

/**
 * Reads `count` values. Lanes get room for `rowCount`, and the values are the first ones.
 *
 * Throws: CORRUPTION when they are not what `encodeValues` writes.
 */
export function decodeValues(
  physical: Physical,
  encoding: number,
  count: number,
  rowCount: number,
  reader: BodyReader,
): DecodedValues {
  if (encoding !== STORED_ENCODINGS.PLAIN) throw reader.corrupt(`unknown encoding ${encoding}`)
  if (physical === PHYSICAL.binary) return decodePlainStrings(count, reader)
  return { bytes: decodePlainLanes(physical, count, rowCount, reader), offsets: NO_OFFSETS }
}

function decodePlainLanes(
  physical: Physical,
  count: number,
  rowCount: number,
  reader: BodyReader,
): Uint8Array {
  const width = LANE_BYTES[physical]
  const view = reader.view(count * width)
  if (count === rowCount) return view
  const lanes = new Uint8Array(rowCount * width)
  lanes.set(view)
  return lanes
}
