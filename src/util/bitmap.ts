/** Bitmaps: bit i is bit i mod 8 of byte ⌊i / 8⌋, least significant first. Hot. */

/** Bytes that hold `count` bits. */
export function bitmapBytes(count: number): number {
  return (count + 7) >>> 3
}

/** Whether bit `index` is 1. */
export function getBit(bitmap: Uint8Array, index: number): boolean {
  return (bitmap[index >>> 3] & (1 << (index & 7))) !== 0
}

/** Makes bit `index` 1. */
export function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] |= 1 << (index & 7)
}

/** Makes bit `index` 0. */
export function clearBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] &= ~(1 << (index & 7))
}

/** Makes bits `[start, end)` 1. */
export function setBits(bitmap: Uint8Array, start: number, end: number): void {
  let i = start
  while (i < end && (i & 7) !== 0) setBit(bitmap, i++)
  const lastByte = end >>> 3
  if (i < end && i >>> 3 < lastByte) {
    bitmap.fill(0xff, i >>> 3, lastByte)
    i = lastByte << 3
  }
  while (i < end) setBit(bitmap, i++)
}

/**
 * Copies bits `[start, end)` to `targetStart`; a missing bitmap is all ones. Returns how many were
 * zero. Requires: the bits there are zero.
 */
export function copyBits(
  source: Uint8Array | null,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
): number {
  if (source === null) {
    setBits(target, targetStart, targetStart + end - start)
    return 0
  }
  let zeros = 0
  let i = start
  let out = targetStart
  for (; i < end && (out & 7) !== 0; i++, out++) {
    if (getBit(source, i)) setBit(target, out)
    else zeros++
  }
  // A byte of the target at a time, which lies in one byte of the source or across two.
  const shift = i & 7
  for (; i + 8 <= end; i += 8, out += 8) {
    const at = i >>> 3
    const byte =
      shift === 0 ? source[at] : ((source[at] >>> shift) | (source[at + 1] << (8 - shift))) & 0xff
    target[out >>> 3] = byte
    zeros += 8 - onesOf(byte)
  }
  for (; i < end; i++, out++) {
    if (getBit(source, i)) setBit(target, out)
    else zeros++
  }
  return zeros
}

/** How many of the bits `[start, end)` are zero. */
export function countZeros(bitmap: Uint8Array, start: number, end: number): number {
  let zeros = 0
  let i = start
  for (; i < end && (i & 7) !== 0; i++) if (!getBit(bitmap, i)) zeros++
  for (; i + 8 <= end; i += 8) zeros += 8 - onesOf(bitmap[i >>> 3])
  for (; i < end; i++) if (!getBit(bitmap, i)) zeros++
  return zeros
}

function onesOf(byte: number): number {
  const pairs = byte - ((byte >>> 1) & 0x55)
  const quads = (pairs & 0x33) + ((pairs >>> 2) & 0x33)
  return (quads + (quads >>> 4)) & 0x0f
}
