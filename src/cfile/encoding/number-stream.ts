/**
 * Streams of 32-bit numbers: what everything that is counted, numbered or measured in a page comes
 * down to. Hot. All in words; arithmetic is modulo 2^32, so signed and unsigned are the same.
 *
 *   word  field
 *      0  form · width << 8       bits of a packed number: 0 … 32
 *      1  patchCount, or runCount
 *      2  base                    added to each packed number
 *      3  first                   STEPS only
 *      …  packed numbers, then the places of patches as pairs of u16, then their numbers
 *
 *   PACKED  number i = base + packed i
 *   STEPS   number i = number i − 1 + base + packed i − 1; number 0 = first
 *   RUNS    two streams follow: the number of each run, and how often it is repeated
 *
 * A patch replaces a packed number that has more bits than the width: a few large ones do not make
 * all others wide.
 */

import { CFILE_PAGE_ROW_COUNT_MAX } from '../../common/limits.ts'
import { assert } from '../../util/assert.ts'
import { bitWidth, packBits, packedWords, unpackBits } from './bit-packing.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'

/** Forms of a stream, as stored. Never reused. */
export const NUMBER_FORMS = { PACKED: 0, STEPS: 1, RUNS: 2 } as const
/** Form of a stream. */
export type NumberForm = (typeof NUMBER_FORMS)[keyof typeof NUMBER_FORMS]

/** Which forms may be chosen for a stream: RUNS as soon as it is smaller, never, or always. */
export type RunChoice = 'may' | 'never' | 'must'

const HEADER_WORDS = 3
/** Bits of a patch: its place and its number. */
const PATCH_BITS = 48
/** Numbers that are looked at to guess widths. */
const SAMPLE_COUNT = 128
/** Steps that are looked at to tell whether all of them shall be. */
const STEP_SAMPLE_COUNT = 48
/** Steps and runs take more time to read: they are chosen when they save this share of bits. */
const STEPS_RATIO_MAX = 0.85
const RUNS_RATIO_MAX = 0.7
/** Numbers of at most so many bits are packed without a look at how many need fewer. */
const UNPATCHED_WIDTH_MAX = 24

// What the last look at numbers found.
let leastNumber = 0
let greatestNumber = 0
let leastStep = 0
let greatestStep = 0
let runCount = 0

const widthCounts = new Uint32Array(33)
// Room for the steps, the numbers of runs and their lengths of one page at a time.
let scratchSteps = new Int32Array(0)
let scratchRuns = new Int32Array(0)
let scratchLengths = new Int32Array(0)

/**
 * Appends a stream of `numbers[0, count)` in whatever form is smallest.
 *
 * Requires: the body ends at a multiple of 4; at most 65,536 numbers. Returns: the form.
 * Cost: about 5 ns a number.
 */
export function appendNumbers(
  numbers: Int32Array,
  count: number,
  runs: RunChoice,
  body: BodyWriter,
): NumberForm {
  assert(count <= CFILE_PAGE_ROW_COUNT_MAX, 'a stream has no more numbers than a page rows')
  lookAtNumbers(numbers, count)
  const wholeWidth = bitWidth(greatestNumber - leastNumber)
  const packedBits = guessBits(numbers, count, leastNumber, wholeWidth, false)
  const packedBase = guessedBase
  let stepBits = packedBits
  let stepBase: number | null = null
  if (mayStep(numbers, count, wholeWidth)) {
    lookAtSteps(numbers, count)
    stepBits = guessBits(numbers, count, leastStep, bitWidth(greatestStep - leastStep), true)
    stepBase = guessedBase
  }
  const numberBits = Math.min(packedBits, stepBits)
  if (runs !== 'never' && count > 0) {
    const perRun = wholeWidth + bitWidth(count / runCount) + 2
    const runBits = runCount * perRun + 2 * 32 * HEADER_WORDS
    if (runs === 'must' || runBits < numberBits * RUNS_RATIO_MAX) {
      appendRuns(numbers, count, body)
      return NUMBER_FORMS.RUNS
    }
  }
  if (stepBits < packedBits * STEPS_RATIO_MAX) {
    appendSteps(numbers, count, stepBase, body)
    return NUMBER_FORMS.STEPS
  }
  choosePacking(numbers, count, packedBase, leastNumber, wholeWidth)
  appendHeader(NUMBER_FORMS.PACKED, body)
  appendPacked(numbers, count, body)
  return NUMBER_FORMS.PACKED
}

