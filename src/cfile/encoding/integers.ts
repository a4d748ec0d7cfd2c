/**
 * Integers of all widths as streams of numbers. Hot. In words, from a multiple of 8 on.
 *
 *   int8, int16, int32   one stream of the lanes
 *   int64                a word that says which, then
 *       OFFSETS          the least lane as two words, then distances from it (offsets.ts)
 *       PLANES           a stream of the low words, one of the high words
 *   int128               a word that says which, then
 *       SHORT            as int64: every lane fits one
 *       PLANES           four streams, from the lowest words to the highest
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import {
  appendNumbers,
  type NumberForm,
  type RunChoice,
  readNumbers,
  readPackedNumbers,
} from './number-stream.ts'
import {
  appendOffsets,
  NARROW_BIAS,
  OFFSET_END,
  OFFSET_FORMS,
  offsetHighWords,
  offsetScale,
  readOffsetForm,
  readOffsetWords,
} from './offsets.ts'
import { scratchHigh, scratchIntegers, scratchLow } from './scratch.ts'

const PAIR_FORMS = { OFFSETS: 0, PLANES: 1 } as const
const QUAD_FORMS = { SHORT: 0, PLANES: 1 } as const
const TWO_32 = 2 ** 32
/** Bases and distances of packed integers are below it: differences of sums are exact doubles. */
const PACKED_END = 2 ** 49
const PACKED_HIGH_END = PACKED_END / TWO_32
/** What NARROW_BIAS is to the bits of a distance. */
const NARROW_SIGN = NARROW_BIAS | 0

let scratchPairs = new Uint32Array(0)

/**
 * Appends integers that are not null.
 *
 * Returns: the form of the stream that has their low bits. Cost: 5 to 15 ns a cell.
 */
export function appendIntegers(cells: ColumnVector, runs: RunChoice, body: BodyWriter): NumberForm {
  const { lanes, rowCount, physical } = cells
  switch (physical) {
    case PHYSICAL.int64:
      return appendPairs(lanes as Uint32Array, rowCount, runs, body)
    case PHYSICAL.int128:
      return appendQuads(lanes as Uint32Array, rowCount, runs, body)
    case PHYSICAL.int8:
      widenInt8(lanes as Int8Array, rowCount)
      return appendNumbers(scratchLow, rowCount, runs, body)
    case PHYSICAL.int16:
      widenInt16(lanes as Int16Array, rowCount)
      return appendNumbers(scratchLow, rowCount, runs, body)
    default:
      return appendNumbers(lanes as Int32Array, rowCount, runs, body)
  }
}

function widenInt8(lanes: Int8Array, count: number): void {
  for (let i = 0; i < count; i++) scratchLow[i] = lanes[i]
}

function widenInt16(lanes: Int16Array, count: number): void {
  for (let i = 0; i < count; i++) scratchLow[i] = lanes[i]
}

function appendPairs(
  pairs: Uint32Array,
  count: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  const offsets = scratchIntegers
  let least = Infinity
  let greatest = -Infinity
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    const integer = (pairs[at + 1] | 0) * TWO_32 + pairs[at]
    if (integer < least) least = integer
    if (integer > greatest) greatest = integer
    offsets[i] = integer
  }
  if (least > -OFFSET_END && greatest < OFFSET_END && greatest - least < OFFSET_END) {
    const leastHigh = Math.floor(least / TWO_32)
    body.appendWord(PAIR_FORMS.OFFSETS)
    body.appendWord(least - leastHigh * TWO_32)
    body.appendWord(leastHigh)
    for (let i = 0; i < count; i++) offsets[i] -= least
    return appendOffsets(offsets, count, greatest - least, runs, body)
  }
  return appendWidePairs(pairs, count, runs, body)
}

/** Appends lanes some of which no double holds. */
function appendWidePairs(
  pairs: Uint32Array,
  count: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  let leastLow = pairs[0]
  let leastHigh = pairs[1] | 0
  let greatestLow = leastLow
  let greatestHigh = leastHigh
  for (let i = 2; i < count * 2; i += 2) {
    const low = pairs[i]
    const high = pairs[i + 1] | 0
    if (high < leastHigh || (high === leastHigh && low < leastLow)) {
      leastLow = low
      leastHigh = high
    }
    if (high > greatestHigh || (high === greatestHigh && low > greatestLow)) {
      greatestLow = low
      greatestHigh = high
    }
  }
  const range = (greatestHigh - leastHigh) * TWO_32 + (greatestLow - leastLow)
  if (range >= OFFSET_END) {
    body.appendWord(PAIR_FORMS.PLANES)
    return appendPairPlanes(pairs, count, runs, body)
  }
  const offsets = scratchIntegers
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    offsets[i] = ((pairs[at + 1] | 0) - leastHigh) * TWO_32 + (pairs[at] - leastLow)
  }
  body.appendWord(PAIR_FORMS.OFFSETS)
  body.appendWord(leastLow)
  body.appendWord(leastHigh)
  return appendOffsets(offsets, count, range, runs, body)
}

