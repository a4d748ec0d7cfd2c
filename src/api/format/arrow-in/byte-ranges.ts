/** Where cells of bytes lie, however a column tells it. Hot. */

import { getBit } from '../../../util/bitmap.ts'
import { type ArrowArray, INLINE_BYTES_MAX, VIEW_WORDS } from './arrow-array.ts'
import { ARROW_TYPES } from './arrow-type.ts'
import { RUN_ROW_COUNT_MAX } from './row-marks.ts'

/** What `findRanges` found: the cell of each row of the run is `bytes[start, end)`. */
export const scratchStarts = new Uint32Array(RUN_ROW_COUNT_MAX)
export const scratchEnds = new Uint32Array(RUN_ROW_COUNT_MAX)

/**
 * Finds the cells of rows `[start, start + count)`; a null one is empty.
 *
 * Requires: at most RUN_ROW_COUNT_MAX rows; the array is one of bytes.
 */
export function findRanges(array: ArrowArray, start: number, count: number): void {
  switch (array.type.id) {
    case ARROW_TYPES.fixedSizeBinary:
      findFixed(array, start, count)
      break
    case ARROW_TYPES.utf8View:
    case ARROW_TYPES.binaryView:
      findViews(array, start, count)
      break
    case ARROW_TYPES.largeUtf8:
    case ARROW_TYPES.largeBinary:
      findOffsets(array, start, count, 2)
      break
    default:
      findOffsets(array, start, count, 1)
  }
  const { validity } = array
  if (validity === null) return
  for (let i = 0; i < count; i++)
    if (!getBit(validity, start + i)) scratchEnds[i] = scratchStarts[i]
}

/** The most bytes that the cells of rows `[start, start + count)` have together. */
export function rangeBytes(array: ArrowArray, start: number, count: number): number {
  const { values, validity } = array
  switch (array.type.id) {
    case ARROW_TYPES.utf8:
    case ARROW_TYPES.binary:
      return values[start + count] - values[start]
    case ARROW_TYPES.largeUtf8:
    case ARROW_TYPES.largeBinary:
      return values[(start + count) * 2] - values[start * 2]
    case ARROW_TYPES.utf8View:
    case ARROW_TYPES.binaryView: {
      let bytes = 0
      for (let row = start; row < start + count; row++) {
        if (validity === null || getBit(validity, row)) bytes += values[row * VIEW_WORDS]
      }
      return bytes
    }
    default:
      return array.cellBytesMax * count
  }
}

function findOffsets({ values }: ArrowArray, start: number, count: number, words: number): void {
  for (let i = 0, at = start * words; i < count; i++, at += words) {
    scratchStarts[i] = values[at]
    scratchEnds[i] = values[at + words]
  }
}

function findFixed({ cellBytesMax }: ArrowArray, start: number, count: number): void {
  for (let i = 0, at = start * cellBytesMax; i < count; i++, at += cellBytesMax) {
    scratchStarts[i] = at
    scratchEnds[i] = at + cellBytesMax
  }
}

/** Requires nothing of null rows, whose views may say anything. */
function findViews(array: ArrowArray, start: number, count: number): void {
  const { values, viewsStart, bufferStarts, validity } = array
  for (let i = 0; i < count; i++) {
    const row = start + i
    const at = row * VIEW_WORDS
    const length = values[at]
    if (validity !== null && !getBit(validity, row)) scratchStarts[i] = 0
    else if (length <= INLINE_BYTES_MAX) scratchStarts[i] = viewsStart + at * 4 + 4
    else scratchStarts[i] = bufferStarts[values[at + 2]] + values[at + 3]
    scratchEnds[i] = scratchStarts[i] + length
  }
}
