/**
 * What one tablet did for a scan: what it read, and what it could leave out and why.
 *
 * Shown by `"analyze": true`, for each tablet:
 *
 *   { "tablet_id", "hash_buckets", "range_lower", "range_upper",
 *     "rowsets": { "total": 12, "read": 2, "skipped": { "key_bounds": 9, "bloom_filter": 1 } },
 *     "columns": [ { "column": "l_shipdate", "pages": 245, "pages_read": 36, "pages_from_cache": 0,
 *                    "pages_skipped": { "key_bounds": 200, "zone_map": 9 },
 *                    "bytes_decoded": 9216 } ],
 *     "key_pages_read": 2, "rows_scanned": 143000, "rows_returned": 18000, "bytes_decoded": 99000,
 *     "billed_rows_read": 21 }
 */

/**
 * Why a rowset was left out: by its key bounds, by its Bloom filter, or because a list or a value
 * asked of a key column cannot be between its bounds; or, for a diff, because none of its rows
 * changed.
 */
export const ROW_SET_SKIPS = ['key_bounds', 'bloom_filter', 'key_list', 'unchanged'] as const
/** Why a rowset was left out. */
export type RowSetSkip = (typeof ROW_SET_SKIPS)[number]

/**
 * Why a page was not read: outside the key bounds, by its zone map or another's, which say that no
 * row or every row of it passes, or no row of it was left when it was its turn; in a diff, no row
 * that changed.
 */
export const PAGE_SKIPS = ['key_bounds', 'zone_map', 'no_rows_left'] as const
/** Why a page was not read. */
export type PageSkip = (typeof PAGE_SKIPS)[number]

/** What was done for one column. All are counts; plain data. */
export interface ColumnScanStats {
  readonly columnId: number
  /** Pages of the column in all rowsets on disk, also those of rowsets that were left out. */
  pages: number
  /** Pages whose cells were asked for. With those skipped all pages that a scan came past. */
  pagesRead: number
  /** Of these, those that were in the page cache. */
  pagesFromCache: number
  readonly pagesSkipped: Record<PageSkip, number>
  /** Bytes of the pages that were decoded, as stored: those that were not in the cache. */
  bytesDecoded: number
}

/** What was done for a scan. Plain data. */
export interface ScanStats {
  rowSetsTotal: number
  rowSetsRead: number
  readonly rowSetsSkipped: Record<RowSetSkip, number>
  readonly columns: ColumnScanStats[]
  keyPagesRead: number
  rowsScanned: number
  rowsReturned: number
  /** Of pages of columns; those of keys are searched as they lie. */
  bytesDecoded: number
  billedRowsRead: number
}

/** The statistics of a scan that has done nothing. */
export function emptyScanStats(columnIds: readonly number[]): ScanStats {
  return {
    rowSetsTotal: 0,
    rowSetsRead: 0,
    rowSetsSkipped: { key_bounds: 0, bloom_filter: 0, key_list: 0, unchanged: 0 },
    columns: columnIds.map((columnId) => ({
      columnId,
      pages: 0,
      pagesRead: 0,
      pagesFromCache: 0,
      pagesSkipped: { key_bounds: 0, zone_map: 0, no_rows_left: 0 },
      bytesDecoded: 0,
    })),
    keyPagesRead: 0,
    rowsScanned: 0,
    rowsReturned: 0,
    bytesDecoded: 0,
    billedRowsRead: 0,
  }
}
