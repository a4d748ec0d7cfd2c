/**
 * Binary cells by the codes of their dictionary, joined as they are in vectors without one. Hot.
 *
 *   codes    2     0     −1    0
 *   values   a │ bc │ def
 *   joined   d e f a a           ends 3 4 4 5: a null cell, −1, takes nothing
 */

import { copyBytes } from '../util/arena.ts'
import { getBit } from '../util/bitmap.ts'
import type { ColumnDictionary, ColumnVector } from './column-vector.ts'

/** Bytes of values that are copied as whole words, over what the next one takes. */
const SHORT_BYTES = 12
/** Fewer cells than this times the values are not worth a table of the values' words. */
const CELLS_PER_VALUE_MIN = 2
const NULL_CODE = -1

let scratchCodes = new Int32Array(4096)

/** Codes of the cells `[start, end)`, −1 for null. Scratch: good until the next call. */
export function codesIn(
  { codes }: ColumnDictionary,
  validity: Uint8Array | null,
  start: number,
  end: number,
): Int32Array {
  const count = end - start
  if (scratchCodes.length < count) scratchCodes = new Int32Array(count)
  const out = scratchCodes
  for (let i = 0, cell = start; i < count; i++, cell++) out[i] = codes[cell]
  if (validity === null) return out
  for (let i = 0; i < count; i++) if (!getBit(validity, start + i)) out[i] = NULL_CODE
  return out
}

/** Codes of the cells `rows[start, end)`, −1 for null. Scratch: good until the next call. */
export function codesAt(
  { codes }: ColumnDictionary,
  validity: Uint8Array | null,
  rows: Uint32Array,
  start: number,
  end: number,
): Int32Array {
  const count = end - start
  if (scratchCodes.length < count) scratchCodes = new Int32Array(count)
  const out = scratchCodes
  for (let i = 0; i < count; i++) out[i] = codes[rows[start + i]]
  if (validity === null) return out
  for (let i = 0; i < count; i++) if (!getBit(validity, rows[start + i])) out[i] = NULL_CODE
  return out
}

/** Bytes that the values of the first `count` codes take together. */
export function joinedBytes(values: ColumnVector, codes: Int32Array, count: number): number {
  const { offsets } = values
  let bytes = 0
  for (let i = 0; i < count; i++) {
    const code = codes[i]
    if (code >= 0) bytes += offsets[code + 1] - offsets[code]
  }
  return bytes
}

/** Writes to `out`, from `outStart` on, where each value ends when the first begins at `base`. */
export function writeEnds(
  values: ColumnVector,
  codes: Int32Array,
  count: number,
  out: Uint32Array,
  outStart: number,
  base: number,
): void {
  const { offsets } = values
  let offset = base
  for (let i = 0, at = outStart; i < count; i++, at++) {
    const code = codes[i]
    if (code >= 0) offset += offsets[code + 1] - offsets[code]
    out[at] = offset
  }
}

/** Writes the values of the first `count` codes to `target[start, end)`, which they fill. */
export function writeValues(
  values: ColumnVector,
  codes: Int32Array,
  count: number,
  target: Uint8Array,
  start: number,
  end: number,
): void {
  const { bytes, offsets } = values
  const isShort = count >= values.rowCount * CELLS_PER_VALUE_MIN && areShort(values)
  const first = isShort ? writeShort(values, codes, count, target, start, end) : 0
  let to = isShort ? scratchEnd : start
  for (let i = first; i < count; i++) {
    const code = codes[i]
    if (code < 0) continue
    const from = offsets[code]
    const until = offsets[code + 1]
    copyBytes(bytes, from, until, target, to)
    to += until - from
  }
}

function areShort({ offsets, rowCount }: ColumnVector): boolean {
  for (let code = 0; code < rowCount; code++) {
    if (offsets[code + 1] - offsets[code] > SHORT_BYTES) return false
  }
  return true
}

/** Where `writeShort` stopped. */
let scratchEnd = 0

/**
 * As `writeValues`, of short values, for as long as whole words do not reach beyond the end.
 * Returns: how many codes are done.
 */
function writeShort(
  values: ColumnVector,
  codes: Int32Array,
  count: number,
  target: Uint8Array,
  start: number,
  end: number,
): number {
  const { bytes, offsets, rowCount } = values
  const padded = new Uint8Array(rowCount * SHORT_BYTES)
  for (let code = 0; code < rowCount; code++) {
    copyBytes(bytes, offsets[code], offsets[code + 1], padded, code * SHORT_BYTES)
  }
  const words = new Uint32Array(padded.buffer)
  const view = new DataView(target.buffer, target.byteOffset, target.length)
  const last = end - SHORT_BYTES
  let to = start
  let i = 0
  for (; i < count && to <= last; i++) {
    const code = codes[i]
    if (code < 0) continue
    const at = code * (SHORT_BYTES / 4)
    view.setUint32(to, words[at], true)
    view.setUint32(to + 4, words[at + 1], true)
    view.setUint32(to + 8, words[at + 2], true)
    to += offsets[code + 1] - offsets[code]
  }
  scratchEnd = to
  return i
}
