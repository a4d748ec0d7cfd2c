/**
 * Sorting rows by their keys. Hot.
 *
 * A comparison of two keys costs far more than one of two numbers, so four bytes of each key, from
 * where the keys begin to differ, are packed with its slot into 64 bits, and the runtime sorts
 * those. Rows whose four bytes are equal are then sorted among themselves by the bytes behind.
 *
 *   low 32 bits: slot    high 32 bits: four bytes of the key, big-endian, zeros behind its end
 */

import { CHUNK_MASK, CHUNK_SHIFT } from './chunk.ts'
import type { MemRowStore } from './mem-row-store.ts'

const WORD_BYTES = 4
/** Groups up to this size are sorted by insertion. */
const INSERTION_ROWS_MAX = 12
/**
 * How often a group is split by four bytes more, before keys are compared whole: hostile keys get
 * no further.
 */
const DEPTH_MAX = 16

/**
 * Sorts slots by the keys of their rows, ascending, in place.
 *
 * Requires: the keys are distinct. Cost: about n log n comparisons of numbers, and 8 bytes of
 * scratch a row.
 */
export function sortSlots(rows: MemRowStore, slots: Uint32Array): void {
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
  new BigUint64Array(packed.buffer).sort()
  let groupStart = 0
  for (let i = 0; i < slots.length; i++) {
    slots[i] = packed[i * 2]
    if (packed[i * 2 + 1] === packed[groupStart * 2 + 1]) continue
    sortTies(rows, slots, groupStart, i, offset, depthLeft)
    groupStart = i
  }
  sortTies(rows, slots, groupStart, slots.length, offset, depthLeft)
}

/** Sorts slots `[start, end)`, whose keys agree in all bytes up to and with those at `offset`. */
function sortTies(
  rows: MemRowStore,
  slots: Uint32Array,
  start: number,
  end: number,
  offset: number,
  depthLeft: number,
): void {
  if (end - start < 2) return
  sortGroup(rows, slots.subarray(start, end), offset + WORD_BYTES, depthLeft - 1)
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

/** For each slot two words: the slot, and four bytes of its key from `offset` on. */
function packWords(rows: MemRowStore, slots: Uint32Array, offset: number): Uint32Array {
  const packed = new Uint32Array(slots.length * 2)
  for (let i = 0; i < slots.length; i++) {
    const keys = rows.chunks[slots[i] >>> CHUNK_SHIFT].keys
    const row = slots[i] & CHUNK_MASK
    const at = keys.start(row) + offset
    const end = keys.ends[row]
    const bytes = keys.bytes
    packed[i * 2] = slots[i]
    packed[i * 2 + 1] =
      at + WORD_BYTES <= end
        ? (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
        : partialWord(bytes, at, end)
  }
  return packed
}

function partialWord(bytes: Uint8Array, start: number, end: number): number {
  let word = 0
  for (let i = start; i < start + WORD_BYTES; i++) word = word * 256 + (i < end ? bytes[i] : 0)
  return word
}
