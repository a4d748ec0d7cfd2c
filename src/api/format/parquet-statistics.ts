/**
 * The least and the greatest cell of a column, by the order that Parquet's readers go by: numbers
 * as numbers, NaN left out, bytes as unsigned bytes. Hot.
 */

import { compareCells } from '../../common/cell-order.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { getBit } from '../../util/bitmap.ts'
import { compareBytes } from '../../util/bytes.ts'
import type { RowSegment } from './held-rows.ts'

/** The ends of a column's cells. A binary cell is a view. */
export interface CellExtremes {
  readonly least: Cell
  readonly greatest: Cell
}

// Rows of the least and the greatest cell that `findIn…` saw last; −1: it saw none.
let scratchLeast = -1
let scratchGreatest = -1

/** The extremes of a column in all segments, or null when there is no cell that has an order. */
export function extremesOf(segments: readonly RowSegment[], index: number): CellExtremes | null {
  let extremes: CellExtremes | null = null
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const vector = block.columns[index]
    findExtremes(vector, start, end)
    if (scratchLeast < 0) continue
    const least = vector.cell(scratchLeast)
    const greatest = vector.cell(scratchGreatest)
    if (least === null || greatest === null) continue
    extremes = widened(vector, extremes, { least, greatest })
  }
  return extremes
}

function widened(
  { physical }: ColumnVector,
  a: CellExtremes | null,
  b: CellExtremes,
): CellExtremes {
  if (a === null) return b
  return {
    least: compareCells(physical, b.least, a.least) < 0 ? b.least : a.least,
    greatest: compareCells(physical, b.greatest, a.greatest) > 0 ? b.greatest : a.greatest,
  }
}

function findExtremes(vector: ColumnVector, start: number, end: number): void {
  scratchLeast = -1
  scratchGreatest = -1
  const { physical } = vector
  if (physical === PHYSICAL.binary) findInBinary(vector, start, end)
  else if (physical === PHYSICAL.int64 || physical === PHYSICAL.int128) {
    findInWide(vector, LANE_BYTES[physical] / 4, start, end)
  } else findInNumbers(vector, start, end)
}

function findInNumbers({ lanes, validity }: ColumnVector, start: number, end: number): void {
  let least = Infinity
  let greatest = -Infinity
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    const value = lanes[row]
    // With NaN every comparison is false.
    if (value < least || (value === least && scratchLeast < 0)) {
      least = value
      scratchLeast = row
    }
    if (value > greatest || (value === greatest && scratchGreatest < 0)) {
      greatest = value
      scratchGreatest = row
    }
  }
}

function findInWide(
  { lanes, validity }: ColumnVector,
  words: number,
  start: number,
  end: number,
): void {
  const lane = lanes as Uint32Array
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    if (scratchLeast < 0) {
      scratchLeast = row
      scratchGreatest = row
    } else if (compareWide(lane, words, row, scratchLeast) < 0) scratchLeast = row
    else if (compareWide(lane, words, row, scratchGreatest) > 0) scratchGreatest = row
  }
}

/** Orders two integers of several words, the last of which has the sign. */
function compareWide(lanes: Uint32Array, words: number, a: number, b: number): number {
  let at = words - 1
  const high = (lanes[a * words + at] | 0) - (lanes[b * words + at] | 0)
  if (high !== 0) return high
  while (--at >= 0) {
    const difference = lanes[a * words + at] - lanes[b * words + at]
    if (difference !== 0) return difference
  }
  return 0
}

function findInBinary(
  { bytes, offsets, validity }: ColumnVector,
  start: number,
  end: number,
): void {
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    const from = offsets[row]
    const to = offsets[row + 1]
    if (scratchLeast < 0) {
      scratchLeast = row
      scratchGreatest = row
    } else if (compareWith(bytes, from, to, offsets, scratchLeast) < 0) scratchLeast = row
    else if (compareWith(bytes, from, to, offsets, scratchGreatest) > 0) scratchGreatest = row
  }
}

function compareWith(
  bytes: Uint8Array,
  from: number,
  to: number,
  offsets: Uint32Array,
  row: number,
): number {
  return compareBytes(bytes, from, to, bytes, offsets[row], offsets[row + 1])
}
