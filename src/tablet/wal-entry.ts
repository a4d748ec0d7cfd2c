/**
 * One op in the WAL: what was asked, as it came, and what was decided (docs/formats/wal.md).
 * Integers are little-endian; a time is a safe integer as 64 bits.
 *
 *   offset  bytes  field
 *        0      4  magic "NWE1"
 *        4      4  crc            CRC-32C of everything behind this field
 *        8      4  generation     the WAL generation that holds the entry
 *       12      4  headerBytes    where the row block begins, a multiple of 8
 *       16      4  blockBytes     0 when no row changed a store
 *       20      4  tableVersion
 *       24      8  timestamp
 *       32      4  rowCount
 *       36     28  counts         inserted, upserted, updated, deleted, ignored, failed, created
 *       64      1  outcome        of every row, or 0 when they differ
 *       65      1  flags          1: a result key follows; 2: the front made it
 *       66      2  digestBytes
 *       68      4  share
 *       72      4  keyBytes
 *       76      4  zero
 *       80      8  expiresAt      when the result may be forgotten
 *       88      …  outcomes, a byte a row, when they differ
 *        …      …  column id (i32) of each row error or −1, in row order; from a multiple of 4
 *        …      …  key, digest (UTF-8)
 *      headerBytes … the row block's byte form
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { STORED_ROW_BYTES_MAX } from '../common/limits.ts'
import { ROW_ERRORS } from '../common/row-error.ts'
import { CorruptionError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import { align8, EMPTY_BYTES, utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import { ROW_ERROR_MIN, ROW_OUTCOMES, type RowCounts } from './row-outcome.ts'
import type { ResultKey } from './tablet-request.ts'

const MAGIC = 0x3145574e
const CRC_OFFSET = 4
const CRC_START = 8
const COUNTS_OFFSET = 36
const FIXED_BYTES = 88
const HAS_KEY = 1
const IS_INTERNAL = 2
/**
 * A buffer that is used again holds the entry of a full share; larger entries get one of their own.
 */
const KEPT_BYTES_MAX = STORED_ROW_BYTES_MAX

/** An op as it is logged. */
export interface WalEntry {
  readonly tableVersion: number
  readonly timestamp: Timestamp
  readonly rowCount: number
  readonly counts: RowCounts
  /** An outcome a row; only `[0, rowCount)` is meaningful. */
  readonly outcomes: Uint8Array
  /** By row: the column that its error is about, or −1. Only rows that failed are meaningful. */
  readonly errorColumnIds: Int32Array
  readonly resultKey: ResultKey | null
  /** When the result may be forgotten; 0 without a key. */
  readonly expiresAt: Timestamp
  /** The row block's byte form; empty when no row changed a store. */
  readonly block: Uint8Array
}

/** The outcome that all rows share, or 0 when they differ or there is none. */
export function uniformOutcome(outcomes: Uint8Array, rowCount: number): number {
  if (rowCount === 0) return 0
  const first = outcomes[0]
  for (let row = 1; row < rowCount; row++) if (outcomes[row] !== first) return 0
  return first
}

/**
 * Writes entries into one buffer that it uses again and again.
 *
 * Hot: one pass over the rows and one copy of the block.
 */
export class WalEntryEncoder {
  #buffer = new Uint8Array(4096)