function appendPairPlanes(
  pairs: Uint32Array,
  count: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  const low = scratchLow
  const high = scratchHigh
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    low[i] = pairs[at]
    high[i] = pairs[at + 1]
  }
  const form = appendNumbers(low, count, runs, body)
  appendNumbers(high, count, runs, body)
  return form
}

function appendQuads(
  quads: Uint32Array,
  count: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  if (areShort(quads, count)) {
    if (scratchPairs.length < count * 2) scratchPairs = new Uint32Array(count * 2)
    for (let i = 0; i < count; i++) {
      scratchPairs[i * 2] = quads[i * 4]
      scratchPairs[i * 2 + 1] = quads[i * 4 + 1]
    }
    body.appendWord(QUAD_FORMS.SHORT)
    return appendPairs(scratchPairs, count, runs, body)
  }
  body.appendWord(QUAD_FORMS.PLANES)
  let lowForm: NumberForm | undefined
  for (let word = 0; word < 4; word++) {
    for (let i = 0; i < count; i++) scratchLow[i] = quads[i * 4 + word]
    const form = appendNumbers(scratchLow, count, runs, body)
    lowForm ??= form
  }
  return lowForm as NumberForm
}

/** Whether the high halves only repeat the sign of the low ones. */
function areShort(quads: Uint32Array, count: number): boolean {
  for (let i = 0; i < count * 4; i += 4) {
    const sign = (quads[i + 1] | 0) >> 31
    if ((quads[i + 2] | 0) !== sign || (quads[i + 3] | 0) !== sign) return false
  }
  return true
}

/**
 * Reads `count` integers into the first lanes of `bytes`.
 *
 * Requires: room for them, from a multiple of 8 on. Throws: CORRUPTION when they are not what
 * `appendIntegers` writes. Cost: 1 to 5 ns a cell.
 */
export function readIntegers(
  physical: Physical,
  count: number,
  reader: BodyReader,
  bytes: Uint8Array,
): void {
  const { buffer, byteOffset } = bytes
  switch (physical) {
    case PHYSICAL.int64:
      readPairs(reader, count, new Uint32Array(buffer, byteOffset, count * 2))
      return
    case PHYSICAL.int128:
      readQuads(reader, count, new Uint32Array(buffer, byteOffset, count * 4))
      return
    case PHYSICAL.int8:
      readNumbers(reader, count, scratchLow)
      narrowInt8(new Int8Array(buffer, byteOffset, count))
      return
    case PHYSICAL.int16:
      readNumbers(reader, count, scratchLow)
      narrowInt16(new Int16Array(buffer, byteOffset, count))
      return
    default:
      readNumbers(reader, count, new Int32Array(buffer, byteOffset, count))
  }
}

/** Packed integers of a page: each is `base + unit × distance`. */
export interface PackedStream {
  readonly base: number
  readonly unit: number
  /** Bits of a distance. */
  readonly width: number
  /** The distances, as `unpackBits` takes them. */
  readonly words: Uint32Array
}

/**
 * Reads `count` integers as far as `readIntegers` would, but leaves them packed.
 *
 * Returns: null where they are not one packed stream, or too large for doubles. Throws: CORRUPTION.
 */
export function readPackedIntegers(
  physical: Physical,
  count: number,
  reader: BodyReader,
): PackedStream | null {
  if (physical === PHYSICAL.int64) return readPackedPairs(reader, count)
  if (physical === PHYSICAL.int128) {
    return reader.word() === QUAD_FORMS.SHORT ? readPackedPairs(reader, count) : null
  }
  const stream = readPackedNumbers(reader, count)
  if (stream === null) return null
  const { base, width, words } = stream
  return base + 2 ** width <= NARROW_BIAS ? { base, unit: 1, width, words } : null
}

function readPackedPairs(reader: BodyReader, count: number): PackedStream | null {
  if (reader.word() !== PAIR_FORMS.OFFSETS) return null
  const [low, high] = reader.words(2)
  if (readOffsetForm(reader) !== OFFSET_FORMS.NARROW) return null
  const unit = offsetScale()
  const stream = readPackedNumbers(reader, count)
  if (stream === null) return null
  const { width, words } = stream
  const first = stream.base + NARROW_BIAS
  const base = (high | 0) * TWO_32 + low + first * unit
  const isExact =
    Math.abs(high | 0) < PACKED_HIGH_END &&
    first + 2 ** width <= TWO_32 &&
    (first + 2 ** width) * unit < PACKED_END
  return isExact ? { base, unit, width, words } : null
}

