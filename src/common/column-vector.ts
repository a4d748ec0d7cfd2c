/**
 * The cells of one column over a run of rows, as views over bytes. Hot: read through `lanes` in
 * loops.
 */

import { assert } from '../util/assert.ts'
import { bitmapBytes, getBit } from '../util/bitmap.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from './data-type.ts'
import { codesIn, joinedBytes, joinValues } from './join-codes.ts'

/**
 * A typed view of fixed lanes: int64 as pairs and int128 as quads of 32-bit words, low word first.
 */
export type Lanes = Int8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array

const NO_OFFSETS = new Uint32Array(1)
const NO_LANES = new Int8Array(0)
const UNKNOWN = -1

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
 * Integers as they lie packed in a page: each is `base + unit × distance`, and no number is touched
 * before it is asked for.
 *
 * All of them, and what they are made of, are below 2^50 either way: doubles hold them, and the
 * differences between them.
 */
export interface PackedIntegers {
  readonly rowCount: number
  readonly base: number
  /** At least 1. */
  readonly unit: number
  /** No distance is greater; less than 2^31. */
  readonly distanceMax: number
  /**
   * The distances of all rows, by row, for whoever asks for `count` of them. Returns: null when
   * so few are better picked. Cost: 1 ns a row, once.
   */
  allDistances(count: number): Int32Array | null
  /** Writes the distances of `rows[0, count)`. Cost: 3 ns each. */
  pickDistances(rows: Uint32Array, count: number, out: Int32Array): void
  /**
   * Writes the rows whose distances are in `[from, to]`, of all rows, to `out`, which has
   * room for all. Returns: how many. Cost: 2 to 3 ns a row, and nothing is kept.
   */
  findDistances(from: number, to: number, out: Uint32Array): number
  /** All integers as lanes. Cost: those of the page are decoded. */
  readLanes(): Uint8Array
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
  /** One bit a row, 1 where the cell is not null; null when no cell is null. */
  readonly validity: Uint8Array | null
  /** One bit a row, 1 where a write set the cell; null when every cell is set. */
  readonly isSet: Uint8Array | null
  /** Of binary cells that are few values again and again; null when that is not known. */
  readonly dictionary: ColumnDictionary | null
  /** Of integers without null that lie packed; null when they are there as lanes only. */
  readonly packed: PackedIntegers | null
  #lanes: Lanes
  #bytes: Uint8Array
  #offsets: Uint32Array
  /**
   * Whether these are there: those of a dictionary are joined, and packed ones decoded, when they
   * are asked for.
   */
  #isJoined: boolean
  #valueBytes = UNKNOWN

  constructor(
    physical: Physical,
    rowCount: number,
    bytes: Uint8Array,
    offsets: Uint32Array | null,
    validity: Uint8Array | null,
    isSet: Uint8Array | null,
    dictionary: ColumnDictionary | null = null,
    packed: PackedIntegers | null = null,
  ) {
    assert(
      physical === PHYSICAL.binary ||
        packed !== null ||
        bytes.length >= rowCount * LANE_BYTES[physical],
      'column has fewer lanes than rows',
    )
    assert(
      physical !== PHYSICAL.binary || dictionary !== null || offsets?.length === rowCount + 1,
      'binary column needs one offset more than rows',
    )
    assert(
      validity === null || validity.length >= bitmapBytes(rowCount),
      'validity is shorter than the rows',
    )
    assert(isSet === null || isSet.length >= bitmapBytes(rowCount), 'set bits are fewer than rows')
    assert(
      dictionary === null || dictionary.codes.length === rowCount,
      'every cell of a dictionary has a code',
    )
    this.physical = physical
    this.rowCount = rowCount
    this.#lanes = packed === null ? lanesOf(physical, bytes, rowCount) : NO_LANES
    this.validity = validity
    this.isSet = isSet
    this.dictionary = dictionary
    this.packed = packed
    this.#bytes = bytes
    this.#offsets = offsets ?? NO_OFFSETS
    this.#isJoined = packed === null && (dictionary === null || offsets !== null)
  }

