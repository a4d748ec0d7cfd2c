/** Checks UTF-8 sequence by sequence. Hot. */

/**
 * Bytes of the well-formed UTF-8 sequence that begins at `position` with a byte ≥ 0x80; 0 when
 * there is none (Unicode 16, table 3-7). Requires: a byte below 0x80 lies behind the text.
 */
export function utf8SequenceBytes(bytes: Uint8Array, position: number): number {
  const first = bytes[position]
  const second = bytes[position + 1]
  if (first < 0xc2 || first > 0xf4 || (second & 0xc0) !== 0x80) return 0
  if (first < 0xe0) return 2
  if ((bytes[position + 2] & 0xc0) !== 0x80) return 0
  if (first < 0xf0) {
    if (first === 0xe0 && second < 0xa0) return 0
    return first === 0xed && second > 0x9f ? 0 : 3
  }
  if ((bytes[position + 3] & 0xc0) !== 0x80) return 0
  if (first === 0xf0 && second < 0x90) return 0
  return first === 0xf4 && second > 0x8f ? 0 : 4
}

/** Bytes that a sequence which begins with this byte ≥ 0x80 has; 0 when none begins so. */
export function utf8LengthOf(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 0
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
