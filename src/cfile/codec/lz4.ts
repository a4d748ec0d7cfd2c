/**
 * LZ4 blocks: literals and copies of what came before, found by a hash of four bytes. Hot.
 *
 *   sequence  token     1 byte: literal count × 16 + match length − 4; 15 says that bytes to add
 *                       follow, up to one that is not 255
 *             literals
 *             distance  2 bytes, little-endian; the last sequence ends before it
 *
 * The last five bytes are literals, and no match begins in the last twelve.
 */

const MATCH_MIN = 4
const DISTANCE_MAX = 65_535
const LAST_LITERALS = 5
const LAST_MATCH_BYTES = 12
const NIBBLE_MAX = 15
const HASH_BITS = 13

const places = new Int32Array(1 << HASH_BITS)

/** Compresses bytes. Returns: fresh bytes. Cost: some nanoseconds a byte. */
export function compressLz4(source: Uint8Array): Uint8Array {
  const length = source.length
  const target = new Uint8Array(length + Math.ceil(length / 255) + 16)
  places.fill(-1)
  let at = 0
  let anchor = 0
  let i = 0
  while (i <= length - LAST_MATCH_BYTES) {
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
    const matchMax = length - LAST_LITERALS - i
    while (matched < matchMax && source[place + matched] === source[i + matched]) matched++
    at = putLiterals(source, anchor, i, matched - MATCH_MIN, target, at)
    target[at++] = (i - place) & 0xff
    target[at++] = (i - place) >>> 8
    if (matched - MATCH_MIN >= NIBBLE_MAX) {
      at = putLength(matched - MATCH_MIN - NIBBLE_MAX, target, at)
    }
    i += matched
    anchor = i
  }
  at = putLiterals(source, anchor, length, 0, target, at)
  return target.subarray(0, at)
}

function fourBytes(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

/** Writes a token and `source[start, end)`. Returns: where the next byte goes. */
function putLiterals(
  source: Uint8Array,
  start: number,
  end: number,
  matchRest: number,
  target: Uint8Array,
  offset: number,
): number {
  const count = end - start
  let at = offset
  target[at++] = (Math.min(count, NIBBLE_MAX) << 4) | Math.min(matchRest, NIBBLE_MAX)
  if (count >= NIBBLE_MAX) at = putLength(count - NIBBLE_MAX, target, at)
  for (let i = start; i < end; i++) target[at++] = source[i]
  return at
}

function putLength(rest: number, target: Uint8Array, offset: number): number {
  let at = offset
  let left = rest
  for (; left >= 255; left -= 255) target[at++] = 255
  target[at++] = left
  return at
}

// Where the last length that was read ends.
let lengthEnd = 0

function readLength(source: Uint8Array, offset: number): number {
  let at = offset
  let length = NIBBLE_MAX
  let byte = 255
  while (byte === 255 && at < source.length) {
    byte = source[at++]
    length += byte
  }
  lengthEnd = at
  return length
}

/**
 * Undoes `compressLz4`. Returns: whether `source` holds exactly the bytes that fill `target`.
 */
export function decompressLz4(source: Uint8Array, target: Uint8Array): boolean {
  let from = 0
  let to = 0
  while (from < source.length) {
    const token = source[from++]
    let literals = token >>> 4
    if (literals === NIBBLE_MAX) {
      literals = readLength(source, from)
      from = lengthEnd
    }
    if (from + literals > source.length || to + literals > target.length) return false
    for (const end = from + literals; from < end; ) target[to++] = source[from++]
    if (from === source.length) return to === target.length
    if (from + 2 > source.length) return false
    const distance = source[from] | (source[from + 1] << 8)
    from += 2
    let matched = token & NIBBLE_MAX
    if (matched === NIBBLE_MAX) {
      matched = readLength(source, from)
      from = lengthEnd
    }
    matched += MATCH_MIN
    if (distance === 0 || distance > to || to + matched > target.length) return false
    for (const end = to + matched; to < end; to++) target[to] = target[to - distance]
  }
  return false
}
