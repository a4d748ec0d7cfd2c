/**
 * Reads delta files. A block is read as a whole when first needed, and its records are decoded;
 * cells of a column are decoded when asked for. Both are kept in the page cache.
 */

import { type BlockReader, blockText } from '../../cfile/block-id.ts'
import type { PageCache } from '../../cfile/page-cache.ts'
import { mergeZoneMaps, type ZoneMap } from '../../cfile/zone-map.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { STORED_ROW_BYTES_MAX } from '../../common/limits.ts'
import { CorruptionError } from '../../common/status.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import {
  type BlockColumnText,
  decodeBlockCells,
  decodeDeltaBlock,
  deltaBlockBytes,
} from './delta-block.ts'
import { DELTA_KINDS, type DeltaColumn, type DeltaRecords } from './delta-records.ts'
import type { DeltaReader, DeltaRun, DeltaStore, DeltaWants } from './delta-store.ts'
import { mergeDeltaRecords } from './merge-delta-records.ts'
import { lowerRecord, sliceDeltaRecords } from './slice-delta-records.ts'

/** Where blocks come from, and where they are kept. */
interface BlockSource {
  readonly blocks: BlockReader
  readonly cache: PageCache
  readonly owner: number
  readonly file: number
  readonly where: string
}

/** A block in the cache: its records, and its bytes as long as cells may be asked for. */
class DeltaBlock {
  readonly records: DeltaRecords
  readonly texts: readonly BlockColumnText[]
  /** Stored rows that it takes. */
  readonly partCount: number
  readonly number: number
  readonly heldBytes: number

  constructor(source: BlockSource, block: number, bytes: Uint8Array) {
    const { records, columns } = decodeDeltaBlock(bytes, textOf(source, block))
    this.number = block
    this.texts = columns
    this.records = {
      ...records,
      columns: columns.map((text) => new BlockColumn(source, block, bytes, text)),
    }
    this.partCount = Math.ceil(bytes.length / STORED_ROW_BYTES_MAX)
    this.heldBytes =
      records.count * 17 + records.cellColumns.length * 6 + (columns.length > 0 ? bytes.length : 0)
  }

  zone(columnId: number): ZoneMap | null {
    return this.texts.find((text) => text.columnId === columnId)?.zone ?? null
  }
}

/** The cells of one column of a block, decoded when asked for. */
class BlockColumn implements DeltaColumn {
  readonly columnId: number
  readonly physical: Physical
  readonly #source: BlockSource
  readonly #block: number
  readonly #bytes: Uint8Array
  readonly #text: BlockColumnText

  constructor(source: BlockSource, block: number, bytes: Uint8Array, text: BlockColumnText) {
    this.columnId = text.columnId
    this.physical = text.physical
    this.#source = source
    this.#block = block
    this.#bytes = bytes
    this.#text = text
  }

  get cells(): ColumnVector {
    const { cache, owner, file } = this.#source
    const { pageStart, pageBytes } = this.#text
    const part = this.#block + Math.floor(pageStart / STORED_ROW_BYTES_MAX)
    const offset = pageStart % STORED_ROW_BYTES_MAX
    const kept = cache.get(owner, file, part, offset)
    if (kept !== undefined) return kept as ColumnVector
    const page = this.#bytes.subarray(pageStart, pageStart + pageBytes)
    const where = `${textOf(this.#source, this.#block)}, column ${this.columnId}`
    const cells = decodeBlockCells(page, this.#text, where)
    cache.put(owner, file, part, offset, cells, vectorBytes(cells))
    return cells
  }
}

/** Cells of a column that a reader keeps as long as their block. */
class HeldColumn implements DeltaColumn {
  readonly columnId: number
  readonly physical: Physical
  readonly #column: DeltaColumn
  #cells: ColumnVector | null = null

  constructor(column: DeltaColumn) {
    this.columnId = column.columnId
    this.physical = column.physical
    this.#column = column
  }

  get cells(): ColumnVector {
    this.#cells ??= this.#column.cells
    return this.#cells
  }
}

type FindBlocks = (
  start: number,
  end: number,
  known: ReadonlyMap<number, DeltaBlock>,
) => DeltaBlock[]

/** Keeps the blocks of the last rows read, and what was decoded of them, whatever is cached. */
class DeltaFileReader implements DeltaReader {
  readonly #meta: DeltaFileMeta
  readonly #find: FindBlocks
  #blocks = new Map<number, DeltaBlock>()
  #records: DeltaRecords[] = []
  /** The blocks kept have all records of the rows `[start, end)`. */
  #start = 0
  #end = 0

