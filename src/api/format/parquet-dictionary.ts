/** Cells of a column chunk as numbers of its different values, where that is shorter. Hot. */

import { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import { getBit } from '../../util/bitmap.ts'
import { ByteDictionary } from './byte-dictionary.ts'
import type { RowSegment } from './held-rows.ts'

/** Different values of one chunk. */
const VALUE_COUNT_MAX = 32_768
/** Bytes of the different values of one chunk. */
const VALUE_BYTES_MAX = 1024 * 1024
/** Cells after which it is first looked whether values come again. */
const SAMPLE_COUNT = 2048
/** Numbers and values may take this part of what the cells would take by themselves. */
const BYTES_RATIO_MAX = 0.8

/** Cells as numbers. */
export interface CellCodes {
  /** The values, by number, as rows of a block of one column. */
  readonly values: RowSegment
  /** A number for each cell that is not null. Good until the next column is looked at. */
  readonly codes: Int32Array
  readonly bitWidth: number
}

const scratchDictionary = new ByteDictionary()
let scratchCodes = new Int32Array(0)

/** The cells of a column as numbers, or null when they are better written one by one. */
export function codesOf(
  column: Column,
  segments: readonly RowSegment[],
  index: number,
  rowCount: number,
): CellCodes | null {
  if (column.type === 'BOOL') return null
  if (scratchCodes.length < rowCount) scratchCodes = new Int32Array(rowCount)
  scratchDictionary.clear()
  let count = 0
  let plainBytes = 0
  for (let i = 0; i < segments.length; i++) {
    const { block, start, end } = segments[i]
    const vector = block.columns[index]
    const next = numberCells(vector, start, end, count)
    if (next < 0) return null
    plainBytes += plainBytesOf(vector, start, end, next - count)
    count = next
  }
  const dictionary = scratchDictionary
  const bitWidth = Math.max(1, Math.ceil(Math.log2(dictionary.count)))
  const valueBytes = dictionary.values.length + dictionary.count * 4
  const bytes = valueBytes + (count * bitWidth) / 8
  if (count === 0 || bytes > plainBytes * BYTES_RATIO_MAX) return null
  return { values: valuesOf(column), codes: scratchCodes.subarray(0, count), bitWidth }
}

/** Numbers cells that are not null. Returns: how many there are by now; −1 to give up. */
function numberCells(vector: ColumnVector, start: number, end: number, count: number): number {
  const { bytes, validity } = vector
  const isBinary = vector.physical === PHYSICAL.binary
  const offsets = isBinary ? vector.offsets : null
  const width = LANE_BYTES[vector.physical]
  const dictionary = scratchDictionary
  const codes = scratchCodes
  let at = count
  for (let row = start; row < end; row++) {
    if (validity !== null && !getBit(validity, row)) continue
    const from = offsets === null ? row * width : offsets[row]
    const to = offsets === null ? from + width : offsets[row + 1]
    codes[at++] = dictionary.codeOf(bytes, from, to)
    if (at === SAMPLE_COUNT && dictionary.count > SAMPLE_COUNT / 2) return -1
    if (dictionary.count > VALUE_COUNT_MAX || dictionary.values.length > VALUE_BYTES_MAX) return -1
  }
  return at
}

function plainBytesOf(vector: ColumnVector, start: number, end: number, count: number): number {
  if (vector.physical !== PHYSICAL.binary) return count * Math.max(4, LANE_BYTES[vector.physical])
  return vector.offsets[end] - vector.offsets[start] + count * 4
}

/** The values of the dictionary as rows. */
function valuesOf({ id, physical }: Column): RowSegment {
  const { values, count } = scratchDictionary
  const bytes = values.bytes.slice(0, values.length)
  let offsets: Uint32Array | null = null
  if (physical === PHYSICAL.binary) {
    offsets = new Uint32Array(count + 1)
    offsets.set(values.ends.subarray(0, count), 1)
  }
  const vector = new ColumnVector(physical, count, bytes, offsets, null, null)
  return { block: new RowBlock(count, [id], [vector], null), start: 0, end: count }
}
