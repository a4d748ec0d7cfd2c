/**
 * Binary cells by the codes of their dictionary, joined as they are in vectors without one. Hot.
 *
 *   codes    2     0     n     0          n: null, a code behind those of the n values
 *   values   a │ bc │ def
 *   joined   d e f a a           ends 3 4 4 5
 */

import { copyBytes } from '../util/arena.ts'
import { getBit } from '../util/bitmap.ts'
import type { ColumnDictionary, ColumnVector } from './column-vector.ts'

/** Values of at most this many bytes are copied as whole words, over what the next one takes. */
const SHORT_BYTES = 24
const WORD_BYTES = 4
/** Fewer cells than this times the values are not worth a table of the values' words. */
const CELLS_PER_VALUE_MIN = 2
const CODES_MAX = 65_536

let scratchCodes = new Uint16Array(4096)
/** Bytes of each value, and none of null. */
const scratchLengths = new Uint32Array(CODES_MAX + 1)
let scratchWords = new Uint32Array(256)
let scratchPadded = new Uint8Array(scratchWords.buffer)

/**
 * Codes of the cells `[start, end)`, for the functions below. Requires: fewer values than codes
 * can tell apart when a cell is null. Borrowed: scratch of the next call.
 */
export function codesIn(
  { codes, values }: ColumnDictionary,
  validity: Uint8Array | null,
  start: number,
  end: number,
): Uint16Array {
  if (validity === null) return codes.subarray(start, end)
  const count = end - start
  const nullCode = values.rowCount
  if (scratchCodes.length < count) scratchCodes = new Uint16Array(count)
  const out = scratchCodes
  for (let i = 0, cell = start; i < count; i++, cell++) {
    out[i] = getBit(validity, cell) ? codes[cell] : nullCode
  }
  return out
}

/** Codes of the cells `rows[start, end)`; as `codesIn`. */
export function codesAt(
  { codes, values }: ColumnDictionary,
  validity: Uint8Array | null,
  rows: Uint32Array,
  start: number,
  end: number,
): Uint16Array {
  const count = end - start
  if (scratchCodes.length < count) scratchCodes = new Uint16Array(count)
  const out = scratchCodes
  for (let i = 0; i < count; i++) out[i] = codes[rows[start + i]]
  if (validity === null) return out
  const nullCode = values.rowCount
  for (let i = 0; i < count; i++) if (!getBit(validity, rows[start + i])) out[i] = nullCode
  return out
}

/** Bytes that the values of the first `count` codes take together. */
export function joinedBytes(values: ColumnVector, codes: Uint16Array, count: number): number {
  noteLengths(values)
  const lengths = scratchLengths
  let bytes = 0
  for (let i = 0; i < count; i++) bytes += lengths[codes[i]]
  return bytes
}

/** Notes how long each value is. Returns: the most. */
function noteLengths({ offsets, rowCount }: ColumnVector): number {
  let longest = 0
  for (let code = 0; code < rowCount; code++) {
    const length = offsets[code + 1] - offsets[code]
    scratchLengths[code] = length
    if (length > longest) longest = length
  }
  scratchLengths[rowCount] = 0
  return longest
}

/** Where joined values go. */
export interface JoinTarget {
  /** Takes the values at `[start, end)`, which they fill. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /** Takes where each value ends, from `endStart` on, counted from `base`. */
  readonly ends: Uint32Array
  readonly endStart: number
  readonly base: number
}

/** Joins the values of the first `count` codes. Requires: they take as much as the target has. */
export function joinValues(
  values: ColumnVector,
  codes: Uint16Array,
  count: number,
  target: JoinTarget,
): void {
  const longest = noteLengths(values)
  if (longest === 1 && joinedFlags(values, codes, count, target)) return
  const isShort = longest <= SHORT_BYTES && count >= values.rowCount * CELLS_PER_VALUE_MIN
  const joined = isShort ? joinShort(values, codes, count, longest, target) : 0
  joinRest(values, codes, joined, count, target)
}

/**
 * As `joinValues`, of values that are all one byte, as flags are. Returns: false, and nothing is
 * done, when one is empty or null.
 */
function joinedFlags(
  { bytes, offsets }: ColumnVector,
  codes: Uint16Array,
  count: number,
  target: JoinTarget,
): boolean {
  if (target.end - target.start !== count) return false
  const { bytes: out, start, ends, endStart, base } = target
  for (let i = 0; i < count; i++) out[start + i] = bytes[offsets[codes[i]]]
  for (let i = 0; i < count; i++) ends[endStart + i] = base + i + 1
  return true
}

/** Joins the values from the code numbered `first` on. */
function joinRest(
  { bytes, offsets }: ColumnVector,
  codes: Uint16Array,
  first: number,
  count: number,
  target: JoinTarget,
): void {
  const { ends, endStart } = target
  const lengths = scratchLengths
  const shift = target.start - target.base
  let to = first === 0 ? target.start : ends[endStart + first - 1] + shift
  for (let i = first; i < count; i++) {
    const code = codes[i]
    const length = lengths[code]
    if (length > 0) {
      const from = offsets[code]
      copyBytes(bytes, from, from + length, target.bytes, to)
      to += length
    }
    ends[endStart + i] = to - shift
  }
}

/**
 * As `joinValues`, for as long as whole words do not reach beyond the end. Returns: how many codes
 * are done.
 */
function joinShort(
  values: ColumnVector,
  codes: Uint16Array,
  count: number,
  longest: number,
  target: JoinTarget,
): number {
  const wordCount = Math.ceil(longest / WORD_BYTES)
  padValues(values, wordCount)
  const words = scratchWords
  const lengths = scratchLengths
  const { bytes, ends, endStart } = target
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const last = target.end - wordCount * WORD_BYTES
  const shift = target.start - target.base
  let to = target.start
  let i = 0
  for (; i < count && to <= last; i++) {
    const code = codes[i]
    const at = code * wordCount
    for (let word = 0; word < wordCount; word++) {
      view.setUint32(to + word * WORD_BYTES, words[at + word], true)
    }
    to += lengths[code]
    ends[endStart + i] = to - shift
  }
  return i
}

/** Writes the values to `scratchWords`, each at a multiple of `wordCount`, and one for null. */
function padValues({ bytes, offsets, rowCount }: ColumnVector, wordCount: number): void {
  const needed = (rowCount + 1) * wordCount
  if (scratchWords.length < needed) {
    scratchWords = new Uint32Array(needed * 2)
    scratchPadded = new Uint8Array(scratchWords.buffer)
  }
  const width = wordCount * WORD_BYTES
  for (let code = 0; code < rowCount; code++) {
    copyBytes(bytes, offsets[code], offsets[code + 1], scratchPadded, code * width)
  }
}
