/**
 * Cells of a column in Parquet's PLAIN encoding: those that are not null, one behind the other,
 * little-endian. Hot.
 *
 *   BOOL                         a bit each
 *   INT8 INT16 INT32 DATE        4 bytes
 *   INT64 UNIXTIME_MICROS        8 bytes
 *   DECIMAL                      4 or 8 bytes, or 16 with the high byte first
 *   STRING VARCHAR BINARY        bytes u32, then the bytes
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import type { ByteArena } from '../../util/arena.ts'
import { copyBytes } from '../../util/arena.ts'
import { getBit } from '../../util/bitmap.ts'
import type { RowSegment } from './held-rows.ts'

/** Appends the cells of column `index` of all segments. Requires: the arena is empty. */
export function appendPlainValues(
  column: Column,
  segments: readonly RowSegment[],
  index: number,
  out: ByteArena,
): void {
  if (column.type === 'BOOL') {
    appendBits(segments, index, out)
    return
  }
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const vector = block.columns[index]
    if (vector.physical === PHYSICAL.binary) appendBinary(vector, start, end, out)
    else if (vector.physical === PHYSICAL.int128) appendQuads(vector, start, end, out)
    else if (LANE_BYTES[vector.physical] < 4) appendIntegers(vector, start, end, out)
    else appendLanes(vector, start, end, out)
  }
}

function appendBits(segments: readonly RowSegment[], index: number, out: ByteArena): void {
  let byte = 0
  let bit = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const { lanes, validity } = block.columns[index]
    out.reserve(((end - start) >>> 3) + 2)
    const { bytes } = out
    for (let row = start; row < end; row++) {
      if (validity !== null && !getBit(validity, row)) continue
      byte |= lanes[row] << bit
      if (++bit < 8) continue
      bytes[out.length++] = byte
      byte = 0
      bit = 0
    }
  }
  if (bit > 0) out.bytes[out.length++] = byte
}

function appendLanes(vector: ColumnVector, start: number, end: number, out: ByteArena): void {
  const { bytes, validity } = vector
  const width = LANE_BYTES[vector.physical]
  if (validity === null) {
    out.append(bytes, start * width, end * width)
    return
  }
  out.reserve((end - start) * width)
  // Stretches between nulls are copied whole.
  let from = start
  for (let row = start; row <= end; row++) {
    if (row < end && getBit(validity, row)) continue
    if (row > from) {
      copyBytes(bytes, from * width, row * width, out.bytes, out.length)
      out.length += (row - from) * width
    }
    from = row + 1
  }
}

function appendIntegers(vector: ColumnVector, start: number, end: number, out: ByteArena): void {
  const { lanes, validity } = vector
  out.reserve((end - start) * 4)
  // The arena holds nothing but such integers, so they are aligned.
  const target = new Int32Array(out.bytes.buffer, out.length, end - start)
  let at = 0
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    target[at++] = lanes[row]
  }
  out.length += at * 4
}

function appendQuads(vector: ColumnVector, start: number, end: number, out: ByteArena): void {
  const { bytes, validity } = vector
  out.reserve((end - start) * 16)
  const target = out.bytes
  let at = out.length
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    for (let byte = row * 16 + 15; byte >= row * 16; byte--) target[at++] = bytes[byte]
  }
  out.length = at
}

function appendBinary(vector: ColumnVector, start: number, end: number, out: ByteArena): void {
  const { bytes, offsets, validity } = vector
  out.reserve(offsets[end] - offsets[start] + (end - start) * 4)
  const target = out.bytes
  let at = out.length
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    const from = offsets[row]
    const to = offsets[row + 1]
    const length = to - from
    target[at] = length
    target[at + 1] = length >>> 8
    target[at + 2] = length >>> 16
    target[at + 3] = length >>> 24
    copyBytes(bytes, from, to, target, at + 4)
    at += 4 + length
  }
  out.length = at
}
