/**
 * The one row that says what a tablet is and names everything of it that is alive
 * (docs/formats/superblock.md). Integers are little-endian.
 *
 *   offset  bytes  field
 *        0      4  magic "NSB2"
 *        4      4  crc          CRC-32C of everything behind this field
 *        8      4  jsonBytes
 *       12      4  rowSetBytes
 *       16      …  JSON in UTF-8: `format`, `identity`, and the plain members of `Superblock`
 *        …      …  rowsets (stored-row-sets.ts)
 *
 * What it does not name is an orphan. A tablet without one was never written to.
 *
 * Format 1, "NSB1", had no rowsets and none of what belongs to them: it is read, and replaced when
 * the superblock is next written.
 */

import {
  decodeColumnDefinition,
  encodeColumnDefinition,
  type JsonObject,
} from '../common/column-definition-json.ts'
import { TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import { SUPERBLOCK_BYTES_MAX } from '../common/limits.ts'
import type { Partition, PartitionSchema } from '../common/partition-schema.ts'
import type { ColumnDefinition } from '../common/schema.ts'
import { CorruptionError, StatusError } from '../common/status.ts'
import { utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import type { RowSetMeta } from './disk/row-set-meta.ts'
import { decodeRowSets, encodeRowSets } from './stored-row-sets.ts'

const MAGIC = 0x3242534e
const MAGIC_1 = 0x3142534e
const HEADER_BYTES = 16
const FORMAT = 2
const WHERE = 'superblock'

/** What a tablet knows of its table, and which part of it the tablet is. */
export interface TabletIdentity {
  readonly tableId: string
  readonly tabletId: string
  readonly tableVersion: number
  readonly columns: readonly ColumnDefinition[]
  readonly partitionSchema: PartitionSchema
  readonly partition: Partition
  readonly extraConfigs: Readonly<Record<string, string>>
}

/** What of a superblock is plain numbers. */
export interface SuperblockMarks {
  /** Seed of the hashes of keys: Bloom filters on disk were made with it. */
  readonly keyHashSeed: number
  /** No op after a restart gets a timestamp at or below it: snapshots up to here were served. */
  readonly clockMark: Timestamp
  /** Time of the newest op applied when this was written; later ones are in the WAL. */
  readonly lastApplied: Timestamp
  /** Every row inserted at or below it is in a DiskRowSet. */
  readonly flushedMark: Timestamp
  /** Every change to a row of a DiskRowSet at or below it is in that rowset's files. */
  readonly changesMark: Timestamp
  /** The highest history mark that history was dropped by: no snapshot below it is served. */
  readonly historyMark: Timestamp
  /** Until when some result of the results row is remembered; TIMESTAMP_MIN: there is none. */
  readonly resultsUntil: Timestamp
  /** Rowsets from here on have not been. */
  readonly nextRowSetId: number
  /** Files from here on have not been. */
  readonly nextFile: number
  /** Live WAL generations, oldest first; the last one is open. */
  readonly walGenerations: readonly number[]
  /** Files that may exist and of which no rowset needs anything, ascending. */
  readonly orphanFiles: readonly number[]
}

/** See the file's header. */
export interface Superblock extends SuperblockMarks {
  readonly identity: TabletIdentity
  readonly rowSets: readonly RowSetMeta[]
}

interface StoredSuperblock extends SuperblockMarks {
  readonly format: number
  readonly identity: Omit<TabletIdentity, 'columns'> & {
    readonly columns: readonly JsonObject[]
  }
}

/** A tablet's identity in its stored form, which is made once: it may be large. */
export function encodeIdentity(identity: TabletIdentity): string {
  return JSON.stringify({ ...identity, columns: identity.columns.map(encodeColumnDefinition) })
}

/**
 * The stored form of a superblock. `identityJson`: what `encodeIdentity` gives for its identity.
 * Throws: ILLEGAL_STATE when the table's definition and the rowsets are more than one holds.
 */
export function encodeSuperblock(
  superblock: Superblock,
  identityJson = encodeIdentity(superblock.identity),
): Uint8Array {
  const marks: SuperblockMarks & { readonly format: number } = {
    format: FORMAT,
    keyHashSeed: superblock.keyHashSeed,
    clockMark: superblock.clockMark,
    lastApplied: superblock.lastApplied,
    flushedMark: superblock.flushedMark,
    changesMark: superblock.changesMark,
    historyMark: superblock.historyMark,
    resultsUntil: superblock.resultsUntil,
    nextRowSetId: superblock.nextRowSetId,
    nextFile: superblock.nextFile,
    walGenerations: superblock.walGenerations,
    orphanFiles: superblock.orphanFiles,
  }
  const json = utf8Encode(`${JSON.stringify(marks).slice(0, -1)},"identity":${identityJson}}`)
  const rowSets = encodeRowSets(superblock.rowSets)
  const bytes = new Uint8Array(HEADER_BYTES + json.length + rowSets.length)
  if (bytes.length > SUPERBLOCK_BYTES_MAX) {
    throw new StatusError(
      'ILLEGAL_STATE',
      `superblock takes ${bytes.length} bytes, limit is ${SUPERBLOCK_BYTES_MAX}`,
      { limit: SUPERBLOCK_BYTES_MAX },
    )
  }
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(8, json.length, true)
  view.setUint32(12, rowSets.length, true)
  bytes.set(json, HEADER_BYTES)
  bytes.set(rowSets, HEADER_BYTES + json.length)
  view.setUint32(4, crc32c(bytes, 8), true)
  return bytes
}

/**
 * The superblock of a stored form. `keyHashSeed` is for one of format 1, which has no seed and
 * nothing that depends on it.
 *
 * Throws: CORRUPTION when the bytes are not what was written.
 */
export function decodeSuperblock(bytes: Uint8Array, keyHashSeed: number): Superblock {
  if (bytes.length < HEADER_BYTES) throw bad('shorter than its header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const magic = view.getUint32(0, true)
  if (magic !== MAGIC && magic !== MAGIC_1) throw bad('wrong magic')
  const expected = view.getUint32(4, true)
  const found = crc32c(bytes, 8)
  if (expected !== found) throw bad(`checksum is ${expected}, bytes give ${found}`)
  const jsonEnd = HEADER_BYTES + view.getUint32(8, true)
  if (jsonEnd + view.getUint32(12, true) !== bytes.length) throw bad('wrong size')
  const json = utf8DecodeStrict(bytes.subarray(HEADER_BYTES, jsonEnd))
  if (json === undefined) throw bad('not UTF-8')
  const { format, identity, ...marks } = JSON.parse(json) as StoredSuperblock
  const columns = identity.columns.map(decodeColumnDefinition)
  const decoded = { ...marks, identity: { ...identity, columns } }
  if (magic === MAGIC_1) return { ...emptyMarks(keyHashSeed), rowSets: [], ...decoded }
  if (format !== FORMAT) throw bad(`stored in format ${format}, this program reads ${FORMAT}`)
  return { ...decoded, rowSets: decodeRowSets(bytes.subarray(jsonEnd), WHERE) }
}

/** The marks of a tablet that holds nothing and logs nowhere. */
export function emptyMarks(keyHashSeed: number): SuperblockMarks {
  return {
    keyHashSeed,
    clockMark: TIMESTAMP_MIN,
    lastApplied: TIMESTAMP_MIN,
    flushedMark: TIMESTAMP_MIN,
    changesMark: TIMESTAMP_MIN,
    historyMark: TIMESTAMP_MIN,
    resultsUntil: TIMESTAMP_MIN,
    nextRowSetId: 1,
    nextFile: 1,
    walGenerations: [],
    orphanFiles: [],
  }
}

function bad(what: string): CorruptionError {
  return new CorruptionError(`${WHERE}: ${what}`)
}
