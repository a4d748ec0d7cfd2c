/**
 * Rows as columns: the one shape rows have on the wire to a tablet, in the WAL, between scan
 * operators and on the way out. Byte form (docs/formats/row-block.md), all integers little-endian,
 * sections 8-aligned:
 *
 *   offset  bytes  field
 *        0      4  magic "NRB1"
 *        4      4  rowCount
 *        8      2  columnCount
 *       10      2  flags           bit 0: an operation byte per row follows the descriptors
 *       12      4  totalBytes
 *       16     16  per column: id u32 | physical u8 | flags u8 | 0 u16 | offset u32 | bytes u32
 *                         flags 1: has validity bits, 2: has set bits
 *        …      …  operations, rowCount bytes
 *        …      …  per column: validity bits, set bits, offsets (u32 × (rowCount + 1)), values
 */

import { assert } from '../util/assert.ts'
import { bitmapBytes } from '../util/bitmap.ts'
import { align8 } from '../util/bytes.ts'
import { type ColumnDictionary, ColumnVector } from './column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from './data-type.ts'
import { codesIn, joinValues } from './join-codes.ts'
import { CorruptionError } from './status.ts'

const MAGIC = 0x3142524e
const HEADER_BYTES = 16
const DESCRIPTOR_BYTES = 16
const HAS_OPERATIONS = 1
const HAS_VALIDITY = 1
const HAS_SET = 2

/** A run of rows. `operations` is there in write blocks only (`ROW_OPERATIONS`, one byte a row). */
export class RowBlock {
  readonly rowCount: number
  /** Column ids, in the order of `columns`; never reused by a table. */
  readonly columnIds: readonly number[]
  readonly columns: readonly ColumnVector[]
  readonly operations: Uint8Array | null

  constructor(
    rowCount: number,
    columnIds: readonly number[],
    columns: readonly ColumnVector[],
    operations: Uint8Array | null,
  ) {
    assert(columnIds.length === columns.length, 'every column of a block has an id')
    assert(operations === null || operations.length === rowCount, 'every row has an operation')
    for (const column of columns) assert(column.rowCount === rowCount, 'columns differ in rows')
    this.rowCount = rowCount
    this.columnIds = columnIds
    this.columns = columns
    this.operations = operations
  }

  /** The column with an id, or undefined when the block lacks it. */
  columnById(id: number): ColumnVector | undefined {
    const index = this.columnIds.indexOf(id)
    return index === -1 ? undefined : this.columns[index]
  }
}

/** Bytes of a block's byte form. */
export function encodedRowBlockBytes(block: RowBlock): number {
  let bytes = HEADER_BYTES + DESCRIPTOR_BYTES * block.columns.length
  if (block.operations !== null) bytes += align8(block.rowCount)
  for (const column of block.columns) bytes += sectionBytes(column)
  return bytes
}

function sectionBytes(column: ColumnVector): number {
  const bitmap = align8(bitmapBytes(column.rowCount))
  let bytes = column.validity === null ? 0 : bitmap
  if (column.isSet !== null) bytes += bitmap
  if (column.physical === PHYSICAL.binary) bytes += align8((column.rowCount + 1) * 4)
  return bytes + align8(valueBytes(column))
}

function valueBytes(column: ColumnVector): number {
  if (column.physical !== PHYSICAL.binary) return column.rowCount * LANE_BYTES[column.physical]
  return column.valueBytes
}

/** The byte form of a block, in a new buffer. */
export function encodeRowBlock(block: RowBlock): Uint8Array {
  const bytes = new Uint8Array(encodedRowBlockBytes(block))
  writeRowBlock(block, bytes, 0)
  return bytes
}

/**
 * Writes the byte form of a block to `target` at `start`. Returns: the offset behind it.
 *
 * Requires: room for `encodedRowBlockBytes(block)` zero bytes, beginning at a multiple of 8 in its
 * buffer.
 */
export function writeRowBlock(block: RowBlock, target: Uint8Array, start: number): number {
  assert((target.byteOffset + start) % 8 === 0, 'row block is written at a multiple of 8')
  const totalBytes = encodedRowBlockBytes(block)
  assert(start + totalBytes <= target.length, 'row block does not fit')
  const bytes = target.subarray(start, start + totalBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, totalBytes)
  view.setUint32(0, MAGIC, true)
  view.setUint32(4, block.rowCount, true)
  view.setUint16(8, block.columns.length, true)
  view.setUint16(10, block.operations === null ? 0 : HAS_OPERATIONS, true)
  view.setUint32(12, totalBytes, true)
  let offset = HEADER_BYTES + DESCRIPTOR_BYTES * block.columns.length
  if (block.operations !== null) {
    bytes.set(block.operations, offset)
    offset += align8(block.rowCount)
  }
  for (let index = 0; index < block.columns.length; index++) {
    const column = block.columns[index]
    const descriptor = HEADER_BYTES + DESCRIPTOR_BYTES * index
    view.setUint32(descriptor, block.columnIds[index], true)
    view.setUint8(descriptor + 4, column.physical)
    const flags =
      (column.validity === null ? 0 : HAS_VALIDITY) | (column.isSet === null ? 0 : HAS_SET)
    view.setUint8(descriptor + 5, flags)
    view.setUint32(descriptor + 8, offset, true)
    view.setUint32(descriptor + 12, valueBytes(column), true)
    writeSection(column, bytes, offset)
    offset += sectionBytes(column)
  }
  assert(offset === totalBytes, 'row block size was computed wrong')
  return start + totalBytes
}

