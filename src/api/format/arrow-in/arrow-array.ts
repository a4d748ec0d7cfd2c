/**
 * The cells of one column of a batch, as views over its buffers. Hot: all that loops over cells
 * rely on is checked here, once a batch.
 */

import { invalidArgument, type StatusError } from '../../../common/status.ts'
import { bitmapBytes, countZeros, getBit } from '../../../util/bitmap.ts'
import { EMPTY_BYTES } from '../../../util/bytes.ts'
import type { ArrowBuffers } from './arrow-buffers.ts'
import { ARROW_TYPES, type ArrowType } from './arrow-type.ts'

/** Fixed values; integers of more than 32 bits are words, low word first. */
export type ArrowValues =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

/** Words of a view, and how many bytes of a cell fit into the view itself. */
export const VIEW_WORDS = 4
export const INLINE_BYTES_MAX = 12

const INT32_MAX = 0x7fff_ffff
const NO_STARTS = new Float64Array(0)

/**
 * One column of a batch; which members say something depends on the type.
 *
 *  I1  `values` has room for `rowCount` cells, or offsets and one more;
 *  I2  cells of bytes that are not null lie in `bytes`, and those before them do.
 */
export interface ArrowArray {
  readonly type: ArrowType
  readonly rowCount: number
  /** One bit a row, 1 where the cell is not null; null when none is. */
  readonly validity: Uint8Array | null
  /** Values; the offsets of cells of bytes, 64-bit ones as words; or views as words. */
  readonly values: ArrowValues
  /** What offsets lead into, or what views and their buffers lie in. */
  readonly bytes: Uint8Array
  /** Of views: where they begin in `bytes`, and where each of their buffers does. */
  readonly viewsStart: number
  readonly bufferStarts: Float64Array
  /** Bytes of the longest cell of bytes. */
  readonly cellBytesMax: number
}

/** What a batch says of a column. */
export interface ArrowNode {
  readonly rowCount: number
  /** Negative: not known. */
  readonly nullCount: number
  /** Buffers of bytes, of a column of views. */
  readonly variadicCount: number
}

/** Whether the cell of a row is null. */
export function isNullAt({ type, validity }: ArrowArray, row: number): boolean {
  if (type.id === ARROW_TYPES.null) return true
  return validity !== null && !getBit(validity, row)
}

/**
 * Takes the buffers of a column.
 *
 * Throws: INVALID_ARGUMENT when they are not what the type and the node need, or lead outside.
 * Requires: the type is not nested.
 */
export function readArrowArray(
  type: ArrowType,
  node: ArrowNode,
  buffers: ArrowBuffers,
): ArrowArray {
  const { rowCount } = node
  const none = {
    type,
    rowCount,
    validity: null,
    values: EMPTY_BYTES,
    bytes: EMPTY_BYTES,
    viewsStart: 0,
    bufferStarts: NO_STARTS,
    cellBytesMax: 0,
  }
  if (type.id === ARROW_TYPES.null) return none
  const validity = takeValidity(node, buffers)
  switch (type.id) {
    case ARROW_TYPES.utf8:
    case ARROW_TYPES.binary:
    case ARROW_TYPES.largeUtf8:
    case ARROW_TYPES.largeBinary:
      return { ...none, validity, ...takeOffsets(type, rowCount, buffers) }
    case ARROW_TYPES.utf8View:
    case ARROW_TYPES.binaryView:
      return { ...none, validity, ...takeViews(node, validity, buffers) }
    case ARROW_TYPES.fixedSizeBinary: {
      const width = type.bits / 8
      const bytes = takeBytes(buffers, rowCount * width)
      return { ...none, validity, bytes, cellBytesMax: width }
    }
    default:
      return { ...none, validity, values: takeValues(type, rowCount, buffers) }
  }
}

function takeValidity(node: ArrowNode, buffers: ArrowBuffers): Uint8Array | null {
  const { rowCount, nullCount } = node
  buffers.take()
  if (buffers.end === buffers.start) {
    if (nullCount > 0) throw broken('it has nulls, and no bits that say which')
    return null
  }
  const bitmap = buffers.bytes.subarray(buffers.start, buffers.end)
  if (bitmap.length < bitmapBytes(rowCount)) throw broken('it has fewer bits for nulls than rows')
  return countZeros(bitmap, 0, rowCount) === 0 ? null : bitmap
}

/** The next buffer, of at least `bytes`. */
function takeBytes(buffers: ArrowBuffers, bytes: number): Uint8Array {
  buffers.take()
  const { start, end } = buffers
  if (end - start < bytes) throw broken('it has fewer values than rows')
  return buffers.bytes.subarray(start, start + bytes)
}