/** Finds the ends of numbers, and how many runs they are. */
function lookAtNumbers(numbers: Int32Array, count: number): void {
  let least = count === 0 ? 0 : numbers[0]
  let greatest = least
  let before = least
  let runs = 1
  for (let i = 0; i < count; i++) {
    const number = numbers[i]
    if (number < least) least = number
    if (number > greatest) greatest = number
    if (number !== before) runs++
    before = number
  }
  leastNumber = least
  greatestNumber = greatest
  runCount = runs
}

/** Finds the ends of the steps between numbers. Requires: at least two. */
function lookAtSteps(numbers: Int32Array, count: number): void {
  let before = numbers[1]
  let least = (before - numbers[0]) | 0
  let greatest = least
  for (let i = 2; i < count; i++) {
    const number = numbers[i]
    const step = (number - before) | 0
    if (step < least) least = step
    if (step > greatest) greatest = step
    before = number
  }
  leastStep = least
  greatestStep = greatest
}

/** Whether a few steps look as if they took fewer bits than numbers, all but one of them. */
function mayStep(numbers: Int32Array, count: number, wholeWidth: number): boolean {
  if (count < 2 || wholeWidth <= 1) return false
  const stride = Math.max(1, Math.floor(count / STEP_SAMPLE_COUNT))
  let least = Infinity
  let greatest = -Infinity
  let leastBefore = Infinity
  let greatestBefore = -Infinity
  for (let i = 1; i < count; i += stride) {
    const step = (numbers[i] - numbers[i - 1]) | 0
    if (step < least) {
      leastBefore = least
      least = step
    } else if (step < leastBefore) leastBefore = step
    if (step > greatest) {
      greatestBefore = greatest
      greatest = step
    } else if (step > greatestBefore) greatestBefore = step
  }
  return greatestBefore < leastBefore || bitWidth(greatestBefore - leastBefore) < wholeWidth
}

const sample = new Int32Array(SAMPLE_COUNT)
/** The base from which patches looked worth it in the last guess, or null. */
let guessedBase: number | null = null

/**
 * About how many bits numbers, or the steps between them, take when packed. `wholeWidth` is what
 * holds all of them without a patch.
 */
function guessBits(
  numbers: Int32Array,
  count: number,
  wholeBase: number,
  wholeWidth: number,
  areSteps: boolean,
): number {
  guessedBase = null
  const wholeBits = count * wholeWidth
  if (wholeWidth <= 2 || count <= SAMPLE_COUNT) return wholeBits
  const stride = Math.floor((count - 1) / SAMPLE_COUNT)
  let at = 1
  for (let i = 0; i < SAMPLE_COUNT; i++, at += stride) {
    sample[i] = areSteps ? numbers[at] - numbers[at - 1] : numbers[at]
  }
  // Not the very ends: one number in a hundred that is far from the others shall be a patch.
  const low = secondLeast(sample)
  const margin = (secondGreatest(sample) - low) >>> 6
  const base = Math.max(wholeBase, low - margin)
  widthCounts.fill(0)
  for (let i = 0; i < SAMPLE_COUNT; i++) widthCounts[bitWidth(sample[i] - base)]++
  const width = bestWidth(SAMPLE_COUNT)
  const patchedBits = count * (width + (PATCH_BITS * countAbove(width)) / SAMPLE_COUNT)
  if (patchedBits >= wholeBits * 0.95) return wholeBits
  guessedBase = base
  return patchedBits
}

function secondLeast(numbers: Int32Array): number {
  let least = Infinity
  let second = Infinity
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number >= second) continue
    second = number < least ? least : number
    if (number < least) least = number
  }
  return second
}

function secondGreatest(numbers: Int32Array): number {
  let greatest = -Infinity
  let second = -Infinity
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number <= second) continue
    second = number > greatest ? greatest : number
    if (number > greatest) greatest = number
  }
  return second
}

