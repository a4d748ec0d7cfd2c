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

// Bytes that stand for themselves.
const isPlain = new Uint8Array(256).fill(1, 0x20)
isPlain[QUOTE] = 0
isPlain[BACKSLASH] = 0

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
  for (;;) {
    const runEnd = plainEnd(source, runStart, end)
    arena.append(source, runStart, runEnd)
    if (runEnd === end) break
    appendEscape(arena, source[runEnd])
    runStart = runEnd + 1
  }
  arena.reserve(1)
  arena.bytes[arena.length++] = QUOTE
}

/** The offset of the first byte in `[start, end)` that JSON escapes, or `end`. */
function plainEnd(source: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && isPlain[source[i]] === 1) i++
  return i
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
