import type { KeyFileCursor } from '../../cfile/key-file-reader.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { KeyArena } from '../../util/arena.ts'
import { DELTA_KINDS, type DeltaRecords } from '../delta/delta-records.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { NO_RECORDS } from '../delta/slice-delta-records.ts'
import type { DiskRowSet, DiskRowSetView } from '../disk/disk-row-set.ts'
import { type MergeInput, NEVER } from './merge-planner.ts'
import { RecordsAhead } from './records-ahead.ts'
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
  readonly #undoRecords: RecordsAhead
  readonly #redoRecords: RecordsAhead
  #keys: KeyFileCursor | null = null

  /**
   * `redos` are those of the view that are taken, oldest first.
   */
  constructor(
    rowSet: DiskRowSet,
    view: DiskRowSetView,
    redos: readonly DeltaStore[],
    mark: Timestamp,
  ) {
    this.rowSet = rowSet
    this.view = view
    this.rowCount = rowSet.rowCount
    this.undos = view.undos.filter(({ newest }) => newest > mark)
    this.redos = redos
    this.hasDeletes = this.redos.some(({ deleteCount }) => deleteCount > 0)
    this.#undoRecords = new RecordsAhead(this.undos, this.rowCount)
    this.#redoRecords = new RecordsAhead(this.redos, this.rowCount)
  }

  appendKeys(start: number, end: number, into: KeyArena): void {
    this.#keys ??= this.view.base.keys.openCursor()
    this.#keys.appendKeys(start, end, into)
  }

  readDeletions(start: number, end: number, out: Float64Array): void {
    out.fill(NEVER, 0, end - start)
    for (const records of this.#redoRecords.parts(start, end)) {
      const { count, ordinals, kinds, timestamps } = records
      for (let i = 0; i < count; i++) {
        if (kinds[i] === DELTA_KINDS.DELETE) out[ordinals[i] - start] = timestamps[i]
      }
    }
  }

  /** Lets go of what was read ahead. */
  clear(): void {
    this.#keys?.clear()
    this.#undoRecords.clear()
    this.#redoRecords.clear()
  }

  /** Delta records of rows `[start, end)`. Throws: CORRUPTION. */
  deltas(start: number, end: number): SourceDeltas {
    return {
      undos: this.#undoRecords.read(start, end),
      redos: this.#redoRecords.read(start, end),
    }
  }

  /** The same without UNDOs. Throws: CORRUPTION. */
  ownChanges(start: number, end: number): SourceDeltas {
    const redos = this.#redoRecords.read(start, end)
    return { undos: NO_RECORDS, redos }
  }

  /** REDO records of rows `[start, end)` as runs, older ones first. Throws: CORRUPTION. */
  changes(start: number, end: number): readonly DeltaRecords[] {
    return this.#redoRecords.parts(start, end)
  }

  /** Whether any REDO has a cell of a column. */
  changesColumn(columnId: number): boolean {
    return this.redos.some((store) => store.cellCount(columnId) > 0)
  }
}
