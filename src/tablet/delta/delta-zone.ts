/**
 * The zone map of a column's cells in the description of a block.
 *
 *   flags      1: a cell is NaN; 2, 4: the least, the greatest is cut; 8: there are ends
 *   nullCount  varint
 *   min, max   unless there are none: varint of the bytes, then the lane or the binary value
 */

import { appendSized, appendVarint, type VarintReader } from '../../cfile/varint.ts'
import type { ZoneMap } from '../../cfile/zone-map.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import { laneCell, lanesOf } from '../../common/column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { ByteArena } from '../../util/arena.ts'

const HAS_NAN = 1
const MIN_CUT = 2
const MAX_CUT = 4
const HAS_ENDS = 8
const FLAGS_MAX = 15

/** Appends a zone map. */
export function appendZone(target: ByteArena, zone: ZoneMap, physical: Physical): void {
  const { min, max } = zone
  const flags =
    (zone.hasNaN ? HAS_NAN : 0) |
    (zone.isMinCut ? MIN_CUT : 0) |
    (zone.isMaxCut ? MAX_CUT : 0) |
    (min === null || max === null ? 0 : HAS_ENDS)
  appendVarint(target, flags)
  appendVarint(target, zone.nullCount)
  if (min === null || max === null) return
  appendSized(target, bytesOf(min, physical))
  appendSized(target, bytesOf(max, physical))
}

/** Reads a zone map of `cellCount` cells. Throws: CORRUPTION when it is none. */
export function readZone(reader: VarintReader, physical: Physical, cellCount: number): ZoneMap {
  const flags = reader.nextUpTo(FLAGS_MAX)
  const nullCount = reader.nextUpTo(cellCount)
  const hasEnds = (flags & HAS_ENDS) !== 0
  return {
    rowCount: cellCount,
    nullCount,
    min: hasEnds ? readCell(reader, physical) : null,
    max: hasEnds ? readCell(reader, physical) : null,
    hasNaN: (flags & HAS_NAN) !== 0,
    isMinCut: (flags & MIN_CUT) !== 0,
    isMaxCut: (flags & MAX_CUT) !== 0,
  }
}

function bytesOf(cell: Cell, physical: Physical): Uint8Array {
  if (cell instanceof Uint8Array) return cell
  const builder = new ColumnBuilder(physical, 1)
  builder.appendCell(cell)
  return builder.view().bytes
}

function readCell(reader: VarintReader, physical: Physical): Cell {
  const bytes = reader.nextSized().slice()
  if (physical === PHYSICAL.binary) return bytes
  if (bytes.length !== LANE_BYTES[physical]) throw reader.corruption('has an end of a wrong size')
  return laneCell(physical, lanesOf(physical, bytes, 1), 0)
}
