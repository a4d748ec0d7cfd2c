/** What the metadata of one message of an Arrow IPC stream says. */

import { ARROW_MESSAGE_BYTES_MAX, COLUMN_COUNT_MAX } from '../../../common/limits.ts'
import { invalidArgument, StatusError } from '../../../common/status.ts'
import { type ArrowType, INT32, readArrowType, readIntegerType } from './arrow-type.ts'
import { FlatTable, type FlatVector } from './flat-table.ts'

const VERSION_4 = 3
const VERSION_5 = 4
const HEADERS = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const
const CODEC_ZSTD = 1

/** A column of the stream. */
export interface ArrowField {
  readonly name: string
  readonly type: ArrowType
  /** Type of the numbers of values, and id of the values, if cells are such numbers. */
  readonly indexType: ArrowType | null
  readonly dictionaryId: bigint
}

/** How a batch lies in its body; offsets and lengths are bytes, not yet held against the body. */
export interface ArrowBatch {
  readonly rowCount: number
  /** Rows and nulls of each column, in turn. */
  readonly nodes: Float64Array
  /** Offset and length of each buffer, in turn. */
  readonly buffers: Float64Array
  readonly isCompressed: boolean
  /** Buffers of bytes of each column of views. */
  readonly variadicCounts: Float64Array
}

/** One message without its body. */
export type ArrowMessage =
  | { readonly kind: 'schema'; readonly bodyBytes: number; readonly fields: readonly ArrowField[] }
  | { readonly kind: 'batch'; readonly bodyBytes: number; readonly batch: ArrowBatch }
  | {
      readonly kind: 'dictionary'
      readonly bodyBytes: number
      readonly batch: ArrowBatch
      readonly id: bigint
      readonly isDelta: boolean
    }

/**
 * Reads metadata.
 *
 * Throws: INVALID_ARGUMENT when it is none; UNSUPPORTED_MEDIA_TYPE for LZ4 and for numbers whose
 * first byte is the highest.
 */
export function readArrowMessage(metadata: Uint8Array): ArrowMessage {
  const message = FlatTable.root(metadata)
  const version = message.short(0, 0)
  if (version !== VERSION_4 && version !== VERSION_5) {
    throw invalidArgument(`metadata is of version ${version + 1}, versions 4 and 5 are read`)
  }
  const bodyBytes = toCount(message.long(3))
  if (bodyBytes > ARROW_MESSAGE_BYTES_MAX) throw tooLarge(bodyBytes)
  const header = message.table(2)
  if (header === null) throw invalidArgument('message has no header')
  switch (message.byte(1, 0)) {
    case HEADERS.schema:
      return { kind: 'schema', bodyBytes, fields: readFields(header) }
    case HEADERS.recordBatch:
      return { kind: 'batch', bodyBytes, batch: readBatch(header) }
    case HEADERS.dictionaryBatch: {
      const batch = header.table(1)
      if (batch === null) throw invalidArgument('dictionary has no batch of values')
      const isDelta = header.byte(2, 0) === 1
      return { kind: 'dictionary', bodyBytes, batch: readBatch(batch), id: header.long(0), isDelta }
    }
    default:
      throw invalidArgument('message is none of a schema, a dictionary and a record batch')
  }
}

/** The error for a message that is, or unpacks to, more than is held. */
export function tooLarge(bytes: number, limit = ARROW_MESSAGE_BYTES_MAX): StatusError {
  const advice = 'write smaller record batches'
  return invalidArgument(`message has ${bytes} bytes, limit is ${limit}; ${advice}`, { limit })
}

function readFields(schema: FlatTable): ArrowField[] {
  if (schema.short(0, 0) !== 0) {
    throw new StatusError('UNSUPPORTED_MEDIA_TYPE', 'big-endian Arrow streams are not read')
  }
  const { count } = schema.structs(1, 4)
  if (count > COLUMN_COUNT_MAX) {
    const limit = COLUMN_COUNT_MAX
    throw invalidArgument(`schema has ${count} columns, limit is ${limit}`, { limit })
  }
  return schema.tables(1, COLUMN_COUNT_MAX).map(readField)
}

function readField(field: FlatTable): ArrowField {
  const dictionary = field.table(4)
  return {
    name: field.text(0) ?? '',
    type: readArrowType(field.byte(2, 0), field.table(3)),
    indexType: dictionary === null ? null : indexTypeOf(dictionary.table(1)),
    dictionaryId: dictionary?.long(0) ?? 0n,
  }
}

/** Numbers of values are signed and of 32 bits unless a table says otherwise. */
function indexTypeOf(table: FlatTable | null): ArrowType {
  return table === null ? INT32 : readIntegerType(table)
}

function readBatch(batch: FlatTable): ArrowBatch {
  const compression = batch.table(3)
  if (compression !== null && compression.byte(0, 0) !== CODEC_ZSTD) {
    const advice = 'write it with ZSTD or without compression'
    throw new StatusError('UNSUPPORTED_MEDIA_TYPE', `LZ4 in Arrow streams is not read; ${advice}`)
  }
  const rowCount = toCount(batch.long(0))
  // A key takes a byte at least, so more rows than bytes are a lie.
  if (rowCount > ARROW_MESSAGE_BYTES_MAX) {
    const limit = ARROW_MESSAGE_BYTES_MAX
    throw invalidArgument(`batch has ${rowCount} rows, limit is ${limit}`, { limit })
  }
  return {
    rowCount,
    nodes: integersOf(batch.structs(1, 16), 2),
    buffers: integersOf(batch.structs(2, 16), 2),
    isCompressed: compression !== null,
    variadicCounts: integersOf(batch.structs(4, 8), 1),
  }
}

/** The integers of structs of `width` 64-bit integers. A negative count of nulls is any. */
function integersOf({ view, start, count }: FlatVector, width: number): Float64Array {
  const integers = new Float64Array(count * width)
  for (let i = 0; i < integers.length; i++) {
    const at = start + i * 8
    integers[i] = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true)
  }
  return integers
}

function toCount(value: bigint): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalidArgument('metadata has a length that is none')
  }
  return Number(value)
}
