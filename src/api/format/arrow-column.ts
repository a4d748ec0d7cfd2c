/**
 * A column of a record batch: its buffers, straight from the lanes of row blocks. Hot.
 *
 *   BOOL                  validity | bits
 *   integers, floats,
 *   DATE, UNIXTIME_MICROS validity | lanes as they are
 *   DECIMAL               validity | 128 bits each, narrower lanes with their sign carried on
 *   STRING VARCHAR BINARY validity | offsets, u32 × (rows + 1) | bytes
 *
 * The validity of a column without nulls is empty.
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import { bitmapBytes, copyBits, countZeros, setBit } from '../../util/bitmap.ts'
import type { RowSegment } from './held-rows.ts'

/** Writes one column of a record batch: first `measure`, then `write` with the same segments. */
export interface ArrowColumnWriter {
  /** Nulls of the segments last measured. */
  readonly nullCount: number
  /** Bytes of each buffer of the segments last measured, padding left out. */
  readonly bufferBytes: readonly number[]
  /** Works out how much there is to write. */
  measure(segments: readonly RowSegment[], rowCount: number): void
  /**
   * Writes the buffers to `target`, whatever was there, at these offsets. Requires: they are
   * multiples of 8 in the buffer of `target`.
   */
  write(segments: readonly RowSegment[], target: Uint8Array, offsets: readonly number[]): void
}

/** A column written as it is. */
export class PlainArrowColumn implements ArrowColumnWriter {
  nullCount = 0
  readonly bufferBytes: number[]
  readonly #index: number
  readonly #isBool: boolean
  readonly #isDecimal: boolean
  readonly #isBinary: boolean
  readonly #laneBytes: number

  /** `index` is the position of the column in the blocks. */
  constructor(column: Column, index: number) {
    this.#index = index
    this.#isBool = column.type === 'BOOL'
    this.#isDecimal = column.type === 'DECIMAL'
    this.#isBinary = column.physical === PHYSICAL.binary
    this.#laneBytes = this.#isDecimal ? 16 : LANE_BYTES[column.physical]
    this.bufferBytes = this.#isBinary ? [0, 0, 0] : [0, 0]
  }

  measure(segments: readonly RowSegment[], rowCount: number): void {
    const index = this.#index
    this.nullCount = nullsOf(segments, index)
    const sizes = this.bufferBytes
    sizes[0] = this.nullCount === 0 ? 0 : bitmapBytes(rowCount)
    if (this.#isBinary) {
      sizes[1] = (rowCount + 1) * 4
      sizes[2] = valueBytesOf(segments, index)
    } else {
      sizes[1] = this.#isBool ? bitmapBytes(rowCount) : rowCount * this.#laneBytes
    }
  }

  write(segments: readonly RowSegment[], target: Uint8Array, offsets: readonly number[]): void {
    const index = this.#index
    const [validity, values] = this.bufferBytes
    if (this.nullCount > 0) writeValidity(segments, index, slice(target, offsets[0], validity))
    if (this.#isBinary) writeBinary(segments, index, target, offsets[1], offsets[2])
    else if (this.#isBool) writeBits(segments, index, slice(target, offsets[1], values))
    else if (this.#isDecimal) writeDecimals(segments, index, target, offsets[1])
    else writeLanes(segments, index, target, offsets[1])
  }
}

/** Nulls of a column in all segments. */
export function nullsOf(segments: readonly RowSegment[], index: number): number {
  let nulls = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const { validity } = block.columns[index]
    if (validity !== null) nulls += countZeros(validity, start, end)
  }
  return nulls
}

/** Writes the validity of a column: one bit a row, 1 where the cell is not null. */
export function writeValidity(
  segments: readonly RowSegment[],
  index: number,
  bits: Uint8Array,
): void {
  bits.fill(0)
  let row = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    copyBits(block.columns[index].validity, start, end, bits, row)
    row += end - start
  }
}

function valueBytesOf(segments: readonly RowSegment[], index: number): number {
  let bytes = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const { offsets } = block.columns[index]
    bytes += offsets[end] - offsets[start]
  }
  return bytes
}

function writeLanes(
  segments: readonly RowSegment[],
  index: number,
  target: Uint8Array,
  offset: number,
): void {
  let at = offset
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const { physical, bytes } = block.columns[index]
    const width = LANE_BYTES[physical]
    target.set(bytes.subarray(start * width, end * width), at)
    at += (end - start) * width
  }
}

function writeBinary(
  segments: readonly RowSegment[],
  index: number,
  target: Uint8Array,
  endsAt: number,
  valuesAt: number,
): void {
  let length = 0
  let row = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const { offsets, bytes } = block.columns[index]
    const count = end - start
    const ends = new Uint32Array(target.buffer, target.byteOffset + endsAt + row * 4, count + 1)
    const first = offsets[start]
    const shift = length - first
    for (let from = start, to = 0; to <= count; from++, to++) ends[to] = offsets[from] + shift
    target.set(bytes.subarray(first, offsets[end]), valuesAt + length)
    length += offsets[end] - first
    row += count
  }
}

function slice(target: Uint8Array, offset: number, length: number): Uint8Array {
  return target.subarray(offset, offset + length)
}

/** Writes one bit a row. */
function writeBits(segments: readonly RowSegment[], index: number, bits: Uint8Array): void {
  bits.fill(0)
  let row = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    packBits(block.columns[index].bytes, start, end, bits, row)
    row += end - start
  }
}

/** Writes the least bits of bytes `[start, end)` at bit `row`. */
function packBits(
  lanes: Uint8Array,
  start: number,
  end: number,
  bits: Uint8Array,
  row: number,
): void {
  let i = start
  let out = row
  for (; i < end && (out & 7) !== 0; i++, out++) if (lanes[i] !== 0) setBit(bits, out)
  for (; i + 8 <= end; i += 8, out += 8) {
    bits[out >>> 3] =
      lanes[i] |
      (lanes[i + 1] << 1) |
      (lanes[i + 2] << 2) |
      (lanes[i + 3] << 3) |
      (lanes[i + 4] << 4) |
      (lanes[i + 5] << 5) |
      (lanes[i + 6] << 6) |
      (lanes[i + 7] << 7)
  }
  for (; i < end; i++, out++) if (lanes[i] !== 0) setBit(bits, out)
}

function writeDecimals(
  segments: readonly RowSegment[],
  index: number,
  target: Uint8Array,
  offset: number,
): void {
  if (segments[0].block.columns[index].physical === PHYSICAL.int128) {
    writeLanes(segments, index, target, offset)
    return
  }
  let at = offset
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const count = end - start
    const words = new Int32Array(target.buffer, target.byteOffset + at, count * 4)
    widen(block.columns[index], start, end, words)
    at += count * 16
  }
}

/** Carries on the sign of lanes `[start, end)` of 32 or 64 bits up to 128. */
function widen(vector: ColumnVector, start: number, end: number, words: Int32Array): void {
  const { lanes } = vector
  let to = 0
  if (vector.physical === PHYSICAL.int32) {
    for (let row = start; row < end; row++, to += 4) {
      const value = lanes[row]
      const sign = value >> 31
      words[to] = value
      words[to + 1] = sign
      words[to + 2] = sign
      words[to + 3] = sign
    }
    return
  }
  for (let word = start * 2; word < end * 2; word += 2, to += 4) {
    const high = lanes[word + 1]
    const sign = high >> 31
    words[to] = lanes[word]
    words[to + 1] = high
    words[to + 2] = sign
    words[to + 3] = sign
  }
}
