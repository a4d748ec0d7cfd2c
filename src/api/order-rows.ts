/**
 * Sorting the rows of a block by some of its columns. Nulls are last either way, NaN is above all
 * numbers.
 *
 * A comparison of two rows costs far more than one of two numbers, so 32 bits that tell of the
 * first column are packed with each row into 64, and the runtime sorts those. Rows whose bits are
 * equal are then sorted among themselves by comparisons.
 *
 *   low 32 bits: row    high 32 bits: of a text four bytes, of a number the upper half of a double,
 *                                     turned such that it sorts as an integer; of null all ones
 */

import type { ColumnVector, Lanes } from '../common/column-vector.ts'
import { PHYSICAL } from '../common/data-type.ts'
import type { RowBlock } from '../common/row-block.ts'
import { compareBytes } from '../util/bytes.ts'

/** A column that rows are ordered by. */
export interface OrderColumn {
  /** Which column of the block. */
  readonly index: number
  readonly isDescending: boolean
}

/** Negative, zero or positive, of two rows. */
type RowComparison = (a: number, b: number) => number

const WORD = 2 ** 32
const WORD_MAX = WORD - 1
const BYTE = 256
/** Groups up to this size are sorted by insertion. */
const INSERTION_ROWS_MAX = 12

/**
 * Rows of a block in order: by `by`, then by the first `keyCount` columns ascending, then as they
 * are.
 *
 * Cost: n log n comparisons of numbers, and where the first column does not tell of rows; sixteen
 * bytes a row.
 */
export function orderRows(
  block: RowBlock,
  by: readonly OrderColumn[],
  keyCount: number,
): Uint32Array {
  const count = block.rowCount
  const keys = Array.from({ length: keyCount }, (_, index) => ({ index, isDescending: false }))
  const all = [...by, ...keys.filter(({ index }) => by.every((column) => column.index !== index))]
  if (all.length === 0) return Uint32Array.from({ length: count }, (_, row) => row)
  const packed = new BigUint64Array(count)
  const words = new Uint32Array(packed.buffer)
  packRows(block.columns[all[0].index], all[0].isDescending, words, count)
  packed.sort()
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = words[i * 2]
  const compare = comparisonOf(block, all)
  let start = 0
  for (let i = 1; i <= count; i++) {
    if (i < count && words[i * 2 + 1] === words[start * 2 + 1]) continue
    sortGroup(order, start, i, compare)
    start = i
  }
  return order
}

/** Sorts `order[start, end)`. */
function sortGroup(order: Uint32Array, start: number, end: number, compare: RowComparison): void {
  if (end - start > INSERTION_ROWS_MAX) {
    order.subarray(start, end).sort(compare)
    return
  }
  for (let i = start + 1; i < end; i++) {
    const row = order[i]
    let to = i
    while (to > start && compare(order[to - 1], row) > 0) {
      order[to] = order[to - 1]
      to--
    }
    order[to] = row
  }
}

/** Packs rows with what a column tells of their order. */
function packRows(
  column: ColumnVector,
  isDescending: boolean,
  words: Uint32Array,
  count: number,
): void {
  const skipped = commonPrefixBytes(column, count)
  const isBinary = column.physical === PHYSICAL.binary
  for (let row = 0; row < count; row++) {
    words[row * 2] = row
    let word = WORD_MAX
    if (!column.isNull(row)) {
      const rise = isBinary ? textWord(column, row, skipped) : numberWord(numberAt(column, row))
      word = isDescending ? WORD_MAX - rise : rise
    }
    words[row * 2 + 1] = word
  }
}

/** Four bytes of a text behind those that all texts begin with, zeros behind its end. */
function textWord({ bytes, offsets }: ColumnVector, row: number, skipped: number): number {
  const start = offsets[row] + skipped
  const end = offsets[row + 1]
  let word = 0
  for (let i = start; i < start + 4; i++) word = word * BYTE + (i < end ? bytes[i] : 0)
  return word
}

