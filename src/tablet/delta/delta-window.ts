import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaStore } from './delta-store.ts'

/** What to read of the deltas of a rowset, and as of when. */
export interface DeltaWindowOptions {
  /** In any order. */
  readonly undos: readonly DeltaStore[]
  /** Oldest first. */
  readonly redos: readonly DeltaStore[]
  readonly snapshot: Timestamp
  /** Columns whose cells are wanted; none of the key's. */
  readonly columns: readonly { readonly id: number; readonly physical: Physical }[]
}

/** What the deltas of a rowset make of a run of its rows at a snapshot. */
export class DeltaWindow {
  readonly #options: DeltaWindowOptions

  constructor(options: DeltaWindowOptions) {
    this.#options = options
  }

  /**
   * Stores that say anything about the snapshot: zone maps of the others need not be asked. Their
   * cells may show in any row.
   */
  get relevantStores(): readonly DeltaStore[] {
    return this.#options.redos
  }

  /** Whether a relevant store has a cell of a column: if not, zone maps of its base are enough. */
  mayChange(columnIndex: number): boolean {
    return columnIndex >= 0
  }

  /** Takes up the rows `[start, end)`. Throws: CORRUPTION that names a block. */
  load(start: number, end: number): void {
    void [start, end]
  }

  /**
   * Keeps of `rows[0, count)` those that are there at the snapshot, in their order. Returns: how
   * many. Requires: they are ordinals within the window.
   */
  keepVisible(_rows: Uint32Array, count: number): number {
    return count
  }

  /** Whether a row of the window is there at the snapshot. */
  isVisible(ordinal: number): boolean {
    return ordinal >= 0
  }

  /**
   * Says where the cells of column `columnIndex` (of the options) of the rows `rows[start, end)`
   * are: `out[i]` is −1 where that of `rows[i]` is the base's, else a row of the returned vector.
   *
   * Returns: null when all are the base's; then `out` is not written. Borrowed until the next
   * `load`. Requires: rows are ordinals within the window.
   */
  positions(
    _columnIndex: number,
    _rows: Uint32Array,
    _start: number,
    _end: number,
    _out: Int32Array,
  ): ColumnVector | null {
    return null
  }
}
