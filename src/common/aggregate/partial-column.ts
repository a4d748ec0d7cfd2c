import type { ColumnVector } from '../column-vector.ts'
import type { Physical } from '../data-type.ts'
import { CorruptionError } from '../status.ts'

/** Column `index` of a partial result. Throws: CORRUPTION when it is not laid out as it must be. */
export function partialColumn(
  columns: readonly ColumnVector[],
  index: number,
  physical: Physical,
): ColumnVector {
  const column = columns[index]
  if (column?.physical === physical) return column
  throw new CorruptionError('aggregation of a tablet is malformed: a column is of another type')
}