const scratchNumber = new Float64Array(1)
const scratchHalves = new Uint32Array(scratchNumber.buffer)

/** The upper half of a number; it never falls while numbers rise. */
function numberWord(number: number): number {
  // −0 would sort below 0.
  scratchNumber[0] = Number.isNaN(number) ? Number.POSITIVE_INFINITY : number + 0
  const high = scratchHalves[1]
  return high > WORD_MAX / 2 ? WORD_MAX - high : high + (WORD_MAX + 1) / 2
}

/** A cell as a number that never falls while cells rise: rounded, where it is wide. */
function numberAt({ physical, lanes }: ColumnVector, row: number): number {
  if (physical === PHYSICAL.int64) return (lanes[row * 2 + 1] | 0) * WORD + lanes[row * 2]
  if (physical !== PHYSICAL.int128) return lanes[row]
  const at = row * 4
  const high = (lanes[at + 3] | 0) * WORD + lanes[at + 2]
  // What is rounded already must not be rounded by what is below it.
  if (Math.abs(high) >= WORD) return high * WORD * WORD
  return high * WORD * WORD + (lanes[at + 1] * WORD + lanes[at])
}

/** How many bytes all cells begin with that are not null; none of numbers. */
function commonPrefixBytes(column: ColumnVector, count: number): number {
  const { physical, bytes, offsets } = column
  if (physical !== PHYSICAL.binary) return 0
  let first = -1
  let common = 0
  for (let row = 0; row < count; row++) {
    if (column.isNull(row)) continue
    const start = offsets[row]
    const length = offsets[row + 1] - start
    if (first < 0) {
      first = start
      common = length
    }
    let same = 0
    while (same < common && same < length && bytes[start + same] === bytes[first + same]) same++
    common = same
  }
  return common
}

/** How two rows compare by columns. */
function comparisonOf(block: RowBlock, by: readonly OrderColumn[]): RowComparison {
  const comparisons = by.map(({ index, isDescending }) => {
    return columnComparison(block.columns[index], isDescending)
  })
  return (a, b) => {
    for (let i = 0; i < comparisons.length; i++) {
      const found = comparisons[i](a, b)
      if (found !== 0) return found
    }
    return 0
  }
}

function columnComparison(column: ColumnVector, isDescending: boolean): RowComparison {
  const ascending = cellComparison(column)
  const compare: RowComparison = isDescending ? (a, b) => ascending(b, a) : ascending
  if (column.validity === null) return compare
  return (a, b) => {
    const isNull = column.isNull(a)
    if (isNull !== column.isNull(b)) return isNull ? 1 : -1
    return isNull ? 0 : compare(a, b)
  }
}

/** How the cells of two rows compare that are not null. */
function cellComparison({ physical, lanes, bytes, offsets }: ColumnVector): RowComparison {
  switch (physical) {
    case PHYSICAL.binary:
      return (a, b) => {
        return compareBytes(bytes, offsets[a], offsets[a + 1], bytes, offsets[b], offsets[b + 1])
      }
    case PHYSICAL.int64:
      return (a, b) => compareWords(lanes, a * 2, b * 2, 2)
    case PHYSICAL.int128:
      return (a, b) => compareWords(lanes, a * 4, b * 4, 4)
    default:
      return (a, b) => compareNumbers(lanes[a], lanes[b])
  }
}

/** Compares two integers of `count` words, low word first. */
function compareWords(lanes: Lanes, a: number, b: number, count: number): number {
  const top = (lanes[a + count - 1] | 0) - (lanes[b + count - 1] | 0)
  if (top !== 0) return top
  for (let i = count - 2; i >= 0; i--) {
    if (lanes[a + i] !== lanes[b + i]) return lanes[a + i] - lanes[b + i]
  }
  return 0
}

/** −0 is 0. */
function compareNumbers(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  if (a === b) return 0
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}
