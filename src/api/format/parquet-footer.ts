/**
 * The metadata at the end of a Parquet file, in Thrift's compact form: the schema, and where every
 * column of every row group is. A row group is encoded when it was written, so that of a long file
 * little is kept in memory.
 *
 *   metadata, its bytes u32, "PAR1"
 */

import type { SchemaElement } from 'hyparquet-writer'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { logicalType } from 'hyparquet-writer/src/metadata.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'
import { unconvertStatistics } from 'hyparquet-writer/src/unconvert.js'
import type { Cell } from '../../common/data-type.ts'
import { StatusError } from '../../common/status.ts'
import type { ColumnChunk } from './parquet-column.ts'

/** What every Parquet file begins and ends with. */
export const PARQUET_MAGIC = 0x31524150

/**
 * Bytes of what is told of row groups, some 75 for each column of each: rows of 90 GB in ten
 * columns, of 3 GB in three hundred.
 */
const ROW_GROUP_BYTES_MAX = 16 * 1024 * 1024

const VERSION = 2
const ENCODING_PLAIN = 0
const ENCODING_RLE = 3
const ENCODING_RLE_DICTIONARY = 8
const CODEC_SNAPPY = 1
const PAGE_DICTIONARY = 2
const PAGE_DATA_V2 = 3

const TYPES: Readonly<Record<string, number>> = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED_LEN_BYTE_ARRAY: 7,
}
const CONVERTED_TYPES: Readonly<Record<string, number>> = {
  UTF8: 0,
  DECIMAL: 5,
  DATE: 6,
  TIMESTAMP_MICROS: 10,
  INT_8: 15,
  INT_16: 16,
}
const REPETITIONS: Readonly<Record<string, number>> = { REQUIRED: 0, OPTIONAL: 1 }

// Kinds of fields and elements.
const KIND_BINARY = 8
const KIND_LIST = 9
const KIND_STRUCT = 12

/** Gathers what the metadata tells. */
export class ParquetFooter {
  readonly #schema: readonly SchemaElement[]
  readonly #rowGroups = new ByteWriter()
  #rowGroupCount = 0
  #rowCount = 0

  /** `schema` is the root, then the columns. */
  constructor(schema: readonly SchemaElement[]) {
    this.#schema = schema
  }

  /**
   * Adds a row group of these columns, in their order.
   *
   * Throws: NOT_SUPPORTED when there are so many that no reader would like the file.
   */
  addRowGroup(rowCount: number, fileOffset: number, chunks: readonly ColumnChunk[]): void {
    let uncompressedBytes = 0
    let compressedBytes = 0
    for (const chunk of chunks) {
      uncompressedBytes += chunk.uncompressedBytes
      compressedBytes += chunk.compressedBytes
    }
    serializeTCompactProtocol(this.#rowGroups, {
      field_1: chunks.map((chunk, index) => columnStruct(this.#schema[index + 1], chunk)),
      field_2: BigInt(uncompressedBytes),
      field_3: BigInt(rowCount),
      field_5: BigInt(fileOffset),
      field_6: BigInt(compressedBytes),
    })
    if (this.#rowGroups.offset > ROW_GROUP_BYTES_MAX) {
      throw new StatusError('NOT_SUPPORTED', 'result is too long for one Parquet file')
    }
    this.#rowGroupCount++
    this.#rowCount += rowCount
  }

  /** Writes the end of the file. */
  write(sink: ByteWriter): void {
    const writer = new ByteWriter()
    serializeTCompactProtocol(writer, {
      field_1: VERSION,
      field_2: this.#schema.map(schemaStruct),
      field_3: BigInt(this.#rowCount),
    })
    const head = writer.getBytes()
    const start = sink.offset
    // Without the byte that ends the struct: two fields more follow.
    sink.appendBytes(head.subarray(0, head.length - 1))
    appendListField(sink, 1, this.#rowGroupCount)
    sink.appendBytes(this.#rowGroups.getBytes())
    appendTextField(sink, 2, 'Nyala')
    appendListField(sink, 1, this.#schema.length - 1)
    // Every column in the order of its type: a struct that holds an empty one.
    for (let i = 1; i < this.#schema.length; i++) {
      sink.appendBytes(Uint8Array.of(0x10 | KIND_STRUCT, 0, 0))
    }
    sink.appendUint8(0)
    sink.appendUint32(sink.offset - start)
    sink.appendUint32(PARQUET_MAGIC)
  }
}

/** Begins a field that is a list of structs, `ahead` numbers behind the field before it. */
function appendListField(sink: ByteWriter, ahead: number, count: number): void {
  sink.appendUint8((ahead << 4) | KIND_LIST)
  sink.appendUint8((Math.min(count, 15) << 4) | KIND_STRUCT)
  if (count >= 15) sink.appendVarInt(count)
}

function appendTextField(sink: ByteWriter, ahead: number, text: string): void {
  sink.appendUint8((ahead << 4) | KIND_BINARY)
  sink.appendVarInt(text.length)
  for (let i = 0; i < text.length; i++) sink.appendUint8(text.charCodeAt(i))
}

function schemaStruct(element: SchemaElement): object {
  const { type, repetition_type, converted_type } = element
  return {
    field_1: type && TYPES[type],
    field_2: element.type_length,
    field_3: repetition_type && REPETITIONS[repetition_type],
    field_4: element.name,
    field_5: element.num_children,
    field_6: converted_type && CONVERTED_TYPES[converted_type],
    field_7: element.scale,
    field_8: element.precision,
    field_10: logicalType(element.logical_type),
  }
}

function columnStruct(element: SchemaElement, chunk: ColumnChunk): object {
  const { hasDictionary, dataPageOffset, fileOffset, extremes, nullCount } = chunk
  const encoding = hasDictionary ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN
  const dataPages = { field_1: PAGE_DATA_V2, field_2: encoding, field_3: chunk.dataPageCount }
  const dictionaryPage = { field_1: PAGE_DICTIONARY, field_2: ENCODING_PLAIN, field_3: 1 }
  return {
    field_2: BigInt(fileOffset),
    field_3: {
      field_1: element.type && TYPES[element.type],
      field_2: hasDictionary
        ? [ENCODING_PLAIN, ENCODING_RLE, ENCODING_RLE_DICTIONARY]
        : [ENCODING_PLAIN, ENCODING_RLE],
      field_3: [element.name],
      field_4: CODEC_SNAPPY,
      field_5: BigInt(chunk.rowCount),
      field_6: BigInt(chunk.uncompressedBytes),
      field_7: BigInt(chunk.compressedBytes),
      field_9: BigInt(dataPageOffset),
      field_11: hasDictionary ? BigInt(fileOffset) : undefined,
      field_12: unconvertStatistics(
        {
          null_count: BigInt(nullCount),
          ...(extremes !== null && {
            min_value: bound(element, extremes.least, -0),
            max_value: bound(element, extremes.greatest, 0),
          }),
        },
        element,
      ),
      field_13: hasDictionary ? [dictionaryPage, dataPages] : [dataPages],
    },
  }
}

/** A cell as a bound. Zero is −0 as a lower bound and 0 as an upper one, since readers differ. */
function bound(element: SchemaElement, cell: Cell, zero: number): Cell {
  if (element.converted_type === 'DECIMAL' && typeof cell === 'number') return BigInt(cell)
  return cell === 0 ? zero : cell
}
