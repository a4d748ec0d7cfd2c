import type { KeyFileCursor } from '../../cfile/key-file-reader.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import type { KeyArena } from '../../util/arena.ts'
import { DELTA_KINDS, type DeltaRecords } from '../delta/delta-records.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { mergeDeltaRecords } from '../delta/merge-delta-records.ts'
import type { DiskRowSet, DiskRowSetView } from '../disk/disk-row-set.ts'
import { type MergeInput, NEVER } from './merge-planner.ts'
import type { SourceDeltas } from './row-history.ts'

/**
 * A rowset as a compaction found it: base, history, and all changes up to the time at which it
 * began. What is changed later is in stores that are not among these.
 */
export class MergeSource implements MergeInput {
  readonly rowSet: DiskRowSet
  readonly view: DiskRowSetView
  readonly rowCount: number
  readonly hasDeletes: boolean
  /** UNDOs above the mark. */
  readonly undos: readonly DeltaStore[]
  /** REDOs, oldest first. */
  readonly redos: readonly DeltaStore[]
  readonly #hasYoungerColumns: boolean
  readonly #snapshot: Timestamp
  #keys: KeyFileCursor | null = null

  /**
   * `view` was taken when the stores were frozen, with all changes up to `snapshot`.
   *
   * Throws: CORRUPTION.
   */
  constructor(
    rowSet: DiskRowSet,
    view: DiskRowSetView,
    columns: readonly Column[],
    mark: Timestamp,
    snapshot: Timestamp,
  ) {
    this.rowSet = rowSet
    this.view = view
    this.rowCount = rowSet.rowCount
    this.undos = view.undos.filter(({ newest }) => newest > mark)
    this.redos = [...view.redos, ...view.memStores.filter(({ isEmpty }) => !isEmpty)]
    this.hasDeletes = this.redos.some(({ deleteCount }) => deleteCount > 0)
    this.#snapshot = snapshot
    this.#hasYoungerColumns =
      this.undos.some(({ reinsertCount }) => reinsertCount > 0) &&
      columns.some(({ id }) => view.base.column(id) === null)
  }

  appendKeys(start: number, end: number, into: KeyArena): void {
    this.#keys ??= this.view.base.keys.openCursor()
    this.#keys.appendKeys(start, end, into)
  }

  readDeletions(start: number, end: number, out: Float64Array): void {
    out.fill(NEVER, 0, end - start)
    const wants = { snapshot: this.#snapshot, columnIds: [] }
    for (const store of this.redos) {
      if (store.deleteCount === 0) continue
      for (const records of store.readParts(start, end, wants)) {
        const { count, ordinals, kinds, timestamps } = records
        for (let i = 0; i < count; i++) {
          if (kinds[i] === DELTA_KINDS.DELETE) out[ordinals[i] - start] = timestamps[i]
        }
      }
    }
  }

  /** Lets go of the keys read ahead. */
  endKeys(): void {
    this.#keys?.clear()
    this.#keys = null
  }

  /** Delta records of rows `[start, end)`. Throws: CORRUPTION. */
  deltas(start: number, end: number): SourceDeltas {
    return {
      undos: this.#read(this.undos, start, end),
      redos: this.#read(this.redos, start, end),
      hasYoungerColumns: this.#hasYoungerColumns,
    }
  }

  #read(stores: readonly DeltaStore[], start: number, end: number): DeltaRecords {
    return mergeDeltaRecords(start === end ? [] : stores.map((store) => store.read(start, end)))
  }

  /** REDO records of rows `[start, end)` that have cells of a column, and maybe others. */
  changesOf(columnId: number, start: number, end: number): readonly DeltaRecords[] {
    const wants = { snapshot: this.#snapshot, columnIds: [columnId] }
    return this.redos
      .filter((store) => store.cellCount(columnId) > 0)
      .flatMap((store) => store.readParts(start, end, wants))
  }

  /** Whether any REDO has a cell of a column. */
  changesColumn(columnId: number): boolean {
    return this.redos.some((store) => store.cellCount(columnId) > 0)
  }
}
