/**
 * Merges DiskRowSets into ones that do not overlap.
 *
 *   hold inputs, freeze their DeltaMemStores
 *     └► for each output: keys, which make the plan ─► column by column ─► UNDOs ─► directory
 *          └► last step: what came since is carried over by the plan; commit
 *
 * Files are begun together: one for the base of each output, and one for the delta records of all
 * outputs, which become ancient together.
 *
 * REDOs go into the base and UNDOs, the lives of one key become one history, and what is at or
 * below the ancient history mark is left out: versions, and rows deleted by then.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { TIMESTAMP_MIN } from '../../common/hybrid-clock.ts'
import { COMPACTION_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { Column } from '../../common/schema.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareWhole } from '../../util/bytes.ts'
import { DeltaFileWriter, writeDeltaFile } from '../delta/delta-file-writer.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../delta/delta-records-builder.ts'
import { type BaseMeta, BaseWriter } from '../disk/base-writer.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import { type DeltaFileMeta, rowSetBytes } from '../disk/row-set-meta.ts'
import type { FileWriter } from '../file-writer.ts'
import type { UnusedBlocks } from '../storage-change.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { BaseCellReader } from './base-cell-reader.ts'
import { ColumnGatherer, GATHER_ROWS } from './column-gatherer.ts'
import { LateChanges } from './late-changes.ts'
import { MERGE_INPUT_COUNT_MAX, type MergePlan } from './merge-plan.ts'
import { MergePlanner } from './merge-planner.ts'
import { MergeSource } from './merge-source.ts'
import { RowHistory, recordBytes } from './row-history.ts'
import { memoryBytesPerRow } from './row-set-picks.ts'
import { SteppedTask, type TaskLimits } from './stepped-task.ts'
import { stretchRows } from './stretch-rows.ts'

/** What a compaction is told beside its inputs. */
export interface CompactionOptions extends TaskLimits {
  /** Keys at which an output ends, ascending, whatever it has by then. */
  readonly cuts?: readonly Uint8Array[]
}

/** Delta records of an input are deleted from a file that others need, from so many bytes on. */
const UNUSED_BYTES_MIN = 256 * 1024

/** Rows `[start, end)` of the plan as they are written. */
interface Output {
  readonly start: number
  readonly end: number
  readonly base: BaseMeta
  readonly undo: DeltaFileMeta | null
  readonly ghosts: DeltaFileMeta | null
}

/** See the file's header. */
export class CompactRowSetsTask extends SteppedTask {
  readonly op = 'COMPACT'
  readonly #rowSets: readonly DiskRowSet[]
  /** Rows of a full rowset. */
  readonly #rowSetRows: number
  readonly #columns: readonly Column[]
  readonly #valueColumns: readonly Column[]
  #sources: readonly MergeSource[] = []
  /** What is merged is what was there at it. */
  #at: Timestamp = TIMESTAMP_MIN
  readonly #cuts: readonly Uint8Array[]
  /** Files that are begun and have no use yet. */
  #unusedFiles: FileWriter[] = []
  /** Of the delta records of all outputs. */
  #deltaFile: FileWriter | null = null

  /**
   * Inputs beyond MERGE_INPUT_COUNT_MAX or COMPACTION_ROW_COUNT_MAX rows are left for another time,
   * as are those that another task works on.
   */
  constructor(
    parts: TabletParts,
    rowSets: readonly DiskRowSet[],
    now: Timestamp,
    limits: CompactionOptions = {},
  ) {
    super(parts, now, limits)
    this.#rowSets = rowSets
    this.#cuts = limits.cuts ?? []
    this.#rowSetRows =
      limits.rowSetRows ?? parts.layout.rowSetBytes / Math.max(1, memoryBytesPerRow(parts))
    const { columns, keyColumnCount } = parts.schema
    this.#columns = columns
    this.#valueColumns = columns.slice(keyColumnCount)
  }

