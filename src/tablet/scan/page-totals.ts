import type { ScanStats } from '../../common/scan-stats.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'

/** Pages of each column in rowsets on disk, by its id. */
export type PageTotals = ReadonlyMap<number, number>

/**
 * Counts the pages of columns in all rowsets. Throws: CORRUPTION. Cost: reads the directories that
 * are not in the cache.
 */
export function pageTotalsOf(rowSets: readonly DiskRowSet[], { columns }: ScanStats): PageTotals {
  const totals = new Map<number, number>()
  for (const { columnId } of columns) {
    let count = 0
    for (const { base } of rowSets) count += base.column(columnId)?.pageCount ?? 0
    totals.set(columnId, count)
  }
  return totals
}

/**
 * Adds the pages of rowsets that were left out, and of columns that need not be read because key
 * bounds say what was asked of them. `isWhole`: whether the scan came to its end; if not, what it
 * did not come to is not called left out.
 */
export function addPagesLeftOut(stats: ScanStats, totals: PageTotals, isWhole: boolean): void {
  for (const column of stats.columns) {
    const count = Math.max(0, (totals.get(column.columnId) ?? 0) - column.pages)
    column.pages += count
    if (isWhole) column.pagesSkipped.key_bounds += count
  }
}
