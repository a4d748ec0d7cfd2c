/**
 * The results row: remembered results of ops whose WAL generation was dropped
 * (docs/formats/results.md). Integers are little-endian; a time is a safe integer as 64 bits.
 *
 *   offset  bytes  field
 *        0      4  magic "NRS1"
 *        4      4  crc          CRC-32C of everything behind this field
 *        8      4  resultCount
 *       12      …  results, oldest first
 *
 *   result   flags (u8: 1: the front made the key; 2: the op has a timestamp) │ expiresAt │
 *            timestamp │ counts (u32 × 7) │ share (u32) │ keyBytes (u32) │ digestBytes (u32) │
 *            errorCount (u32) │ key │ digest │ per error: row (u32), column id (i32), code (u8)
 */

import { TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import { CorruptionError } from '../common/status.ts'
import { utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import type { ResultCache, StoredResult } from './result-cache.ts'
import type { WriteResult } from './tablet-request.ts'

const MAGIC = 0x3153524e
const HEADER_BYTES = 12
const RESULT_BYTES = 61
const ERROR_BYTES = 9
const IS_INTERNAL = 1
const HAS_TIMESTAMP = 2

/** A results row. */
export interface StoredResults {
  readonly bytes: Uint8Array
  /** When the last of its results expires; TIMESTAMP_MIN when there is none. */
  readonly until: Timestamp
}

/** The results row of what a cache remembers and has not expired at `now`. */
export function encodeResults(cache: ResultCache, now: Timestamp): StoredResults {
  const parts: Uint8Array[] = []
  let until: Timestamp = TIMESTAMP_MIN
  cache.forEach((key, result, expiresAt) => {
    if (expiresAt <= now) return
    parts.push(encodeResult({ key, result, expiresAt }))
    until = Math.max(until, expiresAt)
  })
  let length = HEADER_BYTES
  for (const part of parts) length += part.length
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(8, parts.length, true)
  let offset = HEADER_BYTES
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  view.setUint32(4, crc32c(bytes, 8), true)
  return { bytes, until }
}

function encodeResult({ key, result, expiresAt }: StoredResult): Uint8Array {
  const keyBytes = utf8Encode(key.key)
  const digest = utf8Encode(key.digest)
  const { rows, columnIds, codes } = result.errors
  const errorsAt = RESULT_BYTES + keyBytes.length + digest.length
  const bytes = new Uint8Array(errorsAt + rows.length * ERROR_BYTES)
  const view = new DataView(bytes.buffer)
  bytes[0] = (key.isInternal ? IS_INTERNAL : 0) | (result.timestamp === null ? 0 : HAS_TIMESTAMP)
  setTime(view, 1, expiresAt)
  setTime(view, 9, result.timestamp ?? 0)
  const { inserted, upserted, updated, deleted, ignored, failed, created } = result
  const counts = [inserted, upserted, updated, deleted, ignored, failed, created]
  for (let i = 0; i < counts.length; i++) view.setUint32(17 + i * 4, counts[i], true)
  view.setUint32(45, key.share, true)
  view.setUint32(49, keyBytes.length, true)
  view.setUint32(53, digest.length, true)
  view.setUint32(57, rows.length, true)
  bytes.set(keyBytes, RESULT_BYTES)
  bytes.set(digest, RESULT_BYTES + keyBytes.length)
  for (let i = 0, offset = errorsAt; i < rows.length; i++, offset += ERROR_BYTES) {
    view.setUint32(offset, rows[i], true)
    view.setInt32(offset + 4, columnIds[i], true)
    view.setUint8(offset + 8, codes[i])
  }
  return bytes
}

/** The results of a results row, oldest first. Throws: CORRUPTION. */
export function decodeResults(bytes: Uint8Array): StoredResult[] {
  if (bytes.length < HEADER_BYTES) throw bad('shorter than their header')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC) throw bad('wrong magic')
  const expected = view.getUint32(4, true)
  const found = crc32c(bytes, 8)
  if (expected !== found) throw bad(`checksum is ${expected}, bytes give ${found}`)
  const results: StoredResult[] = []
  let offset = HEADER_BYTES
  for (let left = view.getUint32(8, true); left > 0; left--) {
    if (offset + RESULT_BYTES > bytes.length) throw bad('end within a result')
    const end =
      offset +
      RESULT_BYTES +
      view.getUint32(offset + 49, true) +
      view.getUint32(offset + 53, true) +
      view.getUint32(offset + 57, true) * ERROR_BYTES
    if (end > bytes.length) throw bad('end within a result')
    results.push(decodeResult(bytes.subarray(offset, end)))
    offset = end
  }
  if (offset !== bytes.length) throw bad('bytes behind the last one')
  return results
}

function decodeResult(bytes: Uint8Array): StoredResult {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const digestAt = RESULT_BYTES + view.getUint32(49, true)
  const errorsAt = digestAt + view.getUint32(53, true)
  const key = utf8DecodeStrict(bytes.subarray(RESULT_BYTES, digestAt))
  const digest = utf8DecodeStrict(bytes.subarray(digestAt, errorsAt))
  if (key === undefined || digest === undefined) throw bad('a key is not UTF-8')
  const count = (index: number) => view.getUint32(17 + index * 4, true)
  return {
    key: { key, digest, share: view.getUint32(45, true), isInternal: hasFlag(bytes, IS_INTERNAL) },
    expiresAt: getTime(view, 1),
    result: {
      inserted: count(0),
      upserted: count(1),
      updated: count(2),
      deleted: count(3),
      ignored: count(4),
      failed: count(5),
      created: count(6),
      timestamp: hasFlag(bytes, HAS_TIMESTAMP) ? getTime(view, 9) : null,
      errors: decodeErrors(view, errorsAt, view.getUint32(57, true)),
      isReplayed: true,
    },
  }
}

function decodeErrors(view: DataView, start: number, count: number): WriteResult['errors'] {
  const errors = {
    rows: new Uint32Array(count),
    codes: new Uint8Array(count),
    columnIds: new Int32Array(count),
  }
  for (let i = 0, offset = start; i < count; i++, offset += ERROR_BYTES) {
    errors.rows[i] = view.getUint32(offset, true)
    errors.columnIds[i] = view.getInt32(offset + 4, true)
    errors.codes[i] = view.getUint8(offset + 8)
  }
  return errors
}

function hasFlag(bytes: Uint8Array, flag: number): boolean {
  return (bytes[0] & flag) !== 0
}

function setTime(view: DataView, offset: number, time: Timestamp): void {
  view.setUint32(offset, time >>> 0, true)
  view.setUint32(offset + 4, Math.floor(time / 2 ** 32), true)
}

function getTime(view: DataView, offset: number): Timestamp {
  return view.getUint32(offset + 4, true) * 2 ** 32 + view.getUint32(offset, true)
}

function bad(what: string): CorruptionError {
  return new CorruptionError(`remembered results: ${what}`)
}
