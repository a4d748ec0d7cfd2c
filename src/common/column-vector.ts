/**
 * The cells of one column over a run of rows, as views over bytes. Hot: read through `lanes` in
 * loops.
 */

import { assert } from '../util/assert.ts'
import { bitmapBytes, getBit } from '../util/bitmap.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from './data-type.ts'

/**
 * A typed view of fixed lanes: int64 as pairs and int128 as quads of 32-bit words, low word first.
 */
export type Lanes = Int8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array

const NO_OFFSETS = new Uint32Array(1)
const NO_LANES = new Int8Array(0)

/**
 * Typed view of the first `rowCount` lanes of `bytes`.
 *
 * Requires: `bytes` begins at a multiple of the lane's width (8 for int128) in its buffer.
 */
export function lanesOf(physical: Physical, bytes: Uint8Array, rowCount: number): Lanes {
  const { buffer, byteOffset } = bytes
  switch (physical) {
    case PHYSICAL.int8:
      return new Int8Array(buffer, byteOffset, rowCount)
    case PHYSICAL.int16:
      return new Int16Array(buffer, byteOffset, rowCount)
    case PHYSICAL.int32:
      return new Int32Array(buffer, byteOffset, rowCount)
    case PHYSICAL.int64:
      return new Uint32Array(buffer, byteOffset, rowCount * 2)
    case PHYSICAL.float32:
      return new Float32Array(buffer, byteOffset, rowCount)
    case PHYSICAL.float64:
      return new Float64Array(buffer, byteOffset, rowCount)
    case PHYSICAL.int128:
      return new Uint32Array(buffer, byteOffset, rowCount * 4)
    case PHYSICAL.binary:
      return NO_LANES
  }
}

/** The different values of a binary vector, and which one each cell is. */
export interface ColumnDictionary {
  /** One a cell, an index of `values`; that of a null cell means nothing. */
  readonly codes: Uint16Array
  /** Binary, none of them null, no two the same. */
  readonly values: ColumnVector
}

/**
 * Cells `[0, rowCount)` of one column. Immutable by convention; the bytes may be borrowed from a
 * message, a builder or an arena, and whoever hands it out says until when.
 *
 * A cell is null when `validity` has its bit 0, unset (in write blocks) when `isSet` has its bit 0.
 * The lane of a null or unset cell is zero and its binary value is empty.
 */
export class ColumnVector {
  readonly physical: Physical
  readonly rowCount: number
  /** Fixed lanes as bytes (`rowCount` × width), or all binary values joined. */
  readonly bytes: Uint8Array
  /** Binary: `rowCount + 1` ascending offsets into `bytes`. Else one zero. */
  readonly offsets: Uint32Array
  /** Fixed lanes as a typed view; empty for binary. */
  readonly lanes: Lanes
  /** One bit a row, 1 where the cell is not null; null when no cell is null. */
  readonly validity: Uint8Array | null
  /** One bit a row, 1 where a write set the cell; null when every cell is set. */
  readonly isSet: Uint8Array | null

  constructor(
    physical: Physical,
    rowCount: number,
    bytes: Uint8Array,
    offsets: Uint32Array | null,
    validity: Uint8Array | null,
    isSet: Uint8Array | null,
  ) {
    assert(
      physical === PHYSICAL.binary || bytes.length >= rowCount * LANE_BYTES[physical],
      'column has fewer lanes than rows',
    )
    assert(
      physical !== PHYSICAL.binary || (offsets !== null && offsets.length === rowCount + 1),
      'binary column needs one offset more than rows',
    )
    assert(
      validity === null || validity.length >= bitmapBytes(rowCount),
      'validity is shorter than the rows',
    )
    assert(isSet === null || isSet.length >= bitmapBytes(rowCount), 'set bits are fewer than rows')
    this.physical = physical
    this.rowCount = rowCount
    this.bytes = bytes
    this.offsets = offsets ?? NO_OFFSETS
    this.lanes = lanesOf(physical, bytes, rowCount)
    this.validity = validity
    this.isSet = isSet
  }

  /** Whether the cell of `row` is null. */
  isNull(row: number): boolean {
    return this.validity !== null && !getBit(this.validity, row)
  }

  /** Whether a write set the cell of `row`; true in read blocks. */
  hasCell(row: number): boolean {
    return this.isSet === null || getBit(this.isSet, row)
  }

  /** The cell of `row`, or null. A binary cell is a view. For edges: it allocates. */
  cell(row: number): Cell | null {
    if (this.isNull(row)) return null
    if (this.physical === PHYSICAL.binary) {
      return this.bytes.subarray(this.offsets[row], this.offsets[row + 1])
    }
    return laneCell(this.physical, this.lanes, row)
  }
}

/** The lane at `index` as a plain value. Requires: `physical` is not binary. */
export function laneCell(physical: Physical, lanes: Lanes, index: number): Cell {
  switch (physical) {
    case PHYSICAL.int64:
      return joinPair(lanes[index * 2], lanes[index * 2 + 1])
    case PHYSICAL.int128:
      return joinQuad(lanes as Uint32Array, index * 4)
    default:
      return lanes[index]
  }
}

/** A signed 64-bit integer from its words. */
export function joinPair(low: number, high: number): bigint {
  return (BigInt(high | 0) << 32n) | BigInt(low >>> 0)
}

/** A signed 128-bit integer from four words at `offset`, low word first. */
export function joinQuad(words: Uint32Array, offset: number): bigint {
  const low = (BigInt(words[offset + 1]) << 32n) | BigInt(words[offset])
  const high = (BigInt(words[offset + 3] | 0) << 32n) | BigInt(words[offset + 2])
  return (high << 64n) | low
}