function takeValues(type: ArrowType, rowCount: number, buffers: ArrowBuffers): ArrowValues {
  if (type.id === ARROW_TYPES.bool) return takeBytes(buffers, bitmapBytes(rowCount))
  const bytes = aligned(takeBytes(buffers, rowCount * (type.bits / 8)))
  const { buffer, byteOffset } = bytes
  if (type.bits > 32 && type.id !== ARROW_TYPES.float) {
    return new Uint32Array(buffer, byteOffset, rowCount * (type.bits / 32))
  }
  if (type.id === ARROW_TYPES.float) {
    if (type.bits === 16) return new Uint16Array(buffer, byteOffset, rowCount)
    if (type.bits === 32) return new Float32Array(buffer, byteOffset, rowCount)
    return new Float64Array(buffer, byteOffset, rowCount)
  }
  const isSigned = type.isSigned || type.id !== ARROW_TYPES.int
  if (type.bits === 8) return isSigned ? new Int8Array(buffer, byteOffset, rowCount) : bytes
  if (type.bits === 16) {
    return isSigned
      ? new Int16Array(buffer, byteOffset, rowCount)
      : new Uint16Array(buffer, byteOffset, rowCount)
  }
  return isSigned
    ? new Int32Array(buffer, byteOffset, rowCount)
    : new Uint32Array(buffer, byteOffset, rowCount)
}

/** The same bytes, beginning at a multiple of 8 in their buffer. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice()
}

type Texts = Pick<ArrowArray, 'values' | 'bytes' | 'cellBytesMax'>

function takeOffsets(type: ArrowType, rowCount: number, buffers: ArrowBuffers): Texts {
  const isLarge = type.id === ARROW_TYPES.largeUtf8 || type.id === ARROW_TYPES.largeBinary
  const width = isLarge ? 8 : 4
  // Of no rows there may be no offset at all.
  const offsets = aligned(takeBytes(buffers, rowCount === 0 ? 0 : (rowCount + 1) * width))
  const { buffer, byteOffset } = offsets
  buffers.take()
  const bytes = buffers.bytes.subarray(buffers.start, buffers.end)
  const values = isLarge
    ? new Uint32Array(buffer, byteOffset, offsets.length / 4)
    : new Int32Array(buffer, byteOffset, offsets.length / 4)
  const cellBytesMax = isLarge
    ? checkWideOffsets(values, bytes.length)
    : checkOffsets(values, bytes.length)
  return { values, bytes, cellBytesMax }
}

/** Returns: bytes of the longest cell. */
function checkOffsets(offsets: ArrowValues, byteCount: number): number {
  if (offsets.length === 0) return 0
  let previous = offsets[0]
  let longest = 0
  let isAscending = previous >= 0
  for (let i = 1; i < offsets.length; i++) {
    const length = offsets[i] - previous
    if (length < 0) isAscending = false
    if (length > longest) longest = length
    previous = offsets[i]
  }
  if (!isAscending || previous > byteCount) throw offsetsBroken()
  return longest
}

/** As `checkOffsets`, for offsets of two words each. */
function checkWideOffsets(words: ArrowValues, byteCount: number): number {
  if (words.length === 0) return 0
  let previous = words[0]
  let longest = 0
  let high = words[1]
  let isAscending = previous <= INT32_MAX
  for (let i = 2; i < words.length; i += 2) {
    const length = words[i] - previous
    if (length < 0) isAscending = false
    if (length > longest) longest = length
    previous = words[i]
    high |= words[i + 1]
  }
  if (!isAscending || high !== 0 || previous > byteCount) throw offsetsBroken()
  return longest
}

type Views = Texts & Pick<ArrowArray, 'viewsStart' | 'bufferStarts'>

function takeViews(node: ArrowNode, validity: Uint8Array | null, buffers: ArrowBuffers): Views {
  const { rowCount, variadicCount } = node
  const viewBytes = takeBytes(buffers, rowCount * VIEW_WORDS * 4)
  const viewsStart = buffers.start
  const views = aligned(viewBytes)
  const values = new Int32Array(views.buffer, views.byteOffset, rowCount * VIEW_WORDS)
  if (!(variadicCount >= 0 && variadicCount <= buffers.leftCount)) {
    throw broken('it has fewer buffers than it says')
  }
  const bufferStarts = new Float64Array(variadicCount)
  const bufferEnds = new Float64Array(variadicCount)
  for (let i = 0; i < variadicCount; i++) {
    buffers.take()
    bufferStarts[i] = buffers.start
    bufferEnds[i] = buffers.end
  }
  let longest = 0
  for (let row = 0, at = 0; row < rowCount; row++, at += VIEW_WORDS) {
    if (validity !== null && !getBit(validity, row)) continue
    const length = values[at]
    if (length > longest) longest = length
    if (length <= INLINE_BYTES_MAX) {
      if (length < 0) throw viewsBroken()
      continue
    }
    const index = values[at + 2]
    const offset = values[at + 3]
    if (index < 0 || index >= variadicCount || offset < 0) throw viewsBroken()
    if (bufferStarts[index] + offset + length > bufferEnds[index]) throw viewsBroken()
  }
  return { values, bytes: buffers.bytes, viewsStart, bufferStarts, cellBytesMax: longest }
}

function offsetsBroken(): StatusError {
  return broken('its offsets do not ascend within its bytes')
}

function viewsBroken(): StatusError {
  return broken('a view leads outside of its bytes')
}

function broken(what: string): StatusError {
  return invalidArgument(what)
}
