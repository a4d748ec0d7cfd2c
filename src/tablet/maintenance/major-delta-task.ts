/**
 * Brings the REDO cells of some columns into the base of a DiskRowSet, with UNDOs that lead back.
 *
 *   base: c0 c1 c2        ──►   base: c0 c2 as they are, c1 anew
 *   REDO: c1 c2 DELETE    ──►   UNDO: c1          REDO: c2 DELETE
 *
 * Rows keep their ordinals, so what is in DeltaMemStores stays there.
 */

import type { BlockId } from '../../cfile/block-id.ts'
import { CFileWriter } from '../../cfile/cfile-writer.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import { DeltaFileWriter } from '../delta/delta-file-writer.ts'
import { DirectoryEditor } from '../disk/directory-editor.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import { type DeltaFileMeta, rowSetBytes } from '../disk/row-set-meta.ts'
import type { FileWriter } from '../file-writer.ts'
import type { UnusedBlocks } from '../storage-change.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { BaseCellReader } from './base-cell-reader.ts'
import { ColumnGatherer, GATHER_ROWS } from './column-gatherer.ts'
import { MergePlan } from './merge-plan.ts'
import { MergeSource } from './merge-source.ts'
import { RedoFolder } from './redo-folder.ts'
import { RowHistory, recordBytes } from './row-history.ts'
import { SteppedTask, type TaskLimits } from './stepped-task.ts'
import { stretchRows } from './stretch-rows.ts'

/** See the file's header. */
export class MajorDeltaTask extends SteppedTask {
  readonly op = 'MAJOR_DELTA_COMPACT'
  readonly #rowSet: DiskRowSet
  readonly #columnIds: ReadonlySet<number>

  /** Of the columns named, those that REDO files have cells of are rewritten. */
  constructor(
    parts: TabletParts,
    rowSet: DiskRowSet,
    columnIds: readonly number[],
    now: Timestamp,
    limits: TaskLimits = {},
  ) {
    super(parts, now, limits)
    this.#rowSet = rowSet
    this.#columnIds = new Set(columnIds)
  }

  protected *run(): Generator<void, void> {
    const rowSet = this.#rowSet
    if (!this.isFree(rowSet)) return
    const columns = this.#chosenColumns()
    if (columns.length === 0) return
    const { view } = this.hold(rowSet)
    const source = new MergeSource(rowSet, view, view.redos, this.mark)
    const plan = samePlan(rowSet.rowCount)
    const file = this.beginFile()
    const editor = new DirectoryEditor(view.base)
    for (const column of columns) yield* this.#writeColumn(editor, column, source, plan, file)
    for (const id of view.base.columnIds) {
      if (this.parts.schema.byId(id) === undefined) editor.dropColumn(id)
    }
    const undo = yield* this.#writeUndos(columns, source, plan)
    const redo = yield* this.#writeRedos(columns, source)
    this.#commit(editor, file, undo, redo)
  }

  #chosenColumns(): Column[] {
    const { columns, keyColumnCount } = this.parts.schema
    const isChanged = (id: number) => this.#rowSet.redos.some((redo) => redo.cellCount(id) > 0)
    return columns
      .slice(keyColumnCount)
      .filter(({ id }) => this.#columnIds.has(id) && isChanged(id))
  }

