/**
 * Distances from a base, integers in `[0, 2^53)`: what 64-bit integers and decimal fractions come
 * down to. Hot.
 *
 *   word  field
 *      0  form
 *    1-2  scale       a double: every offset is a multiple of it
 *      …  NARROW      a stream of offset ÷ scale − 2^31
 *         PLANES      a stream of the low words of offset ÷ scale, one of its high words
 */

import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { appendNumbers, type NumberForm, type RunChoice, readNumbers } from './number-stream.ts'
import { scratchHigh, scratchLow } from './scratch.ts'

/** Forms of offsets, as stored. Never reused. */
export const OFFSET_FORMS = { NARROW: 0, PLANES: 1 } as const

/** Offsets lie below it. */
export const OFFSET_END = 2 ** 53
/** What is taken from a narrow number, so that all of 32 bits are signed. */
export const NARROW_BIAS = 2 ** 31

const TWO_32 = 2 ** 32
/** Offsets from which a common divisor is guessed. */
const SAMPLE_COUNT = 16

const scaleValue = new Float64Array(1)
const scaleWords = new Uint32Array(scaleValue.buffer)

/**
 * Appends `offsets[0, count)`, which become multiples of their scale.
 *
 * Requires: integers in `[0, range]`, `range` below OFFSET_END; the body ends at a multiple of 4.
 * Returns: the form of the stream that has the low bits.
 */
export function appendOffsets(
  offsets: Float64Array,
  count: number,
  range: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  const scale = divideByScale(offsets, count)
  const isNarrow = range / scale < TWO_32
  scaleValue[0] = scale
  body.appendWord(isNarrow ? OFFSET_FORMS.NARROW : OFFSET_FORMS.PLANES)
  body.appendWord(scaleWords[0])
  body.appendWord(scaleWords[1])
  const low = scratchLow
  if (isNarrow) {
    for (let i = 0; i < count; i++) low[i] = offsets[i] - NARROW_BIAS
    return appendNumbers(low, count, runs, body)
  }
  const high = scratchHigh
  for (let i = 0; i < count; i++) {
    const offset = offsets[i]
    const highWord = Math.floor(offset / TWO_32)
    high[i] = highWord
    low[i] = offset - highWord * TWO_32
  }
  const form = appendNumbers(low, count, runs, body)
  appendNumbers(high, count, runs, body)
  return form
}

/** Divides offsets by what divides all of them. Returns: the divisor, 1 when there is none. */
function divideByScale(offsets: Float64Array, count: number): number {
  // A few from all over the page show at once that nothing does, as is usual.
  let scale = 0
  const stride = Math.max(1, Math.floor(count / SAMPLE_COUNT))
  for (let i = 0; i < count && scale !== 1; i += stride) scale = commonDivisor(scale, offsets[i])
  if (scale === 0) scale = commonDivisor(offsets[0], offsets[count - 1])
  for (let i = 0; i < count && scale !== 1; i++) {
    const offset = offsets[i]
    if (Math.floor(offset / scale) * scale !== offset) scale = commonDivisor(scale, offset)
  }
  if (scale <= 1) return 1
  for (let i = 0; i < count; i++) offsets[i] = Math.floor(offsets[i] / scale)
  return scale
}

function commonDivisor(a: number, b: number): number {
  let divisor = a
  let rest = b
  while (rest !== 0) {
    const before = rest
    rest = divisor % rest
    divisor = before
  }
  return divisor
}

/** What `readOffsetForm` has read behind the form. */
let readScale = 1

/** Reads the form of offsets; `offsetScale` then tells the scale. Throws: CORRUPTION. */
export function readOffsetForm(reader: BodyReader): number {
  const words = reader.words(3)
  scaleWords[0] = words[1]
  scaleWords[1] = words[2]
  readScale = scaleValue[0]
  if (words[0] > OFFSET_FORMS.PLANES) throw reader.corrupt(`unknown form of offsets ${words[0]}`)
  if (!(readScale >= 1 && readScale < OFFSET_END)) throw reader.corrupt('offsets without a scale')
  return words[0]
}

/** The scale of the offsets whose form was read last. */
export function offsetScale(): number {
  return readScale
}

/**
 * Reads the words of offsets ÷ scale: low ones, of NARROW less NARROW_BIAS, and high ones of
 * PLANES.
 *
 * Returns: the low words; borrowed, as are the high ones, until the next call.
 */
export function readOffsetWords(reader: BodyReader, form: number, count: number): Int32Array {
  readNumbers(reader, count, scratchLow)
  if (form === OFFSET_FORMS.PLANES) readNumbers(reader, count, scratchHigh)
  return scratchLow
}

/** The high words that were read last. */
export function offsetHighWords(): Int32Array {
  return scratchHigh
}

/** Reads `base` plus each of `count` offsets into `out`. Throws: CORRUPTION. */
export function readOffsets(
  reader: BodyReader,
  count: number,
  base: number,
  out: Float64Array,
): void {
  const form = readOffsetForm(reader)
  const scale = readScale
  const low = readOffsetWords(reader, form, count)
  if (form === OFFSET_FORMS.NARROW) {
    if (scale === 1) {
      const biased = base + NARROW_BIAS
      for (let i = 0; i < count; i++) out[i] = biased + low[i]
    } else {
      for (let i = 0; i < count; i++) out[i] = base + (low[i] + NARROW_BIAS) * scale
    }
    return
  }
  const high = scratchHigh
  for (let i = 0; i < count; i++) {
    out[i] = base + (high[i] * TWO_32 + (low[i] >>> 0)) * scale
  }
}
