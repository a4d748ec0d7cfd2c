/**
 * Strings as JSON writes them. Hot: bytes are copied in runs, and only what JSON forbids is
 * escaped.
 */

import type { ByteArena } from '../util/arena.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const HEX = '0123456789abcdef'

// The letter behind the backslash for characters that have a short escape, else 0.
const shortEscapes = new Uint8Array(128)
shortEscapes[QUOTE] = QUOTE
shortEscapes[BACKSLASH] = BACKSLASH
shortEscapes[0x08] = 0x62
shortEscapes[0x09] = 0x74
shortEscapes[0x0a] = 0x6e
shortEscapes[0x0c] = 0x66
shortEscapes[0x0d] = 0x72

/** Appends UTF-8 `source[start, end)` as a JSON string, quotes included. Requires: it is UTF-8. */
export function appendJsonString(
  arena: ByteArena,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  arena.reserve(end - start + 2)
  arena.bytes[arena.length++] = QUOTE
  let runStart = start
  for (let i = start; i < end; i++) {
    const byte = source[i]
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) continue
    arena.append(source, runStart, i)
    appendEscape(arena, byte)
    runStart = i + 1
  }
  arena.append(source, runStart, end)
  arena.reserve(1)
  arena.bytes[arena.length++] = QUOTE
}

function appendEscape(arena: ByteArena, byte: number): void {
  arena.reserve(6)
  const bytes = arena.bytes
  let offset = arena.length
  bytes[offset++] = BACKSLASH
  if (shortEscapes[byte] !== 0) {
    bytes[offset++] = shortEscapes[byte]
  } else {
    bytes[offset++] = 0x75
    bytes[offset++] = 0x30
    bytes[offset++] = 0x30
    bytes[offset++] = HEX.charCodeAt(byte >> 4)
    bytes[offset++] = HEX.charCodeAt(byte & 15)
  }
  arena.length = offset
}
