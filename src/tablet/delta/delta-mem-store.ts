/**
 * Changes to rows of a DiskRowSet that are in memory: REDO records. Hot.
 *
 *   index: row ──► newest record ──► older ──► older      a chain a row, as in a MemRowSet
 *                       └── cells, by column and position
 *
 * Whoever reads at a snapshot follows each row's chain only as far as the snapshot and the columns
 * wanted need it.
 */

import { mergeZoneMaps, type ZoneMap, zoneMapOf } from '../../cfile/zone-map.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { CHUNK_MASK, CHUNK_SHIFT } from '../memory/chunk.ts'
import type { HistoryColumn } from '../memory/history-columns.ts'
import { MemRecordsBuilder } from '../memory/mem-records-builder.ts'
import { REDO_KINDS, RedoLog, UNCHANGED } from '../memory/redo-log.ts'
import { NO_REDO } from '../memory/row-chunk.ts'
import { DeltaMemReader } from './delta-mem-reader.ts'
import { DELTA_KINDS, type DeltaRecords } from './delta-records.ts'
import type { DeltaReader, DeltaStore, DeltaWants } from './delta-store.ts'
import { lowerOrdinal, OrdinalIndex } from './ordinal-index.ts'
import { NO_RECORDS } from './slice-delta-records.ts'

/** What the objects of an empty store take. */
const OVERHEAD_BYTES = 800
const NO_PARTS: readonly DeltaRecords[] = []
const UNKNOWN_INDEX = -1
/** Records of some rows that are looked at one by one for the zone of their cells. */
const ZONE_RECORDS_MAX = 1024
const scratchPosition = new Uint32Array(1)

/** The zone of the first cells of a column. */
interface KnownZone {
  readonly zone: ZoneMap | null
  readonly chunkCount: number
}

/**
 * Rows change in ascending time.
 *
 *  I1  along a row's chain timestamps never decrease, and nothing follows a DELETE;
 *  I2  records are UPDATE, with at least one cell, and DELETE, with none.
 */
export class DeltaMemStore implements DeltaStore {
  deleteCount = 0
  readonly reinsertCount = 0
  oldest: Timestamp = 0
  newest: Timestamp = 0
  readonly #log = new RedoLog({ columns: [] })
  readonly #index = new OrdinalIndex()
  /** Columns by their index in the log. */
  readonly #columns: HistoryColumn[] = []
  readonly #indexes = new Map<number, number>()
  readonly #zones = new Map<number, KnownZone>()
  // The columns of the block that was written last.
  #planSchema: Schema | null = null
  #planIds: readonly number[] | null = null
  #plan: Column[] = []
  #planIndexes: number[] = []

  /** Records kept. */
  get recordCount(): number {
    return this.#log.count
  }

  /** Whether nothing was ever changed. */
  get isEmpty(): boolean {
    return this.#log.count === 0
  }

  /** Rows that have a record. */
  get rowCount(): number {
    return this.#index.count
  }

  /** Bytes held in memory. Cost: O(1). */
  get heldBytes(): number {
    return this.#log.heldBytes + this.#index.heldBytes + OVERHEAD_BYTES
  }

  /**
   * Changes the cells that `row` of a write block sets, but for the key's, which are the row's own.
   *
   * Returns: how many; when none, nothing is recorded. Requires: the row is there; `at` is not
   * below the time of any record of it; cells were checked against `schema`.
   */
  update(
    ordinal: number,
    block: RowBlock,
    row: number,
    at: Timestamp,
    schema: Schema,
    skipImmutable = false,
  ): number {
    if (this.#planIds !== block.columnIds || this.#planSchema !== schema) {
      this.#makePlan(block, schema)
    }
    const { columns } = block
    let changedCount = 0
    for (let i = 0; i < columns.length; i++) {
      const source = columns[i]
      if (!source.hasCell(row)) continue
      const column = this.#plan[i]
      if (column.isKey || (skipImmutable && column.isImmutable)) continue
      if (changedCount === 0) this.#change(ordinal, at, REDO_KINDS.UPDATE)
      let index = this.#planIndexes[i]
      if (index === UNKNOWN_INDEX) {
        index = this.#columnIndex(column.id, column.physical)
        this.#planIndexes[i] = index
      }
      this.#addCell(index, column.id, source, row)
      changedCount++
    }
    return changedCount
  }

  /** Deletes a row. Requires: as `update`. */
  delete(ordinal: number, at: Timestamp): void {
    this.#change(ordinal, at, REDO_KINDS.DELETE)
  }

