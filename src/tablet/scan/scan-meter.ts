import {
  type ColumnScanStats,
  emptyScanStats,
  type RowSetSkip,
  type ScanStats,
} from '../../common/scan-stats.ts'

/** Counts what is done for one scan. Cost: a few additions a page. */
export class ScanMeter {
  /** Rowsets that were left out and why, as far as each was looked at by itself. */
  readonly leftOut = new Map<number, RowSetSkip>()
  readonly #stats: ScanStats
  readonly #columns = new Map<number, ColumnScanStats>()

  /** `columnIds` are those that are read, for predicates or for the result. */
  constructor(columnIds: Iterable<number>) {
    this.#stats = emptyScanStats([...new Set(columnIds)])
    for (const column of this.#stats.columns) this.#columns.set(column.columnId, column)
  }

  /** The counters of a column; of one that nobody named, counters that are not shown. */
  column(columnId: number): ColumnScanStats {
    return this.#columns.get(columnId) ?? emptyScanStats([columnId]).columns[0]
  }

  /** Notes that a rowset is not read. */
  leaveOut(rowSetId: number, reason: RowSetSkip): void {
    this.leftOut.set(rowSetId, reason)
    this.#stats.rowSetsSkipped[reason]++
  }

  /** Counts a rowset that is read. */
  countRowSet(): void {
    this.#stats.rowSetsRead++
  }

  /** Counts rowsets that are there. */
  countRowSets(count: number): void {
    this.#stats.rowSetsTotal += count
  }

  /** Counts rows that were looked at, and those that came out. */
  countRows(scannedCount: number, returnedCount: number): void {
    this.#stats.rowsScanned += scannedCount
    this.#stats.rowsReturned += returnedCount
  }

  /** Counts stored rows that were read, as they are billed. */
  countBilled(count: number): void {
    this.#stats.billedRowsRead += count
  }

  /** Counts rowsets that were left out without being looked at one by one. */
  countLeftOut(count: number, reason: RowSetSkip): void {
    this.#stats.rowSetsSkipped[reason] += count
  }

  /** Counts pages of keys that were read. */
  countKeyPages(count: number): void {
    this.#stats.keyPagesRead += count
  }

  /** What was counted so far. */
  get stats(): ScanStats {
    let bytesDecoded = 0
    for (const column of this.#stats.columns) bytesDecoded += column.bytesDecoded
    this.#stats.bytesDecoded = bytesDecoded
    return this.#stats
  }
}