  /**
   * The bytes of an entry. Borrowed: good until the next call.
   */
  encode(entry: WalEntry, generation: number): Uint8Array {
    const { rowCount, resultKey, counts } = entry
    const uniform = uniformOutcome(entry.outcomes, rowCount)
    const key = resultKey === null ? EMPTY_BYTES : utf8Encode(resultKey.key)
    const digest = resultKey === null ? EMPTY_BYTES : utf8Encode(resultKey.digest)
    const columnIdsAt = align4(FIXED_BYTES + (uniform === 0 ? rowCount : 0))
    const keyAt = columnIdsAt + counts.failed * 4
    const headerBytes = align8(keyAt + key.length + digest.length)
    const bytes = this.#take(headerBytes, entry.block.length)
    const view = new DataView(bytes.buffer, 0, headerBytes)
    view.setUint32(0, MAGIC, true)
    view.setUint32(8, generation, true)
    view.setUint32(12, headerBytes, true)
    view.setUint32(16, entry.block.length, true)
    view.setUint32(20, entry.tableVersion, true)
    setTime(view, 24, entry.timestamp)
    view.setUint32(32, rowCount, true)
    writeCounts(view, counts)
    view.setUint8(64, uniform)
    if (resultKey !== null) {
      view.setUint8(65, HAS_KEY | (resultKey.isInternal ? IS_INTERNAL : 0))
      view.setUint16(66, digest.length, true)
      view.setUint32(68, resultKey.share, true)
      view.setUint32(72, key.length, true)
      setTime(view, 80, entry.expiresAt)
    }
    if (uniform === 0) bytes.set(entry.outcomes.subarray(0, rowCount), FIXED_BYTES)
    writeErrorColumns(view, columnIdsAt, entry)
    bytes.set(key, keyAt)
    bytes.set(digest, keyAt + key.length)
    bytes.set(entry.block, headerBytes)
    view.setUint32(CRC_OFFSET, crc32c(bytes, CRC_START), true)
    return bytes
  }

  #take(headerBytes: number, blockBytes: number): Uint8Array {
    const bytes = headerBytes + blockBytes
    if (bytes > KEPT_BYTES_MAX) return new Uint8Array(bytes)
    if (this.#buffer.length < bytes) {
      this.#buffer = new Uint8Array(
        Math.min(KEPT_BYTES_MAX, Math.max(bytes, this.#buffer.length * 2)),
      )
    }
    this.#buffer.fill(0, 0, headerBytes)
    return this.#buffer.subarray(0, bytes)
  }
}

function writeCounts(view: DataView, counts: RowCounts): void {
  view.setUint32(COUNTS_OFFSET, counts.inserted, true)
  view.setUint32(COUNTS_OFFSET + 4, counts.upserted, true)
  view.setUint32(COUNTS_OFFSET + 8, counts.updated, true)
  view.setUint32(COUNTS_OFFSET + 12, counts.deleted, true)
  view.setUint32(COUNTS_OFFSET + 16, counts.ignored, true)
  view.setUint32(COUNTS_OFFSET + 20, counts.failed, true)
  view.setUint32(COUNTS_OFFSET + 24, counts.created, true)
}

function writeErrorColumns(view: DataView, start: number, entry: WalEntry): void {
  if (entry.counts.failed === 0) return
  let offset = start
  for (let row = 0; row < entry.rowCount; row++) {
    if (entry.outcomes[row] < ROW_ERROR_MIN) continue
    view.setInt32(offset, entry.errorColumnIds[row], true)
    offset += 4
  }
  assert(offset === start + entry.counts.failed * 4, 'failed rows were counted wrong')
}

/**
 * The entry in the bytes of a WAL generation.
 *
 * Returns: views of `bytes`, which must not change while the entry is used and begin at a multiple
 * of 8 in their buffer. Throws: CORRUPTION that says what is wrong and shows no bytes; `where`
 * names the entry.
 */
