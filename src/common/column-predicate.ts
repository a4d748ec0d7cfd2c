/**
 * What a scan asks of one column. All predicates of a scan are a conjunction, and those on one
 * column are merged into one (K§6.2), so a scan has at most one predicate a column.
 *
 *   kind         accepts                                lower   upper  values
 *   NONE         nothing                                null    null   []
 *   IS_NULL      null                                   null    null   []
 *   EQUALITY     cells equal to `lower`                 value   null   []
 *   IN_LIST      cells equal to one of `values`         null    null   two or more, ascending
 *   RANGE        lower ≤ cell < upper, null = open      either or both []
 *   IS_NOT_NULL  every cell but null                    null    null   []
 *
 * Null satisfies IS_NULL only. NaN satisfies IS_NOT_NULL only: it is neither in a range nor in a
 * list, so a range over all floating point numbers, `[−Infinity, open)`, is less than IS_NOT_NULL
 * and is kept as a range. −0 equals 0. No predicate holds NaN or −0, and no list a value twice.
 */

import { assert } from '../util/assert.ts'
import { compareCells, maxCell, minCell, nextCell } from './cell-order.ts'
import { type Cell, LANE_BYTES, PHYSICAL } from './data-type.ts'
import type { Column, Schema } from './schema.ts'

/** Kinds of predicates, the most selective first: the order in which a scan evaluates them. */
export const PREDICATE_KINDS = [
  'NONE',
  'IS_NULL',
  'EQUALITY',
  'IN_LIST',
  'RANGE',
  'IS_NOT_NULL',
] as const
/** Kind of a predicate. */
export type PredicateKind = (typeof PREDICATE_KINDS)[number]

/**
 * A predicate on one column: plain data, as in the table above. Made by the functions below only.
 */
export interface ColumnPredicate {
  readonly columnId: number
  readonly kind: PredicateKind
  readonly lower: Cell | null
  readonly upper: Cell | null
  readonly values: readonly Cell[]
}

const NO_VALUES: readonly Cell[] = []

/** Texts and bytes count as wider than any other cell. */
const BINARY_WIDTH = 32

const KIND_RANK: Readonly<Record<PredicateKind, number>> = {
  NONE: 0,
  IS_NULL: 1,
  EQUALITY: 2,
  IN_LIST: 3,
  RANGE: 4,
  IS_NOT_NULL: 5,
}

/** The predicate that no cell satisfies. */
export function nonePredicate(column: Column): ColumnPredicate {
  return bare(column, 'NONE')
}

/** The predicate that null alone satisfies: none where the column has no nulls. */
export function isNullPredicate(column: Column): ColumnPredicate {
  return column.isNullable ? bare(column, 'IS_NULL') : nonePredicate(column)
}

/** The predicate that every cell but null satisfies. */
export function isNotNullPredicate(column: Column): ColumnPredicate {
  return bare(column, 'IS_NOT_NULL')
}

/**
 * The predicate that every cell but null and NaN satisfies: what any comparison accepts at most.
 */
export function anyNumberPredicate(column: Column): ColumnPredicate {
  if (!isFloating(column)) return isNotNullPredicate(column)
  return { ...bare(column, 'RANGE'), lower: Number.NEGATIVE_INFINITY }
}

/** Cells equal to `value`. NaN equals nothing. */
export function equalityPredicate(column: Column, value: Cell): ColumnPredicate {
  const lower = comparableCell(value)
  if (lower === null) return nonePredicate(column)
  return { ...bare(column, 'EQUALITY'), lower }
}

/** Cells equal to one of `values`, which may repeat and come in any order. */
export function inListPredicate(column: Column, values: readonly Cell[]): ColumnPredicate {
  const sorted: Cell[] = []
  for (const value of values) {
    const cell = comparableCell(value)
    if (cell !== null) sorted.push(cell)
  }
  sorted.sort((a, b) => compareCells(column.physical, a, b))
  return sortedListPredicate(
    column,
    sorted.filter((cell, i) => i === 0 || !areEqual(column, sorted[i - 1], cell)),
  )
}

