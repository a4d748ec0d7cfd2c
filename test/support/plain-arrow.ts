/**
 * Arrow IPC streams written by the book, of every kind that there is: slow, obvious, and sharing
 * no code with what reads them.
 */

import { zstdCompressSync } from 'node:zlib'
import { concatBytes } from '../../src/util/bytes.ts'
import {
  integer,
  type PlainFlat,
  type PlainFlatTable,
  plainFlatbuffer,
  table,
} from './plain-flatbuffer.ts'

/** A type by its name in the format, with what else there is to say of it. */
export interface PlainArrowType {
  readonly name: keyof typeof TYPE_NUMBERS
  readonly bits?: number
  readonly isSigned?: boolean
  /** Of a timestamp or a date, as numbered in the format. */
  readonly unit?: number
  readonly timezone?: string
  readonly precision?: number
  readonly scale?: number
  /** Bytes of FixedSizeBinary. */
  readonly width?: number
}

/** A column; with a dictionary, cells are numbers of its values. */
export interface PlainArrowField {
  readonly name: string
  readonly type: PlainArrowType
  readonly dictionary?: { readonly id: bigint; readonly index: PlainArrowType | null }
}

/** A cell: integers, decimals, times and dates unscaled; null. */
export type PlainArrowCell = bigint | number | boolean | Uint8Array | null

/** How batches are written. */
export interface PlainArrowStyle {
  readonly isCompressed?: boolean
  /** Writes bits for nulls although there are none. */
  readonly keepsBitmaps?: boolean
  /** Bytes to which buffers are padded. */
  readonly alignment?: number
  /** Bytes of a buffer of a column of views. */
  readonly viewBufferBytes?: number
  /** What cells that are null have for a value. */
  readonly garbage?: number
}

const TYPE_NUMBERS = {
  Null: 1,
  Int: 2,
  Float: 3,
  Binary: 4,
  Utf8: 5,
  Bool: 6,
  Decimal: 7,
  Date: 8,
  Time: 9,
  Timestamp: 10,
  List: 12,
  Struct: 13,
  FixedSizeBinary: 15,
  Duration: 18,
  LargeBinary: 19,
  LargeUtf8: 20,
  BinaryView: 23,
  Utf8View: 24,
} as const

/** What ends a stream. */
export const ARROW_EOS = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/** A message with its metadata and body. */
export function plainMessage(
  headerType: number,
  header: PlainFlatTable,
  body: Uint8Array,
  version = 4,
): Uint8Array {
  const metadata = plainFlatbuffer([
    integer(2, version),
    integer(1, headerType),
    { kind: 'table', fields: header },
    integer(8, body.length),
  ])
  const prefix = new Uint8Array(8).fill(0xff, 0, 4)
  new DataView(prefix.buffer).setInt32(4, metadata.length, true)
  return concatBytes(prefix, metadata, body)
}

/** The first message. */
export function plainSchema(fields: readonly PlainArrowField[], endianness = 0): Uint8Array {
  const tables = fields.map(fieldTable)
  const header = [integer(2, endianness), { kind: 'tables', tables } as PlainFlat]
  return plainMessage(1, header, new Uint8Array(0))
}

/** A record batch. */
export function plainBatch(
  fields: readonly PlainArrowField[],
  columns: readonly (readonly PlainArrowCell[])[],
  style: PlainArrowStyle = {},
): Uint8Array {
  const types = fields.map(({ type, dictionary }) => {
    return dictionary === undefined ? type : (dictionary.index ?? INT32)
  })
  const { header, body } = batchOf(types, columns, columns[0]?.length ?? 0, style)
  return plainMessage(3, header, body)
}

/** Values of a dictionary. */
export function plainDictionary(
  id: bigint,
  type: PlainArrowType,
  values: readonly PlainArrowCell[],
  isDelta: boolean,
  style: PlainArrowStyle = {},
): Uint8Array {
  const { header, body } = batchOf([type], [values], values.length, style)
  const fields = [integer(8, id), table(...header), integer(1, isDelta ? 1 : 0)]
  return plainMessage(2, fields, body)
}

