import { zoneMayMatch } from '../../cfile/zone-map.ts'
import { compareCells } from '../../common/cell-order.ts'
import type { Cell } from '../../common/data-type.ts'
import { decodeKeyPrefix } from '../../common/encoded-key.ts'
import type { Column } from '../../common/schema.ts'
import { StatusError } from '../../common/status.ts'
import type { KeyBounds } from '../row-set.ts'
import type { ColumnTest } from './column-test.ts'

/**
 * Whether keys within bounds may pass tests on key columns. False is certain.
 *
 *   lower    b  cpu  17      the columns that are alike in both bounds are so in every key between
 *   upper    b  cpu  90      them, and the first one that is not lies between its two cells
 *
 * So lists and values asked of later key columns leave out rowsets as ranges of the first do.
 */
export function mayHoldKeys(
  keyColumns: readonly Column[],
  { lowerKey, upperKey }: KeyBounds,
  tests: readonly ColumnTest[],
): boolean {
  if (upperKey.length === 0) return true
  const lower = leadingCells(keyColumns, lowerKey)
  const upper = leadingCells(keyColumns, upperKey)
  for (let index = 0; index < Math.min(lower.length, upper.length); index++) {
    const { id, physical } = keyColumns[index]
    const [min, max] = [lower[index], upper[index]]
    const zone = { ...BETWEEN, min, max }
    for (const { column, predicate } of tests) {
      if (column.id === id && !zoneMayMatch(zone, physical, predicate)) return false
    }
    if (compareCells(physical, min, max) !== 0) return true
  }
  return true
}

/** A zone of rows that are there. */
const BETWEEN = { rowCount: 1, nullCount: 0, hasNaN: false, isMinCut: false, isMaxCut: false }

/** The cells of a bound, which may end within one: those before. */
function leadingCells(columns: readonly Column[], key: Uint8Array): readonly Cell[] {
  for (let count = columns.length; count > 0; count--) {
    try {
      return decodeKeyPrefix(columns, key, count).cells
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
    }
  }
  return []
}
