/**
 * Sorting the keys of a batch. Hot.
 *
 * A comparison of two keys costs far more than one of two numbers, so four bytes of each key, from
 * where the keys begin to differ, are packed with its index into 64 bits, and the runtime sorts
 * those. Keys whose four bytes are equal are then sorted among themselves by the bytes behind.
 *
 *   low 32 bits: index    high 32 bits: four bytes of the key, big-endian, zeros behind its end
 */

import type { KeyArena } from '../util/arena.ts'
import { compareBytes } from '../util/bytes.ts'

const WORD_BYTES = 4
/** Groups up to this size are sorted by insertion. */
const INSERTION_KEYS_MAX = 12
/**
 * How often a group is split by four bytes more, before keys are compared whole: hostile keys get
 * no further.
 */
const DEPTH_MAX = 16

let scratchPacked = new BigUint64Array(1024)

/**
 * Sorts indexes of keys, `order[0, count)`, by ascending key, in place. Keys may be the same.
 *
 * Cost: one pass when they are in order; else about n log n comparisons of numbers, without
 * allocation.
 */
export function sortKeys(keys: KeyArena, order: Uint32Array, count: number): void {
  if (areSorted(keys, order, count)) return
  sortGroup(keys, order, 0, count, 0, DEPTH_MAX)
}

/** Whether the keys `order[0, count)` ascend; some may be the same. */
export function areSorted(keys: KeyArena, order: Uint32Array, count: number): boolean {
  for (let i = 1; i < count; i++) if (compareKeys(keys, order[i - 1], order[i]) > 0) return false
  return true
}

function compareKeys(keys: KeyArena, a: number, b: number): number {
  const { bytes, ends } = keys
  const aStart = a === 0 ? 0 : ends[a - 1]
  const bStart = b === 0 ? 0 : ends[b - 1]
  return compareBytes(bytes, aStart, ends[a], bytes, bStart, ends[b])
}

/** Sorts `order[start, end)`, whose keys have their first `known` bytes in common. */
function sortGroup(
  keys: KeyArena,
  order: Uint32Array,
  start: number,
  end: number,
  known: number,
  depthLeft: number,
): void {
  if (end - start <= INSERTION_KEYS_MAX) {
    insertionSort(keys, order, start, end)
    return
  }
  if (depthLeft === 0) {
    order.subarray(start, end).sort((a, b) => compareKeys(keys, a, b))
    return
  }
  const offset = commonPrefixBytes(keys, order, start, end, known)
  sortByWord(keys, order, start, end, offset)
  let groupStart = start
  for (let i = start + 1; i <= end; i++) {
    if (i < end && hasSameWord(keys, order[i], order[groupStart], offset)) continue
    if (i - groupStart > 1) {
      sortGroup(keys, order, groupStart, i, offset + WORD_BYTES, depthLeft - 1)
    }
    groupStart = i
  }
}

function insertionSort(keys: KeyArena, order: Uint32Array, start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const key = order[i]
    let to = i
    while (to > start && compareKeys(keys, order[to - 1], key) > 0) {
      order[to] = order[to - 1]
      to--
    }
    order[to] = key
  }
}

/** How many leading bytes all keys share. Requires: at least `known`, as far as a key goes. */
function commonPrefixBytes(
  keys: KeyArena,
  order: Uint32Array,
  start: number,
  end: number,
  known: number,
): number {
  const { bytes, ends } = keys
  const first = keys.start(order[start])
  let common = ends[order[start]] - first
  for (let i = start + 1; i < end && common > known; i++) {
    const keyStart = keys.start(order[i])
    const keyBytes = ends[order[i]] - keyStart
    if (keyBytes < common) common = keyBytes
    let same = known
    while (same < common && bytes[keyStart + same] === bytes[first + same]) same++
    common = same
  }
  return Math.max(common, known)
}

function sortByWord(
  keys: KeyArena,
  order: Uint32Array,
  start: number,
  end: number,
  offset: number,
): void {
  const count = end - start
  if (scratchPacked.length < count) scratchPacked = new BigUint64Array(count)
  const words = new Uint32Array(scratchPacked.buffer, 0, count * 2)
  for (let i = 0; i < count; i++) {
    words[i * 2] = order[start + i]
    words[i * 2 + 1] = wordAt(keys, order[start + i], offset)
  }
  scratchPacked.subarray(0, count).sort()
  for (let i = 0; i < count; i++) order[start + i] = words[i * 2]
}

function hasSameWord(keys: KeyArena, a: number, b: number, offset: number): boolean {
  return wordAt(keys, a, offset) === wordAt(keys, b, offset)
}

/** Four bytes of a key, with zeros behind its end. */
function wordAt(keys: KeyArena, key: number, offset: number): number {
  const { bytes } = keys
  const at = (key === 0 ? 0 : keys.ends[key - 1]) + offset
  const end = keys.ends[key]
  if (at + WORD_BYTES <= end) {
    return (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
  }
  let word = 0
  for (let i = at; i < at + WORD_BYTES; i++) word = (word << 8) | (i < end ? bytes[i] : 0)
  return word
}
