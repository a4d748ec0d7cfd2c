import type { ZoneMap } from '../../cfile/zone-map.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaRecords } from './delta-records.ts'

/** What a reader wants of the records. */
export interface DeltaWants {
  readonly snapshot: Timestamp
  readonly columnIds: readonly number[]
  /** Given: also the record of a row that changed above it, though it has no wanted cell. */
  readonly changedAfter?: Timestamp
}

/** Records `[start, end)` of some, by index. */
export interface DeltaRun {
  readonly records: DeltaRecords
  readonly start: number
  readonly end: number
}

/** Reads the records of one stretch of rows after the other, for one who wants a snapshot. */
export interface DeltaReader {
  /**
   * Records of the rows `[start, end)`, as runs that follow each other. A DeltaMemStore leaves out
   * those above the snapshot, and the cells that later ones at or below it hide or that are not
   * wanted.
   *
   * Returns: borrowed until the next call. Throws: CORRUPTION that names the block, now or when
   * asked for cells.
   */
  read(start: number, end: number): readonly DeltaRun[]
}

/** Deltas of one DiskRowSet, in memory or in a file. */
export interface DeltaStore {
  readonly recordCount: number
  readonly deleteCount: number
  readonly reinsertCount: number
  /** Timestamp of the oldest record. Requires: there is one. */
  readonly oldest: Timestamp
  /** Timestamp of the newest record. Requires: there is one. */
  readonly newest: Timestamp

  /** How many records have a cell of a column. */
  cellCount(columnId: number): number

  /**
   * What the cells of a column may be in the records of the rows `[start, end)`, or of all rows.
   *
   * Returns: null when no record has a cell of it. It may say more than is there, never less.
   * Throws: CORRUPTION that names the block. Cost: a file reads its blocks when first asked.
   */
  valueZone(columnId: number, start?: number, end?: number): ZoneMap | null

  /**
   * Records of the rows `[start, end)`.
   *
   * Returns: never changed afterwards, whatever becomes of the store. Cells of a column are decoded
   * when first asked for. Throws: CORRUPTION that names the block, now or when asked for cells.
   */
  read(start: number, end: number): DeltaRecords

  /** `read` without joining the runs that follow each other. */
  readParts(start: number, end: number): readonly DeltaRecords[]

  /** Opens a reader for a window. Cost: nothing is read. */
  openReader(wants: DeltaWants): DeltaReader
}