  /**
   * Takes over REDO records, ascending by (ordinal, timestamp, position). `remap[i]` is the row
   * here of row i there, or negative when its records are left out; without it rows keep their
   * ordinals.
   *
   * Requires: of each row, none is older than what is here.
   */
  append(records: DeltaRecords, remap: Int32Array | null = null): void {
    const { ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions, columns } = records
    for (let i = 0; i < records.count; i++) {
      const ordinal = remap === null ? ordinals[i] : remap[ordinals[i]]
      if (ordinal < 0) continue
      assert(kinds[i] !== DELTA_KINDS.REINSERT, 'a REDO record is no REINSERT')
      this.#change(ordinal, timestamps[i], kinds[i] === DELTA_KINDS.DELETE ? 2 : 1)
      const end = cellEnds[i]
      for (let cell = i === 0 ? 0 : cellEnds[i - 1]; cell < end; cell++) {
        const { columnId, physical, cells } = columns[cellColumns[cell]]
        const index = this.#columnIndex(columnId, physical)
        this.#addCell(index, columnId, cells, cellPositions[cell])
      }
    }
  }

  #makePlan(block: RowBlock, schema: Schema): void {
    this.#planSchema = schema
    this.#planIds = block.columnIds
    this.#plan = block.columnIds.map((id) => schema.mustById(id))
    this.#planIndexes = block.columnIds.map(() => UNKNOWN_INDEX)
    for (let i = 0; i < block.columns.length; i++) {
      const { physical } = block.columns[i]
      assert(physical === this.#plan[i].physical, 'a block column is laid out as its schema says')
    }
  }

