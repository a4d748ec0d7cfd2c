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

/** The token that goes on behind `lastName` in the list of names with a prefix. */
export function encodeListToken(namePrefix: string, lastName: string): string {
  const name = utf8Encode(lastName)
  const bytes = new Uint8Array(HEADER_BYTES + name.length)
  bytes[0] = VERSION
  bytes.set(name, HEADER_BYTES)
  new DataView(bytes.buffer).setUint32(1, checksumOf(namePrefix, name))
  return encodeBase64Url(bytes)
}

/** The last name shown. Throws: INVALID_ARGUMENT when the token is not of this list. */
export function decodeListToken(namePrefix: string, token: string): string {
  const bytes = decodeBase64Url(token)
  if (bytes !== null && bytes.length > HEADER_BYTES && bytes[0] === VERSION) {
    const name = bytes.subarray(HEADER_BYTES)
    const text = utf8DecodeStrict(name)
    const checksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
    if (text !== undefined && checksum === checksumOf(namePrefix, name)) return text
  }
  throw invalidArgument('page_token is not one of this list')
}

function checksumOf(namePrefix: string, name: Uint8Array): number {
  const prefix = utf8Encode(`${namePrefix}\0`)
  return crc32c(name, 0, name.length, crc32c(prefix, 0, prefix.length, 0))
}
