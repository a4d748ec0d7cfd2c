import type { DeltaStore } from '../delta/delta-store.ts'

/** Records that are worked on at a time, about. */
const RECORDS_PER_STRETCH = 16_384
const STRETCH_ROWS_MIN = 64

/** Rows out of `rowCount` whose records, evenly spread, are worked on at a time. */
export function stretchRows(rowCount: number, stores: readonly DeltaStore[]): number {
  let recordCount = 0
  for (const store of stores) recordCount += store.recordCount
  const rows = Math.floor((RECORDS_PER_STRETCH * rowCount) / Math.max(1, recordCount, rowCount))
  return Math.max(STRETCH_ROWS_MIN, rows)
}
