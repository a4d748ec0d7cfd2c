/**
 * The bounds of rowsets as fences between stretches of keys. Hot.
 *
 *   rowsets            a ├─────────┤ d
 *                            c ├────────┤ f
 *   fences             a     c   d      f
 *   stretch         0  │  1  │ 2 │  3   │  4
 *
 * A rowset covers whole stretches that follow each other. So a batch need not be sorted to be
 * shared out: when its keys are grouped by stretch, those of every rowset lie together. Which
 * stretch a key is in is told by six of its bytes, from where the fences begin to differ, as a
 * number: the space of these is cut into even parts, and of each part it is known which fences lie
 * in it. Mostly none does, and nothing is left to compare.
 */

import type { KeyArena } from '../../util/arena.ts'
import { compareBytes, compareWhole } from '../../util/bytes.ts'
import type { KeyBounds } from '../row-set.ts'

const WORD_BYTES = 6
/** Even parts of the numbers for each fence, but no more than the other in all. */
const PARTS_PER_FENCE = 8
const PART_COUNT_MAX = 2 ** 14

let scratchOrder = new Uint32Array(1024)
let scratchStretches = new Uint32Array(1024)

/** Fences of some rowsets, which keep their numbers. Immutable. */
export class KeyFences {
  /** Rowset i covers the stretches `[firsts[i], ends[i])`. */
  readonly firsts: Uint32Array
  readonly ends: Uint32Array
  readonly #fences: readonly Uint8Array[]
  /** How many bytes all fences begin with in common. */
  readonly #known: number
  /** The number of each fence. */
  readonly #words: Float64Array
  readonly #scale: number
  /** Fences `[parts[i], parts[i + 1])` are those of part i. */
  readonly #parts: Uint32Array
  readonly #starts: Uint32Array
  readonly #places: Uint32Array

  /** Requires: there is a rowset. */
  constructor(bounds: readonly KeyBounds[]) {
    const fences = sortedFences(bounds)
    const last = fences.length - 1
    this.#fences = fences
    this.#known = sharedBytes(fences[0], fences[last])
    this.#words = Float64Array.from(fences, (fence) => wordAt(fence, this.#known, fence.length))
    this.#scale = scaleOf(this.#words)
    this.#parts = this.#measureParts()
    this.#starts = new Uint32Array(fences.length + 2)
    this.#places = new Uint32Array(fences.length + 2)
    this.firsts = Uint32Array.from(bounds, ({ lowerKey }) => placeOf(fences, lowerKey) + 1)
    this.ends = Uint32Array.from(bounds, ({ upperKey }) =>
      upperKey.length === 0 ? fences.length + 1 : placeOf(fences, upperKey) + 1,
    )
  }

  #measureParts(): Uint32Array {
    const words = this.#words
    const partCount = this.#partOf(words[words.length - 1]) + 1
    const parts = new Uint32Array(partCount + 1)
    for (const word of words) parts[this.#partOf(word) + 1]++
    for (let part = 1; part <= partCount; part++) parts[part] += parts[part - 1]
    return parts
  }