  protected *run(): Generator<void, void> {
    const inputs = this.#chooseInputs()
    if (inputs.length === 0) return
    this.#at = this.parts.lastApplied
    this.#sources = inputs.map((rowSet) => {
      const frozen = rowSet.freezeDeltas()
      const { view } = this.hold(rowSet)
      const redos = [...view.redos, ...frozen]
      return new MergeSource(rowSet, view, redos, this.mark)
    })
    this.#countInputs(inputs)
    const planner = new MergePlanner(this.#sources, this.mark, sharedBytes(inputs))
    const rowsTarget = this.#outputRows(inputs)
    this.#beginFiles(inputs, rowsTarget)
    const outputs: Output[] = []
    for (const endKey of [...this.#cuts, null]) {
      for (let hasRows = true; hasRows; ) {
        const output = yield* this.#writeOutput(planner, rowsTarget, endKey)
        if (output === null) hasRows = false
        else outputs.push(output)
      }
    }
    this.#commit(planner.plan, outputs)
  }

  /** Begins as many files as are needed in any case, or nearly so. */
  #beginFiles(inputs: readonly DiskRowSet[], rowsTarget: number): void {
    const hasHistory = this.#sources.some(({ undos, redos }) => undos.length + redos.length > 0)
    const liveCount = inputs.reduce((sum, { liveRowCount }) => sum + liveRowCount, 0)
    const outputCount = Math.max(1, Math.ceil(liveCount / rowsTarget))
    this.#unusedFiles = this.beginFiles(outputCount + (hasHistory ? 1 : 0))
    if (hasHistory) this.#deltaFile = this.#unusedFiles.pop() ?? null
  }

  #openFile(): FileWriter {
    return this.#unusedFiles.shift() ?? this.beginFile()
  }

  #chooseInputs(): DiskRowSet[] {
    let rowCount = 0
    const inputs: DiskRowSet[] = []
    for (const rowSet of new Set(this.#rowSets)) {
      if (!this.isFree(rowSet) || inputs.length === MERGE_INPUT_COUNT_MAX) continue
      if (rowCount + rowSet.rowCount > COMPACTION_ROW_COUNT_MAX) continue
      rowCount += rowSet.rowCount
      inputs.push(rowSet)
    }
    return inputs
  }

  #countInputs(inputs: readonly DiskRowSet[]): void {
    this.summary.rowSetsIn = inputs.length
    for (const { rowCount, meta } of inputs) {
      this.summary.rowsIn += rowCount
      this.summary.bytesIn += rowSetBytes(meta)
    }
  }

  /** Rows of each output, so that all are alike and about as large as a full rowset. */
  #outputRows(inputs: readonly DiskRowSet[]): number {
    let rowCount = 0
    let liveCount = 0
    for (const input of inputs) {
      rowCount += input.rowCount
      liveCount += input.liveRowCount
    }
    // Rows that are deleted may have to be kept, and have their places in the outputs.
    const outputCount = Math.max(1, Math.round(liveCount / this.#rowSetRows))
    return Math.ceil(rowCount / outputCount)
  }

  /** Writes the next rows, up to a key. Returns: null when there are none. */
  *#writeOutput(
    planner: MergePlanner,
    rowsTarget: number,
    endKey: Uint8Array | null,
  ): Generator<void, Output | null> {
    const { plan } = planner
    const start = plan.rowCount
    const keys = new KeyArena(GATHER_ROWS)
    let file: FileWriter | null = null
    let writer: BaseWriter | null = null
    for (let hasRows = true; hasRows && plan.rowCount - start < rowsTarget; ) {
      keys.clear()
      const rowsLeft = rowsTarget - (plan.rowCount - start)
      hasRows = planner.next(Math.min(GATHER_ROWS, rowsLeft), keys, endKey)
      if (keys.count > 0) {
        file ??= this.#openFile()
        writer ??= new BaseWriter({
          columns: this.#columns,
          keyHashSeed: this.parts.keyHashSeed,
          blocks: file,
        })
        writer.appendKeys(keys, 0, keys.count)
      }
      // Keys that are left out cost as much as those that are kept.
      if (this.hasWorked(keys.length + GATHER_ROWS * 16)) yield
    }
    if (writer === null) return null
    const end = plan.rowCount
    for (const column of this.#columns) yield* this.#writeColumn(writer, column, plan, start, end)
    const undo = yield* this.#writeUndos(plan, start, end)
    const ghosts = this.#writeGhosts(plan, start, end)
    const base = writer.finish()
    return { start, end, base, undo, ghosts }
  }

  *#writeColumn(
    writer: BaseWriter,
    column: Column,
    plan: MergePlan,
    start: number,
    end: number,
  ): Generator<void, void> {
    const target = writer.column(column.index)
    for (const source of this.#sources) source.clear()
    const gatherer = new ColumnGatherer(this.#sources, column, plan)
    for (let row = start; row < end; row += GATHER_ROWS) {
      const cells = gatherer.gather(row, Math.min(end, row + GATHER_ROWS))
      target.append(cells)
      if (this.hasWorked(cells.bytes.length + cells.offsets.length * 4)) yield
    }
    target.finish()
  }

  *#writeUndos(plan: MergePlan, start: number, end: number): Generator<void, DeltaFileMeta | null> {
    const sources = this.#sources
    const history = new RowHistory(this.#valueColumns, this.mark)
    const base = new BaseCellReader(sources)
    const rowCount = sources.reduce((sum, source) => sum + source.rowCount, 0)
    const stores = sources.flatMap(({ undos, redos }) => [...undos, ...redos])
    if (stores.length === 0) return null
    const rowsPerStretch = stretchRows(rowCount, stores)
    let writer: DeltaFileWriter | null = null
    for (let row = start; row < end; row += rowsPerStretch) {
      const stop = Math.min(end, row + rowsPerStretch)
      const { firsts, ends } = plan.lifeBounds(row, stop, sources.length)
      history.begin(sources.map((source, index) => source.deltas(firsts[index], ends[index])))
      history.appendRows(plan, row, stop, row - start)
      const records = history.finish(base)
      if (records.count > 0) {
        writer ??= new DeltaFileWriter(this.#openDeltaFile())
        writer.append(records)
      }
      if (this.hasWorked(recordBytes(records) + (stop - row) * 4)) yield
    }
    return writer?.finish() ?? null
  }

  /** Rows that were deleted above the mark are there for reads below their end. */
  #writeGhosts(plan: MergePlan, start: number, end: number): DeltaFileMeta | null {
    const builder = new DeltaRecordsBuilder()
    for (let ghost = plan.ghostFrom(start); ghost < plan.ghostCount; ghost++) {
      const row = plan.ghostRows[ghost]
      if (row >= end) break
      builder.append(row - start, plan.ghostTimes[ghost], DELTA_KINDS.DELETE)
    }
    if (builder.count === 0) return null
    return writeDeltaFile(builder.finish(), this.#openDeltaFile())
  }

  /** Delta records have a file of their own: history is dropped long before the base is. */
  #openDeltaFile(): FileWriter {
    this.#deltaFile ??= this.beginFile()
    return this.#deltaFile
  }

  #commit(plan: MergePlan, outputs: readonly Output[]): void {
    const late = new LateChanges(this.#sources)
    const add = outputs.map((output) => this.#openOutput(plan, output, late))
    assert(late.isDone, 'every later change is carried over')
    for (const { meta, rowCount } of add) {
      this.summary.rowsOut += rowCount
      this.summary.bytesOut += rowSetBytes(meta)
    }
    this.summary.rowSetsOut = add.length
    const remove = this.#sources.map(({ rowSet }) => rowSet)
    this.commit({ add, remove, historyMark: this.mark, unusedBlocks: this.#unusedBlocks() })
  }

  /** Delta records of inputs, where there are many: others may be in the same files. */
  #unusedBlocks(): UnusedBlocks[] {
    const deltas = this.#sources.flatMap(({ view: { meta } }) => [...meta.undos, ...meta.redos])
    return deltas
      .filter(({ bytes }) => bytes >= UNUSED_BYTES_MIN)
      .map(({ file, firstBlock, firstOrdinals }) => {
        return { file, blocks: firstOrdinals.map((_, index) => firstBlock + index) }
      })
  }

  #openOutput(plan: MergePlan, output: Output, late: LateChanges): DiskRowSet {
    const { start, end, base, undo, ghosts } = output
    const rowSet = this.parts.openRowSet({
      ...base,
      id: this.parts.nextRowSetId(),
      liveRowCount: end - start - (ghosts?.recordCount ?? 0),
      mark: this.#at,
      newestUndo: undo?.newest ?? TIMESTAMP_MIN,
      undos: undo === null ? [] : [undo],
      redos: ghosts === null ? [] : [ghosts],
    })
    const changes = late.take(plan, start, end)
    if (changes.count > 0) rowSet.appendDeltas(changes)
    return rowSet
  }
}

/** Bytes at their beginnings that all keys of the rowsets have in common. */
function sharedBytes(inputs: readonly DiskRowSet[]): number {
  let { lowerKey, upperKey } = inputs[0]
  for (const input of inputs) {
    if (compareWhole(input.lowerKey, lowerKey) < 0) lowerKey = input.lowerKey
    if (input.upperKey.length === 0) return 0
    if (compareWhole(input.upperKey, upperKey) > 0) upperKey = input.upperKey
  }
  let shared = 0
  while (shared < lowerKey.length && lowerKey[shared] === upperKey[shared]) shared++
  return shared
}
