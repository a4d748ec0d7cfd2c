/** Stretches of delta records. Hot. */

import type { DeltaRecords } from './delta-records.ts'

/** No records. Shared: never written to. */
export const NO_RECORDS: DeltaRecords = {
  count: 0,
  ordinals: new Uint32Array(0),
  timestamps: new Float64Array(0),
  kinds: new Uint8Array(0),
  cellEnds: new Uint32Array(0),
  cellColumns: new Uint16Array(0),
  cellPositions: new Uint32Array(0),
  columns: [],
}

/** Index of the first record at or above a row, or the count. Cost: O(log records). */
export function lowerRecord(records: DeltaRecords, ordinal: number): number {
  const { ordinals } = records
  let low = 0
  let high = records.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordinals[middle] < ordinal) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Records of the rows `[start, end)`. Returns: views of `records`, and a copy of the ends of cells.
 */
export function sliceDeltaRecords(records: DeltaRecords, start: number, end: number): DeltaRecords {
  return sliceRecords(records, lowerRecord(records, start), lowerRecord(records, end))
}

/** Records `[start, end)`, by index, as `sliceDeltaRecords`. */
export function sliceRecords(records: DeltaRecords, start: number, end: number): DeltaRecords {
  if (start === end) return NO_RECORDS
  if (start === 0 && end === records.count) return records
  const { ordinals, timestamps, kinds, cellColumns, cellPositions, columns } = records
  const firstCell = start === 0 ? 0 : records.cellEnds[start - 1]
  const lastCell = records.cellEnds[end - 1]
  const cellEnds = records.cellEnds.slice(start, end)
  if (firstCell !== 0) for (let i = 0; i < cellEnds.length; i++) cellEnds[i] -= firstCell
  return {
    count: end - start,
    ordinals: ordinals.subarray(start, end),
    timestamps: timestamps.subarray(start, end),
    kinds: kinds.subarray(start, end),
    cellEnds,
    cellColumns: cellColumns.subarray(firstCell, lastCell),
    cellPositions: cellPositions.subarray(firstCell, lastCell),
    columns,
  }
}
