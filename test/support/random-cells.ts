/** Rows of plain cells, many of them alike. */

import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import type { Prng } from '../../src/util/prng.ts'
import { randomCell } from './random-cell.ts'

/** Rows of these columns, with nulls where there can be some. */
export function randomRows(
  prng: Prng,
  columns: readonly Column[],
  count: number,
): (Cell | null)[][] {
  const known = columns.map((column) => Array.from({ length: 6 }, () => randomCell(prng, column)))
  // Some columns are all different, some nearly all alike, some nearly all null.
  const sameChances = columns.map(() => prng.pick([0, 0.6, 1]))
  const nullChances = columns.map(({ isNullable }) =>
    isNullable ? prng.pick([0, 0.2, 0.98, 1]) : 0,
  )
  return Array.from({ length: count }, () => {
    return columns.map((column, index) => {
      if (prng.chance(nullChances[index])) return null
      return prng.chance(sameChances[index]) ? prng.pick(known[index]) : randomCell(prng, column)
    })
  })
}
