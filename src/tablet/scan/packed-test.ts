/** Tests of integers where they lie packed: their distances are compared, not they. Hot. */

import type { PackedIntegers } from '../../common/column-vector.ts'

/** Packed integers are nearer to 0. */
const PACKED_END = 2 ** 50

let scratchDistances = new Int32Array(4096)

/**
 * Keeps the rows whose integers are in `[first, last]`, as `CellTest.keepPassing` does. The ends
 * are whole numbers, or infinite. Requires: rows ascend.
 */
export function keepPackedInRange(
  packed: PackedIntegers,
  first: number,
  last: number,
  rows: Uint32Array,
  count: number,
): number {
  const { base, unit, distanceMax } = packed
  const below = -floorUnits(base - Math.max(first, -PACKED_END), unit)
  const above = floorUnits(Math.min(last, PACKED_END) - base, unit)
  if (below <= 0 && above >= distanceMax) return count
  const from = Math.max(below, 0)
  const span = Math.min(above, distanceMax) - from
  if (span < 0 || count === 0) return 0
  const all = packed.allDistances(count)
  if (all !== null) {
    const isRun = rows[count - 1] - rows[0] === count - 1
    return isRun
      ? keepRunInRange(all, from, span, rows, count)
      : keepInRange(all, from, span, rows, count)
  }
  if (scratchDistances.length < count) scratchDistances = new Int32Array(count)
  packed.pickDistances(rows, count, scratchDistances)
  return keepPickedInRange(scratchDistances, from, span, rows, count)
}

// What lies below a range is far above it when the difference is taken as unsigned.

/** As `keepInRange` of rows that follow each other: which ones need not be read. */
function keepRunInRange(
  distances: Int32Array,
  from: number,
  span: number,
  rows: Uint32Array,
  count: number,
): number {
  const first = rows[0]
  const end = first + count
  let kept = 0
  for (let row = first; row < end; row++) {
    rows[kept] = row
    kept += (distances[row] - from) >>> 0 <= span ? 1 : 0
  }
  return kept
}

/** `distances` are those of all rows. */
function keepInRange(
  distances: Int32Array,
  from: number,
  span: number,
  rows: Uint32Array,
  count: number,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    rows[kept] = row
    kept += (distances[row] - from) >>> 0 <= span ? 1 : 0
  }
  return kept
}

/** `distances` are those of the rows. */
function keepPickedInRange(
  distances: Int32Array,
  from: number,
  span: number,
  rows: Uint32Array,
  count: number,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    rows[kept] = rows[i]
    kept += (distances[i] - from) >>> 0 <= span ? 1 : 0
  }
  return kept
}

/** Whole units in a difference, rounded down: exact, which a quotient of doubles may not be. */
function floorUnits(difference: number, unit: number): number {
  const rest = difference % unit
  return (difference - rest) / unit - (rest < 0 ? 1 : 0)
}
