/**
 * Makes one REDO file of all that a DiskRowSet has, so that a read looks into one.
 *
 *   REDO file, REDO file, REDO file ──by row and time──► REDO file
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { DeltaFileWriter } from '../delta/delta-file-writer.ts'
import type { DiskRowSet, DiskRowSetView } from '../disk/disk-row-set.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { RecordsAhead } from './records-ahead.ts'
import { RedoFolder } from './redo-folder.ts'
import { recordBytes } from './row-history.ts'
import { SteppedTask, type TaskLimits } from './stepped-task.ts'
import { stretchRows } from './stretch-rows.ts'

/** See the file's header. */
export class MinorDeltaTask extends SteppedTask {
  readonly op = 'MINOR_DELTA_COMPACT'
  readonly #rowSet: DiskRowSet

  constructor(parts: TabletParts, rowSet: DiskRowSet, now: Timestamp, limits: TaskLimits = {}) {
    super(parts, now, limits)
    this.#rowSet = rowSet
  }

  protected *run(): Generator<void, void> {
    const rowSet = this.#rowSet
    if (!this.isFree(rowSet) || rowSet.redos.length < 2) return
    const { view } = this.hold(rowSet)
    const redo = yield* this.#write(view)
    this.#count(view, redo)
    const meta = { ...rowSet.meta, redos: redo === null ? [] : [redo] }
    this.commit({ replace: [{ rowSet, meta }], historyMark: this.mark })
  }

  *#write({ redos }: DiskRowSetView): Generator<void, DeltaFileMeta | null> {
    const { rowCount } = this.#rowSet
    const { schema } = this.parts
    const records = new RecordsAhead(redos, rowCount)
    const folder = new RedoFolder(schema.columns.slice(schema.keyColumnCount), this.mark)
    const rowsPerStretch = stretchRows(rowCount, redos)
    let writer: DeltaFileWriter | null = null
    for (let row = 0; row < rowCount; row += rowsPerStretch) {
      const folded = folder.fold(records.read(row, Math.min(rowCount, row + rowsPerStretch)))
      if (folded.count === 0) continue
      writer ??= new DeltaFileWriter(this.beginFile())
      writer.append(folded)
      if (this.hasWorked(recordBytes(folded))) yield
    }
    return writer?.finish() ?? null
  }

  #count({ redos }: DiskRowSetView, redo: DeltaFileMeta | null): void {
    const { summary } = this
    summary.rowSetsIn = 1
    summary.rowSetsOut = 1
    for (const { meta } of redos) {
      summary.rowsIn += meta.recordCount
      summary.bytesIn += meta.bytes
    }
    summary.rowsOut = redo?.recordCount ?? 0
    summary.bytesOut = redo?.bytes ?? 0
  }
}
