import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import type { Prng } from '../../src/util/prng.ts'
import { randomCell } from './random-cell.ts'

/** Cells of a column, null with the given chance, many of them alike. */
export function randomVector(
  prng: Prng,
  column: Column,
  rowCount: number,
  nullChance: number,
): ColumnVector {
  const builder = new ColumnBuilder(column.physical)
  const cells: Cell[] = Array.from({ length: 50 }, () => randomCell(prng, column))
  for (let row = 0; row < rowCount; row++) {
    if (prng.chance(nullChance)) builder.appendNull(true)
    else builder.appendCell(prng.chance(0.5) ? prng.pick(cells) : randomCell(prng, column))
  }
  return builder.view()
}
