/**
 * Tokens that go on with a list of tables: the last name shown, and a checksum by which a token of
 * another list, or one that was changed, is told.
 */

import { decodeBase64Url, encodeBase64Url } from '../common/base64-url.ts'
import { invalidArgument } from '../common/status.ts'
import { utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'

const VERSION = 1
const HEADER_BYTES = 5

/** Which tables are listed. */
export interface TableFilter {
  readonly namePrefix: string
  readonly isSoftDeleted: boolean
}

/** The token that goes on behind `lastName` in a list. */
export function encodeListToken(filter: TableFilter, lastName: string): string {
  const name = utf8Encode(lastName)
  const bytes = new Uint8Array(HEADER_BYTES + name.length)
  bytes[0] = VERSION
  bytes.set(name, HEADER_BYTES)
  new DataView(bytes.buffer).setUint32(1, checksumOf(filter, name))
  return encodeBase64Url(bytes)
}

/** The last name shown. Throws: INVALID_ARGUMENT when the token is not of this list. */
export function decodeListToken(filter: TableFilter, token: string): string {
  const bytes = decodeBase64Url(token)
  if (bytes !== null && bytes.length > HEADER_BYTES && bytes[0] === VERSION) {
    const name = bytes.subarray(HEADER_BYTES)
    const text = utf8DecodeStrict(name)
    const checksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
    if (text !== undefined && checksum === checksumOf(filter, name)) return text
  }
  throw invalidArgument('page_token is not one of this list')
}

function checksumOf({ namePrefix, isSoftDeleted }: TableFilter, name: Uint8Array): number {
  const list = utf8Encode(JSON.stringify([namePrefix, isSoftDeleted]))
  return crc32c(name, 0, name.length, crc32c(list, 0, list.length, 0))
}
