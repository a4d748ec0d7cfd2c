/**
 * A block of a delta file as bytes (docs/formats/delta-file.md). Hot. All integers little-endian.
 *
 *   offset  bytes  field
 *        0      4  magic         "NDB1"
 *        4      4  crc           CRC-32C of bytes [8, cellsStart)
 *        8      4  blockBytes    of the whole block, a multiple of 8
 *       12      4  cellsStart    where the pages of cells begin, a multiple of 8
 *       16      4  recordCount   at least 1, at most DELTA_BLOCK_RECORDS
 *       20      4  firstOrdinal
 *       24      4  flags         1: ordinals have no gaps; 2: one time; 4: one shape
 *       28      4  textBytes     of the description
 *       32      …  description   varints: columns with their zones, shapes; zeros up to 8
 *        …      …  pages         ordinals (unless 1), times, number of each record's time (unless
 *                                2), number of each record's shape (unless 4)
 * cellsStart    …  pages         cells of each column, in the order of the records
 */

import { decodePage, encodePage, pageBytesAt } from '../../cfile/page.ts'
import { appendVarint, VarintReader } from '../../cfile/varint.ts'
import { type ZoneMap, zoneMapOf } from '../../cfile/zone-map.ts'
import { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'
import { DELTA_BLOCK_RECORDS } from '../../common/limits.ts'
import { CorruptionError } from '../../common/status.ts'
import { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { bitmapBytes } from '../../util/bitmap.ts'
import { align8 } from '../../util/bytes.ts'
import { crc32c } from '../../util/crc32c.ts'
import type { DeltaRecords } from './delta-records.ts'
import { DeltaShapes } from './delta-shapes.ts'
import { appendZone, readZone } from './delta-zone.ts'

const MAGIC = 0x3142444e
const HEADER_BYTES = 32
const NO_GAPS = 1
const ONE_TIME = 2
const ONE_SHAPE = 4
/** Changes may have cells of columns that were dropped since. */
const COLUMNS_MAX = 0xffff
const BLOCK_BYTES_MAX = 2 ** 31
const PAGE_OPTIONS = { encoding: 'AUTO_ENCODING', compression: 'DEFAULT_COMPRESSION' } as const
const WORD = 2 ** 32

/** A column of a block as its description says. */
export interface BlockColumnText {
  readonly columnId: number
  readonly physical: Physical
  readonly cellCount: number
  /** Where its page is in the block. */
  readonly pageStart: number
  readonly pageBytes: number
  readonly zone: ZoneMap
}

/** What a block says but for the cells. */
export interface DecodedBlock {
  readonly records: Omit<DeltaRecords, 'columns'>
  readonly columns: readonly BlockColumnText[]
}

/**
 * The block of some records.
 *
 * Requires: 1 to DELTA_BLOCK_RECORDS records; cells of each column are at 0, 1, 2 … in the order in
 * which records name them, as a DeltaRecordsBuilder has them.
 */
export function encodeDeltaBlock(records: DeltaRecords): Uint8Array {
  assert(records.count > 0, 'a block has records')
  assert(records.count <= DELTA_BLOCK_RECORDS, 'a block is full')
  const { places, counts } = usedColumns(records)
  const shapes = new DeltaShapes()
  const shapeNumbers = numberShapes(records, places, shapes)
  const { times, timeNumbers } = numberTimes(records)
  const isDense = records.ordinals[records.count - 1] - records.ordinals[0] === records.count - 1
  const hasNoGaps = isDense && ascendsStrictly(records)
  const pages: Uint8Array[] = []
  if (!hasNoGaps) pages.push(int32Page(records.ordinals, records.count))
  pages.push(timesPage(times))
  if (times.length > 1) pages.push(int32Page(timeNumbers, records.count))
  if (shapes.count > 1) pages.push(int32Page(shapeNumbers, records.count))
  const cellPages: Uint8Array[] = []
  const text = new ByteArena()
  describeColumns(records, places, counts, text, cellPages)
  shapes.encode(text)
  const flags =
    (hasNoGaps ? NO_GAPS : 0) |
    (times.length === 1 ? ONE_TIME : 0) |
    (shapes.count === 1 ? ONE_SHAPE : 0)
  return assemble(records, flags, text, pages, cellPages)
}

function assemble(
  records: DeltaRecords,
  flags: number,
  text: ByteArena,
  pages: readonly Uint8Array[],
  cellPages: readonly Uint8Array[],
): Uint8Array {
  const textEnd = align8(HEADER_BYTES + text.length)
  const cellsStart = pages.reduce((bytes, page) => bytes + page.length, textEnd)
  const blockBytes = cellPages.reduce((bytes, page) => bytes + page.length, cellsStart)
  assert(blockBytes < BLOCK_BYTES_MAX, 'a block is bounded')
  const bytes = new Uint8Array(blockBytes)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(8, blockBytes, true)
  view.setUint32(12, cellsStart, true)
  view.setUint32(16, records.count, true)
  view.setUint32(20, records.ordinals[0], true)
  view.setUint32(24, flags, true)
  view.setUint32(28, text.length, true)
  bytes.set(text.bytes.subarray(0, text.length), HEADER_BYTES)
  let offset = textEnd
  for (const page of [...pages, ...cellPages]) {
    bytes.set(page, offset)
    offset += page.length
  }
  view.setUint32(4, crc32c(bytes, 8, cellsStart), true)
  return bytes
}

/** Places of the columns that have cells among such, −1 of the others, and the counts of cells. */
function usedColumns(records: DeltaRecords): { places: Int32Array; counts: Uint32Array } {
  const { cellColumns, cellPositions, columns } = records
  const cellCount = records.cellEnds[records.count - 1]
  const counts = new Uint32Array(columns.length)
  for (let cell = 0; cell < cellCount; cell++) {
    const position = counts[cellColumns[cell]]++
    assert(cellPositions[cell] === position, 'cells are in the order of the records')
  }
  const places = new Int32Array(columns.length)
  let used = 0
  for (let i = 0; i < columns.length; i++) places[i] = counts[i] === 0 ? -1 : used++
  return { places, counts }
}

function numberShapes(records: DeltaRecords, places: Int32Array, shapes: DeltaShapes): Uint32Array {
  const { count, kinds, cellEnds, cellColumns } = records
  const cellCount = cellEnds[count - 1]
  const placed = new Uint16Array(cellCount)
  for (let cell = 0; cell < cellCount; cell++) placed[cell] = places[cellColumns[cell]]
  const numbers = new Uint32Array(count)
  let cell = 0
  for (let i = 0; i < count; i++) {
    numbers[i] = shapes.numberOf(kinds[i], placed, cell, cellEnds[i])
    cell = cellEnds[i]
  }
  return numbers
}

/** The different times, ascending, and which of them each record has. */
function numberTimes({ count, timestamps }: DeltaRecords): {
  times: Float64Array
  timeNumbers: Uint32Array
} {
  const met = new Map<number, number>()
  const timeNumbers = new Uint32Array(count)
  let last = -1
  let number = 0
  for (let i = 0; i < count; i++) {
    const at = timestamps[i]
    if (at !== last) {
      number = met.get(at) ?? met.size
      if (number === met.size) met.set(at, number)
      last = at
    }
    timeNumbers[i] = number
  }
  const times = Float64Array.from(met.keys()).sort()
  const sortedNumbers = new Uint32Array(times.length)
  for (let i = 0; i < times.length; i++) sortedNumbers[met.get(times[i]) as number] = i
  for (let i = 0; i < count; i++) timeNumbers[i] = sortedNumbers[timeNumbers[i]]
  return { times, timeNumbers }
}

function ascendsStrictly({ count, ordinals }: DeltaRecords): boolean {
  for (let i = 1; i < count; i++) if (ordinals[i] !== ordinals[i - 1] + 1) return false
  return true
}

function int32Page(values: Uint32Array, count: number): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, count * 4)
  return encodePage(new ColumnVector(PHYSICAL.int32, count, bytes, null, null, null), PAGE_OPTIONS)
}

