/** Selected cells of a column as numbers to compute with. Hot. */

import type { ColumnVector, PackedIntegers } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { unreachable } from '../../util/assert.ts'
import type { SelectedColumn } from '../row-set.ts'
import { type NumberVector, PLAIN_END } from './number-vector.ts'

const WORD = 2 ** 32

/**
 * Loads cells as plain numbers, with what is null. Returns: false when they are integers too large
 * for that; then the vector holds nothing yet.
 */
export function loadPlain(column: SelectedColumn, count: number, vector: NumberVector): boolean {
  const { cells, rows } = column
  loadNulls(cells, rows, count, vector)
  vector.isWide = false
  const values = vector.reserve(count)
  if (cells.packed !== null) {
    vector.bound = loadPacked(cells.packed, rows, count, values)
    return true
  }
  switch (cells.physical) {
    case PHYSICAL.int8:
    case PHYSICAL.int16:
    case PHYSICAL.int32:
      vector.bound = loadSmall(cells, rows, count, values)
      return true
    case PHYSICAL.float32:
    case PHYSICAL.float64: {
      const { lanes } = cells
      for (let i = 0; i < count; i++) values[i] = lanes[rows[i]]
      return true
    }
    case PHYSICAL.int64:
      vector.bound = loadPairs(cells.lanes as Uint32Array, rows, count, values)
      return vector.bound < PLAIN_END
    case PHYSICAL.int128:
      vector.bound = loadQuads(cells.lanes as Uint32Array, rows, count, values)
      return vector.bound < PLAIN_END
    case PHYSICAL.binary:
      return false
    default:
      return unreachable(cells.physical)
  }
}

let scratchDistances = new Int32Array(4096)

/** Returns: what none of the numbers is further from 0 than. */
function loadPacked(
  packed: PackedIntegers,
  rows: Uint32Array,
  count: number,
  values: Float64Array,
): number {
  const { base, unit, distanceMax } = packed
  const all = packed.allDistances(count)
  if (all === null) {
    if (scratchDistances.length < count) scratchDistances = new Int32Array(count)
    packed.pickDistances(rows, count, scratchDistances)
    for (let i = 0; i < count; i++) values[i] = base + unit * scratchDistances[i]
  } else {
    for (let i = 0; i < count; i++) values[i] = base + unit * all[rows[i]]
  }
  return Math.max(Math.abs(base), Math.abs(base + unit * distanceMax))
}

/** Loads what is null of selected cells. */
export function loadNulls(
  { validity }: ColumnVector,
  rows: Uint32Array,
  count: number,
  vector: NumberVector,
): void {
  vector.isNull = null
  if (validity === null) return
  const marks = vector.reserveNulls(count)
  let nullCount = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    const mark = 1 - ((validity[row >>> 3] >>> (row & 7)) & 1)
    marks[i] = mark
    nullCount += mark
  }
  if (nullCount === 0) vector.isNull = null
}

/** Loads integers of two or four words of any size. */
export function loadWide(column: SelectedColumn, count: number, vector: NumberVector): void {
  const { cells, rows } = column
  loadNulls(cells, rows, count, vector)
  vector.isWide = true
  const lanes = cells.lanes as Uint32Array
  const wordCount = cells.physical === PHYSICAL.int64 ? 2 : 4
  const { wide } = vector
  for (let i = 0; i < count; i++) {
    const last = rows[i] * wordCount + wordCount - 1
    let value = BigInt(lanes[last] | 0)
    for (let word = 1; word < wordCount; word++) {
      value = (value << 32n) | BigInt(lanes[last - word])
    }
    wide[i] = value
  }
}

// Each returns a bound. All bits of the numbers are gathered, of negative ones their complement:
// what they are together is not below any of them, and less than twice the greatest.

function loadSmall(
  { lanes }: ColumnVector,
  rows: Uint32Array,
  count: number,
  values: Float64Array,
): number {
  let bits = 0
  for (let i = 0; i < count; i++) {
    const value = lanes[rows[i]]
    values[i] = value
    bits |= value ^ (value >> 31)
  }
  return bits + 1
}

function loadPairs(
  lanes: Uint32Array,
  rows: Uint32Array,
  count: number,
  values: Float64Array,
): number {
  let lowBits = 0
  let highBits = 0
  for (let i = 0; i < count; i++) {
    const lane = rows[i] * 2
    const low = lanes[lane]
    const high = lanes[lane + 1] | 0
    const sign = high >> 31
    lowBits |= low ^ sign
    highBits |= high ^ sign
    values[i] = high * WORD + low
  }
  return highBits * WORD + (lowBits >>> 0) + 1
}

function loadQuads(
  lanes: Uint32Array,
  rows: Uint32Array,
  count: number,
  values: Float64Array,
): number {
  let lowBits = 0
  let highBits = 0
  for (let i = 0; i < count; i++) {
    const lane = rows[i] * 4
    const low = lanes[lane]
    const high = lanes[lane + 1] | 0
    const sign = high >> 31
    // Words that are more than the sign of the two below make the number too large.
    if ((lanes[lane + 2] | 0) !== sign || (lanes[lane + 3] | 0) !== sign) return Infinity
    lowBits |= low ^ sign
    highBits |= high ^ sign
    values[i] = high * WORD + low
  }
  return highBits * WORD + (lowBits >>> 0) + 1
}