const INT32: PlainArrowType = { name: 'Int', bits: 32, isSigned: true }

function fieldTable({ name, type, dictionary }: PlainArrowField): PlainFlatTable {
  return [
    { kind: 'text', text: name },
    integer(1, 1),
    integer(1, TYPE_NUMBERS[type.name]),
    table(...typeTable(type)),
    dictionary === undefined
      ? null
      : table(
          integer(8, dictionary.id),
          dictionary.index === null ? null : table(...typeTable(dictionary.index)),
        ),
    { kind: 'tables', tables: [] },
  ]
}

function typeTable(type: PlainArrowType): PlainFlatTable {
  const { name, bits = 0, isSigned = false, unit = 0, precision = 0, scale = 0 } = type
  switch (name) {
    case 'Int':
      return [integer(4, bits), integer(1, isSigned ? 1 : 0)]
    case 'Float':
      return [integer(2, bits === 16 ? 0 : bits === 32 ? 1 : 2)]
    case 'Decimal':
      return [integer(4, precision), integer(4, scale), integer(4, bits)]
    case 'Date':
      return [integer(2, unit)]
    case 'Timestamp':
      return type.timezone === undefined
        ? [integer(2, unit)]
        : [integer(2, unit), { kind: 'text', text: type.timezone }]
    case 'FixedSizeBinary':
      return [integer(4, type.width ?? 0)]
    default:
      return []
  }
}

interface PlainBatch {
  readonly header: PlainFlatTable
  readonly body: Uint8Array
}

function batchOf(
  types: readonly PlainArrowType[],
  columns: readonly (readonly PlainArrowCell[])[],
  rowCount: number,
  style: PlainArrowStyle,
): PlainBatch {
  const nodes: bigint[] = []
  const places: bigint[] = []
  const variadic: bigint[] = []
  const parts: Uint8Array[] = []
  let at = 0
  types.forEach((type, i) => {
    const cells = columns[i]
    nodes.push(BigInt(cells.length), BigInt(cells.filter((cell) => cell === null).length))
    const buffers = buffersOf(type, cells, style)
    if (type.name.endsWith('View')) variadic.push(BigInt(buffers.length - 2))
    for (const buffer of buffers) {
      const stored = style.isCompressed === true ? packed(buffer) : buffer
      places.push(BigInt(at), BigInt(stored.length))
      const alignment = style.alignment ?? 8
      const padding = new Uint8Array((alignment - (stored.length % alignment)) % alignment)
      parts.push(stored, padding)
      at += stored.length + padding.length
    }
  })
  const header = [
    integer(8, rowCount),
    { kind: 'longs', perElement: 2, values: nodes } as PlainFlat,
    { kind: 'longs', perElement: 2, values: places } as PlainFlat,
    style.isCompressed === true ? table(integer(1, 1), integer(1, 0)) : null,
    variadic.length === 0
      ? null
      : ({ kind: 'longs', perElement: 1, values: variadic } as PlainFlat),
  ]
  return { header, body: concatBytes(...parts) }
}

/** A buffer with its plain size in front, compressed if that makes it smaller. */
function packed(buffer: Uint8Array): Uint8Array {
  if (buffer.length === 0) return buffer
  const frame = zstdCompressSync(buffer)
  const isSmaller = frame.length < buffer.length
  const prefix = new Uint8Array(8)
  const size = isSmaller ? BigInt(buffer.length) : -1n
  new DataView(prefix.buffer).setBigInt64(0, size, true)
  return concatBytes(prefix, isSmaller ? frame : buffer)
}