  /** The part of a number that is not below that of the first fence: greater ones never fall. */
  #partOf(word: number): number {
    return Math.floor((word - this.#words[0]) * this.#scale)
  }

  /**
   * Puts the keys `order[0, count)` into groups by ascending stretch. Those of stretch i are then
   * `order[starts[i], starts[i + 1])`; within a stretch they keep their order.
   *
   * Returns: `starts`, borrowed until the next call. Cost: tens of nanoseconds a key, at most
   * log(fences) comparisons, no allocation.
   */
  group(keys: KeyArena, order: Uint32Array, count: number): Uint32Array {
    if (scratchOrder.length < count) {
      scratchOrder = new Uint32Array(count)
      scratchStretches = new Uint32Array(count)
    }
    const starts = this.#starts
    const places = this.#places
    const former = scratchOrder
    const stretches = scratchStretches
    const stretchCount = starts.length - 1
    this.#findStretches(keys, order, count, stretches)
    places.fill(0)
    for (let i = 0; i < count; i++) {
      former[i] = order[i]
      places[stretches[i]]++
    }
    let next = 0
    for (let stretch = 0; stretch < stretchCount; stretch++) {
      starts[stretch] = next
      next += places[stretch]
      places[stretch] = starts[stretch]
    }
    starts[stretchCount] = next
    for (let i = 0; i < count; i++) order[places[stretches[i]]++] = former[i]
    return starts
  }

  /** Writes the stretch of each key of `order[0, count)` to `stretches`. */
  #findStretches(keys: KeyArena, order: Uint32Array, count: number, stretches: Uint32Array): void {
    const { bytes, ends } = keys
    const known = this.#known
    const first = this.#fences[0]
    for (let i = 0; i < count; i++) {
      const key = order[i]
      const start = key === 0 ? 0 : ends[key - 1]
      const end = ends[key]
      let same = 0
      while (same < known && start + same < end && bytes[start + same] === first[same]) same++
      if (same === known) {
        stretches[i] = this.#stretchOf(wordAt(bytes, start + known, end), bytes, start, end)
      } else {
        const isAbove = start + same < end && bytes[start + same] > first[same]
        stretches[i] = isAbove ? this.#words.length : 0
      }
    }
  }

  /** How many fences are at or below a key whose number is `word`. */
  #stretchOf(word: number, bytes: Uint8Array, start: number, end: number): number {
    const words = this.#words
    const fenceCount = words.length
    if (word < words[0]) return 0
    if (word > words[fenceCount - 1]) return fenceCount
    const part = this.#partOf(word)
    let low = this.#parts[part]
    let high = this.#parts[part + 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = words[middle]
      const isFrom = other < word || (other === word && this.#isFrom(middle, bytes, start, end))
      if (isFrom) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether a key is at or above a fence. */
  #isFrom(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const fence = this.#fences[index]
    return compareBytes(fence, 0, fence.length, bytes, start, end) <= 0
  }
}

/** All distinct bounds, ascending, without an open upper one. */
function sortedFences(bounds: readonly KeyBounds[]): Uint8Array[] {
  const fences: Uint8Array[] = []
  for (const { lowerKey, upperKey } of bounds) {
    fences.push(lowerKey)
    if (upperKey.length > 0) fences.push(upperKey)
  }
  fences.sort(compareWhole)
  return fences.filter((fence, i) => i === 0 || compareWhole(fences[i - 1], fence) !== 0)
}

/** Parts a unit of the numbers, which ascend. */
function scaleOf(words: Float64Array): number {
  const partCount = Math.min(words.length * PARTS_PER_FENCE, PART_COUNT_MAX)
  const span = words[words.length - 1] - words[0]
  return span === 0 ? 0 : (partCount - 1) / span
}

/** Index of a fence that is there. */
function placeOf(fences: readonly Uint8Array[], fence: Uint8Array): number {
  let low = 0
  let high = fences.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareWhole(fences[middle], fence) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  const bytesMax = Math.min(a.length, b.length)
  let shared = 0
  while (shared < bytesMax && a[shared] === b[shared]) shared++
  return shared
}

/** Six bytes of `bytes[start, end)` as a number, with zeros behind the end. */
function wordAt(bytes: Uint8Array, start: number, end: number): number {
  if (start + WORD_BYTES <= end) {
    const high = (bytes[start] << 16) | (bytes[start + 1] << 8) | bytes[start + 2]
    const low = (bytes[start + 3] << 16) | (bytes[start + 4] << 8) | bytes[start + 5]
    return high * 2 ** 24 + low
  }
  let word = 0
  for (let i = start; i < start + WORD_BYTES; i++) word = word * 256 + (i < end ? bytes[i] : 0)
  return word
}
