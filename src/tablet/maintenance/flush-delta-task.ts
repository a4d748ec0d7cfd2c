/**
 * Writes the changes that the DeltaMemStores hold to disk: those of all rowsets to one file, each
 * rowset's in blocks of its own.
 *
 *   1. freeze    later changes go to new stores, and to a new WAL generation
 *   2. write     the records of each rowset
 *   3. commit    they are REDO files now, and the WAL before is needed no more for them
 *
 * Rowsets that another op works on are left alone: it carries their changes over.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { DeltaFileWriter } from '../delta/delta-file-writer.ts'
import type { DeltaMemStore } from '../delta/delta-mem-store.ts'
import { mergeDeltaRecords } from '../delta/merge-delta-records.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import type { FileWriter } from '../file-writer.ts'
import type { RowSetReplacement } from '../storage-change.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'
import { runStep, type StepWork } from './step-work.ts'
import type { TaskLimits } from './stepped-task.ts'

/** Records that are read at a time, about. */
const PIECE_RECORDS = 8192

/** A rowset and its stores that are being flushed, oldest first. */
interface FrozenDeltas {
  readonly rowSet: DiskRowSet
  readonly stores: readonly DeltaMemStore[]
}

/** See the file's header. */
export class FlushDeltaTask implements MaintenanceTask {
  readonly op = 'FLUSH_DMS'
  readonly #parts: TabletParts
  readonly #stepBytes: number
  readonly #work: StepWork
  #frozen: readonly FrozenDeltas[] = []
  #file: FileWriter | null = null
  #summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(parts: TabletParts, _now: Timestamp, { stepBytes }: TaskLimits = {}) {
    this.#parts = parts
    this.#stepBytes = stepBytes ?? parts.layout.stepBytes
    this.#work = this.#flush()
  }

  get summary(): TaskSummary {
    return this.#summary
  }

  step(): boolean {
    return runStep(this.#work, this.#stepBytes)
  }

  /** The stores stay frozen: the next flush takes them with what came later. */
  abort(): void {
    this.#file?.close()
    this.#letGo()
    this.#work.return()
  }

  #letGo(): void {
    for (const { rowSet } of this.#frozen) rowSet.isBusy = false
    this.#frozen = []
  }

  *#flush(): StepWork {
    const parts = this.#parts
    const idle = parts.rowSets.filter(
      ({ isBusy, oldestUnflushed }) => !isBusy && oldestUnflushed !== null,
    )
    if (idle.length === 0) return
    this.#freeze(idle)
    const mark = parts.lastApplied
    parts.beginWalGeneration()
    const file = parts.beginFile()
    this.#file = file
    const replace: RowSetReplacement[] = []
    for (const { rowSet, stores } of this.#frozen) {
      const redo = yield* writeDeltas(stores, rowSet.rowCount, file)
      this.#countOut(redo)
      replace.push(replacementOf(rowSet, stores, redo, mark))
    }
    parts.commitStorage({ replace, files: [file] })
    this.#letGo()
  }

  #freeze(rowSets: readonly DiskRowSet[]): void {
    let bytesIn = 0
    let rowsIn = 0
    this.#frozen = rowSets.map((rowSet) => {
      rowSet.isBusy = true
      const stores = rowSet.freezeDeltas()
      for (const store of stores) {
        bytesIn += store.heldBytes
        rowsIn += store.recordCount
      }
      return { rowSet, stores }
    })
    this.#summary = { ...this.#summary, rowSetsIn: rowSets.length, rowsIn, bytesIn }
  }

  #countOut(redo: DeltaFileMeta): void {
    const { rowSetsOut, rowsOut, bytesOut } = this.#summary
    this.#summary = {
      ...this.#summary,
      rowSetsOut: rowSetsOut + 1,
      rowsOut: rowsOut + redo.recordCount,
      bytesOut: bytesOut + redo.bytes,
    }
  }
}

function* writeDeltas(
  stores: readonly DeltaMemStore[],
  rowCount: number,
  file: FileWriter,
): StepWork<DeltaFileMeta> {
  const writer = new DeltaFileWriter(file)
  let recordCount = 0
  let bytes = 0
  for (const store of stores) {
    recordCount += store.recordCount
    bytes += store.heldBytes
  }
  const pieceRows = Math.max(1, Math.floor((rowCount * PIECE_RECORDS) / recordCount))
  for (let row = 0; row < rowCount; row += pieceRows) {
    const end = Math.min(rowCount, row + pieceRows)
    const parts = stores.map((store) => store.read(row, end)).filter(({ count }) => count > 0)
    if (parts.length === 0) continue
    const records = parts.length === 1 ? parts[0] : mergeDeltaRecords(parts)
    writer.append(records)
    yield (bytes * records.count) / recordCount
  }
  return writer.finish()
}

function replacementOf(
  rowSet: DiskRowSet,
  flushed: readonly DeltaMemStore[],
  redo: DeltaFileMeta,
  mark: Timestamp,
): RowSetReplacement {
  const { meta } = rowSet
  const redos = [...meta.redos, redo]
  const liveRowCount = meta.liveRowCount - redo.deleteCount
  return { rowSet, meta: { ...meta, redos, liveRowCount, mark }, flushed }
}