  *#writeColumn(
    editor: DirectoryEditor,
    column: Column,
    source: MergeSource,
    plan: MergePlan,
    blocks: FileWriter,
  ): Generator<void, void> {
    const { rowCount } = this.#rowSet
    const target = new CFileWriter({ column, blocks })
    source.clear()
    const gatherer = new ColumnGatherer([source], column, plan)
    for (let row = 0; row < rowCount; row += GATHER_ROWS) {
      const cells = gatherer.gather(row, Math.min(rowCount, row + GATHER_ROWS))
      target.append(cells)
      if (this.hasWorked(cells.bytes.length + cells.offsets.length * 4)) yield
    }
    editor.setColumn(column.id, target.finish())
  }

  /** The way back from the new cells to the old ones. UNDOs that there are stay where they are. */
  *#writeUndos(
    columns: readonly Column[],
    source: MergeSource,
    plan: MergePlan,
  ): Generator<void, DeltaFileMeta | null> {
    const { rowCount } = this.#rowSet
    const history = new RowHistory(columns, this.mark)
    const base = new BaseCellReader([source])
    const rowsPerStretch = stretchRows(rowCount, source.redos)
    let writer: DeltaFileWriter | null = null
    for (let row = 0; row < rowCount; row += rowsPerStretch) {
      const end = Math.min(rowCount, row + rowsPerStretch)
      history.begin([source.ownChanges(row, end)])
      history.appendRows(plan, row, end, row)
      const records = history.finish(base)
      if (records.count > 0) {
        writer ??= new DeltaFileWriter(this.beginFile())
        writer.append(records)
      }
      if (this.hasWorked(recordBytes(records) + (end - row))) yield
    }
    return writer?.finish() ?? null
  }

  /** What stays to be done to the base: deletes, and the cells of the other columns. */
  *#writeRedos(
    columns: readonly Column[],
    source: MergeSource,
  ): Generator<void, DeltaFileMeta | null> {
    const { rowCount } = this.#rowSet
    const { schema } = this.parts
    const others = schema.columns
      .slice(schema.keyColumnCount)
      .filter((column) => !columns.includes(column))
    const areKept = source.redos.some(
      (redo) => redo.deleteCount > 0 || others.some(({ id }) => redo.cellCount(id) > 0),
    )
    if (!areKept) return null
    const folder = new RedoFolder(others, this.mark)
    const rowsPerStretch = stretchRows(rowCount, source.redos)
    let writer: DeltaFileWriter | null = null
    for (let row = 0; row < rowCount; row += rowsPerStretch) {
      const end = Math.min(rowCount, row + rowsPerStretch)
      const records = folder.fold(source.ownChanges(row, end).redos)
      if (records.count > 0) {
        writer ??= new DeltaFileWriter(this.beginFile())
        writer.append(records)
      }
      if (this.hasWorked(recordBytes(records) + (end - row))) yield
    }
    return writer?.finish() ?? null
  }

  #commit(
    editor: DirectoryEditor,
    file: FileWriter,
    undo: DeltaFileMeta | null,
    redo: DeltaFileMeta | null,
  ): void {
    const rowSet = this.#rowSet
    const { replacedBlocks, ...base } = editor.finish(file)
    const meta = {
      ...rowSet.meta,
      ...base,
      newestUndo: Math.max(rowSet.meta.newestUndo, undo?.newest ?? 0),
      undos: [...rowSet.meta.undos, ...(undo === null ? [] : [undo])],
      redos: redo === null ? [] : [redo],
    }
    const { summary } = this
    summary.rowSetsIn = 1
    summary.rowSetsOut = 1
    summary.rowsIn = rowSet.rowCount
    summary.rowsOut = rowSet.rowCount
    summary.bytesIn = rowSetBytes(rowSet.meta)
    summary.bytesOut = rowSetBytes(meta)
    this.commit({
      replace: [{ rowSet, meta }],
      historyMark: this.mark,
      unusedBlocks: blocksByFile(replacedBlocks),
    })
  }
}

/** Every row where it is. */
function samePlan(rowCount: number): MergePlan {
  const plan = new MergePlan(rowCount)
  for (let row = 0; row < rowCount; row++) plan.append(0, row)
  return plan
}

function blocksByFile(blocks: readonly BlockId[]): UnusedBlocks[] {
  const byFile = new Map<number, number[]>()
  for (const { file, block } of blocks) byFile.set(file, [...(byFile.get(file) ?? []), block])
  return [...byFile].map(([file, numbers]) => ({ file, blocks: numbers }))
}
