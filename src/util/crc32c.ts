/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), sixteen bytes a step. Hot.
 *
 * Sixteen tables: table k answers what a byte does to the remainder when k more bytes follow it in
 * the step, so that the sixteen look-ups of a step do not wait for each other. Whole words are
 * read, which needs a little-endian machine; every one that runs this is.
 */

const POLYNOMIAL = 0x82f63b78
const TABLE_COUNT = 16
const TABLE = makeTables()

function makeTables(): Int32Array {
  const tables = new Int32Array(256 * TABLE_COUNT)
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte
    for (let bit = 0; bit < 8; bit++) {
      remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ POLYNOMIAL
    }
    tables[byte] = remainder
  }
  for (let index = 256; index < tables.length; index++) {
    const before = tables[index - 256]
    tables[index] = (before >>> 8) ^ tables[before & 0xff]
  }
  return tables
}

/**
 * CRC-32C of `bytes[start, end)`, as an unsigned integer. `before` is the CRC of what precedes
 * these bytes, so that the CRC of joined slices is taken slice by slice.
 *
 * Cost: about a nanosecond a byte, no allocation but one view.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  const aligned = start + (-(bytes.byteOffset + start) & 3)
  if (end - aligned < TABLE_COUNT) return ~crcOfBytes(bytes, start, end, ~before) >>> 0
  let crc = crcOfBytes(bytes, start, aligned, ~before)
  const wordCount = ((end - aligned) >>> 4) << 2
  crc = crcOfWords(new Int32Array(bytes.buffer, bytes.byteOffset + aligned, wordCount), crc)
  return ~crcOfBytes(bytes, aligned + wordCount * 4, end, crc) >>> 0
}

function crcOfBytes(bytes: Uint8Array, start: number, end: number, before: number): number {
  let crc = before
  for (let i = start; i < end; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[i]) & 0xff]
  return crc
}

function crcOfWords(words: Int32Array, before: number): number {
  const table = TABLE
  const count = words.length
  let crc = before
  for (let i = 0; i < count; i += 4) {
    const a = words[i] ^ crc
    const b = words[i + 1]
    const c = words[i + 2]
    const d = words[i + 3]
    crc =
      table[3840 + (a & 0xff)] ^
      table[3584 + ((a >>> 8) & 0xff)] ^
      table[3328 + ((a >>> 16) & 0xff)] ^
      table[3072 + (a >>> 24)] ^
      table[2816 + (b & 0xff)] ^
      table[2560 + ((b >>> 8) & 0xff)] ^
      table[2304 + ((b >>> 16) & 0xff)] ^
      table[2048 + (b >>> 24)] ^
      table[1792 + (c & 0xff)] ^
      table[1536 + ((c >>> 8) & 0xff)] ^
      table[1280 + ((c >>> 16) & 0xff)] ^
      table[1024 + (c >>> 24)] ^
      table[768 + (d & 0xff)] ^
      table[512 + ((d >>> 8) & 0xff)] ^
      table[256 + ((d >>> 16) & 0xff)] ^
      table[d >>> 24]
  }
  return crc
}
