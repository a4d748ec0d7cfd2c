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
