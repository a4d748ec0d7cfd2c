/** Random predicates, each with a plain account of what it accepts. */

import {
  anyNumberPredicate,
  type ColumnPredicate,
  equalityPredicate,
  exclusiveRangePredicate,
  inclusiveRangePredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import type { Prng } from '../../src/util/prng.ts'
import { plainCompare, plainIn } from './plain-predicate.ts'

/** What must be accepted, by plain means. */
export type Accepts = (cell: Cell | null) => boolean
/** A predicate made in a random way, and what it must accept. */
export interface PredicateSample {
  readonly text: string
  readonly predicate: ColumnPredicate
  readonly accepts: Accepts
}

/** Draws a predicate of any kind on a column over some of its cells. */
export function drawPredicate(column: Column, cells: readonly Cell[], prng: Prng): PredicateSample {
  const side = () => (prng.chance(0.25) ? null : prng.pick(cells))
  const [a, b] = [side(), side()]
  const above = (op: '>' | '>=') => (cell: Cell) => a === null || plainCompare(cell, op, a)
  const below = (op: '<' | '<=') => (cell: Cell) => b === null || plainCompare(cell, op, b)
  const isNumber = (cell: Cell) => plainCompare(cell, '=', cell)
  const within = (from: (cell: Cell) => boolean, to: (cell: Cell) => boolean): Accepts => {
    return (cell) => cell !== null && isNumber(cell) && from(cell) && to(cell)
  }
  const sample = (text: string, predicate: ColumnPredicate, accepts: Accepts): PredicateSample => {
    return { text: `${text} ${String(a)} ${String(b)}`, predicate, accepts }
  }
  switch (prng.below(9)) {
    case 0:
      return sample('range', rangePredicate(column, a, b), within(above('>='), below('<')))
    case 1:
      return sample(
        'inclusive',
        inclusiveRangePredicate(column, a, b),
        within(above('>='), below('<=')),
      )
    case 2:
      return sample(
        'exclusive',
        exclusiveRangePredicate(column, a, b),
        within(above('>'), below('<')),
      )
    case 3:
      return sample('null', isNullPredicate(column), (cell) => cell === null)
    case 4:
      return sample('not null', isNotNullPredicate(column), (cell) => cell !== null)
    case 5:
      return sample('none', nonePredicate(column), () => false)
    case 6:
      return sample('number', anyNumberPredicate(column), (cell) => cell !== null && isNumber(cell))
    case 7: {
      const value = prng.pick(cells)
      const accepts: Accepts = (cell) => cell !== null && plainCompare(cell, '=', value)
      return sample(`= ${String(value)}`, equalityPredicate(column, value), accepts)
    }
    default: {
      const values = Array.from({ length: prng.below(7) }, () => prng.pick(cells))
      const accepts: Accepts = (cell) => cell !== null && plainIn(cell, values)
      return sample(`in ${values.join()}`, inListPredicate(column, values), accepts)
    }
  }
}
