/**
 * What a tablet asks of the world: durable storage. Time and randomness are `Clock`
 * (common/hybrid-clock.ts) and `Prng` (util/prng.ts).
 *
 * The storage is a block device with transactions (docs/ARCHITECTURE.md): a superblock, WAL
 * generations that are appended to, read from the start once at activation, and dropped as a whole,
 * and files of blocks that are written once and dropped as a whole.
 *
 *   superblock      one row, replaced as a whole
 *   results         one row, replaced as a whole: results that outlive the WAL they were logged in
 *   wal_<slot>      generation g is in slot g mod WAL_GENERATION_COUNT_MAX: SQL texts stay constant
 *     id INTEGER PRIMARY KEY   1, 2, 3 … in the order of appending, no gaps
 *     parts_left INTEGER       stored rows that follow and belong to the same entry; 0 on the last
 *     payload BLOB             at most STORED_ROW_BYTES_MAX bytes
 *   file_<number>   blocks of DiskRowSets and delta files; numbers are never reused
 *     id INTEGER PRIMARY KEY   the block's number: 1, 2, 3 … in the order of writing
 *     payload BLOB             at most STORED_ROW_BYTES_MAX bytes
 */

import type { BlockReader } from '../cfile/block-id.ts'

/**
 * One tablet's durable storage.
 *
 * Rules that every implementation keeps (test/conformance/tablet-store.suite.ts):
 *
 *  I1  all writing happens inside `transact`, and a transaction is atomic: whole, or nothing of it;
 *  I2  a crash keeps a prefix of the committed transactions, and that prefix holds at least those
 *      whose answers were released;
 *  I3  what is read is what was written, or the reader is told by a checksum of its own;
 *  I4  an array passed in is not kept after the call; an array handed out is the receiver's own,
 *      and begins at a multiple of 8 in its buffer.
 *
 * Billing: a superblock or results 1 row written, a stored WAL row or block 1, a new generation or
 * file 2, a dropped generation or file 0, a deleted block 1.
 */
export interface TabletStore extends BlockReader {
  /**
   * Runs `work` as one transaction, synchronously, and returns what it returns.
   *
   * Throws: whatever `work` throws, after undoing its writes. A failure of the storage itself may
   * come before or after the transaction became durable: whoever sees one must forget its memory
   * and start again from storage. Requires: not called inside `work`; `work` is synchronous.
   */
  transact<T>(work: () => T): T

  /**
   * The superblock as last written, or null when none ever was. Writes nothing, even on new
   * storage.
   */
  readSuperblock(): Uint8Array | null

  /** Replaces the superblock. Requires: inside `transact`; at most STORED_ROW_BYTES_MAX bytes. */
  writeSuperblock(bytes: Uint8Array): void

  /**
   * Makes an empty WAL generation. What its slot still held was an orphan and is dropped.
   * Requires: inside `transact`; no live generation shares its slot.
   */
  createWal(generation: number): void

  /**
   * Appends one entry as `parts.length` stored rows, the last one with `parts_left` 0.
   * Requires: inside `transact`; the generation exists; at least one part, each at most
   * STORED_ROW_BYTES_MAX bytes.
   */
  appendWal(generation: number, parts: readonly Uint8Array[]): void

  /**
   * Visits all stored rows of a generation by ascending id.
   * Throws: CORRUPTION when the generation does not exist. Requires: `visit` does not write.
   */
  readWal(
    generation: number,
    visit: (id: number, partsLeft: number, payload: Uint8Array) => void,
  ): void

  /** Drops a generation; one that does not exist is no error. Requires: inside `transact`. */
  dropWal(generation: number): void

  /** The remembered results as last written, or null when none ever were. */
  readResults(): Uint8Array | null

  /** Replaces the remembered results. Requires: inside `transact`; as `writeSuperblock`. */
  writeResults(bytes: Uint8Array): void

  /**
   * Makes an empty file. What had its number was an orphan and is dropped.
   * Requires: inside `transact`.
   */
  createFile(file: number): void

  /**
   * Writes the next block of a file. Returns its number: 1, 2, 3 …
   * Requires: inside `transact`; the file exists, and no block of it was ever deleted; at most
   * STORED_ROW_BYTES_MAX bytes.
   */
  appendBlock(file: number, bytes: Uint8Array): number

  /** Deletes blocks of a file; one that is not there is no error. Requires: inside `transact`. */
  deleteBlocks(file: number, blocks: readonly number[]): void

  /** Drops a file; one that does not exist is no error. Requires: inside `transact`. */
  dropFile(file: number): void

  /** Rows read so far, as they are billed. */
  readonly rowsRead: number
  /** Rows written so far, as they are billed. */
  readonly rowsWritten: number
}
