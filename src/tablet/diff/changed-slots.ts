/**
 * Which rows of a MemRowSet may have changed since a time. Hot.
 *
 *   slot         0 ─────────── 17 ──────▷   rows come in ascending time: those from 17 on are new
 *   newest redo  −  4  −  21  …             redos too: a row of a redo from 20 on changed
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { bitmapBytes, setBit, setBits } from '../../util/bitmap.ts'
import { CHUNK_SHIFT } from '../memory/chunk.ts'
import type { MemRowStore } from '../memory/mem-row-store.ts'

/**
 * A bitmap of the slots, in which those of rows that changed above `after` are set, and maybe some
 * more. Cost: one pass over the newest redos of chunks that have any.
 */
export function changedSlots(rows: MemRowStore, after: Timestamp): Uint8Array {
  const { rowCount, chunks, redos } = rows
  const marks = new Uint8Array(bitmapBytes(rowCount))
  const firstSlot = firstAbove(rowCount, after, (slot) => rows.insertedAt(slot))
  const firstRedo = firstAbove(redos.count, after, (redo) => redos.at(redo))
  for (let chunk = 0; chunk << CHUNK_SHIFT < firstSlot; chunk++) {
    if (!chunks[chunk].hasRedos) continue
    const { newestRedo } = chunks[chunk]
    const start = chunk << CHUNK_SHIFT
    const count = Math.min(chunks[chunk].rowCount, firstSlot - start)
    for (let i = 0; i < count; i++) if (newestRedo[i] >= firstRedo) setBit(marks, start + i)
  }
  setBits(marks, firstSlot, rowCount)
  return marks
}

/** The first of `count` numbers whose time, which ascends with them, is above another. */
function firstAbove(count: number, after: Timestamp, timeOf: (index: number) => Timestamp): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (timeOf(middle) <= after) low = middle + 1
    else high = middle
  }
  return low
}
