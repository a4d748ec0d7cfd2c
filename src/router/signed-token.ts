/**
 * Texts that a front gives out and gets back: bytes signed with their table's secret, so that what
 * comes back is what was given out, for this table.
 *
 *   … bytes of the token, the first of which tells its kind
 *   32 HMAC-SHA-256 of everything before, by the table's secret
 */

import { decodeBase64Url, encodeBase64Url } from '../common/base64-url.ts'
import type { TableEntry } from '../common/table.ts'
import { fromHex } from '../util/bytes.ts'

const MAC = { name: 'HMAC', hash: 'SHA-256' } as const
const MAC_BYTES = 32

/** Kinds of tokens: their first bytes. Numbers are never used for another form. */
export const TOKEN_KINDS = { PAGE: 1, SCAN: 2 } as const

/** The text of a token. */
export async function signToken(
  table: TableEntry,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const mac = await crypto.subtle.sign(MAC, await keyOf(table), bytes)
  const signed = new Uint8Array(bytes.length + MAC_BYTES)
  signed.set(bytes)
  signed.set(new Uint8Array(mac), bytes.length)
  return encodeBase64Url(signed)
}

/** The bytes of a token's text. Returns: null when this table's secret did not sign them. */
export async function openToken(
  table: TableEntry,
  text: string,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const signed = decodeBase64Url(text)
  if (signed === null || signed.length <= MAC_BYTES) return null
  const bytes = signed.slice(0, signed.length - MAC_BYTES)
  const mac = signed.slice(bytes.length)
  return (await crypto.subtle.verify(MAC, await keyOf(table), mac, bytes)) ? bytes : null
}

function keyOf(table: TableEntry): Promise<CryptoKey> {
  const secret = fromHex(table.tokenSecret) as Uint8Array<ArrayBuffer>
  return crypto.subtle.importKey('raw', secret, MAC, false, ['sign', 'verify'])
}
