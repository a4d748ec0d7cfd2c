/**
 * Encoded keys: tuples of cells as bytes whose order is the order of the tuples, bit for bit Kudu's
 * (docs/formats/encoded-key.md). Hot: `encodeKeys`.
 *
 *   integers, DATE, UNIXTIME_MICROS, DECIMAL   big-endian, top bit flipped, 1 to 16 bytes
 *   STRING, VARCHAR, BINARY, last column       the bytes as they are
 *   the same, other columns                    each 00 as 00 01, then 00 00
 *
 * Nothing separates columns and no cell is null. As a bound an empty key is none at all.
 */

import { ByteArena, copyBytes, type KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import type { ColumnVector } from './column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from './data-type.ts'
import type { Column } from './schema.ts'
import { invalidArgument } from './status.ts'

export {
  compareCells,
  decrementCell,
  incrementCells,
  maxCell,
  minCell,
  nextCell,
} from './cell-order.ts'

const TOP_BIT_32 = 0x8000_0000
const TERMINATOR_BYTES = 2

/**
 * Appends the encoded key of every row `[0, rowCount)` to `keys`, in row order.
 *
 * Requires: the columns are those of the key, in key order, and none of their cells is null (a null
 * or unset cell counts as zero or empty). Keys may come out longer than `KEY_BYTES_MAX`: compare
 * `keys.ends`.
 * Cost: one pass over each column, no allocation beyond the arena's growth.
 */
export function encodeKeys(
  keyColumns: readonly ColumnVector[],
  rowCount: number,
  keys: KeyArena,
): void {
  assert(keyColumns.length > 0, 'a key has a column')
  let fixedBytes = 0
  let binaryCount = 0
  for (const column of keyColumns) {
    assert(column.rowCount >= rowCount, 'key column has fewer rows')
    assert(isKeyPhysical(column.physical), 'floats are no keys')
    fixedBytes += LANE_BYTES[column.physical]
    if (column.physical === PHYSICAL.binary) binaryCount++
  }
  keys.reserveKeys(rowCount)
  if (binaryCount === 0) encodeFixedKeys(keyColumns, rowCount, fixedBytes, keys)
  else if (keyColumns.length === 1) encodeRawKeys(keyColumns[0], rowCount, keys)
  else encodeMixedKeys(keyColumns, rowCount, fixedBytes, keys)
}

function isKeyPhysical(physical: Physical): boolean {
  return physical !== PHYSICAL.float32 && physical !== PHYSICAL.float64
}

/** Keys of one width: every column is written at a fixed stride. */
function encodeFixedKeys(
  columns: readonly ColumnVector[],
  rowCount: number,
  keyBytes: number,
  keys: KeyArena,
): void {
  keys.reserve(rowCount * keyBytes)
  const view = new DataView(keys.bytes.buffer, keys.bytes.byteOffset, keys.bytes.length)
  let offset = keys.length
  for (let index = 0; index < columns.length; index++) {
    writeStrided(columns[index], rowCount, view, offset, keyBytes)
    offset += LANE_BYTES[columns[index].physical]
  }
  const ends = keys.ends
  let end = keys.length
  for (let row = 0, key = keys.count; row < rowCount; row++, key++) {
    end += keyBytes
    ends[key] = end
  }
  keys.length = end
  keys.count += rowCount
}

function writeStrided(
  column: ColumnVector,
  rowCount: number,
  view: DataView,
  start: number,
  stride: number,
): void {
  const lanes = column.lanes
  let offset = start
  switch (column.physical) {
    case PHYSICAL.int8:
      for (let row = 0; row < rowCount; row++, offset += stride) {
        view.setInt8(offset, lanes[row] ^ 0x80)
      }
      return
    case PHYSICAL.int16:
      for (let row = 0; row < rowCount; row++, offset += stride) {
        view.setInt16(offset, lanes[row] ^ 0x8000)
      }
      return
    case PHYSICAL.int32:
      for (let row = 0; row < rowCount; row++, offset += stride) {
        view.setInt32(offset, lanes[row] ^ TOP_BIT_32)
      }
      return
    case PHYSICAL.int64:
      for (let row = 0; row < rowCount; row++, offset += stride) {
        view.setInt32(offset, lanes[row * 2 + 1] ^ TOP_BIT_32)
        view.setInt32(offset + 4, lanes[row * 2])
      }
      return
    default:
      for (let row = 0; row < rowCount; row++, offset += stride) {
        view.setInt32(offset, lanes[row * 4 + 3] ^ TOP_BIT_32)
        view.setInt32(offset + 4, lanes[row * 4 + 2])
        view.setInt32(offset + 8, lanes[row * 4 + 1])
        view.setInt32(offset + 12, lanes[row * 4])
      }
  }
}

/** Keys of one binary column: the values are the keys, joined as the column joins them. */
function encodeRawKeys(column: ColumnVector, rowCount: number, keys: KeyArena): void {
  const { offsets, bytes } = column
  const shift = keys.length - offsets[0]
  keys.append(bytes, offsets[0], offsets[rowCount])
  const ends = keys.ends
  for (let row = 1, key = keys.count; row <= rowCount; row++, key++)
    ends[key] = offsets[row] + shift
  keys.count += rowCount
}

/**
 * Keys of differing lengths. The slots of `ends` first count the bytes of each key, then hold the
 * place where its next column goes, which is its end once the last column is written.
 */
function encodeMixedKeys(
  columns: readonly ColumnVector[],
  rowCount: number,
  fixedBytes: number,
  keys: KeyArena,
): void {
  const last = columns.length - 1
  const places = keys.ends.subarray(keys.count, keys.count + rowCount)
  places.fill(fixedBytes)
  for (let index = 0; index <= last; index++) {
    if (columns[index].physical !== PHYSICAL.binary) continue
    addBinaryBytes(columns[index], rowCount, index === last, places)
  }
  let length = keys.length
  for (let row = 0; row < rowCount; row++) {
    const keyBytes = places[row]
    places[row] = length
    length += keyBytes
  }
  assert(length < 2 ** 32, 'keys of a batch exceed an arena')
  keys.reserve(length - keys.length)
  const view = new DataView(keys.bytes.buffer, keys.bytes.byteOffset, keys.bytes.length)
  for (let index = 0; index <= last; index++) {
    const column = columns[index]
    if (column.physical !== PHYSICAL.binary) writePlaced(column, rowCount, view, places)
    else if (index === last) copyBinary(column, rowCount, keys.bytes, places, 0)
    else if (hasZeroByte(column, rowCount)) escapeBinary(column, rowCount, keys.bytes, places)
    else copyBinary(column, rowCount, keys.bytes, places, TERMINATOR_BYTES)
  }
  keys.length = length
  keys.count += rowCount
}

/** Adds to `sizes` what each value of a binary column takes in its key. */
function addBinaryBytes(
  column: ColumnVector,
  rowCount: number,
  isLast: boolean,
  sizes: Uint32Array,
): void {
  const { offsets, bytes } = column
  const extra = isLast ? 0 : TERMINATOR_BYTES
  for (let row = 0; row < rowCount; row++) sizes[row] += offsets[row + 1] - offsets[row] + extra
  if (isLast || !hasZeroByte(column, rowCount)) return
  for (let row = 0; row < rowCount; row++) {
    const end = offsets[row + 1]
    let zeros = 0
    for (let i = offsets[row]; i < end; i++) if (bytes[i] === 0) zeros++
    sizes[row] += zeros
  }
}

function hasZeroByte(column: ColumnVector, rowCount: number): boolean {
  return column.bytes.subarray(column.offsets[0], column.offsets[rowCount]).includes(0)
}

/** Copies each value to its place, and `zeroBytes` (0 or 2) zero bytes behind it. */
function copyBinary(
  column: ColumnVector,
  rowCount: number,
  target: Uint8Array,
  places: Uint32Array,
  zeroBytes: number,
): void {
  const { offsets, bytes } = column
  for (let row = 0; row < rowCount; row++) {
    const start = offsets[row]
    const end = offsets[row + 1]
    let place = places[row]
    copyBytes(bytes, start, end, target, place)
    place += end - start
    if (zeroBytes === TERMINATOR_BYTES) {
      target[place] = 0
      target[place + 1] = 0
    }
    places[row] = place + zeroBytes
  }
}

function escapeBinary(
  column: ColumnVector,
  rowCount: number,
  target: Uint8Array,
  places: Uint32Array,
): void {
  const { offsets, bytes } = column
  for (let row = 0; row < rowCount; row++) {
    places[row] = escapeBytes(bytes, offsets[row], offsets[row + 1], target, places[row])
  }
}

/** Writes `source[start, end)` escaped and terminated at `place`. Returns the place behind it. */
function escapeBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  place: number,
): number {
  for (let i = start; i < end; i++) {
    const byte = source[i]
    target[place++] = byte
    if (byte === 0) target[place++] = 1
  }
  target[place] = 0
  target[place + 1] = 0
  return place + TERMINATOR_BYTES
}

