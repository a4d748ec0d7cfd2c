/** Bytes: comparing, joining, hexadecimal and UTF-8. Hot: plain loops over typed arrays. */

import { assert } from './assert.ts'

const utf8Encoder = new TextEncoder()
const utf8Decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
const utf8Fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** No bytes. Shared: never written to. */
export const EMPTY_BYTES = new Uint8Array(0)

/** Orders two slices as unsigned bytes: negative, zero or positive. A prefix sorts first. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aBytes = aEnd - aStart
  const bBytes = bEnd - bStart
  const common = aBytes < bBytes ? aBytes : bBytes
  for (let i = 0; i < common; i++) {
    const difference = a[aStart + i] - b[bStart + i]
    if (difference !== 0) return difference
  }
  return aBytes - bBytes
}

/** Orders two whole arrays as unsigned bytes. */
export function compareWhole(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, 0, a.length, b, 0, b.length)
}

/** Whether two slices hold the same bytes. */
export function equalBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false
  return true
}

/** Joins arrays into a new one. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let bytes = 0
  for (const part of parts) bytes += part.length
  const joined = new Uint8Array(bytes)
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i++) text += (bytes[i] < 16 ? '0' : '') + bytes[i].toString(16)
  return text
}

/** Bytes of a hexadecimal text of either case. Requires: an even number of hexadecimal digits. */
export function fromHex(hex: string): Uint8Array {
  assert(hex.length % 2 === 0, 'hexadecimal text has an odd length')
  const bytes = new Uint8Array(hex.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    const byte = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16)
    assert(!Number.isNaN(byte), 'not a hexadecimal text')
    bytes[i] = byte
  }
  return bytes
}

/** UTF-8 of a text. Requires: no lone surrogates (they would become U+FFFD). */
export function utf8Encode(text: string): Uint8Array {
  return utf8Encoder.encode(text)
}

/** Text of UTF-8 bytes; what is not UTF-8 becomes U+FFFD. */
export function utf8Decode(bytes: Uint8Array): string {
  return utf8Decoder.decode(bytes)
}

/** Text of UTF-8 bytes, or undefined when they are not UTF-8. */
export function utf8DecodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return utf8Fatal.decode(bytes)
  } catch {
    return undefined
  }
}

/** Rounds up to a multiple of 8. */
export function align8(bytes: number): number {
  return (bytes + 7) & ~7
}
