/**
 * Writes the rows of the MemRowSet to disk.
 *
 *   1. freeze       inserts go to a new MemRowSet, changes to these rows still come here
 *   2. resolve      each row's base, and what was before and after it
 *   3. write        the rowset, or several where it was too big
 *   4. commit       what was changed since 2 goes to the DeltaMemStores of the new rowsets
 *
 * Rows that no op left there are not written; when there are no others, nothing is but the
 * superblock.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { PAGE_ROWS } from '../../common/limits.ts'
import { type RowSetMeta, rowSetBytes } from '../disk/row-set-meta.ts'
import type { FileWriter } from '../file-writer.ts'
import { MemRecordsBuilder } from '../memory/mem-records-builder.ts'
import type { MemRowHistory } from '../memory/mem-row-history.ts'
import type { MemRowSet } from '../memory/mem-row-set.ts'
import type { TabletLayout } from '../tablet-layout.ts'
import type { FrozenMemRowSet, TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'
import { writeFlushedRowSet } from './row-set-flush.ts'
import { runStep, type StepWork } from './step-work.ts'
import type { TaskLimits } from './stepped-task.ts'

/** What a row costs to be put in key order, and to be resolved, in bytes written. */
const SORT_COST_BYTES = 16
const RESOLVE_COST_BYTES = 8

/** Rows `[start, end)` of a history as a rowset. */
interface WrittenRowSet {
  readonly start: number
  readonly end: number
  readonly meta: RowSetMeta
}

/** See the file's header. */
export class FlushMemRowSetTask implements MaintenanceTask {
  readonly op = 'FLUSH_MRS'
  readonly #parts: TabletParts
  readonly #stepBytes: number
  readonly #work: StepWork
  #files: readonly FileWriter[] = []
  #summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  /** The time does not matter: nothing in memory is old enough to be left out. */
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

  /** The MemRowSet stays frozen: the next flush begins with it. */
  abort(): void {
    for (const file of this.#files) file.close()
    this.#work.return()
  }

  *#flush(): StepWork {
    const begun = this.#parts.beginFlush((it) => shareCountOf(it, this.#parts.layout))
    if (begun === null) return
    const { frozen, files } = begun
    const { memRowSet } = frozen
    this.#files = files
    const { rowCount, heldBytes } = memRowSet
    this.#summary = { ...this.#summary, rowSetsIn: 1, rowsIn: rowCount, bytesIn: heldBytes }
    const mark = this.#parts.lastApplied
    const history = memRowSet.history()
    yield rowCount * SORT_COST_BYTES
    while (!history.isResolved) {
      history.resolve(PAGE_ROWS)
      yield PAGE_ROWS * RESOLVE_COST_BYTES
    }
    const written = yield* this.#write(frozen, history, mark)
    this.#commit(frozen, history, written)
  }

  *#write(
    { memRowSet }: FrozenMemRowSet,
    history: MemRowHistory,
    mark: Timestamp,
  ): StepWork<WrittenRowSet[]> {
    const parts = this.#parts
    const hashes = new Uint32Array(memRowSet.rowCount)
    memRowSet.readHashes(hashes)
    const written: WrittenRowSet[] = []
    for (const [share, { start, end }] of sharesOf(history.rowCount, this.#files.length)) {
      const blocks = this.#files[share]
      const id = parts.nextRowSetId()
      const { keyHashSeed } = parts
      const options = { id, history, start, end, hashes, keyHashSeed, mark, blocks }
      const meta = yield* writeFlushedRowSet(options)
      written.push({ start, end, meta })
      this.#countOut(meta)
    }
    return written
  }

  #countOut(meta: RowSetMeta): void {
    const { rowSetsOut, rowsOut, bytesOut } = this.#summary
    this.#summary = {
      ...this.#summary,
      rowSetsOut: rowSetsOut + 1,
      rowsOut: rowsOut + meta.rowCount,
      bytesOut: bytesOut + rowSetBytes(meta),
    }
  }

  #commit(
    { memRowSet, at }: FrozenMemRowSet,
    history: MemRowHistory,
    written: readonly WrittenRowSet[],
  ): void {
    const parts = this.#parts
    const changes = memRowSet.changesSince(history)
    const records = new MemRecordsBuilder(changes.cells)
    const add = written.map(({ start, end, meta }) => {
      const rowSet = parts.openRowSet(meta)
      records.clear()
      changes.addTo(records, start, end, start)
      if (records.count > 0) rowSet.appendDeltas(records.finish())
      return rowSet
    })
    parts.commitStorage({ add, flushedMark: at, files: this.#files })
  }
}

/** Rowsets into which a MemRowSet is cut: each has about what one flush is meant to write. */
function shareCountOf({ rowCount, heldBytes }: MemRowSet, layout: TabletLayout): number {
  const fullCount = Math.max(1, Math.round(heldBytes / layout.rowSetBytes))
  return Math.min(fullCount, Math.ceil(rowCount / layout.pageRows))
}

/** Cuts rows evenly. Shares that have none are left out. */
function sharesOf(rowCount: number, count: number): [number, { start: number; end: number }][] {
  const shares: [number, { start: number; end: number }][] = []
  for (let share = 0; share < count; share++) {
    const start = Math.floor((rowCount * share) / count)
    const end = Math.floor((rowCount * (share + 1)) / count)
    if (start < end) shares.push([share, { start, end }])
  }
  return shares
}
