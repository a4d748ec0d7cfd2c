/** Which rows of a DiskRowSet are there, as its deltas say. Hot. */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { bitmapBytes, setBit } from '../../util/bitmap.ts'
import { DELTA_KINDS } from './delta-records.ts'
import type { DeltaStore } from './delta-store.ts'
import { DeltaWindow } from './delta-window.ts'

/** Rows whose records are in memory at once. */
const STEP_ROW_COUNT = 65_536

/**
 * A bitmap of the rows that REDO records delete: bit i is row i. Stores without deletes are not
 * read. Throws: CORRUPTION that names the block.
 */
export function deletedOrdinals(redos: readonly DeltaStore[], rowCount: number): Uint8Array {
  const deleted = new Uint8Array(bitmapBytes(rowCount))
  for (const store of redos) {
    if (store.deleteCount === 0) continue
    for (let start = 0; start < rowCount; start += STEP_ROW_COUNT) {
      const end = Math.min(start + STEP_ROW_COUNT, rowCount)
      for (const { count, kinds, ordinals } of store.readParts(start, end)) {
        for (let i = 0; i < count; i++) {
          if (kinds[i] === DELTA_KINDS.DELETE) setBit(deleted, ordinals[i])
        }
      }
    }
  }
  return deleted
}

/**
 * Whether a row of the base was there just before a time. Throws: CORRUPTION that names the block.
 */
export function existsJustBefore(
  undos: readonly DeltaStore[],
  redos: readonly DeltaStore[],
  ordinal: number,
  at: Timestamp,
): boolean {
  const window = new DeltaWindow({ undos, redos, snapshot: at - 1, columns: [] })
  window.load(ordinal, ordinal + 1)
  return window.isVisible(ordinal)
}