export function decodeWalEntry(bytes: Uint8Array, generation: number, where: string): WalEntry {
  const bad = (what: string) => new CorruptionError(`${where}: ${what}`)
  if (bytes.length < FIXED_BYTES) throw bad('shorter than its header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw bad('wrong magic')
  const stored = view.getUint32(CRC_OFFSET, true)
  const found = crc32c(bytes, CRC_START)
  if (stored !== found) throw bad(`checksum is ${stored}, bytes give ${found}`)
  if (view.getUint32(8, true) !== generation) throw bad('belongs to another generation')

  const headerBytes = view.getUint32(12, true)
  const rowCount = view.getUint32(32, true)
  const uniform = view.getUint8(64)
  const counts = readCounts(view)
  const flags = view.getUint8(65)
  const keyBytes = view.getUint32(72, true)
  const columnIdsAt = align4(FIXED_BYTES + (uniform === 0 ? rowCount : 0))
  const keyAt = columnIdsAt + counts.failed * 4
  const keyEnd = keyAt + keyBytes + view.getUint16(66, true)
  if (headerBytes !== align8(keyEnd)) throw bad('its sections do not fill the header')
  if (headerBytes + view.getUint32(16, true) !== bytes.length) throw bad('wrong size')

  const outcomes =
    uniform === 0
      ? bytes.subarray(FIXED_BYTES, FIXED_BYTES + rowCount)
      : new Uint8Array(rowCount).fill(uniform)
  if (!areOutcomes(outcomes)) throw bad('unknown row outcome')
  const errorColumnIds = readErrorColumns(view, columnIdsAt, outcomes, counts.failed)
  if (errorColumnIds === null) throw bad('counts do not match its outcomes')
  const resultKey = (flags & HAS_KEY) === 0 ? null : readKey(bytes, view, keyAt)
  if (resultKey === undefined) throw bad('its key is not UTF-8')
  return {
    tableVersion: view.getUint32(20, true),
    timestamp: getTime(view, 24),
    rowCount,
    counts,
    outcomes,
    errorColumnIds,
    resultKey,
    expiresAt: getTime(view, 80),
    block: bytes.subarray(headerBytes),
  }
}

function readCounts(view: DataView): RowCounts {
  return {
    inserted: view.getUint32(COUNTS_OFFSET, true),
    upserted: view.getUint32(COUNTS_OFFSET + 4, true),
    updated: view.getUint32(COUNTS_OFFSET + 8, true),
    deleted: view.getUint32(COUNTS_OFFSET + 12, true),
    ignored: view.getUint32(COUNTS_OFFSET + 16, true),
    failed: view.getUint32(COUNTS_OFFSET + 20, true),
    created: view.getUint32(COUNTS_OFFSET + 24, true),
  }
}

const OUTCOME_LAST = ROW_OUTCOMES.IGNORED
const ERROR_LAST = Math.max(...Object.values(ROW_ERRORS))

function areOutcomes(outcomes: Uint8Array): boolean {
  for (let row = 0; row < outcomes.length; row++) {
    const outcome = outcomes[row]
    if (outcome === 0 || outcome > ERROR_LAST) return false
    if (outcome > OUTCOME_LAST && outcome < ROW_ERROR_MIN) return false
  }
  return true
}

/** Columns of the row errors by row, or null when there are not `errorCount` of them. */
function readErrorColumns(
  view: DataView,
  start: number,
  outcomes: Uint8Array,
  errorCount: number,
): Int32Array | null {
  const columnIds = new Int32Array(errorCount === 0 ? 0 : outcomes.length)
  let count = 0
  for (let row = 0; row < outcomes.length; row++) {
    if (outcomes[row] < ROW_ERROR_MIN) continue
    if (count === errorCount) return null
    columnIds[row] = view.getInt32(start + count * 4, true)
    count++
  }
  return count === errorCount ? columnIds : null
}

function readKey(bytes: Uint8Array, view: DataView, start: number): ResultKey | undefined {
  const keyEnd = start + view.getUint32(72, true)
  const key = utf8DecodeStrict(bytes.subarray(start, keyEnd))
  const digest = utf8DecodeStrict(bytes.subarray(keyEnd, keyEnd + view.getUint16(66, true)))
  if (key === undefined || digest === undefined) return undefined
  const isInternal = (view.getUint8(65) & IS_INTERNAL) !== 0
  return { key, share: view.getUint32(68, true), digest, isInternal }
}

function setTime(view: DataView, offset: number, time: Timestamp): void {
  view.setUint32(offset, time >>> 0, true)
  view.setUint32(offset + 4, Math.floor(time / 2 ** 32), true)
}

function getTime(view: DataView, offset: number): Timestamp {
  return view.getUint32(offset + 4, true) * 2 ** 32 + view.getUint32(offset, true)
}

function align4(bytes: number): number {
  return (bytes + 3) & ~3
}
