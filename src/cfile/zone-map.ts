/**
 * What is known of the cells of a page without reading it: enough to say that no cell of it
 * satisfies a predicate (docs/formats/cfile.md).
 *
 * A binary end longer than ZONE_CELL_BYTES_MAX is cut. A least cell that is cut is still at or
 * below every cell; a greatest one stands for everything that begins with it.
 */

import { compareCells } from '../common/cell-order.ts'
import { ColumnBuilder } from '../common/column-builder.ts'
import type { ColumnPredicate } from '../common/column-predicate.ts'
import type { ColumnVector } from '../common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../common/data-type.ts'
import { ZONE_CELL_BYTES_MAX } from '../common/limits.ts'
import { CorruptionError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import { compareBytes, concatBytes } from '../util/bytes.ts'
import { findCellEnds } from './cell-ends.ts'
import { decodePage, encodePage, pageBytesAt } from './page.ts'

/** The ends of a page's cells. */
export interface ZoneMap {
  readonly rowCount: number
  readonly nullCount: number
  /** At or below every cell but null and NaN; null when there is no such cell. */
  readonly min: Cell | null
  /** At or above every cell but null and NaN, unless it is cut; null when there is no such cell. */
  readonly max: Cell | null
  /** Whether a cell is NaN. */
  readonly hasNaN: boolean
  /** `min` is the beginning of the least cell only. */
  readonly isMinCut: boolean
  /** `max` is the beginning of the greatest cell only. */
  readonly isMaxCut: boolean
}

const FLAG_NAN = 1
const FLAG_MIN_CUT = 2
const FLAG_MAX_CUT = 4
const PLAIN_PAGE = { encoding: 'AUTO_ENCODING', compression: 'NO_COMPRESSION' } as const

/** The zone map of cells. Binary ends are copies. Cost: about a nanosecond a cell. */
export function zoneMapOf(cells: ColumnVector): ZoneMap {
  const { rowCount } = cells
  const { minRow, maxRow, hasNaN, nullCount } = findCellEnds(cells)
  if (minRow < 0) {
    return { rowCount, nullCount, min: null, max: null, hasNaN, isMinCut: false, isMaxCut: false }
  }
  const min = cells.cell(minRow) as Cell
  const max = cells.cell(maxRow) as Cell
  if (!(min instanceof Uint8Array) || !(max instanceof Uint8Array)) {
    return { rowCount, nullCount, min, max, hasNaN, isMinCut: false, isMaxCut: false }
  }
  return {
    rowCount,
    nullCount,
    min: min.slice(0, ZONE_CELL_BYTES_MAX),
    max: max.slice(0, ZONE_CELL_BYTES_MAX),
    hasNaN,
    isMinCut: min.length > ZONE_CELL_BYTES_MAX,
    isMaxCut: max.length > ZONE_CELL_BYTES_MAX,
  }
}

/** The zone map of the rows of both. Requires: both are of `physical`. */
export function mergeZoneMaps(physical: Physical, a: ZoneMap, b: ZoneMap): ZoneMap {
  const isMinOfB = isLess(physical, b.min, b.isMinCut, a.min, a.isMinCut)
  const isMaxOfB =
    b.max !== null && (a.max === null || isLess(physical, a.max, a.isMaxCut, b.max, b.isMaxCut))
  const least = isMinOfB ? b : a
  const greatest = isMaxOfB ? b : a
  return {
    rowCount: a.rowCount + b.rowCount,
    nullCount: a.nullCount + b.nullCount,
    min: least.min,
    max: greatest.max,
    hasNaN: a.hasNaN || b.hasNaN,
    isMinCut: least.isMinCut,
    isMaxCut: greatest.isMaxCut,
  }
}

/** Whether an end is below another; one that is missing is above all, a cut one above a whole. */
function isLess(
  physical: Physical,
  a: Cell | null,
  isACut: boolean,
  b: Cell | null,
  isBCut: boolean,
): boolean {
  if (a === null || b === null) return a !== null
  const order = compareCells(physical, a, b)
  return order < 0 || (order === 0 && !isACut && isBCut)
}

/**
 * Whether a cell of the page may satisfy a predicate on its column. False is certain.
 */
export function zoneMayMatch(
  zone: ZoneMap,
  physical: Physical,
  predicate: ColumnPredicate,
): boolean {
  const { min, max } = zone
  switch (predicate.kind) {
    case 'NONE':
      return false
    case 'IS_NULL':
      return zone.nullCount > 0
    case 'IS_NOT_NULL':
      return zone.nullCount < zone.rowCount
    case 'EQUALITY':
      if (min === null || max === null || predicate.lower === null) return false
      return (
        compareCells(physical, min, predicate.lower) <= 0 &&
        isWithinMax(physical, predicate.lower, max, zone.isMaxCut)
      )
    case 'RANGE':
      if (min === null || max === null) return false
      return (
        (predicate.upper === null || compareCells(physical, min, predicate.upper) < 0) &&
        (predicate.lower === null || isWithinMax(physical, predicate.lower, max, zone.isMaxCut))
      )
    case 'IN_LIST': {
      if (min === null || max === null) return false
      const index = firstAtOrAbove(physical, predicate.values, min)
      return (
        index < predicate.values.length &&
        isWithinMax(physical, predicate.values[index], max, zone.isMaxCut)
      )
    }
  }
}

/**
 * Whether every cell of the page satisfies a predicate on its column. True is certain.
 */
export function zoneAllMatch(
  zone: ZoneMap,
  physical: Physical,
  predicate: ColumnPredicate,
): boolean {
  const { min, max, nullCount } = zone
  if (predicate.kind === 'NONE') return false
  if (predicate.kind === 'IS_NULL') return nullCount === zone.rowCount
  if (nullCount > 0) return false
  if (predicate.kind === 'IS_NOT_NULL') return true
  if (min === null || max === null || zone.hasNaN || zone.isMaxCut) return false
  if (predicate.kind !== 'RANGE') {
    // Cells that are all one value, so that no end of them is cut.
    return compareCells(physical, min, max) === 0 && zoneMayMatch(zone, physical, predicate)
  }
  // A least cell that is cut is still at or below every cell.
  return (
    (predicate.lower === null || compareCells(physical, min, predicate.lower) >= 0) &&
    (predicate.upper === null || compareCells(physical, max, predicate.upper) < 0)
  )
}

/** Whether a cell at or above `value` may be there. */
function isWithinMax(physical: Physical, value: Cell, max: Cell, isMaxCut: boolean): boolean {
  if (!isMaxCut) return compareCells(physical, value, max) <= 0
  assert(value instanceof Uint8Array && max instanceof Uint8Array, 'only binary cells are cut')
  const bytes = Math.min(value.length, max.length)
  return compareBytes(value, 0, bytes, max, 0, max.length) <= 0
}

/** Index of the first value that is not below `cell`, or their count. */
function firstAtOrAbove(physical: Physical, values: readonly Cell[], cell: Cell): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareCells(physical, values[middle], cell) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Zone maps of the pages of a column as bytes: counts and flags, then the least and the greatest
 * cells as pages. Returns: a multiple of 8.
 */
export function encodeZoneMaps(zones: readonly ZoneMap[], physical: Physical): Uint8Array {
  const rowCounts = new ColumnBuilder(PHYSICAL.int32, zones.length)
  const nullCounts = new ColumnBuilder(PHYSICAL.int32, zones.length)
  const flags = new ColumnBuilder(PHYSICAL.int8, zones.length)
  const mins = new ColumnBuilder(physical, zones.length)
  const maxs = new ColumnBuilder(physical, zones.length)
  for (const zone of zones) {
    rowCounts.appendCell(zone.rowCount)
    nullCounts.appendCell(zone.nullCount)
    flags.appendCell(flagsOf(zone))
    mins.appendCell(zone.min)
    maxs.appendCell(zone.max)
  }
  const pages = [rowCounts, nullCounts, flags, mins, maxs]
  return concatBytes(...pages.map((builder) => encodePage(builder.view(), PLAIN_PAGE)))
}

function flagsOf(zone: ZoneMap): number {
  return (
    (zone.hasNaN ? FLAG_NAN : 0) |
    (zone.isMinCut ? FLAG_MIN_CUT : 0) |
    (zone.isMaxCut ? FLAG_MAX_CUT : 0)
  )
}

/**
 * Undoes `encodeZoneMaps`. Throws: CORRUPTION that begins with `where`. Binary ends may be views of
 * `bytes`.
 */
export function decodeZoneMaps(bytes: Uint8Array, physical: Physical, where: string): ZoneMap[] {
  let offset = 0
  const next = (pagePhysical: Physical): ColumnVector => {
    const cells = decodePage(bytes.subarray(offset), pagePhysical, where)
    offset += pageBytesAt(bytes, offset)
    return cells
  }
  const rowCounts = next(PHYSICAL.int32)
  const nullCounts = next(PHYSICAL.int32)
  const flags = next(PHYSICAL.int8)
  const mins = next(physical)
  const maxs = next(physical)
  const { rowCount } = rowCounts
  for (const cells of [nullCounts, flags, mins, maxs]) {
    if (cells.rowCount !== rowCount) {
      throw new CorruptionError(`${where}: the zone maps are not of one length`)
    }
  }
  return Array.from({ length: rowCount }, (_, i) => ({
    rowCount: rowCounts.lanes[i],
    nullCount: nullCounts.lanes[i],
    min: mins.cell(i),
    max: maxs.cell(i),
    hasNaN: (flags.lanes[i] & FLAG_NAN) !== 0,
    isMinCut: (flags.lanes[i] & FLAG_MIN_CUT) !== 0,
    isMaxCut: (flags.lanes[i] & FLAG_MAX_CUT) !== 0,
  }))
}
