import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'

/**
 * Appends the cells of the rows `rows[start, end)` to `target`: where `positions[i]` is −1 that of
 * the base, at `rows[i] - baseShift`, else that of `changed` at `positions[i]`.
 *
 * `changed` is null when all are the base's; then `positions` is not read. Requires: all have one
 * physical type; no cell is unset.
 */
export function gatherPatched(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector | null,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  void [base, baseShift, changed, positions, rows, start, end, target]
}