function writePlaced(
  column: ColumnVector,
  rowCount: number,
  view: DataView,
  places: Uint32Array,
): void {
  const lanes = column.lanes
  switch (column.physical) {
    case PHYSICAL.int8:
      for (let row = 0; row < rowCount; row++) view.setInt8(places[row]++, lanes[row] ^ 0x80)
      return
    case PHYSICAL.int16:
      for (let row = 0; row < rowCount; row++) {
        view.setInt16(places[row], lanes[row] ^ 0x8000)
        places[row] += 2
      }
      return
    case PHYSICAL.int32:
      for (let row = 0; row < rowCount; row++) {
        view.setInt32(places[row], lanes[row] ^ TOP_BIT_32)
        places[row] += 4
      }
      return
    case PHYSICAL.int64:
      for (let row = 0; row < rowCount; row++) {
        const place = places[row]
        view.setInt32(place, lanes[row * 2 + 1] ^ TOP_BIT_32)
        view.setInt32(place + 4, lanes[row * 2])
        places[row] = place + 8
      }
      return
    default:
      for (let row = 0; row < rowCount; row++) {
        const place = places[row]
        view.setInt32(place, lanes[row * 4 + 3] ^ TOP_BIT_32)
        view.setInt32(place + 4, lanes[row * 4 + 2])
        view.setInt32(place + 8, lanes[row * 4 + 1])
        view.setInt32(place + 12, lanes[row * 4])
        places[row] = place + 16
      }
  }
}

