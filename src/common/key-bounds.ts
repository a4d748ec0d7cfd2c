/**
 * The two ways between predicates on key columns and bounds on the encoded primary key (K§3.6).
 *
 * *Push*: the predicates on a prefix of the key columns give bounds.
 *
 *   a = 3 AND 4 ≤ b < 15              3,4,min ≤ key < 3,15,min
 *
 * The lower bound takes, column by column, the least cell of an equality, a list or a range, and
 * ends at the first column that has none. The upper bound takes the greatest, and ends likewise; a
 * range's upper cell is exclusive, so it goes on behind one only if there is a cell just below to
 * be taken instead. Columns behind the end are at their minimum.
 *
 * *Lift*: bounds that share a prefix give predicates on it, and on the column behind it.
 */

import { assert } from '../util/assert.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import {
  type ColumnPredicate,
  equalityPredicate,
  inclusiveRangePredicate,
  rangePredicate,
} from './column-predicate.ts'
import type { Cell } from './data-type.ts'
import {
  compareCells,
  decodeKeyCells,
  decrementCell,
  encodeKeyCells,
  incrementCells,
  maxCell,
  minCell,
} from './encoded-key.ts'
import type { Column, Schema } from './schema.ts'
import { outcomeOf } from './status.ts'

/** Predicates by the id of their column. */
export type PredicateMap = ReadonlyMap<number, ColumnPredicate>

/** An encoded key bound, and how many of the first key columns had a say in it. */
export interface PushedBound {
  /** Empty = open. */
  readonly key: Uint8Array
  readonly columnCount: number
}

/**
 * The least encoded key of the columns that rows which satisfy the predicates can have.
 *
 * Requires: no predicate is NONE or IS_NULL.
 */
export function pushLowerBound(columns: readonly Column[], predicates: PredicateMap): PushedBound {
  const cells: Cell[] = []
  for (const column of columns) {
    const cell = leastCell(predicates.get(column.id))
    if (cell === null) break
    cells.push(cell)
  }
  return pushedBound(columns, cells, cells.length)
}

/**
 * The least encoded key of the columns above all that rows which satisfy the predicates can have.
 *
 * Requires: no predicate is NONE or IS_NULL.
 */
export function pushUpperBound(columns: readonly Column[], predicates: PredicateMap): PushedBound {
  const cells: Cell[] = []
  let isInclusive = true
  for (const column of columns) {
    const predicate = predicates.get(column.id)
    if (predicate === undefined || predicate.kind === 'IS_NOT_NULL') break
    if (predicate.kind !== 'RANGE') {
      cells.push(greatestCell(predicate))
      continue
    }
    if (predicate.upper === null) break
    const below = decrementCell(column, predicate.upper)
    cells.push(below ?? predicate.upper)
    isInclusive = below !== null
    if (!isInclusive) break
  }
  if (!isInclusive) return pushedBound(columns, cells, cells.length)
  const next = incrementCells(columns.slice(0, cells.length), cells)
  return pushedBound(columns, next ?? [], cells.length)
}

/**
 * Predicates on key columns that every row between two bounds satisfies. What cannot be read as a
 * key lifts nothing, which is always right: the bounds stay.
 */
export function liftKeyBounds(
  schema: Schema,
  lowerKey: Uint8Array,
  upperKey: Uint8Array,
): ColumnPredicate[] {
  const columns = schema.keyColumns
  const lower = boundCells(columns, lowerKey)
  let upper = boundCells(columns, upperKey)
  const lifted: ColumnPredicate[] = []
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    const from = lower === null ? null : lower[i]
    const to = upper === null ? null : upper[i]
    if (from !== null && to !== null && compareCells(column.physical, from, to) === 0) {
      lifted.push(equalityPredicate(column, from))
      continue
    }
    const isExclusive = upper === null || isLeast(columns, upper, i + 1)
    const predicate = isExclusive
      ? rangePredicate(column, from, to)
      : inclusiveRangePredicate(column, from, to)
    lifted.push(predicate)
    // [1, 5] → [2, min] is a = 1 and b ≥ 5: one value is left here, and the lower bound speaks on.
    if (!isExclusive || predicate.kind !== 'EQUALITY' || lower === null) break
    upper = null
  }
  return lifted
}

function pushedBound(
  columns: readonly Column[],
  cells: readonly Cell[],
  columnCount: number,
): PushedBound {
  if (cells.length === 0) return { key: EMPTY_BYTES, columnCount }
  const rest = columns.slice(cells.length).map((column) => minCell(column))
  return { key: encodeKeyCells(columns, [...cells, ...rest]), columnCount }
}

/** The least cell that satisfies a predicate, or null when there is no such bound. */
function leastCell(predicate: ColumnPredicate | undefined): Cell | null {
  if (predicate === undefined) return null
  return predicate.kind === 'IN_LIST' ? predicate.values[0] : predicate.lower
}

/** The value of an equality, the last one of a list. */
function greatestCell(predicate: ColumnPredicate): Cell {
  const cell = predicate.kind === 'IN_LIST' ? predicate.values.at(-1) : predicate.lower
  assert(cell !== undefined && cell !== null, 'an equality or a list has a greatest cell')
  return cell
}

/** Whether all cells from `start` on are the least of their columns. */
function isLeast(columns: readonly Column[], cells: readonly Cell[], start: number): boolean {
  return columns.every(
    (column, i) => i < start || compareCells(column.physical, cells[i], minCell(column)) === 0,
  )
}

/**
 * The key that a bound stands for. A scan that goes on behind key K has the bound K and a zero
 * byte, which is a key of its own only where the last column is of bytes: elsewhere it stands for
 * the key that follows K.
 */
function boundCells(columns: readonly Column[], key: Uint8Array): Cell[] | null {
  if (key.length === 0) return null
  const cells = keyCells(columns, key)
  if (cells !== null || key[key.length - 1] !== 0) return cells
  const before = keyCells(columns, key.subarray(0, key.length - 1))
  return before === null ? null : incrementCells(columns, before)
}

/** The cells of an encoded key, or null when it is not one of cells that the columns can hold. */
function keyCells(columns: readonly Column[], key: Uint8Array): Cell[] | null {
  const outcome = outcomeOf(() => decodeKeyCells(columns, key))
  if (!outcome.ok) return null
  const cells = outcome.value
  return columns.every((column, i) => isHeld(column, cells[i])) ? cells : null
}

function isHeld(column: Column, cell: Cell): boolean {
  const greatest = maxCell(column)
  if (compareCells(column.physical, cell, minCell(column)) < 0) return false
  return greatest === null || compareCells(column.physical, cell, greatest) <= 0
}
