/**
 * Floating point numbers. Hot. In words, from a multiple of 8 on, after a word that says which:
 *
 *   DECIMALS  most of them are an integer ÷ 10^exponent, exactly, as numbers are that people write
 *             word 1: exponent, word 2: exceptionCount, words 3-4: the least integer as a double,
 *             then distances from it (offsets.ts), then a stream of the places of exceptions and
 *             their lanes
 *   PLANES    the bits: float32 one stream, float64 one of the low words and one of the high words
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { appendNumbers, readNumbers } from './number-stream.ts'
import { appendOffsets, readOffsets } from './offsets.ts'
import {
  scratchCodes,
  scratchDoubles,
  scratchHigh,
  scratchIntegers,
  scratchLow,
} from './scratch.ts'

const FLOAT_FORMS = { DECIMALS: 0, PLANES: 1 } as const

const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`))
const EXPONENT_MAX = POWERS.length - 1
/** Adding it and taking it away rounds what is below INTEGER_END. */
const ROUNDER = 1.5 * 2 ** 52
const INTEGER_END = 2 ** 51
/** Cells by which the exponent is chosen. */
const SAMPLE_COUNT = 64
/** Of these, how many may be exceptions, and of all cells which share. */
const SAMPLE_EXCEPTIONS_MAX = 4
const EXCEPTION_RATIO_MAX = 0.1

const baseValue = new Float64Array(1)
const baseWords = new Uint32Array(baseValue.buffer)

/**
 * Appends floating point numbers that are not null, whatever their bits.
 *
 * Cost: 10 to 20 ns a cell.
 */
export function appendFloats(cells: ColumnVector, body: BodyWriter): void {
  const { lanes, rowCount, physical, bytes } = cells
  const isSingle = physical === PHYSICAL.float32
  let doubles = lanes as Float64Array
  if (isSingle) {
    doubles = scratchDoubles
    widenFloats(lanes as Float32Array, rowCount)
  }
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, rowCount * (isSingle ? 1 : 2))
  const exponent = chooseExponent(doubles, rowCount, isSingle)
  if (exponent >= 0 && appendDecimals(doubles, words, rowCount, exponent, isSingle, body)) return
  body.appendWord(FLOAT_FORMS.PLANES)
  if (isSingle) {
    appendNumbers(words, rowCount, 'may', body)
    return
  }
  for (let i = 0; i < rowCount; i++) {
    scratchLow[i] = words[i * 2]
    scratchHigh[i] = words[i * 2 + 1]
  }
  appendNumbers(scratchLow, rowCount, 'may', body)
  appendNumbers(scratchHigh, rowCount, 'may', body)
}

function widenFloats(floats: Float32Array, count: number): void {
  for (let i = 0; i < count; i++) scratchDoubles[i] = floats[i]
}

/** The least exponent that makes integers of most cells of a sample, or −1. */
function chooseExponent(doubles: Float64Array, count: number, isSingle: boolean): number {
  const stride = Math.max(1, Math.floor(count / SAMPLE_COUNT))
  for (let exponent = 0; exponent <= EXPONENT_MAX; exponent++) {
    let exceptionCount = 0
    for (let i = 0; i < count && exceptionCount <= SAMPLE_EXCEPTIONS_MAX; i += stride) {
      if (!isDecimal(doubles[i], POWERS[exponent], isSingle)) exceptionCount++
    }
    if (exceptionCount <= SAMPLE_EXCEPTIONS_MAX) return exponent
  }
  return -1
}

/** Whether a number is an integer divided by a power of ten. −0 and NaN are not. */
function isDecimal(value: number, power: number, isSingle: boolean): boolean {
  const integer = value * power + ROUNDER - ROUNDER
  const quotient = integer / power
  return (
    (isSingle ? Math.fround(quotient) : quotient) === value &&
    integer > -INTEGER_END &&
    integer < INTEGER_END &&
    (integer !== 0 || 1 / value > 0)
  )
}

