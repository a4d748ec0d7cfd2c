/**
 * Writes rows of a frozen MemRowSet as one DiskRowSet, in pieces. Hot: whole columns at a time.
 *
 *   keys ─► column 0 ─► column 1 ─► … ─► directory ─► UNDO records ─► REDO deletes
 */

import type { BlockWriter } from '../../cfile/block-id.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import { TIMESTAMP_MIN, type Timestamp } from '../../common/hybrid-clock.ts'
import { PAGE_ROWS } from '../../common/limits.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { DeltaFileWriter } from '../delta/delta-file-writer.ts'
import { type BaseMeta, BaseWriter } from '../disk/base-writer.ts'
import type { DeltaFileMeta, RowSetMeta } from '../disk/row-set-meta.ts'
import { MemRecordsBuilder } from '../memory/mem-records-builder.ts'
import type { MemRowHistory } from '../memory/mem-row-history.ts'
import type { StepWork } from './step-work.ts'

/** Bytes of keys or records that are gathered at a time, unless one row alone has more. */
const PIECE_BYTES = 128 * 1024
/** What a row of a piece costs at least, however few bytes it has. */
const ROW_COST_BYTES = 8
const KEY_COST_BYTES = 24

/** What to write, and where. */
export interface RowSetFlushOptions {
  readonly id: number
  readonly history: MemRowHistory
  /** Rows of the history: `[start, end)`. At least one. */
  readonly start: number
  readonly end: number
  /** Of each slot the hash of its key. */
  readonly hashes: Uint32Array
  readonly keyHashSeed: number
  /** Every change to the rows at or below it is in the history. */
  readonly mark: Timestamp
  readonly blocks: BlockWriter
}

/** Writes the rowset. Yields bytes of rows; returns what the superblock is to say of it. */
export function* writeFlushedRowSet(options: RowSetFlushOptions): StepWork<RowSetMeta> {
  const { id, history, start, end, mark } = options
  const base = yield* writeBase(options)
  const undo = yield* writeUndos(options)
  const ghostCount = history.ghostsIn(start, end)
  const redos = ghostCount === 0 ? [] : [yield* writeDeletes(options)]
  return {
    id,
    rowCount: base.rowCount,
    liveRowCount: base.rowCount - ghostCount,
    mark,
    newestUndo: Math.max(TIMESTAMP_MIN, undo.newest),
    lowerKey: base.lowerKey,
    upperKey: base.upperKey,
    directory: base.directory,
    baseBytes: base.baseBytes,
    baseFiles: base.baseFiles,
    undos: [undo],
    redos,
  }
}

function* writeBase(options: RowSetFlushOptions): StepWork<BaseMeta> {
  const { columns } = options.history
  const { blocks, keyHashSeed } = options
  const writer = new BaseWriter({ columns, keyHashSeed, blocks })
  yield* writeKeys(options, writer)
  for (let index = 0; index < columns.length; index++) yield* writeColumn(options, writer, index)
  return writer.finish()
}

function* writeKeys(options: RowSetFlushOptions, writer: BaseWriter): StepWork {
  const { history, start, end, hashes } = options
  const { slots } = history
  const keys = new KeyArena(PAGE_ROWS, PAGE_ROWS * 16)
  const keyHashes = new Uint32Array(PAGE_ROWS)
  for (let row = start; row < end; ) {
    keys.clear()
    const to = history.appendKeys(row, Math.min(end, row + PAGE_ROWS), keys, PIECE_BYTES)
    for (let i = row; i < to; i++) keyHashes[i - row] = hashes[slots[i]]
    writer.appendKeys(keys, 0, to - row, keyHashes)
    yield keys.length + (to - row) * KEY_COST_BYTES
    row = to
  }
}

function* writeColumn(options: RowSetFlushOptions, writer: BaseWriter, index: number): StepWork {
  const { history, start, end } = options
  const column = writer.column(index)
  const cells = new ColumnBuilder(history.columns[index].physical, Math.min(PAGE_ROWS, end - start))
  for (let row = start; row < end; ) {
    cells.clear()
    const to = history.gather(index, row, Math.min(end, row + PAGE_ROWS), cells, PIECE_BYTES)
    column.append(cells.view())
    yield cells.values.length + (to - row) * ROW_COST_BYTES
    row = to
  }
  column.finish()
}

function* writeUndos({ history, start, end, blocks }: RowSetFlushOptions): StepWork<DeltaFileMeta> {
  const writer = new DeltaFileWriter(blocks)
  const records = new MemRecordsBuilder(history.cells)
  for (let row = start; row < end; ) {
    records.clear()
    row = history.addUndos(row, end, start, records, PIECE_BYTES)
    writer.append(records.finish())
    yield records.bytes
  }
  return writer.finish()
}

function* writeDeletes(options: RowSetFlushOptions): StepWork<DeltaFileMeta> {
  const { history, start, end, blocks } = options
  const writer = new DeltaFileWriter(blocks)
  const records = new MemRecordsBuilder(history.cells)
  for (let row = start; row < end; row += PAGE_ROWS) {
    records.clear()
    history.addDeletes(row, Math.min(end, row + PAGE_ROWS), start, records)
    if (records.count === 0) continue
    writer.append(records.finish())
    yield records.bytes
  }
  assert(writer.recordCount > 0, 'there is a row that is not there any more')
  return writer.finish()
}
