/**
 * DiskRowSets out of plain histories of rows.
 *
 *   versions     12 {k:1, v:5}   15 {k:1, v:6}   21 null (deleted)
 *   baseAt 13    base: v 5       UNDO: DELETE @12   REDO: UPDATE v 6 @15, DELETE @21
 */

import { PageCache } from '../../src/cfile/page-cache.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { encodeKeys } from '../../src/common/encoded-key.ts'
import { TIMESTAMP_MIN } from '../../src/common/hybrid-clock.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { DeltaFileWriter } from '../../src/tablet/delta/delta-file-writer.ts'
import { DELTA_KINDS } from '../../src/tablet/delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../../src/tablet/delta/delta-records-builder.ts'
import { type BaseMeta, BaseWriter } from '../../src/tablet/disk/base-writer.ts'
import { DiskRowSet, type DiskRowSetContext } from '../../src/tablet/disk/disk-row-set.ts'
import { FilePins } from '../../src/tablet/disk/file-pins.ts'
import type { DeltaFileMeta, RowSetMeta } from '../../src/tablet/disk/row-set-meta.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { assert } from '../../src/util/assert.ts'
import { compareBytes, utf8Encode } from '../../src/util/bytes.ts'
import type { PlainCell, PlainRow } from './a-write-block.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import { KEY_HASH_SEED } from './row-data.ts'

/** A row from a time on; null: it is not there. */
export interface PlainVersion {
  readonly at: number
  /** Columns left out show their read default, null when there is none. */
  readonly row: PlainRow | null
}

/** What became of one key: versions by ascending time, of which the first is there. */
export type PlainHistory = readonly PlainVersion[]

/** How to store histories. */
export interface DiskRowSetOptions {
  readonly id?: number
  /** Columns of the base. */
  readonly schema: Schema
  /** Columns that changes may have, those of the base and younger ones. */
  readonly youngerSchema?: Schema
  /**
   * The base has each row as it was at this time, or, when it was not there, as it last was before,
   * else as it was inserted.
   */
  readonly baseAt: number
  /** Ends of UNDO files, in time; one more takes the rest. */
  readonly undoCuts?: readonly number[]
  /** Ends of REDO files, in time; what comes after the last is in a DeltaMemStore. */
  readonly redoCuts?: readonly number[]
  /** Ends of DeltaMemStores, in time; one more takes the rest. */
  readonly memCuts?: readonly number[]
  /** Where to store it, when others are there. */
  readonly context?: MemoryContext
}

/** What rowsets of one tablet share. */
export interface MemoryContext extends DiskRowSetContext {
  readonly blocks: MemoryBlocks
  /** The next file's number. */
  nextFile: number
}

/** Storage for rowsets of one tablet. */
export function aMemoryContext(cacheBytes = 8 * 1024 * 1024): MemoryContext {
  const cache = new PageCache(cacheBytes)
  const owner = cache.nextOwner()
  return { blocks: new MemoryBlocks(), cache, owner, pins: new FilePins(), nextFile: 1 }
}

/** Rows that were inserted at one time. */
export function insertedAt(at: number, rows: readonly PlainRow[]): PlainHistory[] {
  return rows.map((row) => [{ at, row }])
}

/** Stores histories, one of each key in any order, as a DiskRowSet. Requires: at least one. */
export function aDiskRowSet(
  histories: readonly PlainHistory[],
  options: DiskRowSetOptions,
): DiskRowSet {
  const { schema, baseAt, undoCuts = [], redoCuts = [], memCuts = [] } = options
  const context = options.context ?? aMemoryContext()
  const rows = sortRows(
    schema,
    histories.map((history) => splitAt(history, baseAt)),
  )
  const base = writeBase(schema, rows, context)
  const mark = Math.max(baseAt, ...redoCuts)
  const deltas = collectDeltas(options, rows)
  const undos = writeFiles(context, deltas.undos, [...undoCuts, Number.POSITIVE_INFINITY])
  const redos = writeFiles(context, deltas.redos, [...redoCuts, mark])
  const isDeleted = ({ kind, at }: PlainDelta) => kind === DELTA_KINDS.DELETE && at <= mark
  const meta: RowSetMeta = {
    ...base,
    id: options.id ?? 1,
    liveRowCount: rows.length - deltas.redos.filter(isDeleted).length,
    mark,
    newestUndo: undos.reduce((newest, { newest: at }) => Math.max(newest, at), TIMESTAMP_MIN),
    undos,
    redos,
  }
  const rowSet = new DiskRowSet(meta, context)
  let start = mark
  for (const end of [...memCuts, Number.POSITIVE_INFINITY]) {
    const within = deltas.redos.filter(({ at }) => at > start && at <= end)
    start = Math.max(start, end)
    if (within.length === 0) continue
    rowSet.freezeDeltas()
    rowSet.appendDeltas(recordsOf(within).finish())
  }
  return rowSet
}

/** The versions of a row, without those that no snapshot shows, and which of them is the base. */
interface SplitHistory {
  readonly versions: PlainHistory
  readonly base: number
}

function splitAt(history: PlainHistory, baseAt: number): SplitHistory {
  const versions = history.filter(({ at }, i) => history[i + 1]?.at !== at)
  while (versions[0]?.row === null) versions.shift()
  assert(versions.length > 0, 'a row of a rowset was there once')
  let base = 0
  versions.forEach(({ at, row }, i) => {
    if (at <= baseAt && row !== null) base = i
  })
  return { versions, base }
}

function rowOf({ versions, base }: SplitHistory): PlainRow {
  const { row } = versions[base]
  assert(row !== null, 'a base has a row')
  return row
}

