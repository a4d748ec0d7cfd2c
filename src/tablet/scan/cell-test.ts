import type { ColumnVector } from '../../common/column-vector.ts'
import { getBit } from '../../util/bitmap.ts'

/** What a predicate asks of the cells of a column, over many rows at a time. */
export interface CellTest {
  /**
   * Keeps the rows whose cells pass: moves them to the front of `rows`, in their order.
   *
   * Returns: how many. Requires: `rows[0, count)` are rows of `cells`, whose physical type the test
   * is for.
   */
  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number
}

/** Keeps the rows that are not null, as `CellTest.keepPassing` does. */
export function keepNotNull(cells: ColumnVector, rows: Uint32Array, count: number): number {
  const validity = cells.validity
  if (validity === null) return count
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    rows[kept] = row
    kept += getBit(validity, row) ? 1 : 0
  }
  return kept
}

/** Passes nothing. */
export class NoneTest implements CellTest {
  keepPassing(): number {
    return 0
  }
}

/** Passes null. */
export class IsNullTest implements CellTest {
  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const validity = cells.validity
    if (validity === null) return 0
    let kept = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += getBit(validity, row) ? 0 : 1
    }
    return kept
  }
}

/** Passes all but null. */
export class IsNotNullTest implements CellTest {
  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    return keepNotNull(cells, rows, count)
  }
}