function timesPage(times: Float64Array): Uint8Array {
  const words = new Uint32Array(times.length * 2)
  for (let i = 0; i < times.length; i++) {
    words[i * 2] = times[i] % WORD
    words[i * 2 + 1] = Math.floor(times[i] / WORD)
  }
  const bytes = new Uint8Array(words.buffer)
  const cells = new ColumnVector(PHYSICAL.int64, times.length, bytes, null, null, null)
  return encodePage(cells, PAGE_OPTIONS)
}

/** Describes the columns that have cells, and makes their pages. */
function describeColumns(
  { columns }: DeltaRecords,
  places: Int32Array,
  counts: Uint32Array,
  text: ByteArena,
  pages: Uint8Array[],
): void {
  appendVarint(
    text,
    places.reduce((count, place) => Math.max(count, place + 1), 0),
  )
  for (let i = 0; i < columns.length; i++) {
    if (places[i] < 0) continue
    const cells = firstCells(columns[i].cells, counts[i])
    const page = encodePage(cells, PAGE_OPTIONS)
    appendVarint(text, columns[i].columnId)
    appendVarint(text, columns[i].physical)
    appendVarint(text, counts[i])
    appendVarint(text, page.length)
    appendZone(text, zoneMapOf(cells), columns[i].physical)
    pages.push(page)
  }
}