  /** Binary cells by their dictionary. Requires: codes are indexes of its values. */
  static ofDictionary(dictionary: ColumnDictionary, validity: Uint8Array | null): ColumnVector {
    const rowCount = dictionary.codes.length
    return new ColumnVector(
      PHYSICAL.binary,
      rowCount,
      EMPTY_BYTES,
      null,
      validity,
      null,
      dictionary,
    )
  }

  /** Packed integers, none of them null. */
  static ofPacked(physical: Physical, rowCount: number, packed: PackedIntegers): ColumnVector {
    return new ColumnVector(physical, rowCount, EMPTY_BYTES, null, null, null, null, packed)
  }

  /** Fixed lanes as a typed view; empty for binary. Cost: as `bytes`. */
  get lanes(): Lanes {
    if (!this.#isJoined && this.packed !== null) this.#join()
    return this.#lanes
  }

  /**
   * Fixed lanes as bytes (`rowCount` × width), or all binary values joined. Cost: those of a
   * dictionary are joined, and packed ones decoded, the first time, and kept.
   */
  get bytes(): Uint8Array {
    if (!this.#isJoined) this.#join()
    return this.#bytes
  }

  /** Binary: `rowCount + 1` ascending offsets into `bytes`. Else one zero. Cost: as `bytes`. */
  get offsets(): Uint32Array {
    if (!this.#isJoined) this.#join()
    return this.#offsets
  }

  /** Bytes of all binary values, joined or not. Cost: of a dictionary O(rows) the first time. */
  get valueBytes(): number {
    if (this.dictionary === null || this.#isJoined)
      return this.#offsets[this.#offsets.length - 1] - this.#offsets[0]
    if (this.#valueBytes === UNKNOWN) {
      const { values } = this.dictionary as ColumnDictionary
      this.#valueBytes = joinedBytes(values, this.#codes(), this.rowCount)
    }
    return this.#valueBytes
  }

  /** Bytes that it holds in memory, without what is joined of a dictionary. */
  get heldBytes(): number {
    const bitmaps = (this.validity?.length ?? 0) + (this.isSet?.length ?? 0)
    if (this.dictionary === null) return this.#bytes.length + this.#offsets.length * 4 + bitmaps
    const { codes, values } = this.dictionary
    return codes.byteLength + values.bytes.length + values.offsets.length * 4 + bitmaps
  }

  /** The same cells; of a dictionary ones that are not joined, for whoever may join them. */
  get unjoined(): ColumnVector {
    const { dictionary, validity } = this
    return dictionary === null ? this : ColumnVector.ofDictionary(dictionary, validity)
  }

  /** The same cells, joined and without a dictionary. */
  get joined(): ColumnVector {
    if (this.dictionary === null) return this
    const { physical, rowCount, validity, isSet } = this
    return new ColumnVector(physical, rowCount, this.bytes, this.offsets, validity, isSet)
  }

  #codes(): Uint16Array {
    return codesIn(this.dictionary as ColumnDictionary, this.validity, 0, this.rowCount)
  }

  #join(): void {
    if (this.packed !== null) {
      this.#bytes = this.packed.readLanes()
      this.#lanes = lanesOf(this.physical, this.#bytes, this.rowCount)
      this.#isJoined = true
      return
    }
    const { values } = this.dictionary as ColumnDictionary
    const { rowCount } = this
    const bytes = new Uint8Array(this.valueBytes)
    const offsets = new Uint32Array(rowCount + 1)
    const target = { bytes, start: 0, end: bytes.length, ends: offsets, endStart: 1, base: 0 }
    joinValues(values, this.#codes(), rowCount, target)
    this.#bytes = bytes
    this.#offsets = offsets
    this.#isJoined = true
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
    if (this.dictionary !== null) {
      const { codes, values } = this.dictionary
      const code = codes[row]
      return values.bytes.subarray(values.offsets[code], values.offsets[code + 1])
    }
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