  constructor(meta: DeltaFileMeta, find: FindBlocks) {
    this.#meta = meta
    this.#find = find
  }

  read(start: number, end: number): readonly DeltaRun[] {
    if (start < this.#start || end > this.#end) this.#hold(this.#find(start, end, this.#blocks))
    const runs: DeltaRun[] = []
    for (const records of this.#records) {
      const first = lowerRecord(records, start)
      const last = lowerRecord(records, end)
      if (first < last) runs.push({ records, start: first, end: last })
    }
    return runs
  }

  #hold(blocks: readonly DeltaBlock[]): void {
    const held = [...this.#blocks.values()]
    this.#records = blocks.map((block) => {
      const index = held.indexOf(block)
      if (index !== -1) return this.#records[index]
      return { ...block.records, columns: block.records.columns.map((it) => new HeldColumn(it)) }
    })
    this.#blocks = new Map(blocks.map((block) => [block.number, block]))
    const last = blocks.at(-1)
    const { firstBlock, firstOrdinals } = this.#meta
    this.#start = blocks[0]?.records.ordinals[0] ?? 0
    const next = last === undefined ? 0 : last.number + last.partCount - firstBlock
    this.#end = firstOrdinals[next] ?? Infinity
  }
}

function slicesOf(
  parts: readonly DeltaRecords[],
  start: number,
  end: number,
): readonly DeltaRecords[] {
  const slices: DeltaRecords[] = []
  for (const part of parts) {
    const slice = sliceDeltaRecords(part, start, end)
    if (slice.count > 0) slices.push(slice)
  }
  return slices
}

const NONE_KNOWN: ReadonlyMap<number, DeltaBlock> = new Map()

function textOf({ where, file }: BlockSource, block: number): string {
  return `${where}: ${blockText({ file, block })}`
}

function vectorBytes({ bytes, offsets, validity }: ColumnVector): number {
  return bytes.length + offsets.length * 4 + (validity?.length ?? 0)
}

/** A delta file. Reads nothing before it is asked. */
export class DeltaFile implements DeltaStore {
  readonly meta: DeltaFileMeta
  readonly #source: BlockSource
  readonly #cellCounts: ReadonlyMap<number, number>
  readonly #zones = new Map<number, ZoneMap>()

  /** `owner` names the tablet in the cache; `where` is how errors name what the file belongs to. */
  constructor(
    meta: DeltaFileMeta,
    blocks: BlockReader,
    cache: PageCache,
    owner: number,
    where: string,
  ) {
    this.meta = meta
    this.#source = { blocks, cache, owner, file: meta.file, where }
    this.#cellCounts = new Map(meta.columns.map((it) => [it.columnId, it.cellCount]))
  }

  get recordCount(): number {
    return this.meta.recordCount
  }

  get deleteCount(): number {
    return this.meta.deleteCount
  }

  get reinsertCount(): number {
    return this.meta.reinsertCount
  }

  get oldest(): Timestamp {
    return this.meta.oldest
  }

  get newest(): Timestamp {
    return this.meta.newest
  }

  cellCount(columnId: number): number {
    return this.#cellCounts.get(columnId) ?? 0
  }

  /** Blocks that hold rows of `[start, end)`, and no others, count. */
  valueZone(columnId: number, start = 0, end = Infinity): ZoneMap | null {
    if (this.cellCount(columnId) === 0) return null
    const isWhole = start === 0 && end === Infinity
    const known = isWhole ? this.#zones.get(columnId) : undefined
    if (known !== undefined) return known
    let joined: ZoneMap | null = null
    let physical: Physical = 0
    for (const { texts } of this.#blocksOf(start, end)) {
      const text = texts.find((it) => it.columnId === columnId)
      if (text === undefined) continue
      physical = text.physical
      joined = joined === null ? text.zone : mergeZoneMaps(physical, joined, text.zone)
    }
    if (isWhole && joined !== null) this.#zones.set(columnId, joined)
    return joined
  }

  read(start: number, end: number): DeltaRecords {
    return mergeDeltaRecords(this.readParts(start, end))
  }

  readParts(start: number, end: number): readonly DeltaRecords[] {
    return slicesOf(
      this.#blocksOf(start, end).map((block) => block.records),
      start,
      end,
    )
  }