/** The width at which `widthCounts` take the fewest bits, those above it as patches. */
function bestWidth(count: number): number {
  let best = 32
  let bestBits = count * 32
  let patchCount = 0
  for (let width = 31; width >= 0; width--) {
    patchCount += widthCounts[width + 1]
    const bits = count * width + patchCount * PATCH_BITS
    if (bits <= bestBits) {
      best = width
      bestBits = bits
    }
  }
  return best
}

function countAbove(width: number): number {
  let count = 0
  for (let above = width + 1; above <= 32; above++) count += widthCounts[above]
  return count
}

// How the numbers at hand are packed.
let packingBase = 0
let packingWidth = 0
let packingPatches = 0

/**
 * Chooses how to pack numbers: from `patchedBase` on with patches, where that takes fewer bits than
 * from `wholeBase` on without. A guess that found no use for patches gives null; then only numbers
 * that are wide, and too few for a sample, are looked at again.
 */
function choosePacking(
  numbers: Int32Array,
  count: number,
  patchedBase: number | null,
  wholeBase: number,
  wholeWidth: number,
): void {
  packingBase = wholeBase
  packingWidth = wholeWidth
  packingPatches = 0
  const wasSampled = count > SAMPLE_COUNT
  if (patchedBase === null && (wasSampled || wholeWidth <= UNPATCHED_WIDTH_MAX)) return
  const base = patchedBase ?? wholeBase
  widthCounts.fill(0)
  for (let i = 0; i < count; i++) widthCounts[32 - Math.clz32(numbers[i] - base)]++
  const width = bestWidth(count)
  const patchCount = countAbove(width)
  if (count * width + patchCount * PATCH_BITS >= count * wholeWidth) return
  packingBase = base
  packingWidth = width
  packingPatches = patchCount
}

function appendHeader(form: NumberForm, body: BodyWriter): void {
  body.appendWord(form | (packingWidth << 8))
  body.appendWord(packingPatches)
  body.appendWord(packingBase)
}

function appendPacked(numbers: Int32Array, count: number, body: BodyWriter): void {
  const width = packingWidth
  const wordCount = packedWords(count, width)
  body.reserve(wordCount * 4)
  if (width > 0) packBits(numbers, count, packingBase, width, body.words, body.length >>> 2)
  body.length += wordCount * 4
  if (packingPatches > 0) appendPatches(numbers, count, body)
}

function appendPatches(numbers: Int32Array, count: number, body: BodyWriter): void {
  const base = packingBase
  const width = packingWidth
  const patchCount = packingPatches
  const placeWords = (patchCount + 1) >>> 1
  body.reserve((placeWords + patchCount) * 4)
  const { words } = body
  let place = body.length >>> 2
  let at = place + placeWords
  let isHigh = false
  for (let i = 0; i < count; i++) {
    const packed = (numbers[i] - base) | 0
    if (32 - Math.clz32(packed) <= width) continue
    if (isHigh) words[place++] |= i << 16
    else words[place] = i
    isHigh = !isHigh
    words[at++] = packed
  }
  body.length += (placeWords + patchCount) * 4
}

function appendSteps(
  numbers: Int32Array,
  count: number,
  base: number | null,
  body: BodyWriter,
): void {
  if (scratchSteps.length < count) scratchSteps = new Int32Array(roomFor(count))
  const steps = scratchSteps
  for (let i = 1; i < count; i++) steps[i - 1] = numbers[i] - numbers[i - 1]
  choosePacking(steps, count - 1, base, leastStep, bitWidth(greatestStep - leastStep))
  appendHeader(NUMBER_FORMS.STEPS, body)
  body.appendWord(numbers[0])
  appendPacked(steps, count - 1, body)
}

function appendRuns(numbers: Int32Array, count: number, body: BodyWriter): void {
  const runs = runCount
  if (scratchRuns.length < runs) {
    scratchRuns = new Int32Array(roomFor(runs))
    scratchLengths = new Int32Array(roomFor(runs))
  }
  const values = scratchRuns
  const lengths = scratchLengths
  let run = -1
  for (let i = 0; i < count; i++) {
    if (run < 0 || numbers[i] !== values[run]) {
      values[++run] = numbers[i]
      lengths[run] = 0
    }
    lengths[run]++
  }
  body.appendWord(NUMBER_FORMS.RUNS)
  body.appendWord(runs)
  body.appendWord(0)
  appendNumbers(values, runs, 'never', body)
  appendNumbers(lengths, runs, 'never', body)
}

