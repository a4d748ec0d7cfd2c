/**
 * The one row that says what a tablet is and names everything of it that is alive
 * (docs/formats/superblock.md). Integers are little-endian.
 *
 *   offset  bytes  field
 *        0      4  magic "NSB1"
 *        4      4  crc         CRC-32C of everything behind this field
 *        8      4  jsonBytes
 *       12      4  zero
 *       16      …  JSON in UTF-8: `format` and the members of `Superblock`
 *
 * What it does not name is an orphan. A tablet without one was never written to.
 */

import {
  decodeColumnDefinition,
  encodeColumnDefinition,
  type JsonObject,
} from '../common/column-definition-json.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { SUPERBLOCK_BYTES_MAX } from '../common/limits.ts'
import type { Partition, PartitionSchema } from '../common/partition-schema.ts'
import type { ColumnDefinition } from '../common/schema.ts'
import { CorruptionError, StatusError } from '../common/status.ts'
import { utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'

const MAGIC = 0x3142534e
const HEADER_BYTES = 16
const FORMAT = 1

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

/** See the file's header. */
export interface Superblock {
  readonly identity: TabletIdentity
  /** No op after a restart gets a timestamp at or below it: snapshots up to here were served. */
  readonly clockMark: Timestamp
  /** Live WAL generations, oldest first; the last one is open. */
  readonly walGenerations: readonly number[]
}

interface StoredSuperblock extends Omit<Superblock, 'identity'> {
  readonly format: number
  readonly identity: Omit<TabletIdentity, 'columns'> & {
    readonly columns: readonly JsonObject[]
  }
}

/**
 * The stored form of a superblock.
 * Throws: ILLEGAL_STATE when the table's definition is more than a superblock holds.
 */
export function encodeSuperblock(superblock: Superblock): Uint8Array {
  const { identity, clockMark, walGenerations } = superblock
  const stored: StoredSuperblock = {
    format: FORMAT,
    identity: { ...identity, columns: identity.columns.map(encodeColumnDefinition) },
    clockMark,
    walGenerations,
  }
  const json = utf8Encode(JSON.stringify(stored))
  const bytes = new Uint8Array(HEADER_BYTES + json.length)
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
  bytes.set(json, HEADER_BYTES)
  view.setUint32(4, crc32c(bytes, 8), true)
  return bytes
}

/** The superblock of a stored form. Throws: CORRUPTION when the bytes are not what was written. */
export function decodeSuperblock(bytes: Uint8Array): Superblock {
  if (bytes.length < HEADER_BYTES) throw bad('shorter than its header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw bad('wrong magic')
  const expected = view.getUint32(4, true)
  const found = crc32c(bytes, 8)
  if (expected !== found) throw bad(`checksum is ${expected}, bytes give ${found}`)
  if (view.getUint32(8, true) !== bytes.length - HEADER_BYTES) throw bad('wrong size')
  const json = utf8DecodeStrict(bytes.subarray(HEADER_BYTES))
  if (json === undefined) throw bad('not UTF-8')
  const stored = JSON.parse(json) as StoredSuperblock
  if (stored.format !== FORMAT) {
    throw bad(`stored in format ${stored.format}, this program reads ${FORMAT}`)
  }
  return {
    identity: {
      ...stored.identity,
      columns: stored.identity.columns.map(decodeColumnDefinition),
    },
    clockMark: stored.clockMark,
    walGenerations: stored.walGenerations,
  }
}

function bad(what: string): CorruptionError {
  return new CorruptionError(`superblock: ${what}`)
}
