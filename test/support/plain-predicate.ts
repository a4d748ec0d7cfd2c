/** Comparisons and predicates evaluated in the plainest way, sharing no code with the engine. */

import type { Cell } from '../../src/common/data-type.ts'

/** Comparisons of two cells. */
export const COMPARISONS = ['=', '<', '<=', '>', '>='] as const
/** A comparison of two cells. */
export type Comparison = (typeof COMPARISONS)[number]

/**
 * Whether `left op right` holds. NaN compares with nothing, −0 equals 0, bytes compare unsigned.
 */
export function plainCompare(left: Cell, op: Comparison, right: Cell): boolean {
  const a = plain(left)
  const b = plain(right)
  switch (op) {
    case '=':
      return a === b
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '>':
      return a > b
    case '>=':
      return a >= b
  }
}

/** Whether the cell equals one of the values. */
export function plainIn(cell: Cell, values: readonly Cell[]): boolean {
  return values.some((value) => plainCompare(cell, '=', value))
}

// Hexadecimal texts order as their bytes do.
function plain(cell: Cell): number | bigint | string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('hex') : cell
}
