import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaRecords } from './delta-records.ts'

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
   * Records of the rows `[start, end)`.
   *
   * Returns: borrowed until the next call on this store, or the next change to it. Throws:
   * CORRUPTION that names the block.
   */
  read(start: number, end: number): DeltaRecords
}