function sortRows(schema: Schema, rows: readonly SplitHistory[]): SplitHistory[] {
  const keys = keysOfRows(schema, rows)
  const { bytes, ends } = keys
  const order = rows.map((_, i) => i)
  order.sort((a, b) => {
    return compareBytes(bytes, keys.start(a), ends[a], bytes, keys.start(b), ends[b])
  })
  return order.map((i) => rows[i])
}

function keysOfRows(schema: Schema, rows: readonly SplitHistory[]): KeyArena {
  const keys = new KeyArena()
  const columns = schema.keyColumns.map((column) => cellsOf(column, rows).view())
  encodeKeys(columns, rows.length, keys)
  return keys
}

function cellsOf(column: Column, rows: readonly SplitHistory[]): ColumnBuilder {
  const cells = new ColumnBuilder(column.physical, rows.length)
  for (const row of rows) cells.appendCell(cellIn(column, rowOf(row)))
  return cells
}

/** A cell as tests write it as one of a column. */
export function toCell({ physical }: Column, cell: PlainCell): Cell | null {
  if (typeof cell === 'string') return utf8Encode(cell)
  const isWide = physical === PHYSICAL.int64 || physical === PHYSICAL.int128
  return typeof cell === 'number' && isWide ? BigInt(cell) : cell
}

/** The cell of a row; one that is left out is what rows show that are older than the column. */
function cellIn(column: Column, row: PlainRow): Cell | null {
  const cell = row[column.name]
  return cell === undefined ? column.readDefault : toCell(column, cell)
}

function writeBase(
  schema: Schema,
  rows: readonly SplitHistory[],
  context: MemoryContext,
): BaseMeta {
  const blocks = context.blocks.createFile(context.nextFile++)
  const { columns } = schema
  const writer = new BaseWriter({ columns, keyHashSeed: KEY_HASH_SEED, blocks })
  writer.appendKeys(keysOfRows(schema, rows), 0, rows.length)
  columns.forEach((column, index) => {
    const file = writer.column(index)
    file.append(cellsOf(column, rows).view())
    file.finish()
  })
  return writer.finish()
}

/** A record with its cells. */
interface PlainDelta {
  readonly ordinal: number
  readonly at: number
  readonly kind: 1 | 2 | 3
  readonly cells: readonly { readonly column: Column; readonly cell: Cell | null }[]
}

function collectDeltas(
  options: DiskRowSetOptions,
  rows: readonly SplitHistory[],
): { undos: PlainDelta[]; redos: PlainDelta[] } {
  const undos: PlainDelta[] = []
  const redos: PlainDelta[] = []
  rows.forEach(({ versions, base }, ordinal) => {
    versions.forEach(({ at, row }, i) => {
      const former = i === 0 ? null : versions[i - 1].row
      const delta = { ordinal, at }
      if (i <= base) undos.push(...undoOf(options, delta, former, row))
      else redos.push(...redoOf(options, delta, former, row))
    })
  })
  return { undos, redos }
}

function undoOf(
  { schema }: DiskRowSetOptions,
  delta: { readonly ordinal: number; readonly at: number },
  former: PlainRow | null,
  row: PlainRow | null,
): PlainDelta[] {
  if (former === null) return [{ ...delta, kind: DELTA_KINDS.DELETE, cells: [] }]
  const columns = schema.columns.filter(({ isKey, name }) => {
    return !isKey && (row === null || !isSame(row[name], former[name]))
  })
  const cells = columns.map((column) => ({ column, cell: cellIn(column, former) }))
  if (row === null) return [{ ...delta, kind: DELTA_KINDS.REINSERT, cells }]
  return cells.length === 0 ? [] : [{ ...delta, kind: DELTA_KINDS.UPDATE, cells }]
}

function redoOf(
  { schema, youngerSchema = schema }: DiskRowSetOptions,
  delta: { readonly ordinal: number; readonly at: number },
  former: PlainRow | null,
  row: PlainRow | null,
): PlainDelta[] {
  assert(former !== null, 'a row that was deleted behind its base does not come back there')
  if (row === null) return [{ ...delta, kind: DELTA_KINDS.DELETE, cells: [] }]
  const cells = youngerSchema.columns
    .filter(({ isKey, name }) => !isKey && !isSame(row[name], former[name]))
    .map((column) => ({ column, cell: cellIn(column, row) }))
  return cells.length === 0 ? [] : [{ ...delta, kind: DELTA_KINDS.UPDATE, cells }]
}

function isSame(a: PlainCell | undefined, b: PlainCell | undefined): boolean {
  return Object.is(a, b)
}

function recordsOf(deltas: readonly PlainDelta[]): DeltaRecordsBuilder {
  const builder = new DeltaRecordsBuilder()
  const sorted = [...deltas].sort((a, b) => a.ordinal - b.ordinal || a.at - b.at)
  for (const { ordinal, at, kind, cells } of sorted) {
    builder.append(ordinal, at, kind)
    for (const { column, cell } of cells) builder.addValue(column.id, column.physical, cell)
  }
  return builder
}

/** Writes the records up to each end as a file of its own, where there are any. */
function writeFiles(
  context: MemoryContext,
  deltas: readonly PlainDelta[],
  ends: readonly number[],
): DeltaFileMeta[] {
  const metas: DeltaFileMeta[] = []
  let start = Number.NEGATIVE_INFINITY
  for (const end of ends) {
    const within = deltas.filter(({ at }) => at > start && at <= end)
    start = Math.max(start, end)
    if (within.length === 0) continue
    const writer = new DeltaFileWriter(context.blocks.createFile(context.nextFile++))
    writer.append(recordsOf(within).finish())
    metas.push(writer.finish())
  }
  return metas
}
