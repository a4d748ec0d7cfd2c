import type { RowSetIterator, Selection } from '../row-set.ts'

/** Rows and bytes that are copied for a selection at most, unless one row has more. */
const SELECTION_ROWS_MAX = 4096
const SELECTION_BYTES_MAX = 1024 * 1024

const FIRST_ROWS = new Uint32Array(SELECTION_ROWS_MAX).map((_, row) => row)

/** The next batch of a scan as a selection, for a scan whose rows have to be copied anyway. */
export function selectBatch(scan: RowSetIterator, scannedMax: number): Selection | null {
  const limits = { rowCountMax: SELECTION_ROWS_MAX, bytesMax: SELECTION_BYTES_MAX, scannedMax }
  const batch = scan.next(limits)
  if (batch === null) return null
  const { columns, rowCount } = batch.block
  return {
    count: rowCount,
    columns: columns.map((cells) => ({ cells, rows: FIRST_ROWS, zone: null })),
    scannedCount: batch.scannedCount,
  }
}
