/**
 * A column of a row group, as pages:
 *
 *   dictionary page?   header | values, PLAIN
 *   data pages, V2     header | definition levels | values, PLAIN or numbers of values
 *
 * Definition levels are there in nullable columns only: one bit a row, as one packed run, or as one
 * repeated run when no cell is null. Values are compressed with Snappy where that makes them less.
 */

import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import type { Column } from '../../common/schema.ts'
import { ByteArena } from '../../util/arena.ts'
import { bitmapBytes } from '../../util/bitmap.ts'
import { EMPTY_BYTES } from '../../util/bytes.ts'
import { compressSnappy } from '../../util/snappy.ts'
import { appendPlainValues } from './append-plain-values.ts'
import { nullsOf, writeValidity } from './arrow-column.ts'
import type { RowSegment } from './held-rows.ts'
import { type CellCodes, codesOf } from './parquet-dictionary.ts'
import { type CellExtremes, extremesOf } from './parquet-statistics.ts'

/** Rows of a page, and where they are. */
export interface PageRows {
  readonly segments: readonly RowSegment[]
  readonly rowCount: number
}

/** What a file's metadata tells of a column of a row group. */
export interface ColumnChunk {
  readonly rowCount: number
  readonly nullCount: number
  /** Of the first page. */
  readonly fileOffset: number
  readonly hasDictionary: boolean
  /** Of the first data page. */
  readonly dataPageOffset: number
  readonly dataPageCount: number
  readonly compressedBytes: number
  readonly uncompressedBytes: number
  /** Views of the rows that were written; null when no cell has an order. */
  readonly extremes: CellExtremes | null
}

const ENCODING_PLAIN = 'PLAIN'
const ENCODING_DICTIONARY = 'RLE_DICTIONARY'
const SCRATCH_BYTES = 64 * 1024
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024

// Values of the page that is being written. Given up when it grew large.
let scratchValues = new ByteArena(SCRATCH_BYTES)

/** Writes column `index` of all pages, one behind the other. */
export function writeColumnChunk(
  column: Column,
  pages: readonly PageRows[],
  index: number,
  sink: ByteWriter,
): ColumnChunk {
  const segments = pages.flatMap((page) => page.segments)
  const rowCount = pages.reduce((total, page) => total + page.rowCount, 0)
  const codes = codesOf(column, segments, index, rowCount)
  const fileOffset = sink.offset
  let uncompressedBytes = codes === null ? 0 : writeDictionaryPage(column, codes, sink)
  const dataPageOffset = sink.offset
  let cell = 0
  for (const page of pages) {
    const nullCount = nullsOf(page.segments, index)
    const end = cell + page.rowCount - nullCount
    const values = codes === null ? plainValues(column, page, index) : codeValues(codes, cell, end)
    const levels = column.isNullable ? levelsOf(page, index, nullCount) : EMPTY_BYTES
    const encoding = codes === null ? ENCODING_PLAIN : ENCODING_DICTIONARY
    uncompressedBytes += writeDataPage({ page, nullCount, encoding, levels, values }, sink)
    cell = end
  }
  if (scratchValues.bytes.length > SCRATCH_BYTES_MAX) scratchValues = new ByteArena(SCRATCH_BYTES)
  return {
    rowCount,
    nullCount: rowCount - cell,
    fileOffset,
    hasDictionary: codes !== null,
    dataPageOffset,
    dataPageCount: pages.length,
    compressedBytes: sink.offset - fileOffset,
    uncompressedBytes,
    extremes: codes === null ? extremesOf(segments, index) : extremesOf([codes.values], 0),
  }
}

/** Writes the values of a dictionary. Returns: the bytes of the page, values not compressed. */
function writeDictionaryPage(column: Column, { values }: CellCodes, sink: ByteWriter): number {
  scratchValues.truncate(0)
  appendPlainValues(column, [values], 0, scratchValues)
  const plain = scratchValues.bytes.subarray(0, scratchValues.length)
  // Unlike those of a data page, the values of a dictionary are compressed always.
  const compressed = compressSnappy(plain)
  const start = sink.offset
  writePageHeader(sink, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: plain.length,
    compressed_page_size: compressed.length,
    dictionary_page_header: { num_values: values.end, encoding: ENCODING_PLAIN },
  })
  const headerBytes = sink.offset - start
  sink.appendBytes(compressed)
  return headerBytes + plain.length
}

/** A page, encoded but for its header. */
interface EncodedPage {
  readonly page: PageRows
  readonly nullCount: number
  readonly encoding: typeof ENCODING_PLAIN | typeof ENCODING_DICTIONARY
  readonly levels: Uint8Array
  readonly values: Uint8Array
}

/** Writes a data page. Returns: its bytes, values not compressed. */
function writeDataPage(encoded: EncodedPage, sink: ByteWriter): number {
  const { page, nullCount, encoding, levels, values } = encoded
  const compressed = values.length === 0 ? values : compressSnappy(values)
  const isCompressed = compressed.length < values.length
  const written = isCompressed ? compressed : values
  const start = sink.offset
  writePageHeader(sink, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.length + values.length,
    compressed_page_size: levels.length + written.length,
    data_page_header_v2: {
      num_values: page.rowCount,
      num_nulls: nullCount,
      num_rows: page.rowCount,
      encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: isCompressed,
    },
  })
  const headerBytes = sink.offset - start
  sink.appendBytes(levels)
  sink.appendBytes(written)
  return headerBytes + levels.length + values.length
}

/** The cells of a page one by one. Good until the next page is encoded. */
function plainValues(column: Column, page: PageRows, index: number): Uint8Array {
  scratchValues.truncate(0)
  appendPlainValues(column, page.segments, index, scratchValues)
  return scratchValues.bytes.subarray(0, scratchValues.length)
}

/** The cells of a page as numbers of values. */
function codeValues({ codes, bitWidth }: CellCodes, start: number, end: number): Uint8Array {
  const writer = new ByteWriter()
  writer.appendUint8(bitWidth)
  writeRleBitPackedHybrid(writer, codes.subarray(start, end), bitWidth)
  return writer.getBytes()
}

/** Which rows of a page are not null: level 1, else 0. */
function levelsOf({ segments, rowCount }: PageRows, index: number, nullCount: number): Uint8Array {
  const writer = new ByteWriter(16)
  if (nullCount === 0) {
    writer.appendVarInt(rowCount << 1)
    writer.appendUint8(1)
    return writer.getBytes()
  }
  const bits = new Uint8Array(bitmapBytes(rowCount))
  writeValidity(segments, index, bits)
  writer.appendVarInt((bits.length << 1) | 1)
  writer.appendBytes(bits)
  return writer.getBytes()
}
