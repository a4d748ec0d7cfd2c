/**
 * Bounds of ranges as encoded range keys: inclusive below, exclusive above, '' for none (K§2.2).
 */

import { toHex } from '../util/bytes.ts'
import { incrementCells, minCell } from './cell-order.ts'
import type { Cell } from './data-type.ts'
import { encodeKeyCells } from './encoded-key.ts'
import { KEY_BYTES_MAX } from './limits.ts'
import type { BoundInput, RangeBoundsInput } from './partition-input.ts'
import type { RangeKeys } from './partition-key.ts'
import { cellsText } from './partition-text.ts'
import type { Column } from './schema.ts'
import { invalidArgument } from './status.ts'

/**
 * The keys of a range's bounds: an exclusive lower and an inclusive upper bound are raised to the
 * tuple just above.
 *
 * Throws: INVALID_ARGUMENT when a bound sets another column, when no tuple lies above an exclusive
 * lower bound, when the lower bound is not below the upper one, when a key exceeds `KEY_BYTES_MAX`.
 */
export function rangeKeys(columns: readonly Column[], bounds: RangeBoundsInput): RangeKeys {
  const lowerKey = lowerBoundKey(columns, bounds)
  const upper = upperBoundCells(columns, bounds)
  if (upper === null) return { lowerKey, upperKey: '' }
  const upperKey = encodeBound(columns, upper)
  // Also where the upper key is empty, which is that of one empty string: nothing lies below it.
  if (lowerKey >= upperKey) {
    throw invalidArgument(
      `range partition lower bound must be below its upper bound: ${boundsText(columns, bounds)}`,
    )
  }
  return { lowerKey, upperKey }
}

/**
 * The key at which a split cuts. Throws: INVALID_ARGUMENT when it sets no range column or another
 * one.
 */
export function splitKey(columns: readonly Column[], split: BoundInput): string {
  if (split.size === 0) throw invalidArgument('split row sets no range column')
  return encodeBound(columns, boundCells(columns, split))
}

/** A bound as text, the cells it leaves out included; `unbounded` when it sets none. */
export function boundText(columns: readonly Column[], bound: BoundInput): string {
  return bound.size === 0 ? 'unbounded' : cellsText(columns, boundCells(columns, bound))
}

function boundsText(columns: readonly Column[], bounds: RangeBoundsInput): string {
  const lower = boundText(columns, bounds.lower)
  const upper = boundText(columns, bounds.upper)
  const lowerType = bounds.lowerBoundType === 'EXCLUSIVE' ? ' exclusive' : ''
  const upperType = bounds.upperBoundType === 'INCLUSIVE' ? ' inclusive' : ''
  return `lower ${lower}${lowerType}, upper ${upper}${upperType}`
}

function lowerBoundKey(columns: readonly Column[], bounds: RangeBoundsInput): string {
  const cells = boundCells(columns, bounds.lower)
  if (bounds.lowerBoundType === 'INCLUSIVE') {
    return bounds.lower.size === 0 ? '' : encodeBound(columns, cells)
  }
  const above = incrementCells(columns, cells)
  if (above !== null) return encodeBound(columns, above)
  const text = cellsText(columns, cells)
  throw invalidArgument(
    `exclusive lower bound must not have maximum values for all components: ${text}`,
  )
}

/** Returns: null when the range is unbounded above. */
function upperBoundCells(columns: readonly Column[], bounds: RangeBoundsInput): Cell[] | null {
  const cells = boundCells(columns, bounds.upper)
  if (bounds.upper.size === 0) return null
  return bounds.upperBoundType === 'INCLUSIVE' ? incrementCells(columns, cells) : cells
}

function boundCells(columns: readonly Column[], bound: BoundInput): Cell[] {
  for (const name of bound.keys()) {
    if (columns.some((column) => column.name === name)) continue
    throw invalidArgument(`range bound sets column "${name}", which is not a range column`, {
      column: name,
    })
  }
  return columns.map((column) => bound.get(column.name) ?? minCell(column))
}

function encodeBound(columns: readonly Column[], cells: readonly Cell[]): string {
  const key = encodeKeyCells(columns, cells)
  if (key.length > KEY_BYTES_MAX) {
    throw invalidArgument(`range bound is ${key.length} bytes encoded, limit is ${KEY_BYTES_MAX}`, {
      limit: KEY_BYTES_MAX,
    })
  }
  return toHex(key)
}