/** Returns: false, and nothing is appended, when too many cells are exceptions. */
function appendDecimals(
  doubles: Float64Array,
  words: Int32Array,
  count: number,
  exponent: number,
  isSingle: boolean,
  body: BodyWriter,
): boolean {
  const exceptionCount = toIntegers(doubles, count, POWERS[exponent], isSingle)
  if (exceptionCount > count * EXCEPTION_RATIO_MAX && exceptionCount > SAMPLE_EXCEPTIONS_MAX) {
    return false
  }
  const integers = scratchIntegers
  let least = integers[0]
  let greatest = least
  for (let i = 1; i < count; i++) {
    const integer = integers[i]
    if (integer < least) least = integer
    if (integer > greatest) greatest = integer
  }
  for (let i = 0; i < count; i++) integers[i] -= least
  body.appendWord(FLOAT_FORMS.DECIMALS)
  body.appendWord(exponent)
  body.appendWord(exceptionCount)
  baseValue[0] = least
  body.appendWord(baseWords[0])
  body.appendWord(baseWords[1])
  appendOffsets(integers, count, greatest - least, 'may', body)
  if (exceptionCount === 0) return true
  appendNumbers(scratchCodes, exceptionCount, 'may', body)
  const perLane = isSingle ? 1 : 2
  for (let i = 0; i < exceptionCount; i++) {
    const at = scratchCodes[i] * perLane
    for (let word = 0; word < perLane; word++) body.appendWord(words[at + word])
  }
  return true
}

/**
 * Writes the integers of all cells, and the places of those that are none; these get the integer
 * before theirs. Returns: how many are none.
 */
function toIntegers(
  doubles: Float64Array,
  count: number,
  power: number,
  isSingle: boolean,
): number {
  const integers = scratchIntegers
  const places = scratchCodes
  let exceptionCount = 0
  let before = 0
  for (let i = 0; i < count; i++) {
    const value = doubles[i]
    const integer = value * power + ROUNDER - ROUNDER
    const quotient = integer / power
    const isSame = (isSingle ? Math.fround(quotient) : quotient) === value
    if (
      isSame &&
      integer > -INTEGER_END &&
      integer < INTEGER_END &&
      (integer !== 0 || 1 / value > 0)
    ) {
      before = integer
    } else {
      places[exceptionCount++] = i
    }
    integers[i] = before
  }
  return exceptionCount
}

/**
 * Reads `count` floating point numbers into the first lanes of `bytes`, bit by bit as they were.
 *
 * Requires: room for them, from a multiple of 8 on. Throws: CORRUPTION when they are not what
 * `appendFloats` writes. Cost: 2 to 5 ns a cell.
 */
export function readFloats(
  physical: Physical,
  count: number,
  reader: BodyReader,
  bytes: Uint8Array,
): void {
  const isSingle = physical === PHYSICAL.float32
  const perLane = isSingle ? 1 : 2
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, count * perLane)
  const which = reader.word()
  if (which === FLOAT_FORMS.DECIMALS) {
    readDecimals(reader, count, isSingle, bytes, words)
    return
  }
  if (which !== FLOAT_FORMS.PLANES) throw reader.corrupt(`unknown form of floats ${which}`)
  if (isSingle) {
    readNumbers(reader, count, words)
    return
  }
  readNumbers(reader, count, scratchLow)
  readNumbers(reader, count, scratchHigh)
  for (let i = 0; i < count; i++) {
    words[i * 2] = scratchLow[i]
    words[i * 2 + 1] = scratchHigh[i]
  }
}

function readDecimals(
  reader: BodyReader,
  count: number,
  isSingle: boolean,
  bytes: Uint8Array,
  words: Int32Array,
): void {
  const exponent = reader.word()
  const exceptionCount = reader.word()
  if (exponent > EXPONENT_MAX) throw reader.corrupt(`unknown exponent ${exponent}`)
  if (exceptionCount > count) throw reader.corrupt('more exceptions than cells')
  const base = reader.words(2)
  baseWords[0] = base[0]
  baseWords[1] = base[1]
  const power = POWERS[exponent]
  if (isSingle) {
    readOffsets(reader, count, baseValue[0], scratchDoubles)
    const floats = new Float32Array(bytes.buffer, bytes.byteOffset, count)
    for (let i = 0; i < count; i++) floats[i] = scratchDoubles[i] / power
  } else {
    const doubles = new Float64Array(bytes.buffer, bytes.byteOffset, count)
    readOffsets(reader, count, baseValue[0], doubles)
    if (power !== 1) for (let i = 0; i < count; i++) doubles[i] /= power
  }
  if (exceptionCount === 0) return
  readNumbers(reader, exceptionCount, scratchCodes)
  const perLane = isSingle ? 1 : 2
  const lanes = reader.words(exceptionCount * perLane)
  for (let i = 0; i < exceptionCount; i++) {
    const place = scratchCodes[i]
    if (place < 0 || place >= count) throw reader.corrupt('an exception of no cell')
    for (let word = 0; word < perLane; word++) {
      words[place * perLane + word] = lanes[i * perLane + word]
    }
  }
}
