/**
 * Which test of a scan comes first: the one that leaves out most rows for what it costs, as far as
 * can be seen. Hot.
 */

import type { ColumnPredicate } from '../../common/column-predicate.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'

/** Rows after which what was seen counts half: data may be sorted by what is tested. */
const SEEN_ROWS_MAX = 32_768
/** Every row costs the way to its cell. */
const CELL_COST = 1

/** A test, what it costs, and what was seen of it lately. */
export interface OrderedTest {
  /** Of a row, about; only ratios matter. */
  readonly cost: number
  rowsIn: number
  rowsKept: number
}

/** What a test of a row costs. */
export function costOfTest(physical: Physical, predicate: ColumnPredicate): number {
  const { kind, values } = predicate
  if (kind === 'NONE' || kind === 'IS_NULL' || kind === 'IS_NOT_NULL') return CELL_COST
  const comparison = physical === PHYSICAL.binary ? 6 : physical === PHYSICAL.int128 ? 3 : 1
  return CELL_COST + comparison * (kind === 'IN_LIST' ? 1 + Math.log2(values.length) : 1)
}

/** Notes what a test did to some rows. */
export function noteTested(test: OrderedTest, rowsIn: number, rowsKept: number): void {
  if (test.rowsIn > SEEN_ROWS_MAX) {
    test.rowsIn /= 2
    test.rowsKept /= 2
  }
  test.rowsIn += rowsIn
  test.rowsKept += rowsKept
}

/** Puts tests in order; those that are equally good, or that no row came to, stay as they are. */
export function orderTests(tests: OrderedTest[]): void {
  for (let i = 1; i < tests.length; i++) {
    const test = tests[i]
    const rank = rankOf(test)
    let at = i
    while (at > 0 && rank < rankOf(tests[at - 1])) {
      tests[at] = tests[at - 1]
      at--
    }
    tests[at] = test
  }
}

/** What it costs to leave out a row. */
function rankOf({ cost, rowsIn, rowsKept }: OrderedTest): number {
  return rowsIn === rowsKept ? Number.POSITIVE_INFINITY : (cost * rowsIn) / (rowsIn - rowsKept)
}
