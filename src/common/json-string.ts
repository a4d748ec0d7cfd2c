/**
 * Strings as JSON writes them. Hot: bytes are copied in runs, and only what JSON forbids is
 * escaped.
 */

import type { ByteArena } from '../util/arena.ts'
import { utf8SequenceBytes } from '../util/utf8-sequence.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
// U+FFFD in UTF-8.
const REPLACEMENT = Uint8Array.of(0xef, 0xbf, 0xbd)
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

// Bytes that stand for themselves, whatever comes before or behind them.
const isPlain = new Uint8Array(256).fill(1, 0x20, 0x80)
isPlain[QUOTE] = 0
isPlain[BACKSLASH] = 0

/**
 * Appends UTF-8 `source[start, end)` as a JSON string, quotes included. Bytes that are not of
 * UTF-8, which no string should have, become U+FFFD: what is written is JSON in any case.
 */
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

/**
 * The offset of the first byte in `[start, end)` that JSON escapes or that is not of UTF-8, or
 * `end`.
 */
function plainEnd(source: Uint8Array, start: number, end: number): number {
  let i = start
  for (;;) {
    while (i < end && isPlain[source[i]] === 1) i++
    if (i === end || source[i] < 0x80) return i
    const length = utf8SequenceBytes(source, i)
    if (length === 0 || i + length > end) return i
    i += length
  }
}

/** Appends what stands for a byte that cannot stand for itself. */
function appendEscape(arena: ByteArena, byte: number): void {
  if (byte >= 0x80) {
    arena.append(REPLACEMENT, 0, REPLACEMENT.length)
    return
  }
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