/**
 * Cells in `[lower, upper)`; null is an open side.
 *
 * Returns: the simplest predicate that accepts the same cells. A range up to the least cell accepts
 * nothing, one of a single cell is an equality, one from the least cell on is `anyNumberPredicate`.
 */
export function rangePredicate(
  column: Column,
  lower: Cell | null,
  upper: Cell | null,
): ColumnPredicate {
  const from = lower === null ? null : comparableCell(lower)
  const to = upper === null ? null : comparableCell(upper)
  if ((lower !== null && from === null) || (upper !== null && to === null)) {
    return nonePredicate(column)
  }
  const first = from ?? minCell(column)
  if (to === null) {
    if (compareCells(column.physical, first, minCell(column)) <= 0)
      return anyNumberPredicate(column)
    const last = maxCell(column)
    if (last !== null && areEqual(column, first, last)) return equalityPredicate(column, first)
    return { ...bare(column, 'RANGE'), lower: first }
  }
  if (compareCells(column.physical, first, to) >= 0) return nonePredicate(column)
  const second = nextCell(column, first)
  if (second !== null && areEqual(column, second, to)) return equalityPredicate(column, first)
  // No number lies below −∞, and what a range leaves out beside that, NaN, every range leaves out.
  const isOpen = from === Number.NEGATIVE_INFINITY
  return { ...bare(column, 'RANGE'), lower: isOpen ? null : from, upper: to }
}

/** Cells in `[lower, upper]`; null is an open side. */
export function inclusiveRangePredicate(
  column: Column,
  lower: Cell | null,
  upper: Cell | null,
): ColumnPredicate {
  if (upper === null) return rangePredicate(column, lower, null)
  const cell = comparableCell(upper)
  if (cell === null) return nonePredicate(column)
  return rangePredicate(column, lower, nextCell(column, cell))
}

/** Cells in `(lower, upper)`; null is an open side. */
export function exclusiveRangePredicate(
  column: Column,
  lower: Cell | null,
  upper: Cell | null,
): ColumnPredicate {
  if (lower === null) return rangePredicate(column, null, upper)
  const cell = comparableCell(lower)
  const next = cell === null ? null : nextCell(column, cell)
  return next === null ? nonePredicate(column) : rangePredicate(column, next, upper)
}

/**
 * Whether every cell of the column satisfies the predicate by its schema alone, so that it can be
 * dropped.
 */
export function isTrivialPredicate(column: Column, predicate: ColumnPredicate): boolean {
  return predicate.kind === 'IS_NOT_NULL' && !column.isNullable
}

/**
 * Whether a cell, or null, satisfies the predicate. For edges and tests, never per row in hot code.
 */
export function predicateMatchesCell(
  column: Column,
  predicate: ColumnPredicate,
  cell: Cell | null,
): boolean {
  if (cell === null) return predicate.kind === 'IS_NULL'
  const { kind, lower, upper, values } = predicate
  if (kind === 'IS_NOT_NULL') return true
  if (kind === 'NONE' || kind === 'IS_NULL' || Number.isNaN(cell)) return false
  if (kind === 'IN_LIST') return isListed(column, values, cell)
  if (kind === 'EQUALITY') return lower !== null && areEqual(column, lower, cell)
  return (
    (lower === null || compareCells(column.physical, lower, cell) <= 0) &&
    (upper === null || compareCells(column.physical, cell, upper) < 0)
  )
}

/**
 * The predicate that accepts what both accept.
 *
 * Requires: both are on `column`.
 * Cost: lists are intersected and cut by binary search, so that a thousand merges with a long list
 * stay cheap.
 */
