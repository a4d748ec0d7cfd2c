/**
 * Tokens that go on with a scan where a page of it ended. They hold all there is to know, so that
 * any front can take any page at any time within the history window.
 *
 *   offset  bytes  field (big-endian)
 *        0      1  kind            1
 *        1     16  table id
 *       17     16  digest          of the request's other members
 *       33      8  snapshot        f64
 *       41      8  owed            f64, rows still owed by `limit`; infinity without one
 *       49      1  flags           1: in one tablet, named by its partition key; 2: behind a key
 *       50      2  columnCount
 *       52      …  column ids, u32 each
 *        …      …  partition key, bytes behind their count u32
 *        …      …  encoded key, bytes behind their count u32
 *
 * Signed as in signed-token.ts.
 * A token carries no authority: it is taken only with a request that could have made it.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { invalidArgument, type StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { fromHex, toHex } from '../util/bytes.ts'
import { openToken, signToken, TOKEN_KINDS } from './signed-token.ts'

const FIXED_BYTES = 52
const DIGEST_BYTES = 16
const HAS_TABLET = 1
const HAS_KEY = 2

/** Where and how a scan goes on. */
export interface PageToken {
  readonly snapshot: Timestamp
  readonly columnIds: readonly number[]
  /** Rows still owed by the request's limit; infinity without one. */
  readonly owed: number
  /**
   * Partition key, hexadecimal, at which the tablet begins that is read next; null: all tablets are
   * read, in key order.
   */
  readonly partitionKeyStart: string | null
  /** Encoded key of the last row before; null: from the beginning. */
  readonly afterKey: Uint8Array | null
}

/**
 * Digest of the request that a token goes on with. Requires: `canonical` is equal for equal
 * requests.
 */
export async function digestRequest(canonical: string): Promise<Uint8Array> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical))
  return new Uint8Array(digest).slice(0, DIGEST_BYTES)
}

/** The text of a token for requests of this digest to this table. */
export async function encodePageToken(
  table: TableEntry,
  digest: Uint8Array,
  token: PageToken,
): Promise<string> {
  const partitionKey = fromHex(token.partitionKeyStart ?? '')
  const afterKey = token.afterKey ?? new Uint8Array(0)
  const idBytes = token.columnIds.length * 4
  const bytes = new Uint8Array(FIXED_BYTES + idBytes + 8 + partitionKey.length + afterKey.length)
  const view = new DataView(bytes.buffer)
  bytes[0] = TOKEN_KINDS.PAGE
  bytes.set(fromHex(table.id), 1)
  bytes.set(digest, 17)
  view.setFloat64(33, token.snapshot)
  view.setFloat64(41, token.owed)
  bytes[49] =
    (token.partitionKeyStart === null ? 0 : HAS_TABLET) | (token.afterKey === null ? 0 : HAS_KEY)
  view.setUint16(50, token.columnIds.length)
  for (const [i, id] of token.columnIds.entries()) view.setUint32(FIXED_BYTES + i * 4, id)
  let offset = FIXED_BYTES + idBytes
  for (const key of [partitionKey, afterKey]) {
    view.setUint32(offset, key.length)
    bytes.set(key, offset + 4)
    offset += 4 + key.length
  }
  return signToken(table, bytes)
}

/**
 * The token of a text.
 *
 * Throws: INVALID_ARGUMENT when it was not made by a request of this digest to this table.
 */
export async function decodePageToken(
  table: TableEntry,
  digest: Uint8Array,
  text: string,
): Promise<PageToken> {
  const bytes = await openToken(table, text)
  const isPage = bytes !== null && bytes[0] === TOKEN_KINDS.PAGE
  if (!isPage || bytes.length < FIXED_BYTES + 8 || toHex(bytes.subarray(1, 17)) !== table.id) {
    throw foreignToken()
  }
  if (toHex(bytes.subarray(17, 33)) !== toHex(digest)) {
    throw invalidArgument(
      'page_token is of another request: all of its members but page_size must be equal',
    )
  }
  return readFields(bytes)
}

/** Requires: the bytes are what `encodePageToken` signed. */
function readFields(bytes: Uint8Array): PageToken {
  const view = new DataView(bytes.buffer)
  const columnIds: number[] = []
  let offset = FIXED_BYTES
  for (let count = view.getUint16(50); count > 0; count--, offset += 4) {
    columnIds.push(view.getUint32(offset))
  }
  const keyStart = offset + 4
  const keyEnd = keyStart + view.getUint32(offset)
  return {
    snapshot: view.getFloat64(33),
    columnIds,
    owed: view.getFloat64(41),
    partitionKeyStart:
      (bytes[49] & HAS_TABLET) === 0 ? null : toHex(bytes.subarray(keyStart, keyEnd)),
    afterKey: (bytes[49] & HAS_KEY) === 0 ? null : bytes.slice(keyEnd + 4),
  }
}

function foreignToken(): StatusError {
  return invalidArgument('page_token is not one that this table gave out')
}
