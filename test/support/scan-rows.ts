import type { ScanBatch } from '../../src/tablet/row-set.ts'
import {
  openScan,
  type ScanOptions,
  type TabletScanner,
} from '../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import type { PlainRow } from './a-write-block.ts'
import type { MemRowWriter } from './mem-row-writer.ts'
import { rowsOf } from './row-data.ts'

/** Opens a scan of all that was written, in key order, but for what `options` says otherwise. */
export function openScanOf(
  writers: readonly MemRowWriter[],
  options: Partial<ScanOptions> = {},
): TabletScanner {
  const { schema } = writers[0]
  return openScan({
    rowSets: writers.map((writer) => writer.rowSet),
    schema,
    columnIds: schema.columns.map((column) => column.id),
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'ORDERED',
    snapshot: 1_000_000,
    withKeys: false,
    ...options,
  })
}

/** Reads a scan to its end. Returns the rows of each batch. */
export function batchesOf(
  writer: MemRowWriter,
  scanner: TabletScanner,
  rowCountMax = 1000,
  bytesMax = 1e6,
): PlainRow[][] {
  const batches: PlainRow[][] = []
  for (;;) {
    const batch: ScanBatch | null = scanner.nextBatch(rowCountMax, bytesMax)
    if (batch === null) return batches
    batches.push(rowsOf(writer.schema, batch.block))
  }
}

/** The rows of a whole scan. */
export function scanRows(writer: MemRowWriter, options: Partial<ScanOptions> = {}): PlainRow[] {
  return batchesOf(writer, openScanOf([writer], options)).flat()
}