function roomFor(count: number): number {
  return Math.max(4096, count)
}

/**
 * Reads a stream of `count` numbers into `out`.
 *
 * Returns: the form. Throws: CORRUPTION when it is not what `appendNumbers` writes.
 * Cost: 1 to 2 ns a number.
 */
export function readNumbers(reader: BodyReader, count: number, out: Int32Array): NumberForm {
  return readStream(reader, count, out, true)
}

/** Numbers as they lie packed: each is `base` plus what `unpackBits` gives. */
export interface PackedNumbers {
  /** Signed. */
  readonly base: number
  /** 1 … 32. */
  readonly width: number
  readonly words: Uint32Array
}

/** Returns: a stream of `count` numbers as it lies; null when it is not packed, or has patches. */
export function readPackedNumbers(reader: BodyReader, count: number): PackedNumbers | null {
  const [formAndWidth, patchCount, base] = reader.words(HEADER_WORDS)
  const width = formAndWidth >>> 8
  const isPacked = (formAndWidth & 0xff) === NUMBER_FORMS.PACKED && patchCount === 0
  if (!isPacked || width === 0 || width > 32) return null
  return { base: base | 0, width, words: reader.words(packedWords(count, width)) }
}

function readStream(
  reader: BodyReader,
  count: number,
  out: Int32Array,
  mayBeRuns: boolean,
): NumberForm {
  const header = reader.words(HEADER_WORDS)
  const form = header[0] & 0xff
  const width = header[0] >>> 8
  switch (form) {
    case NUMBER_FORMS.PACKED:
      readPacked(reader, count, width, header, out)
      return form
    case NUMBER_FORMS.STEPS: {
      if (count === 0) throw reader.corrupt('steps between no numbers')
      const first = reader.word() | 0
      readPacked(reader, count - 1, width, header, out)
      addUp(first, count, out)
      return form
    }
    case NUMBER_FORMS.RUNS:
      if (!mayBeRuns) throw reader.corrupt('runs of runs')
      readRuns(reader, count, header[1], out)
      return form
    default:
      throw reader.corrupt(`unknown form of numbers ${form}`)
  }
}

function readPacked(
  reader: BodyReader,
  count: number,
  width: number,
  header: Uint32Array,
  out: Int32Array,
): void {
  const patchCount = header[1]
  const base = header[2] | 0
  if (width > 32 || patchCount > count) throw reader.corrupt('packed numbers of an impossible size')
  const words = reader.words(packedWords(count, width))
  if (width === 0) out.fill(base, 0, count)
  else unpackBits(words, count, base, width, out)
  if (patchCount === 0) return
  const places = reader.words((patchCount + 1) >>> 1)
  const patches = reader.words(patchCount)
  for (let i = 0; i < patchCount; i++) {
    const place = (places[i >>> 1] >>> ((i & 1) << 4)) & 0xffff
    if (place >= count) throw reader.corrupt('a patch of no number')
    out[place] = patches[i] + base
  }
}

/** Turns the `count - 1` steps that `out` begins with into numbers, in place. */
function addUp(first: number, count: number, out: Int32Array): void {
  let number = first
  for (let i = 0; i < count - 1; i++) {
    const step = out[i]
    out[i] = number
    number = (number + step) | 0
  }
  out[count - 1] = number
}

function readRuns(reader: BodyReader, count: number, runs: number, out: Int32Array): void {
  if (runs > count) throw reader.corrupt('more runs than numbers')
  const values = new Int32Array(runs)
  const lengths = new Int32Array(runs)
  readStream(reader, runs, values, false)
  readStream(reader, runs, lengths, false)
  let at = 0
  for (let run = 0; run < runs; run++) {
    const end = at + lengths[run]
    if (lengths[run] <= 0 || end > count) throw reader.corrupt('runs longer than the numbers')
    const value = values[run]
    if (end - at > 32) out.fill(value, at, end)
    else for (let i = at; i < end; i++) out[i] = value
    at = end
  }
  if (at !== count) throw reader.corrupt('runs shorter than the numbers')
}
