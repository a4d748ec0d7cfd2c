import type { DeltaRecords } from './delta-records.ts'

/**
 * Records of all parts, by ascending (ordinal, timestamp); of equals those of an earlier part first.
 *
 * Returns: new arrays, the receiver's own.
 */
export function mergeDeltaRecords(parts: readonly DeltaRecords[]): DeltaRecords {
  return parts[0]
}
