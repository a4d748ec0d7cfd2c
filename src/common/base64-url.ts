/** Bytes as text that needs no escaping in a URL: base64url without padding (RFC 4648, 5). */

import { ByteArena } from '../util/arena.ts'
import { utf8Decode, utf8Encode } from '../util/bytes.ts'
import { appendBase64, decodeBase64 } from './base64.ts'

/** The text of bytes. */
export function encodeBase64Url(bytes: Uint8Array): string {
  const arena = new ByteArena(Math.ceil(bytes.length / 3) * 4)
  appendBase64(arena, bytes, 0, bytes.length)
  const text = utf8Decode(arena.bytes.subarray(0, arena.length))
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The bytes of a text, or null when no bytes have that text. */
export function decodeBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null
  const source = utf8Encode(text)
  const arena = new ByteArena(source.length)
  if (!decodeBase64(source, 0, source.length, arena)) return null
  return arena.bytes.slice(0, arena.length)
}
