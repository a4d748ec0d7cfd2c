/**
 * Copying cells of a column from a page of the base and from its changed cells. Hot: one loop for
 * each kind of lane, because a loop that has met more than four kinds of arrays runs fifty times
 * slower.
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { copyBytes } from '../../util/arena.ts'
import { getBit, setBit, setBits } from '../../util/bitmap.ts'
import { isRun } from '../../util/is-run.ts'

/** Below this many rows the test for a run costs more than it saves. */
const RUN_ROWS_MIN = 16

let scratchRows = new Uint32Array(256)

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
  if (changed === null) {
    gatherBase(base, baseShift, rows, start, end, target)
    return
  }
  const count = end - start
  target.reserve(count)
  if (target.physical === PHYSICAL.binary) {
    gatherBinary(base, baseShift, changed, positions, rows, start, end, target)
  } else {
    gatherLanes(base, baseShift, changed, positions, rows, start, end, target)
  }
  const first = target.rowCount
  if (base.validity === null && changed.validity === null) {
    setBits(target.validity, first, first + count)
  } else {
    target.nullCount += gatherValidity(
      base,
      baseShift,
      changed,
      positions,
      rows,
      start,
      end,
      target,
    )
  }
  setBits(target.isSet, first, first + count)
  target.rowCount = first + count
}

function gatherBase(
  base: ColumnVector,
  baseShift: number,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  if (end - start >= RUN_ROWS_MIN && isRun(rows, start, end)) {
    const first = rows[start] - baseShift
    target.appendRange(base, first, first + end - start)
    return
  }
  if (baseShift === 0) {
    target.appendRows(base, rows, start, end)
    return
  }
  const count = end - start
  if (scratchRows.length < count) scratchRows = new Uint32Array(count * 2)
  for (let i = start; i < end; i++) scratchRows[i - start] = rows[i] - baseShift
  target.appendRows(base, scratchRows, 0, count)
}

function gatherLanes(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  switch (target.physical) {
    case PHYSICAL.int8:
      gatherInt8(base, baseShift, changed, positions, rows, start, end, target)
      return
    case PHYSICAL.int16:
      gatherInt16(base, baseShift, changed, positions, rows, start, end, target)
      return
    case PHYSICAL.int32:
      gatherInt32(base, baseShift, changed, positions, rows, start, end, target)
      return
    case PHYSICAL.float32:
      gatherFloat32(base, baseShift, changed, positions, rows, start, end, target)
      return
    case PHYSICAL.float64:
      gatherFloat64(base, baseShift, changed, positions, rows, start, end, target)
      return
    case PHYSICAL.int64:
      gatherPairs(base, baseShift, changed, positions, rows, start, end, target)
      return
    default:
      gatherQuads(base, baseShift, changed, positions, rows, start, end, target)
  }
}

function gatherInt8(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Int8Array
  const patches = changed.lanes as Int8Array
  const out = target.lanes as Int8Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const position = positions[i]
    out[i + shift] = position < 0 ? kept[rows[i] - baseShift] : patches[position]
  }
}

function gatherInt16(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Int16Array
  const patches = changed.lanes as Int16Array
  const out = target.lanes as Int16Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const position = positions[i]
    out[i + shift] = position < 0 ? kept[rows[i] - baseShift] : patches[position]
  }
}

function gatherInt32(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Int32Array
  const patches = changed.lanes as Int32Array
  const out = target.lanes as Int32Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const position = positions[i]
    out[i + shift] = position < 0 ? kept[rows[i] - baseShift] : patches[position]
  }
}

function gatherFloat32(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Float32Array
  const patches = changed.lanes as Float32Array
  const out = target.lanes as Float32Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const position = positions[i]
    out[i + shift] = position < 0 ? kept[rows[i] - baseShift] : patches[position]
  }
}

function gatherFloat64(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Float64Array
  const patches = changed.lanes as Float64Array
  const out = target.lanes as Float64Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const position = positions[i]
    out[i + shift] = position < 0 ? kept[rows[i] - baseShift] : patches[position]
  }
}

function gatherPairs(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Uint32Array
  const patches = changed.lanes as Uint32Array
  const out = target.lanes as Uint32Array
  let word = target.rowCount * 2
  for (let i = start; i < end; i++, word += 2) {
    const position = positions[i]
    const lanes = position < 0 ? kept : patches
    const from = (position < 0 ? rows[i] - baseShift : position) * 2
    out[word] = lanes[from]
    out[word + 1] = lanes[from + 1]
  }
}

function gatherQuads(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const kept = base.lanes as Uint32Array
  const patches = changed.lanes as Uint32Array
  const out = target.lanes as Uint32Array
  let word = target.rowCount * 4
  for (let i = start; i < end; i++, word += 4) {
    const position = positions[i]
    const lanes = position < 0 ? kept : patches
    const from = (position < 0 ? rows[i] - baseShift : position) * 4
    out[word] = lanes[from]
    out[word + 1] = lanes[from + 1]
    out[word + 2] = lanes[from + 2]
    out[word + 3] = lanes[from + 3]
  }
}

function gatherBinary(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const { values, offsets } = target
  const shift = target.rowCount + 1 - start
  // Values of a dictionary need no joining: null cells, whose codes mean nothing, are told apart.
  const codes = base.dictionary === null ? null : base.dictionary.codes
  const kept = base.dictionary === null ? base : base.dictionary.values
  const { bytes: keptBytes, offsets: keptOffsets } = kept
  const { bytes: patchBytes, offsets: patchOffsets } = changed
  for (let i = start; i < end; i++) {
    const position = positions[i]
    const isBase = position < 0
    let row = isBase ? rows[i] - baseShift : position
    let isEmpty = false
    if (isBase && codes !== null) {
      isEmpty = base.validity !== null && !getBit(base.validity, row)
      row = codes[row]
    }
    const from = isBase ? keptOffsets[row] : patchOffsets[row]
    const to = isEmpty ? from : isBase ? keptOffsets[row + 1] : patchOffsets[row + 1]
    if (values.length + to - from > values.bytes.length) values.reserve(to - from)
    copyBytes(isBase ? keptBytes : patchBytes, from, to, values.bytes, values.length)
    values.length += to - from
    offsets[i + shift] = values.length
  }
}

/** Returns how many of the cells are null. */
function gatherValidity(
  base: ColumnVector,
  baseShift: number,
  changed: ColumnVector,
  positions: Int32Array,
  rows: Uint32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): number {
  const { validity } = target
  const kept = base.validity
  const patches = changed.validity
  const shift = target.rowCount - start
  let nulls = 0
  for (let i = start; i < end; i++) {
    const position = positions[i]
    const bits = position < 0 ? kept : patches
    const row = position < 0 ? rows[i] - baseShift : position
    if (bits === null || getBit(bits, row)) setBit(validity, i + shift)
    else nulls++
  }
  return nulls
}
