import { DEFAULT_FILE_LAYOUT, type FileLayout } from '../cfile/file-layout.ts'
import { MAINTENANCE_STEP_BYTES, MEM_ROW_SET_FLUSH_BYTES } from '../common/limits.ts'

/** How a tablet cuts its rows into rowsets, pages and blocks. No answer of it depends on that. */
export interface TabletLayout extends FileLayout {
  /** Bytes of a MemRowSet at which it is flushed, and what a DiskRowSet is meant to hold. */
  readonly rowSetBytes: number
  /** Bytes of rows that a step of maintenance reads or writes, about. */
  readonly stepBytes: number
}

/** What a tablet uses unless it is told otherwise. */
export const DEFAULT_TABLET_LAYOUT: TabletLayout = {
  ...DEFAULT_FILE_LAYOUT,
  rowSetBytes: MEM_ROW_SET_FLUSH_BYTES,
  stepBytes: MAINTENANCE_STEP_BYTES,
}
