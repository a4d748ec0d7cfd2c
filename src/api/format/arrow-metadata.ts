/**
 * Messages of an Arrow IPC stream, but for their bodies:
 *
 *   marker 0xffffffff | metadataBytes i32 | metadata, a flatbuffer, padded | body
 *
 *   schema, then record batches, then marker | 0
 *
 * Every message and every buffer of a body begins at a multiple of 64 of the stream, so that
 * readers can use them where they lie.
 */

import type { Column } from '../../common/schema.ts'
import {
  encodeFlatbuffer,
  type FlatField,
  type FlatTable,
  flatInteger,
  flatTable,
} from './flatbuffer.ts'

/** What buffers and messages of a stream begin at multiples of. */
export const ARROW_ALIGNMENT = 64

const METADATA_V5 = 4
const HEADER_SCHEMA = 1
const HEADER_DICTIONARY_BATCH = 2
const HEADER_RECORD_BATCH = 3
const TYPE_INT = 2
const TYPE_FLOATING_POINT = 3
const TYPE_BINARY = 4
const TYPE_UTF8 = 5
const TYPE_BOOL = 6
const TYPE_DECIMAL = 7
const TYPE_DATE = 8
const TYPE_TIMESTAMP = 10
const UNIT_DAY = 0
const UNIT_MICROSECOND = 2

/** The end of a stream. */
export const ARROW_END = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])

/** What the metadata of a batch tells of its body. */
export interface ArrowBody {
  readonly rowCount: number
  /** Rows and nulls of each column. */
  readonly nodes: Float64Array
  /** Offset and bytes of each buffer. */
  readonly buffers: Float64Array
  readonly bytes: number
}

/** Rounds up to a multiple of what buffers begin at. */
export function alignArrow(bytes: number): number {
  return Math.ceil(bytes / ARROW_ALIGNMENT) * ARROW_ALIGNMENT
}

/**
 * The message that tells the columns. Those whose position is in `dictionaries` are numbers of
 * values in a dictionary of that id.
 */
export function schemaMessage(
  columns: readonly Column[],
  dictionaries: ReadonlySet<number>,
): Uint8Array {
  const fields = columns.map((column, index) => fieldOf(column, index, dictionaries.has(index)))
  return message(HEADER_SCHEMA, [flatInteger(2, 0), { kind: 'tables', tables: fields }], 0)
}

/** The message of a record batch, in front of its body. */
export function recordBatchMessage(body: ArrowBody): Uint8Array {
  return message(HEADER_RECORD_BATCH, recordBatch(body), body.bytes)
}

/**
 * The message of values of a dictionary, in front of their body: added to those it has, or in their
 * place.
 */
export function dictionaryBatchMessage(id: number, body: ArrowBody, isDelta: boolean): Uint8Array {
  const header = [
    flatInteger(8, id),
    flatTable(...recordBatch(body)),
    isDelta ? flatInteger(1, 1) : null,
  ]
  return message(HEADER_DICTIONARY_BATCH, header, body.bytes)
}

function recordBatch({ rowCount, nodes, buffers }: ArrowBody): FlatTable {
  return [
    flatInteger(8, rowCount),
    { kind: 'pairs', values: nodes },
    { kind: 'pairs', values: buffers },
  ]
}

function message(headerType: number, header: FlatTable, bodyBytes: number): Uint8Array {
  const metadata = encodeFlatbuffer([
    flatInteger(2, METADATA_V5),
    flatInteger(1, headerType),
    flatTable(...header),
    flatInteger(8, bodyBytes),
  ])
  const bytes = new Uint8Array(alignArrow(8 + metadata.length))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0xffffffff, true)
  view.setInt32(4, bytes.length - 8, true)
  bytes.set(metadata, 8)
  return bytes
}

function fieldOf(column: Column, index: number, hasDictionary: boolean): FlatTable {
  const { type, fields } = typeOf(column)
  return [
    { kind: 'text', text: column.name },
    column.isNullable ? flatInteger(1, 1) : null,
    flatInteger(1, type),
    flatTable(...fields),
    // Numbers of values are signed, of 32 bits, as readers take them best.
    hasDictionary ? flatTable(flatInteger(8, index), flatTable(...integerType(32))) : null,
    { kind: 'tables', tables: [] },
  ]
}

interface ArrowType {
  readonly type: number
  readonly fields: FlatTable
}

function typeOf({ type, attributes }: Column): ArrowType {
  switch (type) {
    case 'BOOL':
      return { type: TYPE_BOOL, fields: [] }
    case 'INT8':
      return { type: TYPE_INT, fields: integerType(8) }
    case 'INT16':
      return { type: TYPE_INT, fields: integerType(16) }
    case 'INT32':
      return { type: TYPE_INT, fields: integerType(32) }
    case 'INT64':
      return { type: TYPE_INT, fields: integerType(64) }
    case 'FLOAT':
      return { type: TYPE_FLOATING_POINT, fields: [flatInteger(2, 1)] }
    case 'DOUBLE':
      return { type: TYPE_FLOATING_POINT, fields: [flatInteger(2, 2)] }
    case 'STRING':
    case 'VARCHAR':
      return { type: TYPE_UTF8, fields: [] }
    case 'BINARY':
      return { type: TYPE_BINARY, fields: [] }
    case 'DATE':
      return { type: TYPE_DATE, fields: [flatInteger(2, UNIT_DAY)] }
    case 'UNIXTIME_MICROS':
      return { type: TYPE_TIMESTAMP, fields: timestampType() }
    case 'DECIMAL':
      return { type: TYPE_DECIMAL, fields: decimalType(attributes) }
  }
}

function integerType(bits: number): FlatField[] {
  return [flatInteger(4, bits), flatInteger(1, 1)]
}

function timestampType(): FlatField[] {
  return [flatInteger(2, UNIT_MICROSECOND), { kind: 'text', text: 'UTC' }]
}

function decimalType({ precision = 0, scale = 0 }: Column['attributes']): FlatField[] {
  return [flatInteger(4, precision), flatInteger(4, scale), flatInteger(4, 128)]
}