  #columnIndex(columnId: number, physical: Physical): number {
    const known = this.#indexes.get(columnId)
    if (known !== undefined) return known
    const index = this.#indexes.size
    this.#indexes.set(columnId, index)
    this.#log.addColumn(physical)
    return index
  }

  #addCell(index: number, columnId: number, source: ColumnVector, row: number): void {
    this.#log.addCell(index, source, row)
    const { physical } = source
    if (index === this.#columns.length) {
      const kept = this.#log.column(index)
      assert(kept !== null, 'a column with a cell is there')
      this.#columns.push({ id: columnId, physical, kept, changed: null, isLate: false })
    }
    assert(physical === this.#columns[index].physical, 'cells of a column are laid out alike')
  }

  #change(ordinal: number, at: Timestamp, kind: 1 | 2): void {
    const log = this.#log
    const older = this.#index.get(ordinal)
    if (older !== NO_REDO) {
      assert(log.kind(older) !== REDO_KINDS.DELETE, 'nothing follows a delete')
      assert(log.at(older) <= at, 'a row changes in ascending time')
    }
    if (log.count === 0) {
      this.oldest = at
      this.newest = at
    }
    if (at < this.oldest) this.oldest = at
    if (at > this.newest) this.newest = at
    if (kind === REDO_KINDS.DELETE) this.deleteCount++
    this.#index.set(ordinal, log.append(at, kind, older))
  }

  /** Whether a record here deletes the row. */
  isDeleted(ordinal: number): boolean {
    if (this.deleteCount === 0) return false
    const redo = this.#index.get(ordinal)
    return redo !== NO_REDO && this.#log.kind(redo) === REDO_KINDS.DELETE
  }

  cellCount(columnId: number): number {
    const index = this.#indexes.get(columnId)
    return index === undefined ? 0 : this.#columns[index].kept.rowCount
  }

  /**
   * Of the rows' own cells where they have few records, else of all changed cells of the column.
   * Cost: about 1,000 records looked at, and of new rows the sorting.
   */
  valueZone(columnId: number, start = 0, end = Infinity): ZoneMap | null {
    const index = this.#indexes.get(columnId)
    if (index === undefined) return null
    if (start > 0 || end < Infinity) {
      const cells = this.#cellsOf(index, start, end)
      if (cells !== null) return cells.rowCount === 0 ? null : zoneMapOf(cells.view())
    }
    return this.#wholeZone(index)
  }

  /** Changed cells of a column in the rows `[start, end)`; null when there are many records. */
  #cellsOf(columnIndex: number, start: number, end: number): ColumnBuilder | null {
    const log = this.#log
    const { physical, kept } = this.#columns[columnIndex]
    const sorted = this.#index.sorted()
    const first = lowerOrdinal(sorted, this.#index.count, start)
    const stop = lowerOrdinal(sorted, this.#index.count, end)
    if (stop - first > ZONE_RECORDS_MAX) return null
    const cells = new ColumnBuilder(physical, stop - first)
    const views: ColumnVector[] = []
    let recordCount = 0
    for (let i = first; i < stop; i++) {
      for (let redo = this.#index.sortedValue(i); redo !== NO_REDO; redo = log.older(redo)) {
        if (++recordCount > ZONE_RECORDS_MAX) return null
        const position = log.cellPosition(redo, columnIndex)
        if (position === UNCHANGED) continue
        const chunk = position >>> CHUNK_SHIFT
        views[chunk] ??= kept.chunks[chunk].view()
        scratchPosition[0] = position & CHUNK_MASK
        cells.appendRows(views[chunk], scratchPosition, 0, 1)
      }
    }
    return cells
  }

  #wholeZone(index: number): ZoneMap | null {
    const { physical, kept } = this.#columns[index]
    const last = kept.chunks.length - 1
    if (last < 0) return null
    let known = this.#zones.get(index) ?? { zone: null, chunkCount: 0 }
    while (known.chunkCount < last) {
      const zone = joinZones(physical, known.zone, zoneMapOf(kept.chunks[known.chunkCount].view()))
      known = { zone, chunkCount: known.chunkCount + 1 }
      this.#zones.set(index, known)
    }
    return joinZones(physical, known.zone, zoneMapOf(kept.chunks[last].view()))
  }

  read(start: number, end: number): DeltaRecords {
    return this.readParts(start, end).at(0) ?? NO_RECORDS
  }

  readParts(start: number, end: number): readonly DeltaRecords[] {
    const builder = new MemRecordsBuilder(this.#columns)
    const { count } = this.#index
    const sorted = this.#index.sorted()
    const stop = lowerOrdinal(sorted, count, end)
    for (let i = lowerOrdinal(sorted, count, start); i < stop; i++) {
      this.#readChain(sorted[i], this.#index.sortedValue(i), builder)
    }
    return builder.count === 0 ? NO_PARTS : [builder.finish()]
  }

  openReader(wants: DeltaWants): DeltaReader {
    return new DeltaMemReader(this.#log, this.#index, this.#columns, wants)
  }

  /** Adds all records of a row, oldest first. */
  #readChain(ordinal: number, newest: number, builder: MemRecordsBuilder): void {
    const log = this.#log
    let count = 0
    for (let redo = newest; redo !== NO_REDO; redo = log.older(redo)) {
      if (count === scratchRedos.length) growScratch()
      scratchRedos[count++] = redo
    }
    while (count-- > 0) {
      const redo = scratchRedos[count]
      const chunk = log.chunks[redo >>> CHUNK_SHIFT]
      const index = redo & CHUNK_MASK
      builder.add(ordinal, chunk.at[index], chunk.kinds[index] as 1 | 2)
      const end = chunk.cellEnds[index]
      for (let cell = index === 0 ? 0 : chunk.cellEnds[index - 1]; cell < end; cell++) {
        builder.addCell(chunk.cellColumns[cell], chunk.cellPositions[cell])
      }
    }
  }

  /** Walks all records. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    this.#log.checkInvariants()
    this.#index.checkInvariants()
    const records = this.read(0, 2 ** 32)
    assert(records.count === this.recordCount, 'every record is on the chain of a row')
    let deleteCount = 0
    for (let i = 0; i < records.count; i++) {
      const cellCount = records.cellEnds[i] - (i === 0 ? 0 : records.cellEnds[i - 1])
      const isDelete = records.kinds[i] === DELTA_KINDS.DELETE
      assert(isDelete === (cellCount === 0), 'an UPDATE has cells and a DELETE has none')
      if (isDelete) deleteCount++
      assert(records.timestamps[i] >= this.oldest, 'no record is older than the oldest')
      assert(records.timestamps[i] <= this.newest, 'no record is newer than the newest')
      const isNext = i > 0 && records.ordinals[i - 1] === records.ordinals[i]
      assert(!isNext || records.kinds[i - 1] === DELTA_KINDS.UPDATE, 'nothing follows a delete')
    }
    assert(deleteCount === this.deleteCount, 'deletes are counted')
  }
}

let scratchRedos = new Int32Array(64)

function growScratch(): void {
  const grown = new Int32Array(scratchRedos.length * 2)
  grown.set(scratchRedos)
  scratchRedos = grown
}

function joinZones(physical: Physical, zone: ZoneMap | null, next: ZoneMap): ZoneMap {
  return zone === null ? next : mergeZoneMaps(physical, zone, next)
}
