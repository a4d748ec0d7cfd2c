/**
 * BINARY as text: base64 (RFC 4648). Written in the standard alphabet with padding; read in the
 * standard or the URL alphabet, not both in one value, with or without padding, and only as an
 * encoder would write it: bits left over must be zero, so that no two texts are the same bytes by
 * accident. Hot.
 */

import type { ByteArena } from '../util/arena.ts'

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const URL_DIFFERENCE = '-_'
const PADDING = 0x3d

const INVALID = 0x100
const IS_STANDARD = 0x40
const IS_URL = 0x80

const encodeTable = new Uint8Array(64)
// Six bits of value; a flag on the characters that only one alphabet has.
const decodeTable = new Uint16Array(256).fill(INVALID)
for (let i = 0; i < 64; i++) {
  const character = STANDARD.charCodeAt(i)
  encodeTable[i] = character
  decodeTable[character] = i < 62 ? i : i | IS_STANDARD
  if (i >= 62) decodeTable[URL_DIFFERENCE.charCodeAt(i - 62)] = i | IS_URL
}

/**
 * Appends the bytes that base64 text `[start, end)` of `source` stands for.
 *
 * Returns: whether it is base64; if not, the arena is as it was.
 */
export function decodeBase64(
  source: Uint8Array,
  start: number,
  end: number,
  arena: ByteArena,
): boolean {
  const textEnd = unpaddedEnd(source, start, end)
  const tail = (textEnd - start) & 3
  if (textEnd < 0 || tail === 1) return false
  arena.reserve(Math.ceil(((textEnd - start) * 3) / 4))
  const target = arena.bytes
  let offset = arena.length
  let flags = 0
  const wholeEnd = textEnd - tail
  for (let i = start; i < wholeEnd; i += 4) {
    const a = decodeTable[source[i]]
    const b = decodeTable[source[i + 1]]
    const c = decodeTable[source[i + 2]]
    const d = decodeTable[source[i + 3]]
    flags |= a | b | c | d
    target[offset] = (a << 2) | ((b & 0x3f) >> 4)
    target[offset + 1] = (b << 4) | ((c & 0x3f) >> 2)
    target[offset + 2] = (c << 6) | (d & 0x3f)
    offset += 3
  }
  if (tail > 0) {
    const a = decodeTable[source[wholeEnd]]
    const b = decodeTable[source[wholeEnd + 1]]
    const c = tail === 3 ? decodeTable[source[wholeEnd + 2]] : 0
    flags |= a | b | c
    if (((tail === 3 ? c << 6 : b << 4) & 0xff) !== 0) return false
    target[offset++] = (a << 2) | ((b & 0x3f) >> 4)
    if (tail === 3) target[offset++] = (b << 4) | ((c & 0x3f) >> 2)
  }
  if ((flags & INVALID) !== 0 || (flags & (IS_STANDARD | IS_URL)) === (IS_STANDARD | IS_URL)) {
    return false
  }
  arena.length = offset
  return true
}

/**
 * Where padding begins, which then must fill the text up to a multiple of four; `end` without; −1
 * if wrong.
 */
function unpaddedEnd(source: Uint8Array, start: number, end: number): number {
  if (end === start || source[end - 1] !== PADDING) return end
  if (((end - start) & 3) !== 0) return -1
  return source[end - 2] === PADDING ? end - 2 : end - 1
}

/** Appends `source[start, end)` as base64, standard alphabet, padded. */
export function appendBase64(
  arena: ByteArena,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  arena.reserve(Math.ceil((end - start) / 3) * 4)
  const target = arena.bytes
  let offset = arena.length
  let i = start
  for (; i + 2 < end; i += 3) {
    const bits = (source[i] << 16) | (source[i + 1] << 8) | source[i + 2]
    target[offset] = encodeTable[bits >> 18]
    target[offset + 1] = encodeTable[(bits >> 12) & 0x3f]
    target[offset + 2] = encodeTable[(bits >> 6) & 0x3f]
    target[offset + 3] = encodeTable[bits & 0x3f]
    offset += 4
  }
  if (i < end) {
    const hasTwo = i + 1 < end
    const bits = (source[i] << 16) | (hasTwo ? source[i + 1] << 8 : 0)
    target[offset] = encodeTable[bits >> 18]
    target[offset + 1] = encodeTable[(bits >> 12) & 0x3f]
    target[offset + 2] = hasTwo ? encodeTable[(bits >> 6) & 0x3f] : PADDING
    target[offset + 3] = PADDING
    offset += 4
  }
  arena.length = offset
}
