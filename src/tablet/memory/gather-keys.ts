import { copyBytes, type KeyArena } from '../../util/arena.ts'
import { CHUNK_MASK, CHUNK_SHIFT } from './chunk.ts'
import type { RowChunk } from './row-chunk.ts'

/** Keys that are fetched at a time: few enough to stay in the nearest cache. */
const TOUCHED_KEYS = 64

const scratchStarts = new Uint32Array(TOUCHED_KEYS)
const scratchEnds = new Uint32Array(TOUCHED_KEYS)
/** Written so that touching is not left out. */
const scratchTouched = new Uint32Array(1)

/**
 * Appends the keys of rows `slots[start, end)` to `target`. Hot: keys lie all over the memory, so
 * some are first touched, which lets the processor fetch them side by side, and then copied.
 */
export function gatherKeys(
  chunks: readonly RowChunk[],
  slots: Uint32Array,
  start: number,
  end: number,
  target: KeyArena,
): void {
  target.reserveKeys(end - start)
  for (let first = start; first < end; first += TOUCHED_KEYS) {
    const last = Math.min(end, first + TOUCHED_KEYS)
    target.reserve(touchKeys(chunks, slots, first, last))
    const { bytes, ends } = target
    let length = target.length
    let key = target.count
    for (let i = first; i < last; i++) {
      const from = scratchStarts[i - first]
      const to = scratchEnds[i - first]
      copyBytes(chunks[slots[i] >>> CHUNK_SHIFT].keys.bytes, from, to, bytes, length)
      length += to - from
      ends[key++] = length
    }
    target.length = length
    target.count = key
  }
}

/** Notes where keys begin and end. Returns: how many bytes they have. */
function touchKeys(
  chunks: readonly RowChunk[],
  slots: Uint32Array,
  start: number,
  end: number,
): number {
  let bytes = 0
  let touched = 0
  for (let i = start; i < end; i++) {
    const { keys } = chunks[slots[i] >>> CHUNK_SHIFT]
    const row = slots[i] & CHUNK_MASK
    const from = row === 0 ? 0 : keys.ends[row - 1]
    const to = keys.ends[row]
    if (from < to) touched += keys.bytes[from]
    scratchStarts[i - start] = from
    scratchEnds[i - start] = to
    bytes += to - from
  }
  scratchTouched[0] = touched
  return bytes
}
