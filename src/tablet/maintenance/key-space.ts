/**
 * Where key intervals lie when the space of keys is measured by how much data it holds.
 *
 *   keys     a────────d                              the same, by data
 *                 c──────────f              ─►       0 ──── .45
 *                             x─────z                   .2 ────── .7
 *                                                                .7 ── 1
 *
 * A position is the share of all data below it, so that an interval's width is the share of all
 * data in its keys, and the sum of all widths is the number of rowsets that a key is looked for in,
 * on average: the average height of the stack. The data of one interval is taken to be spread
 * evenly over its keys, and keys are taken for numbers behind what both ends have in common.
 */

import { assert } from '../../util/assert.ts'
import { compareWhole } from '../../util/bytes.ts'

/** Keys `[lowerKey, upperKey)`; an empty upper key is above all. */
export interface KeyInterval {
  readonly lowerKey: Uint8Array
  readonly upperKey: Uint8Array
  /** Bytes of what is in it. */
  readonly bytes: number
}

/** Where intervals lie: 0 is the least key, 1 the greatest. */
export interface KeySpace {
  readonly starts: Float64Array
  readonly ends: Float64Array
}

/** Bytes of a key, behind what is common, that make its number. */
const NUMBER_BYTES = 6
const NUMBER_MAX = 2 ** (8 * NUMBER_BYTES)

/**
 * Lays intervals out. Requires: each has a lower key below its upper key. Cost: O(n log n) and the
 * number of ends that lie within intervals.
 */
export function layOut(intervals: readonly KeyInterval[]): KeySpace {
  const ends = sortedEnds(intervals)
  const firsts = intervals.map(({ lowerKey }) => indexOf(ends, lowerKey))
  const lasts = intervals.map(({ upperKey }) => {
    return upperKey.length === 0 ? ends.length : indexOf(ends, upperKey)
  })
  const positions = positionsOf(intervals, ends, firsts, lasts)
  return {
    starts: Float64Array.from(firsts, (index) => positions[index]),
    ends: Float64Array.from(lasts, (index) => positions[index]),
  }
}

/** How many intervals hold a key, on average over the data; 0 when there is none. */
export function averageHeight({ starts, ends }: KeySpace): number {
  let height = 0
  for (let index = 0; index < starts.length; index++) height += ends[index] - starts[index]
  return height
}

/** All keys at which intervals begin or end, ascending, each once. */
function sortedEnds(intervals: readonly KeyInterval[]): Uint8Array[] {
  const keys: Uint8Array[] = []
  for (const { lowerKey, upperKey } of intervals) {
    keys.push(lowerKey)
    if (upperKey.length > 0) keys.push(upperKey)
  }
  keys.sort(compareWhole)
  return keys.filter((key, index) => index === 0 || compareWhole(keys[index - 1], key) !== 0)
}

function indexOf(ends: readonly Uint8Array[], key: Uint8Array): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareWhole(ends[middle], key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The share of all data below each end, and 1 for what lies above all of them. */
function positionsOf(
  intervals: readonly KeyInterval[],
  ends: readonly Uint8Array[],
  firsts: readonly number[],
  lasts: readonly number[],
): Float64Array {
  const positions = new Float64Array(ends.length + 1)
  for (let index = 0; index < intervals.length; index++) {
    assert(firsts[index] < lasts[index], 'a key interval is not empty')
    spread(intervals[index], ends, firsts[index], lasts[index], positions)
  }
  // Each place holds what lies in the segment below it.
  let total = 0
  for (let index = 0; index < positions.length; index++) {
    total += positions[index]
    positions[index] = total
  }
  if (total > 0) for (let index = 0; index < positions.length; index++) positions[index] /= total
  return positions
}

/** Adds an interval's bytes to the segments `(first, last]` that it covers. */
function spread(
  { upperKey, bytes }: KeyInterval,
  ends: readonly Uint8Array[],
  first: number,
  last: number,
  into: Float64Array,
): void {
  const prefix = upperKey.length === 0 ? 0 : commonBytes(ends[first], upperKey)
  const start = numberOf(ends[first], prefix)
  const end = upperKey.length === 0 ? NUMBER_MAX : numberOf(upperKey, prefix)
  // Ends that differ only behind the number: nothing tells how the data lies between them.
  const isFlat = end <= start
  const each = bytes / (isFlat ? last - first : end - start)
  let below = start
  for (let index = first + 1; index <= last; index++) {
    const at = index === ends.length ? NUMBER_MAX : numberOf(ends[index], prefix)
    into[index] += isFlat ? each : (at - below) * each
    below = at
  }
}

function commonBytes(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a[count] === b[count]) count++
  return count
}

function numberOf(key: Uint8Array, start: number): number {
  let number = 0
  for (let index = start; index < start + NUMBER_BYTES; index++) {
    number = number * 256 + (index < key.length ? key[index] : 0)
  }
  return number
}
