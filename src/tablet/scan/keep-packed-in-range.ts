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
  const to = Math.min(above, distanceMax)
  if (from > to) return 0
  // A page of which no row is missing begins with row 0, as its rows ascend.
  if (count === packed.rowCount) return packed.findDistances(from, to, rows)
  const all = packed.allDistances(count)
  if (all !== null) return keepInRange(all, from, to, rows, count)
  if (scratchDistances.length < count) scratchDistances = new Int32Array(count)
  packed.pickDistances(rows, count, scratchDistances)
  return keepPickedInRange(scratchDistances, from, to, rows, count)
}

/** `distances` are those of all rows. */
function keepInRange(
  distances: Int32Array,
  from: number,
  to: number,
  rows: Uint32Array,
  count: number,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    const distance = distances[row]
    rows[kept] = row
    kept += 1 + (((distance - from) | (to - distance)) >> 31)
  }
  return kept
}

/** `distances` are those of the rows. */
function keepPickedInRange(
  distances: Int32Array,
  from: number,
  to: number,
  rows: Uint32Array,
  count: number,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const distance = distances[i]
    rows[kept] = rows[i]
    kept += 1 + (((distance - from) | (to - distance)) >> 31)
  }
  return kept
}

/** Whole units in a difference, rounded down: exact, which a quotient of doubles may not be. */
function floorUnits(difference: number, unit: number): number {
  const rest = difference % unit
  return (difference - rest) / unit - (rest < 0 ? 1 : 0)
}
