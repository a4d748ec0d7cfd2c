/**
 * The order of the cells of a column: comparing two, the smallest and the greatest, and the
 * neighbours.
 *
 * For edges (bounds, predicates, schemas): per-row code compares lanes or encoded keys.
 */

import { assert, unreachable } from '../util/assert.ts'
import { compareWhole, EMPTY_BYTES } from '../util/bytes.ts'
import { type Cell, PHYSICAL, type Physical } from './data-type.ts'
import type { Column } from './schema.ts'

/** What of a column decides the order and the ends of its cells. */
export type CellDomain = Pick<Column, 'type' | 'attributes' | 'physical'>

// Days of 0001-01-01 and 9999-12-31.
const DATE_MIN = -719_162
const DATE_MAX = 2_932_896

/**
 * Orders two cells of one physical type: negative, zero or positive. −0 equals 0, NaN is above all.
 */
export function compareCells(physical: Physical, a: Cell, b: Cell): number {
  if (physical === PHYSICAL.binary) return compareWhole(a as Uint8Array, b as Uint8Array)
  if (a < b) return -1
  if (a > b) return 1
  if (a === b) return 0
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}

/**
 * The smallest cell a column can hold; of floats −Infinity, of strings and binaries the empty one.
 * A range column left out of a bound stands for it.
 */
export function minCell(column: CellDomain): Cell {
  const { physical } = column
  if (physical === PHYSICAL.binary) return EMPTY_BYTES
  if (physical === PHYSICAL.float32 || physical === PHYSICAL.float64) return -Infinity
  if (column.type === 'BOOL') return 0
  if (column.type === 'DATE') return DATE_MIN
  if (column.type === 'DECIMAL') return fitted(physical, -decimalMax(column))
  return fitted(physical, -(1n << BigInt(integerBits(physical) - 1)))
}

/**
 * The greatest cell a column can hold; of floats Infinity. Returns: null for strings and binaries.
 */
export function maxCell(column: CellDomain): Cell | null {
  const { physical } = column
  if (physical === PHYSICAL.binary) return null
  if (physical === PHYSICAL.float32 || physical === PHYSICAL.float64) return Infinity
  if (column.type === 'BOOL') return 1
  if (column.type === 'DATE') return DATE_MAX
  if (column.type === 'DECIMAL') return fitted(physical, decimalMax(column))
  return fitted(physical, (1n << BigInt(integerBits(physical) - 1)) - 1n)
}

/**
 * The cell just above another: no cell lies between the two.
 *
 * Returns: null when there is none: the greatest cell, and NaN.
 */
export function nextCell(column: CellDomain, cell: Cell): Cell | null {
  if (cell instanceof Uint8Array) {
    const next = new Uint8Array(cell.length + 1)
    next.set(cell)
    return next
  }
  const { physical } = column
  if (physical === PHYSICAL.float32) return nextFloat32(cell as number)
  if (physical === PHYSICAL.float64) return nextFloat64(cell as number)
  if (cell >= (maxCell(column) as number | bigint)) return null
  return typeof cell === 'bigint' ? cell + 1n : cell + 1
}

/**
 * The cell just below another, where that can be told: an integer that is not the smallest, a
 * string or binary that ends in a zero byte.
 *
 * Returns: null otherwise, floats included.
 */
export function decrementCell(column: CellDomain, cell: Cell): Cell | null {
  if (cell instanceof Uint8Array) {
    const last = cell.length - 1
    return last >= 0 && cell[last] === 0 ? cell.slice(0, last) : null
  }
  const { physical } = column
  if (physical === PHYSICAL.float32 || physical === PHYSICAL.float64) return null
  if (cell <= (minCell(column) as number | bigint)) return null
  return typeof cell === 'bigint' ? cell - 1n : cell - 1
}

/**
 * The tuple just above another: the last cell is raised, and where it is the greatest it becomes
 * the smallest and the one before it is raised.
 *
 * Returns: null when every cell is the greatest of its column.
 */
export function incrementCells(
  columns: readonly CellDomain[],
  cells: readonly Cell[],
): Cell[] | null {
  assert(columns.length === cells.length, 'every column has a cell')
  const raised = [...cells]
  for (let index = cells.length - 1; index >= 0; index--) {
    const next = nextCell(columns[index], cells[index])
    if (next !== null) {
      raised[index] = next
      return raised
    }
    raised[index] = minCell(columns[index])
  }
  return null
}

function decimalMax(column: CellDomain): bigint {
  return 10n ** BigInt(column.attributes.precision ?? 0) - 1n
}

function integerBits(physical: Physical): number {
  switch (physical) {
    case PHYSICAL.int8:
      return 8
    case PHYSICAL.int16:
      return 16
    case PHYSICAL.int32:
      return 32
    case PHYSICAL.int64:
      return 64
    case PHYSICAL.int128:
      return 128
    case PHYSICAL.float32:
    case PHYSICAL.float64:
    case PHYSICAL.binary:
      assert(false, 'physical type is not an integer')
      return 0
    default:
      return unreachable(physical)
  }
}

/** An integer as the cell of a physical type. */
function fitted(physical: Physical, value: bigint): Cell {
  return physical === PHYSICAL.int64 || physical === PHYSICAL.int128 ? value : Number(value)
}

const float64 = new Float64Array(1)
const float64Bits = new BigInt64Array(float64.buffer)
const float32 = new Float32Array(1)
const float32Bits = new Int32Array(float32.buffer)

// The bits of positive floats ascend with the float, those of negative ones descend.
function nextFloat64(value: number): number | null {
  if (Number.isNaN(value) || value === Infinity) return null
  if (value === 0) return Number.MIN_VALUE
  float64[0] = value
  float64Bits[0] += value > 0 ? 1n : -1n
  return float64[0]
}

function nextFloat32(value: number): number | null {
  if (Number.isNaN(value) || value === Infinity) return null
  float32[0] = value
  if (value === 0) float32Bits[0] = 1
  else float32Bits[0] += value > 0 ? 1 : -1
  return float32[0]
}
