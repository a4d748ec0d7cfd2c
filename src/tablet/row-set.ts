/**
 * The seam between a tablet and the stores that hold its rows: how rows are read.
 *
 * A row that is visible at a snapshot is visible in exactly one rowset of its tablet; another may
 * hold an older life of the same key, which ended before, or a younger one, which begins after.
 */

import type { ZoneMap } from '../cfile/zone-map.ts'
import type { ColumnVector } from '../common/column-vector.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { RowBlock } from '../common/row-block.ts'
import type { Column } from '../common/schema.ts'
import type { KeyArena } from '../util/arena.ts'
import type { ColumnTest } from './scan/column-test.ts'
import type { KeyLookup } from './scan/key-lookup.ts'
import type { ScanMeter } from './scan/scan-meter.ts'

/**
 * What to read of rows, and as of when. Columns are those of the reader's schema; a rowset knows
 * them by their ids, and shows the read default for one that is younger than itself.
 */
export interface RowProjection {
  readonly columns: readonly Column[]
  /** Every op at or below it is seen, none above. */
  readonly snapshot: Timestamp
}

/** Which rows to read, and in which order. */
export interface RowSetScan extends RowProjection {
  /** All must hold; the most selective comes first. */
  readonly tests: readonly ColumnTest[]
  /** Least encoded key; empty for no bound. */
  readonly lowerKey: Uint8Array
  /** First encoded key above; empty for no bound. */
  readonly upperKey: Uint8Array
  /** Whether rows come in descending order of their keys, else ascending. */
  readonly isDescending: boolean
  /** Whether batches carry the encoded key of each row. */
  readonly withKeys: boolean
  /** Hash of the only key that lies within the bounds; null or left out: there may be several. */
  readonly keyHash?: number | null
  /**
   * All columns of the key, to leave out rowsets by tests on them; left out: only by the bounds.
   */
  readonly keyColumns?: readonly Column[]
  /**
   * Where so many rows or more lie within the bounds, cells are borrowed as the batch or selection
   * is, and nothing is kept in the cache; left out: nowhere.
   */
  readonly borrowedRowsMin?: number
  /** Counts what is done; left out: nobody asks. */
  readonly meter?: ScanMeter
  /**
   * Given: only rows that changed above it, and that were there at it or are at the snapshot. Then
   * the last column is the one that tells whether a row is deleted; cells of deleted rows but those
   * of the key mean nothing, and tests are on key columns only.
   */
  readonly diffFrom?: Timestamp | null
}

/** Where a batch ends at the latest. */
export interface BatchLimits {
  /** At least 1. */
  readonly rowCountMax: number
  /** A batch ends before the row that would take it beyond this, but has at least one row. */
  readonly bytesMax: number
  /**
   * Rows to look at, at least 1: a batch may end empty, so that a scan that finds little can be
   * paused.
   */
  readonly scannedMax: number
}

/** Where keys lie. */
export interface KeyBounds {
  /** Every key is at or above it; empty for no bound. */
  readonly lowerKey: Uint8Array
  /** Every key is below it; empty for no bound. */
  readonly upperKey: Uint8Array
}

/** Rows of a scan, in its order. */
export interface ScanBatch {
  /** Borrowed until the next call. It may have no rows. */
  readonly block: RowBlock
  /** Encoded keys of the rows, when asked for. Borrowed like the block. */
  readonly keys: KeyArena | null
  /**
   * The scan is done with this key and all before it in its order: where to go on from. It may be
   * found out only when asked for: ask before the next call. Throws: CORRUPTION.
   */
  readonly lastKeyScanned: Uint8Array
  /** Rows looked at for this batch. */
  readonly scannedCount: number
}

/** A column of a selection: the cell of its row i is the cell `rows[i]` of `cells`. */
export interface SelectedColumn {
  /** Cost: a page that was not asked for yet is decoded. Throws: CORRUPTION that names a block. */
  readonly cells: ColumnVector
  /** At least as many as the selection has rows; columns may share them. */
  readonly rows: Uint32Array
  /** What is known of exactly the selected cells without reading them; null: nothing is. */
  readonly zone: ZoneMap | null
}

/** Rows of a scan as they lie in their pages: for whoever needs no copy of them. Borrowed. */
export interface Selection {
  /** May be 0: many rows were looked at in vain. */
  readonly count: number
  /** Those of the scan's projection, in its order. */
  readonly columns: readonly SelectedColumn[]
  /** Rows looked at for this selection. */
  readonly scannedCount: number
}

/**
 * A scan of one rowset, which sees the snapshot it was opened at whatever is written, flushed or
 * compacted meanwhile.
 */
export interface RowSetIterator {
  /** Rows looked at so far, also for batches that came to nothing. */
  readonly scannedCount: number

  /** The next rows. Returns: null when there are none left. Requires: it is not closed. */
  next(limits: BatchLimits): ScanBatch | null

  /**
   * The next rows as they lie, at most `scannedMax` looked at. Returns: null when there are none
   * left. Requires: as `next`, and that `next` is not used on the same scan.
   */
  nextSelection(scannedMax: number): Selection | null

  /**
   * Lets go of the rowset, whose files and memory are kept until then. Whoever opened it closes it,
   * after the end and after an error too; closing twice is no error.
   */
  close(): void
}

/** Rows of a tablet that are stored together. */
export interface RowSet {
  /** Never used by two rowsets of a tablet. */
  readonly id: number

  /**
   * Bounds of the keys of its rows. Returns: null when it has no rows. Cost: of a MemRowSet that of
   * its key order, which a scan needs anyway; else nothing is read.
   */
  keyBounds(): KeyBounds | null

  /** Whether a row may have changed above `after` and at or below `upTo`. Reads nothing. */
  mayHaveChanged(after: Timestamp, upTo: Timestamp): boolean

  /** Opens a scan. Cost: of a DiskRowSet nothing is read before the first batch. */
  openIterator(scan: RowSetScan): RowSetIterator

  /**
   * Adds to `lookup` the rows of its pending keys that are visible here, and takes those keys off.
   * Throws: CORRUPTION. Requires: of a DiskRowSet, that the pending keys ascend.
   */
  lookupRows(lookup: KeyLookup): void
}
