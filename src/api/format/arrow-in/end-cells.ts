/** Makes rows of cells that were written behind a column, and takes them back. Hot. */

import type { ColumnBuilder } from '../../../common/column-builder.ts'
import { LANE_BYTES, PHYSICAL } from '../../../common/data-type.ts'
import { clearBit, copyBits, setBits } from '../../../util/bitmap.ts'
import type { ArrowArray } from './arrow-array.ts'
import { ARROW_TYPES } from './arrow-type.ts'

/**
 * Ends the cells of rows `[start, start + count)` of an array: all set, null where it has nulls.
 */
export function endCells(
  column: ColumnBuilder,
  array: ArrowArray,
  start: number,
  count: number,
): void {
  const { rowCount } = column
  if (array.type.id === ARROW_TYPES.null) {
    fillOffsets(column, count)
    column.nullCount += count
  } else {
    const end = start + count
    column.nullCount += copyBits(array.validity, start, end, column.validity, rowCount)
  }
  setBits(column.isSet, rowCount, rowCount + count)
  column.rowCount = rowCount + count
}

/** Ends `count` cells that nothing sets. Requires: there is room for them. */
export function endUnset(column: ColumnBuilder, count: number): void {
  fillOffsets(column, count)
  column.nullCount += count
  column.unsetCount += count
  column.rowCount += count
}

/** Takes the cells from row `rowCount` on back, of which all are set and `nullCount` null. */
export function takeBack(column: ColumnBuilder, rowCount: number, nullCount: number): void {
  const end = column.rowCount
  if (column.physical === PHYSICAL.binary) {
    column.values.truncate(column.offsets[rowCount])
  } else {
    const words = Math.max(1, LANE_BYTES[column.physical] >> 2)
    const laneWords = column.lanes.BYTES_PER_ELEMENT === 4 ? words : 1
    column.lanes.fill(0, rowCount * laneWords, end * laneWords)
  }
  for (let row = rowCount; row < end; row++) {
    clearBit(column.validity, row)
    clearBit(column.isSet, row)
  }
  column.rowCount = rowCount
  column.nullCount -= nullCount
}

/** Takes the last `count` cells back, which nothing set. */
export function takeBackUnset(column: ColumnBuilder, count: number): void {
  column.rowCount -= count
  column.nullCount -= count
  column.unsetCount -= count
}

function fillOffsets(column: ColumnBuilder, count: number): void {
  if (column.physical !== PHYSICAL.binary) return
  const { rowCount, values, offsets } = column
  offsets.fill(values.length, rowCount + 1, rowCount + count + 1)
}
