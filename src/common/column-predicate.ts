/**
 * What a scan asks of one column. All predicates of a scan are a conjunction, and those on one column are
 * merged into one (K§6.2), so a scan has at most one predicate a column.
 *
 *   kind         accepts                                lower   upper  values
 *   NONE         nothing                                null    null   []
 *   IS_NULL      null                                   null    null   []
 *   EQUALITY     cells equal to `lower`                 value   null   []
 *   IN_LIST      cells equal to one of `values`         null    null   two or more, ascending, distinct
 *   RANGE        lower ≤ cell < upper, null = open      either or both []
 *   IS_NOT_NULL  every cell but null                    null    null   []
 *
 * Null satisfies IS_NULL only. NaN satisfies IS_NOT_NULL only: it is neither in a range nor in a list, so a
 * range over all floating point numbers, `[−Infinity, open)`, is less than IS_NOT_NULL and is kept as a range.
 * −0 equals 0. No predicate holds NaN or −0.
 */

import type { Cell } from './data-type.ts'
import type { Column } from './schema.ts'

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

/** A predicate on one column: plain data, as in the table above. Made by the functions below only. */
export interface ColumnPredicate {
  readonly columnId: number
  readonly kind: PredicateKind
  readonly lower: Cell | null
  readonly upper: Cell | null
  readonly values: readonly Cell[]
}

const NO_VALUES: readonly Cell[] = []

/** The predicate that no cell satisfies. */
export function nonePredicate(column: Column): ColumnPredicate {
  return { columnId: column.id, kind: 'NONE', lower: null, upper: null, values: NO_VALUES }
}

/** The predicate that null alone satisfies. */
export function isNullPredicate(column: Column): ColumnPredicate {
  return { columnId: column.id, kind: 'IS_NULL', lower: null, upper: null, values: NO_VALUES }
}

/** The predicate that every cell but null satisfies. */
export function isNotNullPredicate(column: Column): ColumnPredicate {
  return { columnId: column.id, kind: 'IS_NOT_NULL', lower: null, upper: null, values: NO_VALUES }
}
