/**
 * Sorting rows by their keys. Hot.
 *
 * A comparison of two keys costs far more than one of two numbers, so four bytes of each key, from where the
 * keys begin to differ, are packed with the row's place into one float64, and the runtime sorts those. Rows
 * whose four bytes are equal are sorted among themselves by the bytes behind.
 *
 *   float64 = word × 2^20 + place        52 bits, exact
 */

import { assert } from '../../util/assert.ts'
import { CHUNK_MASK, CHUNK_SHIFT } from './chunk.ts'
import type { MemRowStore } from './mem-row-store.ts'

/** Rows that can be sorted at once. */
export const SORT_ROW_COUNT_MAX = 2 ** 20

const WORD_BYTES = 4
/** Groups up to this size are sorted by insertion. */
const INSERTION_ROWS_MAX = 12
/** How often a group is split by four bytes more, before keys are compared whole: hostile keys get no further. */
const DEPTH_MAX = 16

/**
 * Sorts slots by the keys of their rows, ascending, in place.
 *
 * Requires: the keys are distinct; at most `SORT_ROW_COUNT_MAX` slots.
 * Cost: about O(n log n) comparisons of numbers, and 12 bytes of scratch a row.
 */
export function sortSlots(rows: MemRowStore, slots: Uint32Array): void {
  assert(slots.length <= SORT_ROW_COUNT_MAX, 'more rows than can be sorted at once')
  sortGroup(rows, slots, 0, DEPTH_MAX)
}

/** Sorts slots whose keys have their first `prefixBytes` in common. */
function sortGroup(
  rows: MemRowStore,
  slots: Uint32Array,
  prefixBytes: number,
  depthLeft: number,
): void {
  if (slots.length <= INSERTION_ROWS_MAX) {
    insertionSort(rows, slots)
    return
  }
  if (depthLeft === 0) {
    slots.sort((a, b) => rows.compareKeys(a, b))
    return
  }
  const offset = commonPrefixBytes(rows, slots, prefixBytes)
  const packed = packWords(rows, slots, offset)
  packed.sort()
  const unsorted = slots.slice()
  let groupStart = 0
  let groupWord = Math.floor(packed[0] / SORT_ROW_COUNT_MAX)
  for (let i = 0; i < packed.length; i++) {
    const word = Math.floor(packed[i] / SORT_ROW_COUNT_MAX)
    slots[i] = unsorted[packed[i] - word * SORT_ROW_COUNT_MAX]
    if (word === groupWord) continue
    if (i - groupStart > 1) {
      sortGroup(rows, slots.subarray(groupStart, i), offset + WORD_BYTES, depthLeft - 1)
    }
    groupStart = i
    groupWord = word
  }
  if (packed.length - groupStart > 1) {
    sortGroup(rows, slots.subarray(groupStart), offset + WORD_BYTES, depthLeft - 1)
  }
}

function insertionSort(rows: MemRowStore, slots: Uint32Array): void {
  for (let i = 1; i < slots.length; i++) {
    const slot = slots[i]
    let to = i
    while (to > 0 && rows.compareKeys(slots[to - 1], slot) > 0) {
      slots[to] = slots[to - 1]
      to--
    }
    slots[to] = slot
  }
}

/** How many leading bytes all keys share. Requires: at least `known`, as far as a key goes. */
function commonPrefixBytes(rows: MemRowStore, slots: Uint32Array, known: number): number {
  const first = rows.key(slots[0])
  let common = first.length
  for (let i = 1; i < slots.length && common > known; i++) {
    const keys = rows.chunks[slots[i] >>> CHUNK_SHIFT].keys
    const start = keys.start(slots[i] & CHUNK_MASK)
    const bytes = keys.ends[slots[i] & CHUNK_MASK] - start
    if (bytes < common) common = bytes
    let same = known
    while (same < common && keys.bytes[start + same] === first[same]) same++
    common = same
  }
  return Math.max(common, known)
}

/** Four bytes of each key from `offset` on, big-endian, zeros behind its end, packed with its place. */
function packWords(rows: MemRowStore, slots: Uint32Array, offset: number): Float64Array {
  const packed = new Float64Array(slots.length)
  for (let i = 0; i < slots.length; i++) {
    const keys = rows.chunks[slots[i] >>> CHUNK_SHIFT].keys
    const row = slots[i] & CHUNK_MASK
    const at = keys.start(row) + offset
    const end = keys.ends[row]
    const bytes = keys.bytes
    const word =
      at + WORD_BYTES <= end
        ? ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0
        : partialWord(bytes, at, end)
    packed[i] = word * SORT_ROW_COUNT_MAX + i
  }
  return packed
}

function partialWord(bytes: Uint8Array, start: number, end: number): number {
  let word = 0
  for (let i = 0; i < WORD_BYTES; i++) word = word * 256 + (start + i < end ? bytes[start + i] : 0)
  return word
}
