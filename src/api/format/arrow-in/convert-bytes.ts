/** Cells of bytes from Arrow into columns. Hot. */

import { CELL_ERRORS } from '../../../common/cell-error.ts'
import { countCodePoints } from '../../../common/cell-reader.ts'
import { CELL_BYTES_MAX } from '../../../common/limits.ts'
import { copyBytes } from '../../../util/arena.ts'
import { utf8SequenceBytes } from '../../../util/utf8-sequence.ts'
import type { ArrowRun } from './arrow-run.ts'
import { hasViews } from './arrow-type.ts'
import { findRanges, scratchEnds, scratchStarts } from './byte-ranges.ts'
import { ROW_MARKS } from './row-marks.ts'

/** Reads STRING, VARCHAR or BINARY. */
export function convertBytes(run: ArrowRun): void {
  const { array, start, count, column, plan, marks } = run
  const { bytes } = array
  const isText = plan.column.type !== 'BINARY'
  findRanges(array, start, count)
  let total = 0
  let first = bytes.length
  let last = 0
  for (let i = 0; i < count; i++) {
    const length = scratchEnds[i] - scratchStarts[i]
    if (length === 0) continue
    if (length > CELL_BYTES_MAX) {
      marks.mark(i, CELL_ERRORS.TOO_LARGE)
      scratchEnds[i] = scratchStarts[i]
      continue
    }
    total += length
    if (scratchStarts[i] < first) first = scratchStarts[i]
    if (scratchEnds[i] > last) last = scratchEnds[i]
  }
  // Views may lie anywhere, in any order, and share their bytes.
  const isInOrder = !hasViews(array.type)
  if (isText) checkTexts(run, total > 0 && !(isInOrder && isAscii(bytes, first, last)))
  const { values, offsets, rowCount } = column
  values.reserve(total)
  const target = values.bytes
  let length = values.length
  if (isInOrder && total === last - first) {
    // The cells lie one behind the other.
    target.set(bytes.subarray(first, last), length)
    for (let i = 0; i < count; i++) {
      length += scratchEnds[i] - scratchStarts[i]
      offsets[rowCount + i + 1] = length
    }
  } else {
    for (let i = 0; i < count; i++) {
      copyBytes(bytes, scratchStarts[i], scratchEnds[i], target, length)
      length += scratchEnds[i] - scratchStarts[i]
      offsets[rowCount + i + 1] = length
    }
  }
  values.truncate(length)
}

/** Marks cells that are no text, or longer than their column takes. */
function checkTexts({ array, count, plan, marks }: ArrowRun, hasOther: boolean): void {
  const { bytes } = array
  const lengthMax = plan.lengthMax === 0 ? CELL_BYTES_MAX : plan.lengthMax
  for (let i = 0; i < count; i++) {
    const start = scratchStarts[i]
    const end = scratchEnds[i]
    if (hasOther && !isUtf8(bytes, start, end)) marks.mark(i, ROW_MARKS.notUtf8)
    else if (end - start > lengthMax && countCodePoints(bytes, start, end) > lengthMax) {
      marks.mark(i, CELL_ERRORS.TOO_LONG)
    }
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start
  for (; i + 4 <= end; i += 4) {
    if (((bytes[i] | bytes[i + 1] | bytes[i + 2] | bytes[i + 3]) & 0x80) !== 0) return false
  }
  for (; i < end; i++) if (bytes[i] >= 0x80) return false
  return true
}

function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start
  while (i < end) {
    if (i + 4 <= end && ((bytes[i] | bytes[i + 1] | bytes[i + 2] | bytes[i + 3]) & 0x80) === 0) {
      i += 4
    } else if (bytes[i] < 0x80) {
      i++
    } else {
      // What looks whole may go on in the bytes of the next cell.
      const length = utf8SequenceBytes(bytes, i)
      if (length === 0) return false
      i += length
    }
  }
  return i === end
}