/**
 * The encoded key of a tuple of cells, one for each column. For edges: rows go through
 * `encodeKeys`.
 */
export function encodeKeyCells(columns: readonly Column[], cells: readonly Cell[]): Uint8Array {
  assert(columns.length === cells.length, 'every key column has a cell')
  const key = new ByteArena(64)
  const last = cells.length - 1
  for (let index = 0; index <= last; index++) {
    appendKeyCell(key, columns[index], cells[index], index === last)
  }
  return key.bytes.slice(0, key.length)
}

/** Appends what a cell gives to an encoded key in which its column is the last or not. */
export function appendKeyCell(key: ByteArena, column: Column, cell: Cell, isLast: boolean): void {
  if (cell instanceof Uint8Array) appendBinary(key, cell, isLast)
  else appendInteger(key, LANE_BYTES[column.physical], BigInt(cell))
}

function appendBinary(key: ByteArena, cell: Uint8Array, isLast: boolean): void {
  if (isLast) {
    key.append(cell, 0, cell.length)
    return
  }
  key.reserve(cell.length * 2 + TERMINATOR_BYTES)
  key.length = escapeBytes(cell, 0, cell.length, key.bytes, key.length)
}

function appendInteger(key: ByteArena, bytes: number, cell: bigint): void {
  const bits = BigInt(bytes * 8)
  let rest = BigInt.asUintN(bytes * 8, cell + (1n << (bits - 1n)))
  key.reserve(bytes)
  for (let i = bytes - 1; i >= 0; i--) {
    key.bytes[key.length + i] = Number(rest & 0xffn)
    rest >>= 8n
  }
  key.length += bytes
}

/**
 * The cells of an encoded key, one for each column.
 *
 * Returns: binary cells as copies. Throws: INVALID_ARGUMENT when the bytes are no key of these
 * columns; bytes behind the last column, which only a fixed width can leave, are an error too.
 */
export function decodeKeyCells(columns: readonly Column[], bytes: Uint8Array): Cell[] {
  const { cells, end } = decodeKeyPrefix(columns, bytes, columns.length)
  if (end < bytes.length) throw invalidArgument(`key too long (${columns.at(-1)?.name})`)
  return cells
}

/** The first cells of an encoded key, and the offset behind them. */
export interface KeyPrefix {
  readonly cells: Cell[]
  readonly end: number
}

/**
 * The cells of the first `count` columns of an encoded key; what follows is not looked at.
 *
 * Throws: INVALID_ARGUMENT when the bytes end before that.
 */
export function decodeKeyPrefix(
  columns: readonly Column[],
  bytes: Uint8Array,
  count: number,
): KeyPrefix {
  const cells: Cell[] = []
  let offset = 0
  for (let index = 0; index < count; index++) {
    const column = columns[index]
    const isLast = index === columns.length - 1
    const end = componentEnd(column, bytes, offset, isLast)
    if (column.physical !== PHYSICAL.binary) cells.push(decodeInteger(bytes, offset, end))
    else if (isLast) cells.push(bytes.slice(offset, end))
    else cells.push(unescaped(bytes, offset, end - TERMINATOR_BYTES))
    offset = end
  }
  return { cells, end: offset }
}

/**
 * Where the encoded component of a column that begins at `offset` ends, its terminator included.
 */
function componentEnd(column: Column, bytes: Uint8Array, offset: number, isLast: boolean): number {
  if (column.physical !== PHYSICAL.binary) {
    const end = offset + LANE_BYTES[column.physical]
    if (end > bytes.length) throw invalidArgument(`key too short (${column.name})`)
    return end
  }
  if (isLast) return bytes.length
  let i = bytes.indexOf(0, offset)
  while (i !== -1 && bytes[i + 1] === 1) i = bytes.indexOf(0, i + 2)
  if (i === -1 || bytes[i + 1] !== 0) {
    throw invalidArgument(`missing separator after composite key string component (${column.name})`)
  }
  return i + TERMINATOR_BYTES
}

function decodeInteger(bytes: Uint8Array, start: number, end: number): Cell {
  let value = 0n
  for (let i = start; i < end; i++) value = (value << 8n) | BigInt(bytes[i])
  value -= 1n << BigInt((end - start) * 8 - 1)
  return end - start >= 8 ? value : Number(value)
}

function unescaped(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const plain = new Uint8Array(end - start)
  let length = 0
  for (let i = start; i < end; i++) {
    plain[length++] = bytes[i]
    if (bytes[i] === 0) i++
  }
  return plain.slice(0, length)
}

/** The smallest bytes above a key: the key and a zero byte. */
export function successorKey(key: Uint8Array): Uint8Array {
  const successor = new Uint8Array(key.length + 1)
  successor.set(key)
  return successor
}