function buffersOf(
  type: PlainArrowType,
  cells: readonly PlainArrowCell[],
  style: PlainArrowStyle,
): Uint8Array[] {
  if (type.name === 'Null') return []
  const hasNulls = cells.includes(null)
  const isKept = hasNulls || style.keepsBitmaps === true
  const validity = isKept ? bitmapOf(cells.map((cell) => cell !== null)) : new Uint8Array(0)
  switch (type.name) {
    case 'Bool':
      return [validity, bitmapOf(cells.map((cell) => cell === true))]
    case 'Utf8':
    case 'Binary':
      return [validity, ...offsetsOf(cells, 4, style)]
    case 'LargeUtf8':
    case 'LargeBinary':
      return [validity, ...offsetsOf(cells, 8, style)]
    case 'Utf8View':
    case 'BinaryView':
      return [validity, ...viewsOf(cells, style)]
    case 'FixedSizeBinary': {
      const garbage = new Uint8Array(type.width ?? 0).fill(style.garbage ?? 0)
      return [validity, concatBytes(...cells.map((cell) => (cell ?? garbage) as Uint8Array))]
    }
    default:
      return [validity, concatBytes(...cells.map((cell) => fixedBytes(type, cell, style)))]
  }
}

function bitmapOf(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  bits.forEach((bit, i) => {
    if (bit) bytes[Math.floor(i / 8)] += 2 ** (i % 8)
  })
  return bytes
}

function fixedBytes(
  type: PlainArrowType,
  cell: PlainArrowCell,
  style: PlainArrowStyle,
): Uint8Array {
  const bits = type.bits ?? (type.name === 'Date' && type.unit === 0 ? 32 : 64)
  const bytes = new Uint8Array(bits / 8)
  if (cell === null) return bytes.fill(style.garbage ?? 0)
  const view = new DataView(bytes.buffer)
  if (type.name === 'Float') {
    if (bits === 16) view.setUint16(0, Number(cell), true)
    else if (bits === 32) view.setFloat32(0, Number(cell), true)
    else view.setFloat64(0, Number(cell), true)
    return bytes
  }
  const value = BigInt(cell as bigint)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number((value >> BigInt(i * 8)) & 0xffn)
  return bytes
}

function offsetsOf(
  cells: readonly PlainArrowCell[],
  width: 4 | 8,
  style: PlainArrowStyle,
): Uint8Array[] {
  // What is null may have bytes, and bytes may lie in front of the first cell.
  const garbage = new Uint8Array((style.garbage ?? 0) % 5).fill(0xff)
  const values = cells.map((cell) => (cell ?? garbage) as Uint8Array)
  const offsets = new Uint8Array((cells.length + 1) * width)
  const view = new DataView(offsets.buffer)
  let at = garbage.length
  for (let i = 0; i <= values.length; i++) {
    if (width === 4) view.setInt32(i * 4, at, true)
    else view.setBigInt64(i * 8, BigInt(at), true)
    at += values[i]?.length ?? 0
  }
  return [offsets, concatBytes(garbage, ...values)]
}

function viewsOf(cells: readonly PlainArrowCell[], style: PlainArrowStyle): Uint8Array[] {
  const views = new Uint8Array(cells.length * 16)
  const view = new DataView(views.buffer)
  const buffers: Uint8Array[] = []
  let open: Uint8Array[] = []
  let openBytes = 0
  cells.forEach((cell, i) => {
    if (cell === null) {
      views.fill(style.garbage ?? 0, i * 16, i * 16 + 16)
      return
    }
    const value = cell as Uint8Array
    view.setInt32(i * 16, value.length, true)
    if (value.length <= 12) {
      views.set(value, i * 16 + 4)
      return
    }
    if (openBytes + value.length > (style.viewBufferBytes ?? 1000)) {
      buffers.push(concatBytes(...open))
      open = []
      openBytes = 0
    }
    views.set(value.subarray(0, 4), i * 16 + 4)
    view.setInt32(i * 16 + 8, buffers.length, true)
    view.setInt32(i * 16 + 12, openBytes, true)
    open.push(value)
    openBytes += value.length
  })
  if (openBytes > 0) buffers.push(concatBytes(...open))
  return [views, ...buffers]
}