function writeSection(column: ColumnVector, bytes: Uint8Array, start: number): void {
  const bitmap = bitmapBytes(column.rowCount)
  let offset = start
  for (const bits of [column.validity, column.isSet]) {
    if (bits === null) continue
    bytes.set(bits.subarray(0, bitmap), offset)
    offset += align8(bitmap)
  }
  if (column.physical !== PHYSICAL.binary) {
    bytes.set(column.bytes.subarray(0, valueBytes(column)), offset)
    return
  }
  const offsets = new Uint32Array(bytes.buffer, bytes.byteOffset + offset, column.rowCount + 1)
  if (column.dictionary !== null) {
    writeJoined(column, column.dictionary, bytes, offset, offsets)
    return
  }
  const { offsets: own, rowCount } = column
  const base = own[0]
  for (let row = 0; row <= rowCount; row++) offsets[row] = own[row] - base
  offset += align8((rowCount + 1) * 4)
  bytes.set(column.bytes.subarray(base, own[rowCount]), offset)
}

/** Writes offsets and values of a dictionary's cells. */
function writeJoined(
  { rowCount, validity, valueBytes }: ColumnVector,
  dictionary: ColumnDictionary,
  bytes: Uint8Array,
  start: number,
  offsets: Uint32Array,
): void {
  const { values } = dictionary
  const codes = codesIn(dictionary, validity, 0, rowCount)
  const first = start + align8((rowCount + 1) * 4)
  const end = first + valueBytes
  joinValues(values, codes, rowCount, {
    bytes,
    start: first,
    end,
    ends: offsets,
    endStart: 1,
    base: 0,
  })
}

/**
 * A block over the bytes of its byte form.
 *
 * Returns: views of `source`, which must not change while the block is used; copied once if
 * `source` does not begin at a multiple of 8 in its buffer. Throws: CORRUPTION when the bytes are
 * no block: after this every offset lies inside the values and no read can leave them.
 */
export function decodeRowBlock(source: Uint8Array): RowBlock {
  const bytes = source.byteOffset % 8 === 0 ? source : source.slice()
  if (bytes.length < HEADER_BYTES) throw malformed('shorter than its header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw malformed('wrong magic')
  const rowCount = view.getUint32(4, true)
  const columnCount = view.getUint16(8, true)
  const flags = view.getUint16(10, true)
  if (view.getUint32(12, true) !== bytes.length) throw malformed('wrong total size')
  let offset = HEADER_BYTES + DESCRIPTOR_BYTES * columnCount
  if (offset > bytes.length) throw malformed('descriptors are cut')
  let operations: Uint8Array | null = null
  if ((flags & HAS_OPERATIONS) !== 0) {
    operations = slice(bytes, offset, rowCount)
    offset += align8(rowCount)
  }
  const ids: number[] = []
  const columns: ColumnVector[] = []
  for (let index = 0; index < columnCount; index++) {
    const descriptor = HEADER_BYTES + DESCRIPTOR_BYTES * index
    ids.push(view.getUint32(descriptor, true))
    if (view.getUint32(descriptor + 8, true) !== offset) throw malformed('section is misplaced')
    const column = readColumn(bytes, view, descriptor, rowCount)
    columns.push(column)
    offset += sectionBytes(column)
  }
  if (offset !== bytes.length) throw malformed('sections do not fill it')
  return new RowBlock(rowCount, ids, columns, operations)
}

function readColumn(
  bytes: Uint8Array,
  view: DataView,
  descriptor: number,
  rowCount: number,
): ColumnVector {
  const physical = view.getUint8(descriptor + 4)
  if (physical > PHYSICAL.binary) throw malformed('unknown physical type')
  const flags = view.getUint8(descriptor + 5)
  let offset = view.getUint32(descriptor + 8, true)
  const values = view.getUint32(descriptor + 12, true)
  const bitmap = bitmapBytes(rowCount)
  let validity: Uint8Array | null = null
  let isSet: Uint8Array | null = null
  if ((flags & HAS_VALIDITY) !== 0) {
    validity = slice(bytes, offset, bitmap)
    offset += align8(bitmap)
  }
  if ((flags & HAS_SET) !== 0) {
    isSet = slice(bytes, offset, bitmap)
    offset += align8(bitmap)
  }
  let offsets: Uint32Array | null = null
  if (physical === PHYSICAL.binary) {
    slice(bytes, offset, (rowCount + 1) * 4)
    offsets = new Uint32Array(bytes.buffer, bytes.byteOffset + offset, rowCount + 1)
    checkOffsets(offsets, values)
    offset += align8((rowCount + 1) * 4)
  } else if (values !== rowCount * LANE_BYTES[physical]) {
    throw malformed('lanes do not match its rows')
  }
  const data = slice(bytes, offset, values)
  return new ColumnVector(physical as Physical, rowCount, data, offsets, validity, isSet)
}

function checkOffsets(offsets: Uint32Array, valueBytes: number): void {
  const last = offsets.length - 1
  if (offsets[0] !== 0 || offsets[last] !== valueBytes) throw malformed('offsets miss the values')
  for (let row = 0; row < last; row++) {
    if (offsets[row] > offsets[row + 1]) throw malformed('offsets descend')
  }
}

function slice(bytes: Uint8Array, offset: number, length: number): Uint8Array {
  if (offset + length > bytes.length) throw malformed('a section is cut')
  return bytes.subarray(offset, offset + length)
}

function malformed(what: string): CorruptionError {
  return new CorruptionError(`row block is malformed: ${what}`)
}
