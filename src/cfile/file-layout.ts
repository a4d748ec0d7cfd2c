import {
  BLOCK_BYTES_TARGET,
  DELTA_BLOCK_RECORDS,
  KEY_PAGE_ROWS,
  PAGE_ROWS,
  PAGE_TEXT_BYTES,
  PAGE_VALUE_BYTES,
} from '../common/limits.ts'

/** How rows are cut into pages and pages into blocks. Readers find out from the files. */
export interface FileLayout {
  /** Rows of a page of a column. */
  readonly pageRows: number
  /** Bytes of plain values at which a page of a binary column ends before it has so many rows. */
  readonly pageValueBytes: number
  /** The same unless the page before is of codes, mostly. */
  readonly pageTextBytes: number
  /** Keys of a page of keys. */
  readonly keyPageRows: number
  /** Bytes at which a block of pages is closed. */
  readonly blockBytes: number
  /** Records of a block of a delta file. */
  readonly deltaBlockRecords: number
}

/** What a tablet uses unless it is told otherwise. */
export const DEFAULT_FILE_LAYOUT: FileLayout = {
  pageRows: PAGE_ROWS,
  pageValueBytes: PAGE_VALUE_BYTES,
  pageTextBytes: PAGE_TEXT_BYTES,
  keyPageRows: KEY_PAGE_ROWS,
  blockBytes: BLOCK_BYTES_TARGET,
  deltaBlockRecords: DELTA_BLOCK_RECORDS,
}
