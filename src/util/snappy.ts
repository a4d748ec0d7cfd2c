/**
 * Snappy, the raw format: literals and copies of what came before, found by a hash of four bytes.
 * Hot.
 *
 *   length    of the plain bytes, a varint
 *   elements  the low two bits of the first byte say which:
 *        0    literals: count − 1 in the other six bits, or 60 … 63 and it follows in 1 … 4 bytes
 *        1    a copy: length − 4 in three bits, distance in three bits and a byte
 *        2    a copy: length − 1 in six bits, distance in two bytes
 *        3    a copy: length − 1 in six bits, distance in four bytes; never written
 */

const MATCH_MIN = 4
const DISTANCE_MAX = 65_535
const COPY_MAX = 64
const HASH_BITS = 13

const places = new Int32Array(1 << HASH_BITS)

/** Compresses bytes. Returns: fresh bytes. Cost: some nanoseconds a byte. */
export function compressSnappy(source: Uint8Array): Uint8Array {
  const length = source.length
  const target = new Uint8Array(32 + length + Math.ceil(length / 6))
  places.fill(-1)
  let at = 0
  let left = length
  for (; left >= 0x80; left >>>= 7) target[at++] = (left & 0x7f) | 0x80
  target[at++] = left
  let anchor = 0
  let i = 0
  while (i + MATCH_MIN <= length) {
    const four = fourBytes(source, i)
    const hash = Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS)
    const place = places[hash]
    places[hash] = i
    if (place < 0 || i - place > DISTANCE_MAX || fourBytes(source, place) !== four) {
      // Where nothing has matched for long, nothing is likely to.
      i += 1 + ((i - anchor) >>> 6)
      continue
    }
    let matched = MATCH_MIN
    while (i + matched < length && source[place + matched] === source[i + matched]) matched++
    at = putLiterals(source, anchor, i, target, at)
    at = putCopies(i - place, matched, target, at)
    i += matched
    anchor = i
  }
  at = putLiterals(source, anchor, length, target, at)
  return target.subarray(0, at)
}

function fourBytes(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

function putLiterals(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  offset: number,
): number {
  if (start === end) return offset
  const rest = end - start - 1
  let at = offset
  if (rest < 60) {
    target[at++] = rest << 2
  } else {
    const lengthBytes = rest < 2 ** 8 ? 1 : rest < 2 ** 16 ? 2 : rest < 2 ** 24 ? 3 : 4
    target[at++] = (59 + lengthBytes) << 2
    for (let i = 0; i < lengthBytes; i++) target[at++] = rest >>> (i * 8)
  }
  for (let i = start; i < end; i++) target[at++] = source[i]
  return at
}

/** Writes a match as copies of at most 64 bytes, none below four. */
function putCopies(distance: number, matched: number, target: Uint8Array, offset: number): number {
  let at = offset
  let left = matched
  while (left > 0) {
    // What would leave less than four for the last one leaves four.
    const length = left <= COPY_MAX ? left : left < COPY_MAX + MATCH_MIN ? 60 : COPY_MAX
    if (length < 12 && distance < 2048) {
      target[at++] = 1 | ((length - 4) << 2) | ((distance >>> 8) << 5)
      target[at++] = distance & 0xff
    } else {
      target[at++] = 2 | ((length - 1) << 2)
      target[at++] = distance & 0xff
      target[at++] = distance >>> 8
    }
    left -= length
  }
  return at
}

/**
 * Undoes `compressSnappy`. Returns: whether `source` holds exactly the bytes that fill `target`.
 */
export function decompressSnappy(source: Uint8Array, target: Uint8Array): boolean {
  let from = 0
  let length = 0
  for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
    if (from === source.length || shift > 28) return false
    byte = source[from++]
    length += (byte & 0x7f) * 2 ** shift
  }
  if (length !== target.length) return false
  let to = 0
  while (from < source.length) {
    const tag = source[from++]
    if ((tag & 3) === 0) {
      let count = tag >>> 2
      if (count >= 60) {
        const lengthBytes = count - 59
        count = littleEndian(source, from, lengthBytes)
        from += lengthBytes
      }
      count++
      if (from + count > source.length || to + count > target.length) return false
      for (const end = from + count; from < end; ) target[to++] = source[from++]
      continue
    }
    const isShort = (tag & 3) === 1
    const distanceBytes = isShort ? 1 : (tag & 3) === 2 ? 2 : 4
    const copied = isShort ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
    let distance = littleEndian(source, from, distanceBytes)
    if (isShort) distance += (tag >>> 5) << 8
    from += distanceBytes
    if (from > source.length || distance === 0 || distance > to) return false
    if (to + copied > target.length) return false
    for (const end = to + copied; to < end; to++) target[to] = target[to - distance]
  }
  return to === target.length
}

/** An unsigned integer of a few bytes; those behind the end count as zero. */
function littleEndian(bytes: Uint8Array, at: number, byteCount: number): number {
  let value = 0
  for (let i = 0; i < byteCount; i++) value += (bytes[at + i] ?? 0) * 2 ** (i * 8)
  return value
}
