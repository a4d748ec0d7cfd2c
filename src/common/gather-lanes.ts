/** Copying lanes of a column in any order. Hot. */

import type { Lanes } from './column-vector.ts'
import { PHYSICAL, type Physical } from './data-type.ts'

/**
 * Copies the lanes at `rows[start, end)` to lanes from `targetRow` on.
 *
 * One loop for each kind of lane: one that has met more than four kinds of arrays runs fifty times
 * slower.
 * Requires: both have the lanes of `physical`, which is not binary; the target has room.
 */
export function gatherLanes(
  physical: Physical,
  source: Lanes,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Lanes,
  targetRow: number,
): void {
  const shift = targetRow - start
  switch (physical) {
    case PHYSICAL.int8:
      gatherInt8(source as Int8Array, rows, start, end, target as Int8Array, shift)
      return
    case PHYSICAL.int16:
      gatherInt16(source as Int16Array, rows, start, end, target as Int16Array, shift)
      return
    case PHYSICAL.int32:
      gatherInt32(source as Int32Array, rows, start, end, target as Int32Array, shift)
      return
    case PHYSICAL.float32:
      gatherFloat32(source as Float32Array, rows, start, end, target as Float32Array, shift)
      return
    case PHYSICAL.float64:
      gatherFloat64(source as Float64Array, rows, start, end, target as Float64Array, shift)
      return
    case PHYSICAL.int64:
      gatherPairs(source as Uint32Array, rows, start, end, target as Uint32Array, targetRow)
      return
    default:
      gatherQuads(source as Uint32Array, rows, start, end, target as Uint32Array, targetRow)
  }
}

function gatherInt8(
  source: Int8Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Int8Array,
  shift: number,
): void {
  for (let i = start; i < end; i++) target[i + shift] = source[rows[i]]
}

function gatherInt16(
  source: Int16Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Int16Array,
  shift: number,
): void {
  for (let i = start; i < end; i++) target[i + shift] = source[rows[i]]
}

function gatherInt32(
  source: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Int32Array,
  shift: number,
): void {
  for (let i = start; i < end; i++) target[i + shift] = source[rows[i]]
}

function gatherFloat32(
  source: Float32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Float32Array,
  shift: number,
): void {
  for (let i = start; i < end; i++) target[i + shift] = source[rows[i]]
}

function gatherFloat64(
  source: Float64Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Float64Array,
  shift: number,
): void {
  for (let i = start; i < end; i++) target[i + shift] = source[rows[i]]
}

function gatherPairs(
  source: Uint32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Uint32Array,
  targetRow: number,
): void {
  for (let i = start, out = targetRow * 2; i < end; i++, out += 2) {
    const from = rows[i] * 2
    target[out] = source[from]
    target[out + 1] = source[from + 1]
  }
}

function gatherQuads(
  source: Uint32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Uint32Array,
  targetRow: number,
): void {
  for (let i = start, out = targetRow * 4; i < end; i++, out += 4) {
    const from = rows[i] * 4
    target[out] = source[from]
    target[out + 1] = source[from + 1]
    target[out + 2] = source[from + 2]
    target[out + 3] = source[from + 3]
  }
}