export function mergePredicates(
  column: Column,
  a: ColumnPredicate,
  b: ColumnPredicate,
): ColumnPredicate {
  assert(a.columnId === column.id && b.columnId === column.id, 'predicates on one column')
  const [first, second] = KIND_RANK[a.kind] <= KIND_RANK[b.kind] ? [a, b] : [b, a]
  switch (first.kind) {
    case 'NONE':
      return first
    case 'IS_NULL':
      return second.kind === 'IS_NULL' ? first : nonePredicate(column)
    case 'IS_NOT_NULL':
      return first
    case 'EQUALITY':
      assert(first.lower !== null, 'an equality has a value')
      return predicateMatchesCell(column, second, first.lower) ? first : nonePredicate(column)
    case 'IN_LIST':
      return mergeIntoList(column, first, second)
    case 'RANGE':
      return second.kind === 'RANGE' ? mergeRanges(column, first, second) : first
  }
}

/**
 * Orders predicates for evaluation: negative when `a` is worth evaluating before `b`. By kind, then
 * by the width of the column, narrower first, then by the column's place.
 */
export function comparePredicateSelectivity(
  schema: Schema,
  a: ColumnPredicate,
  b: ColumnPredicate,
): number {
  const aColumn = schema.mustById(a.columnId)
  const bColumn = schema.mustById(b.columnId)
  return (
    KIND_RANK[a.kind] - KIND_RANK[b.kind] ||
    cellWidth(aColumn) - cellWidth(bColumn) ||
    aColumn.index - bColumn.index
  )
}

function bare(column: Column, kind: PredicateKind): ColumnPredicate {
  return { columnId: column.id, kind, lower: null, upper: null, values: NO_VALUES }
}

/** Requires: ascending and distinct, neither NaN nor −0. */
function sortedListPredicate(column: Column, sorted: readonly Cell[]): ColumnPredicate {
  if (sorted.length === 0) return nonePredicate(column)
  if (sorted.length === 1) return equalityPredicate(column, sorted[0])
  if (column.type === 'BOOL') return isNotNullPredicate(column)
  return { ...bare(column, 'IN_LIST'), values: sorted }
}

function mergeIntoList(
  column: Column,
  list: ColumnPredicate,
  other: ColumnPredicate,
): ColumnPredicate {
  if (other.kind === 'IN_LIST') {
    const isShorter = list.values.length <= other.values.length
    const short = isShorter ? list.values : other.values
    const long = isShorter ? other.values : list.values
    return sortedListPredicate(
      column,
      short.filter((cell) => isListed(column, long, cell)),
    )
  }
  if (other.kind !== 'RANGE') return list
  const start = other.lower === null ? 0 : lowerBound(column, list.values, other.lower)
  const end =
    other.upper === null ? list.values.length : lowerBound(column, list.values, other.upper)
  return sortedListPredicate(column, list.values.slice(start, end))
}

function mergeRanges(column: Column, a: ColumnPredicate, b: ColumnPredicate): ColumnPredicate {
  const { physical } = column
  let lower = a.lower
  if (lower === null || (b.lower !== null && compareCells(physical, b.lower, lower) > 0)) {
    lower = b.lower
  }
  let upper = a.upper
  if (upper === null || (b.upper !== null && compareCells(physical, b.upper, upper) < 0)) {
    upper = b.upper
  }
  return rangePredicate(column, lower, upper)
}

/** Index of the first value that is not less than `cell`, or their count. */
function lowerBound(column: Column, values: readonly Cell[], cell: Cell): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareCells(column.physical, values[middle], cell) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function isListed(column: Column, values: readonly Cell[], cell: Cell): boolean {
  const index = lowerBound(column, values, cell)
  return index < values.length && areEqual(column, values[index], cell)
}

function areEqual(column: Column, a: Cell, b: Cell): boolean {
  return compareCells(column.physical, a, b) === 0
}

function isFloating(column: Column): boolean {
  return column.physical === PHYSICAL.float32 || column.physical === PHYSICAL.float64
}

/** The cell as predicates hold it: 0 for −0, null for NaN, which nothing compares with. */
function comparableCell(cell: Cell): Cell | null {
  if (typeof cell !== 'number') return cell
  return Number.isNaN(cell) ? null : cell + 0
}

function cellWidth(column: Column): number {
  return column.physical === PHYSICAL.binary ? BINARY_WIDTH : LANE_BYTES[column.physical]
}