/** The first `count` cells. Requires: `cells` has no bits behind its rows. */
function firstCells(cells: ColumnVector, count: number): ColumnVector {
  if (cells.rowCount === count) return cells
  const { physical, bytes, offsets, validity } = cells
  const ends = physical === PHYSICAL.binary ? offsets.subarray(0, count + 1) : null
  let bits: Uint8Array | null = null
  if (validity !== null) {
    bits = validity.slice(0, bitmapBytes(count))
    if ((count & 7) !== 0) bits[bits.length - 1] &= (1 << (count & 7)) - 1
  }
  return new ColumnVector(physical, count, bytes, ends, bits, null)
}

/** Bytes of the whole block of which `bytes` is the beginning. Throws: CORRUPTION. */
export function deltaBlockBytes(bytes: Uint8Array, where: string): number {
  if (bytes.length < HEADER_BYTES) throw malformed(where, 'is shorter than its header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw malformed(where, 'has a wrong magic')
  return view.getUint32(8, true)
}

/**
 * Reads all of a block but its cells.
 *
 * Requires: `bytes` begins at a multiple of 8 in its buffer. Throws: CORRUPTION that begins with
 * `where` when it is not what `encodeDeltaBlock` writes.
 */
export function decodeDeltaBlock(bytes: Uint8Array, where: string): DecodedBlock {
  if (deltaBlockBytes(bytes, where) !== bytes.length) throw malformed(where, 'has a wrong size')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const cellsStart = view.getUint32(12, true)
  const isInside = cellsStart >= HEADER_BYTES && cellsStart <= bytes.length && cellsStart % 8 === 0
  if (!isInside) throw malformed(where, 'has its cells in a wrong place')
  if (view.getUint32(4, true) !== crc32c(bytes, 8, cellsStart)) {
    throw malformed(where, 'has a wrong checksum')
  }
  const textEnd = HEADER_BYTES + view.getUint32(28, true)
  if (textEnd > cellsStart) throw malformed(where, 'has a cut description')
  const reader = new VarintReader(bytes.subarray(0, textEnd), HEADER_BYTES, where)
  const columns = readColumns(reader, cellsStart, bytes.length)
  const recordCount = view.getUint32(16, true)
  if (recordCount === 0 || recordCount > DELTA_BLOCK_RECORDS) {
    throw malformed(where, 'has a wrong number of records')
  }
  const shapes = DeltaShapes.decode(reader, columns.length, recordCount)
  const pages = new PageReader(bytes, align8(textEnd), cellsStart, recordCount, where)
  const flags = view.getUint32(24, true)
  const ordinals = readOrdinals(pages, view.getUint32(20, true), (flags & NO_GAPS) !== 0)
  const timestamps = readTimes(pages, (flags & ONE_TIME) !== 0)
  const numbers = pages.numbers((flags & ONE_SHAPE) !== 0, shapes.count)
  pages.end()
  checkOrder(ordinals, timestamps, where)
  const records = expandShapes(shapes, numbers, columns, where)
  return { records: { count: recordCount, ordinals, timestamps, ...records }, columns }
}

function readColumns(reader: VarintReader, cellsStart: number, end: number): BlockColumnText[] {
  const count = reader.nextUpTo(COLUMNS_MAX)
  const columns: BlockColumnText[] = []
  let pageStart = cellsStart
  for (let i = 0; i < count; i++) {
    const columnId = reader.next()
    const physical = reader.nextUpTo(PHYSICAL.binary) as Physical
    const cellCount = reader.next()
    const pageBytes = reader.nextUpTo(end - pageStart)
    const zone = readZone(reader, physical, cellCount)
    columns.push({ columnId, physical, cellCount, pageStart, pageBytes, zone })
    pageStart += pageBytes
  }
  if (pageStart !== end) throw reader.corruption('has cells that no column has')
  return columns
}

/** Reads the pages in front of the cells, one after the other. */
class PageReader {
  readonly recordCount: number
  readonly where: string
  readonly #bytes: Uint8Array
  #offset: number
  readonly #end: number

  constructor(bytes: Uint8Array, start: number, end: number, recordCount: number, where: string) {
    this.#bytes = bytes
    this.#offset = start
    this.#end = end
    this.recordCount = recordCount
    this.where = where
  }

  next(physical: Physical): ColumnVector {
    const start = this.#offset
    if (start >= this.#end) throw malformed(this.where, 'lacks a page')
    const pageEnd = start + pageBytesAt(this.#bytes, start)
    if (pageEnd > this.#end) throw malformed(this.where, 'has a cut page')
    this.#offset = pageEnd
    const cells = decodePage(this.#bytes.subarray(start, pageEnd), physical, this.where)
    if (cells.validity !== null) throw malformed(this.where, 'has a record without a number')
    return cells
  }

  /** A number below `count` for each record; zeros when there is but one. */
  numbers(isOne: boolean, count: number): Uint32Array {
    if (isOne) {
      if (count !== 1) throw malformed(this.where, 'has not one of what it should')
      return zeros(this.recordCount)
    }
    const numbers = this.words()
    for (let i = 0; i < numbers.length; i++) {
      if (numbers[i] >= count) throw malformed(this.where, 'has a number that stands for nothing')
    }
    return numbers
  }

  /** An unsigned integer for each record. */
  words(): Uint32Array {
    const { lanes, rowCount } = this.next(PHYSICAL.int32)
    if (rowCount !== this.recordCount) throw malformed(this.where, 'has a page of another length')
    return new Uint32Array(lanes.buffer as ArrayBuffer, lanes.byteOffset, rowCount)
  }

  end(): void {
    if (this.#offset !== this.#end) throw malformed(this.where, 'has a page too many')
  }
}

function readOrdinals(pages: PageReader, first: number, hasNoGaps: boolean): Uint32Array {
  const count = pages.recordCount
  if (!hasNoGaps) {
    const ordinals = pages.words()
    if (ordinals[0] !== first) throw malformed(pages.where, 'has a wrong first row')
    return ordinals
  }
  const ordinals = new Uint32Array(count)
  for (let i = 0; i < count; i++) ordinals[i] = first + i
  return ordinals
}

function readTimes(pages: PageReader, isOne: boolean): Float64Array {
  const { lanes, rowCount } = pages.next(PHYSICAL.int64)
  const times = new Float64Array(rowCount)
  for (let i = 0; i < rowCount; i++) times[i] = lanes[i * 2] + lanes[i * 2 + 1] * WORD
  const timestamps = new Float64Array(pages.recordCount)
  if (isOne && rowCount === 1) return timestamps.fill(times[0])
  const numbers = pages.numbers(isOne, rowCount)
  for (let i = 0; i < numbers.length; i++) timestamps[i] = times[numbers[i]]
  return timestamps
}

function checkOrder(ordinals: Uint32Array, timestamps: Float64Array, where: string): void {
  for (let i = 1; i < ordinals.length; i++) {
    if (ordinals[i] > ordinals[i - 1]) continue
    if (ordinals[i] < ordinals[i - 1] || timestamps[i] < timestamps[i - 1]) {
      throw malformed(where, 'has records out of order')
    }
  }
}

/** Kinds and cells of the records, whose shapes have `numbers`. */
function expandShapes(
  shapes: DeltaShapes,
  numbers: Uint32Array,
  columns: readonly BlockColumnText[],
  where: string,
): Pick<DeltaRecords, 'kinds' | 'cellEnds' | 'cellColumns' | 'cellPositions'> {
  const count = numbers.length
  const kinds = new Uint8Array(count)
  for (let i = 0; i < count; i++) kinds[i] = shapes.kinds[numbers[i]]
  let cellCount = 0
  for (const column of columns) cellCount += column.cellCount
  if (cellCount === 0) {
    return { kinds, cellEnds: zeros(count), cellColumns: NO_COLUMNS, cellPositions: NO_POSITIONS }
  }
  const cellEnds = new Uint32Array(count)
  const shapeEnds = Uint32Array.from(shapes.ends)
  let needed = 0
  for (let i = 0; i < count; i++) {
    const number = numbers[i]
    needed += shapeEnds[number] - (number === 0 ? 0 : shapeEnds[number - 1])
    cellEnds[i] = needed
  }
  if (needed !== cellCount) throw malformed(where, 'has cells that no record has')
  const cellColumns = new Uint16Array(cellCount)
  const cellPositions = new Uint32Array(cellCount)
  const counts = new Uint32Array(columns.length)
  const shapeColumns = shapes.columns
  let cell = 0
  for (let i = 0; i < count; i++) {
    const number = numbers[i]
    for (let from = number === 0 ? 0 : shapeEnds[number - 1]; from < shapeEnds[number]; from++) {
      const column = shapeColumns[from]
      cellColumns[cell] = column
      cellPositions[cell] = counts[column]++
      cell++
    }
  }
  for (let i = 0; i < columns.length; i++) {
    if (counts[i] !== columns[i].cellCount) throw malformed(where, 'lacks cells of a column')
  }
  return { kinds, cellEnds, cellColumns, cellPositions }
}

const NO_COLUMNS = new Uint16Array(0)
const NO_POSITIONS = new Uint32Array(0)
// Shared and never written to: ends of cells of records that have none.
let sharedZeros = new Uint32Array(0)

function zeros(count: number): Uint32Array {
  if (sharedZeros.length < count) sharedZeros = new Uint32Array(count)
  return sharedZeros.subarray(0, count)
}

/** Reads the cells of a column, joined. Throws: CORRUPTION that begins with `where`. */
export function decodeBlockCells(
  page: Uint8Array,
  { physical, cellCount }: BlockColumnText,
  where: string,
): ColumnVector {
  const cells = decodePage(page, physical, where).joined
  if (cells.rowCount !== cellCount) throw malformed(where, 'has a page of another length')
  return cells
}

function malformed(where: string, what: string): CorruptionError {
  return new CorruptionError(`${where}: the block ${what}`)
}