  openReader(_wants: DeltaWants): DeltaReader {
    return new DeltaFileReader(this.meta, (start, end, known) => this.#blocksOf(start, end, known))
  }

  /** Blocks that may hold rows of `[start, end)`; those in `known` need not be read. */
  #blocksOf(
    start: number,
    end: number,
    known: ReadonlyMap<number, DeltaBlock> = NONE_KNOWN,
  ): DeltaBlock[] {
    const { firstOrdinals } = this.meta
    const found: DeltaBlock[] = []
    for (let i = firstIndex(firstOrdinals, start); i < firstOrdinals.length; ) {
      if (firstOrdinals[i] >= end) break
      const block = known.get(this.meta.firstBlock + i) ?? this.#block(i)
      found.push(block)
      i += block.partCount
    }
    return found
  }

  #block(index: number): DeltaBlock {
    const { cache, owner, file } = this.#source
    const number = this.meta.firstBlock + index
    const kept = cache.get(owner, file, number, 0)
    if (kept !== undefined) return kept as DeltaBlock
    const block = new DeltaBlock(this.#source, number, this.#readWhole(index))
    if (block.records.ordinals[0] !== this.meta.firstOrdinals[index]) {
      throw new CorruptionError(`${textOf(this.#source, number)}: the block is of another row`)
    }
    cache.put(owner, file, number, 0, block, block.heldBytes)
    return block
  }

  /** Reads a block that begins at stored row `index` of the file. */
  #readWhole(index: number): Uint8Array {
    const { blocks, file } = this.#source
    const number = this.meta.firstBlock + index
    const first = blocks.readBlock(file, number)
    const bytes = deltaBlockBytes(first, textOf(this.#source, number))
    const partCount = Math.ceil(bytes / STORED_ROW_BYTES_MAX)
    if (partCount <= 1) return first
    if (index + partCount > this.meta.firstOrdinals.length) {
      throw new CorruptionError(`${textOf(this.#source, number)}: the block is cut`)
    }
    const whole = new Uint8Array(bytes)
    let offset = 0
    for (let part = 0; part < partCount; part++) {
      const stored = part === 0 ? first : blocks.readBlock(file, number + part)
      if (offset + stored.length > bytes) {
        throw new CorruptionError(`${textOf(this.#source, number + part)}: the block is too long`)
      }
      whole.set(stored, offset)
      offset += stored.length
    }
    return whole
  }

  /** Walks all records. Throws an AssertionError, or CORRUPTION, where the meta does not hold. */
  checkInvariants(): void {
    const { meta } = this
    const counts = { records: 0, deletes: 0, reinserts: 0 }
    const cellCounts = new Map<number, number>()
    let last: DeltaRecords | null = null
    for (const { records } of this.#blocksOf(0, Infinity)) {
      if (last !== null) assert(isBehind(last, records), 'records ascend over blocks')
      last = records
      counts.records += records.count
      for (let i = 0; i < records.count; i++) {
        assert(records.timestamps[i] >= meta.oldest, 'no record is older than the oldest')
        assert(records.timestamps[i] <= meta.newest, 'no record is newer than the newest')
        if (records.kinds[i] === DELTA_KINDS.DELETE) counts.deletes++
        if (records.kinds[i] === DELTA_KINDS.REINSERT) counts.reinserts++
      }
      for (const { columnId, cells } of records.columns) {
        cellCounts.set(columnId, (cellCounts.get(columnId) ?? 0) + cells.rowCount)
      }
    }
    assert(counts.records === meta.recordCount, 'records are counted')
    assert(counts.deletes === meta.deleteCount, 'deletes are counted')
    assert(counts.reinserts === meta.reinsertCount, 'reinserts are counted')
    assert(cellCounts.size === meta.columns.length, 'columns with cells are named')
    for (const { columnId, cellCount } of meta.columns) {
      assert(cellCounts.get(columnId) === cellCount, 'cells of a column are counted')
    }
  }
}

/** The first stored row that may begin with a block that holds records of a row. */
function firstIndex(firstOrdinals: readonly number[], ordinal: number): number {
  let low = 0
  let high = firstOrdinals.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (firstOrdinals[middle] <= ordinal) low = middle + 1
    else high = middle
  }
  let index = Math.max(low - 1, 0)
  while (index > 0 && firstOrdinals[index - 1] === firstOrdinals[index]) index--
  return index
}

function isBehind(before: DeltaRecords, after: DeltaRecords): boolean {
  const last = before.count - 1
  if (after.ordinals[0] !== before.ordinals[last]) return after.ordinals[0] > before.ordinals[last]
  return after.timestamps[0] >= before.timestamps[last]
}
