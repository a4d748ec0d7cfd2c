/**
 * Copying cells of a column from where they are kept to a run of rows. Hot: one loop for each kind
 * of lane, because a loop that has met more than four kinds of arrays runs fifty times slower.
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { copyBytes } from '../../util/arena.ts'
import { getBit, setBit, setBits } from '../../util/bitmap.ts'
import { isRun } from '../../util/is-run.ts'
import { CHUNK_MASK, CHUNK_ROW_COUNT, CHUNK_SHIFT } from './chunk.ts'
import type { ChunkedColumn } from './chunked-column.ts'

/** Below this many rows the test for a run costs more than it saves. */
const RUN_ROWS_MIN = 16
/** Rows whose values are fetched at a time: few enough to stay in the nearest cache. */
const TOUCHED_ROWS = 64

const scratchStarts = new Uint32Array(TOUCHED_ROWS)
const scratchEnds = new Uint32Array(TOUCHED_ROWS)
/** Written so that touching is not left out. */
const scratchTouched = new Uint32Array(1)

/**
 * Appends the cells named by `cells[start, end)` to `target`: position p of `kept` by p, position p
 * of `changed` by ~p. `changed` is null when no cell is negative.
 *
 * Requires: all three have one physical type.
 */
export function gatherCells(
  kept: ChunkedColumn,
  changed: ChunkedColumn | null,
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  if (changed === null && end - start >= RUN_ROWS_MIN && isRun(cells, start, end)) {
    appendRun(kept, cells[start], cells[start] + end - start, target)
    return
  }
  const from = kept.chunks
  const or = changed === null ? from : changed.chunks
  target.reserve(end - start)
  if (target.physical === PHYSICAL.binary) gatherBinary(from, or, cells, start, end, target)
  else gatherLanes(from, or, cells, start, end, target)
  const first = target.rowCount
  const count = end - start
  if (kept.nullCount === 0 && (changed === null || changed.nullCount === 0)) {
    setBits(target.validity, first, first + count)
  } else {
    target.nullCount += gatherValidity(from, or, cells, start, end, target)
  }
  setBits(target.isSet, first, first + count)
  target.rowCount = first + count
}

function appendRun(column: ChunkedColumn, start: number, end: number, target: ColumnBuilder): void {
  for (let at = start; at < end; ) {
    const row = at & CHUNK_MASK
    const count = Math.min(end - at, CHUNK_ROW_COUNT - row)
    target.appendRange(column.chunks[at >>> CHUNK_SHIFT].view(), row, row + count)
    at += count
  }
}

function gatherLanes(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  switch (target.physical) {
    case PHYSICAL.int8:
      gatherInt8(kept, changed, cells, start, end, target)
      return
    case PHYSICAL.int16:
      gatherInt16(kept, changed, cells, start, end, target)
      return
    case PHYSICAL.int32:
      gatherInt32(kept, changed, cells, start, end, target)
      return
    case PHYSICAL.float32:
      gatherFloat32(kept, changed, cells, start, end, target)
      return
    case PHYSICAL.float64:
      gatherFloat64(kept, changed, cells, start, end, target)
      return
    case PHYSICAL.int64:
      gatherPairs(kept, changed, cells, start, end, target)
      return
    default:
      gatherQuads(kept, changed, cells, start, end, target)
  }
}

function gatherInt8(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Int8Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    out[i + shift] = (chunk.lanes as Int8Array)[position & CHUNK_MASK]
  }
}

function gatherInt16(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Int16Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    out[i + shift] = (chunk.lanes as Int16Array)[position & CHUNK_MASK]
  }
}

function gatherInt32(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Int32Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    out[i + shift] = (chunk.lanes as Int32Array)[position & CHUNK_MASK]
  }
}

function gatherFloat32(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Float32Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    out[i + shift] = (chunk.lanes as Float32Array)[position & CHUNK_MASK]
  }
}

function gatherFloat64(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Float64Array
  const shift = target.rowCount - start
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    out[i + shift] = (chunk.lanes as Float64Array)[position & CHUNK_MASK]
  }
}

function gatherPairs(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Uint32Array
  let word = target.rowCount * 2
  for (let i = start; i < end; i++, word += 2) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const lanes = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT].lanes as Uint32Array
    const from = (position & CHUNK_MASK) * 2
    out[word] = lanes[from]
    out[word + 1] = lanes[from + 1]
  }
}

function gatherQuads(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const out = target.lanes as Uint32Array
  let word = target.rowCount * 4
  for (let i = start; i < end; i++, word += 4) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const lanes = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT].lanes as Uint32Array
    const from = (position & CHUNK_MASK) * 4
    out[word] = lanes[from]
    out[word + 1] = lanes[from + 1]
    out[word + 2] = lanes[from + 2]
    out[word + 3] = lanes[from + 3]
  }
}

/**
 * Values lie all over the memory: those of some rows are first touched, so that the processor
 * fetches them side by side, and then copied.
 */
function gatherBinary(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): void {
  const values = target.values
  let row = target.rowCount
  for (let first = start; first < end; first += TOUCHED_ROWS) {
    const last = Math.min(end, first + TOUCHED_ROWS)
    values.reserve(touchValues(kept, changed, cells, first, last))
    const offsets = target.offsets
    const bytes = values.bytes
    let length = values.length
    for (let i = first; i < last; i++) {
      const cell = cells[i]
      const chunk = (cell < 0 ? changed : kept)[(cell < 0 ? ~cell : cell) >>> CHUNK_SHIFT]
      const from = scratchStarts[i - first]
      const to = scratchEnds[i - first]
      copyBytes(chunk.values.bytes, from, to, bytes, length)
      length += to - from
      offsets[++row] = length
    }
    values.length = length
  }
}

/** Notes where values begin and end. Returns: how many bytes they have. */
function touchValues(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
): number {
  let bytes = 0
  let touched = 0
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    const from = chunk.offsets[position & CHUNK_MASK]
    const to = chunk.offsets[(position & CHUNK_MASK) + 1]
    if (from < to) touched += chunk.values.bytes[from]
    scratchStarts[i - start] = from
    scratchEnds[i - start] = to
    bytes += to - from
  }
  scratchTouched[0] = touched
  return bytes
}

/** Returns how many of the cells are null. */
function gatherValidity(
  kept: readonly ColumnBuilder[],
  changed: readonly ColumnBuilder[],
  cells: Int32Array,
  start: number,
  end: number,
  target: ColumnBuilder,
): number {
  const validity = target.validity
  const shift = target.rowCount - start
  let nulls = 0
  for (let i = start; i < end; i++) {
    const cell = cells[i]
    const position = cell < 0 ? ~cell : cell
    const chunk = (cell < 0 ? changed : kept)[position >>> CHUNK_SHIFT]
    if (getBit(chunk.validity, position & CHUNK_MASK)) setBit(validity, i + shift)
    else nulls++
  }
  return nulls
}
