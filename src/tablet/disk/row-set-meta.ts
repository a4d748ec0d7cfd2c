/**
 * What the superblock says of a DiskRowSet: all that is known of one before anything of it is read.
 */

import type { BlockId } from '../../cfile/block-id.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'

/** Changes to one column in a delta file. */
export interface DeltaColumnMeta {
  readonly columnId: number
  /** Records that have a cell of it. */
  readonly cellCount: number
}

/**
 * A delta file: records ascending by (ordinal, timestamp, position in the op), cut into blocks by
 * ordinal. All records of one ordinal are in one block.
 */
export interface DeltaFileMeta {
  readonly file: number
  /** Its blocks are consecutive, from this one on. */
  readonly firstBlock: number
  /** Ordinal of the first record of each block, ascending. */
  readonly firstOrdinals: readonly number[]
  readonly recordCount: number
  readonly deleteCount: number
  readonly reinsertCount: number
  /** Timestamps of the oldest and of the newest record. */
  readonly oldest: Timestamp
  readonly newest: Timestamp
  readonly bytes: number
  readonly columns: readonly DeltaColumnMeta[]
}

/** A DiskRowSet as the superblock names it. Immutable: a commit that changes it makes another. */
export interface RowSetMeta {
  /** Never used by two rowsets of a tablet. */
  readonly id: number
  readonly rowCount: number
  /** Rows that were there at `mark`. */
  readonly liveRowCount: number
  /** Every change to its rows at or below it is in its base or delta files. */
  readonly mark: Timestamp
  /**
   * Time of the newest UNDO record, at which a version of a row ended or began; a read at or above
   * it needs no UNDO. TIMESTAMP_MIN when there is none.
   */
  readonly newestUndo: Timestamp
  /** Every key is at or above it. At most ROWSET_BOUND_BYTES_MAX bytes of the least key. */
  readonly lowerKey: Uint8Array
  /** Every key is below it; empty when that cannot be said in ROWSET_BOUND_BYTES_MAX bytes. */
  readonly upperKey: Uint8Array
  /** Names the pages of each column, of the keys and of the Bloom filter. */
  readonly directory: BlockId
  /** Bytes of the blocks of the base: directory, columns, keys, Bloom filter. */
  readonly baseBytes: number
  /** Files that the base has blocks in, the directory's included. Ascending. */
  readonly baseFiles: readonly number[]
  /** Oldest first. */
  readonly undos: readonly DeltaFileMeta[]
  /** Oldest first. */
  readonly redos: readonly DeltaFileMeta[]
}

/** Every file that a rowset has blocks in. May name one more than once. */
export function filesOf(meta: RowSetMeta): number[] {
  const deltas = [...meta.undos, ...meta.redos]
  return [...meta.baseFiles, ...deltas.map(({ file }) => file)]
}

/** Bytes of a rowset on disk. */
export function rowSetBytes(meta: RowSetMeta): number {
  let bytes = meta.baseBytes
  for (const { bytes: deltaBytes } of meta.undos) bytes += deltaBytes
  for (const { bytes: deltaBytes } of meta.redos) bytes += deltaBytes
  return bytes
}