function narrowInt8(lanes: Int8Array): void {
  for (let i = 0; i < lanes.length; i++) lanes[i] = scratchLow[i]
}

function narrowInt16(lanes: Int16Array): void {
  for (let i = 0; i < lanes.length; i++) lanes[i] = scratchLow[i]
}

function readPairs(reader: BodyReader, count: number, pairs: Uint32Array): void {
  const which = reader.word()
  if (which === PAIR_FORMS.PLANES) {
    readNumbers(reader, count, scratchLow)
    readNumbers(reader, count, scratchHigh)
    for (let i = 0, at = 0; i < count; i++, at += 2) {
      pairs[at] = scratchLow[i]
      pairs[at + 1] = scratchHigh[i]
    }
    return
  }
  if (which !== PAIR_FORMS.OFFSETS) throw reader.corrupt(`unknown form of integers ${which}`)
  const base = reader.words(2)
  const form = readOffsetForm(reader)
  const scale = offsetScale()
  const low = readOffsetWords(reader, form, count)
  const isNarrow = form === OFFSET_FORMS.NARROW
  if (isNarrow && addShort(base[0], base[1], scale, low, count, pairs)) return
  if (isNarrow && scale === 1) addNarrow(base[0], base[1], low, count, pairs)
  else addScaled(base[0], base[1], form, scale, low, count, pairs)
}

/** Lanes from signed distances to 2^31 above a base. */
function addNarrow(
  baseLow: number,
  baseHigh: number,
  numbers: Int32Array,
  count: number,
  pairs: Uint32Array,
): void {
  // The middle of what the numbers reach: half of the low word's range above the base.
  const low = (baseLow + NARROW_BIAS) | 0
  const high = baseHigh + (baseLow >= NARROW_BIAS ? 1 : 0)
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    const number = numbers[i]
    const sum = (low + number) | 0
    const carry = ((low & number) | ((low | number) & ~sum)) >>> 31
    pairs[at] = sum
    pairs[at + 1] = high + (number >> 31) + carry
  }
}

/**
 * Adds to the low word alone. Returns: false, and nothing is written, where a sum could need the
 * high one.
 */
function addShort(
  baseLow: number,
  baseHigh: number,
  scale: number,
  low: Int32Array,
  count: number,
  pairs: Uint32Array,
): boolean {
  // All bits of the distances: what they are together is not below any of them.
  let bits = 0
  for (let i = 0; i < count; i++) bits |= low[i] ^ NARROW_SIGN
  if ((bits >>> 0) * scale + baseLow >= TWO_32) return false
  const base = baseLow | 0
  const high = baseHigh | 0
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    pairs[at] = (base + Math.imul(low[i] ^ NARROW_SIGN, scale)) | 0
    pairs[at + 1] = high
  }
  return true
}

function addScaled(
  baseLow: number,
  baseHigh: number,
  form: number,
  scale: number,
  low: Int32Array,
  count: number,
  pairs: Uint32Array,
): void {
  const high = offsetHighWords()
  const isNarrow = form === OFFSET_FORMS.NARROW
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    const units = isNarrow ? low[i] + NARROW_BIAS : high[i] * TWO_32 + (low[i] >>> 0)
    const offset = units * scale
    const offsetHigh = Math.floor(offset / TWO_32)
    const sum = offset - offsetHigh * TWO_32 + baseLow
    pairs[at] = sum
    pairs[at + 1] = baseHigh + offsetHigh + (sum >= TWO_32 ? 1 : 0)
  }
}

function readQuads(reader: BodyReader, count: number, quads: Uint32Array): void {
  const which = reader.word()
  if (which === QUAD_FORMS.SHORT) {
    if (scratchPairs.length < count * 2) scratchPairs = new Uint32Array(count * 2)
    const pairs = scratchPairs
    readPairs(reader, count, pairs)
    for (let i = 0; i < count; i++) {
      const high = pairs[i * 2 + 1]
      quads[i * 4] = pairs[i * 2]
      quads[i * 4 + 1] = high
      quads[i * 4 + 2] = (high | 0) >> 31
      quads[i * 4 + 3] = (high | 0) >> 31
    }
    return
  }
  if (which !== QUAD_FORMS.PLANES) throw reader.corrupt(`unknown form of integers ${which}`)
  for (let word = 0; word < 4; word++) {
    readNumbers(reader, count, scratchLow)
    for (let i = 0; i < count; i++) quads[i * 4 + word] = scratchLow[i]
  }
}
