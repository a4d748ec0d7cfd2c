/**
 * The rows of a MemRowSet as they were inserted: keys, cells, times. Hot.
 *
 * A row is named by its slot: its place in the order of insertion. Slots are given out from 0
 * without a gap and never move; nothing of a row is ever changed but the head of its redo chain.
 *
 *   slot ──► key bytes | insertedAt | newestRedo ──► change @15 ──► change @12 ──► (none older)
 *        └─► a cell in each column, as inserted
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { MEM_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column, Schema } from '../../common/schema.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes, equalBytes } from '../../util/bytes.ts'
import { isRun } from '../../util/is-run.ts'
import { CHUNK_MASK, CHUNK_OVERHEAD_BYTES, CHUNK_ROW_COUNT, CHUNK_SHIFT } from './chunk.ts'
import { ChunkedColumn } from './chunked-column.ts'
import { RedoLog } from './redo-log.ts'
import { RowChunk } from './row-chunk.ts'

/** Index of a column that no row has and no change touched. */
export const UNKNOWN_COLUMN = -1

/**
 * Rows by slot, and the changes to them.
 *
 * Columns have indexes: those of the schema first, then, in the order they are met, columns that
 * were added to the table later. No row has a cell in those: only changes to rows have.
 */
export class MemRowStore {
  readonly schema: Schema
  /** Cells as inserted, by the column's index in the schema. */
  readonly columns: readonly ChunkedColumn[]
  readonly redos: RedoLog
  readonly chunks: RowChunk[] = []
  rowCount = 0
  #closedBytes = 0
  #columnBytes = 0
  /** Columns that were added to the table later, in the order of their indexes. */
  readonly lateColumns: Column[] = []
  readonly #lateIndexes = new Map<number, number>()
  /** Scratch: the block's column for each of the schema's. */
  readonly #sources: (ColumnVector | undefined)[]

  constructor(schema: Schema) {
    this.schema = schema
    this.#sources = schema.columns.map(() => undefined)
    this.columns = schema.columns.map((column) => new ChunkedColumn(column.physical))
    this.redos = new RedoLog(schema)
  }

  /** Bytes held in memory, those of the changes included. Cost: O(columns). */
  get heldBytes(): number {
    const last = this.chunks.at(-1)
    const rowBytes = last === undefined ? 0 : last.heldBytes + CHUNK_OVERHEAD_BYTES
    return this.#closedBytes + rowBytes + this.#columnBytes + this.redos.heldBytes
  }

  /** Columns that have an index. */
  get columnCount(): number {
    return this.columns.length + this.#lateIndexes.size
  }

  /** The index of the column with an id, or `UNKNOWN_COLUMN`. */
  columnIndex(id: number): number {
    return this.schema.byId(id)?.index ?? this.#lateIndexes.get(id) ?? UNKNOWN_COLUMN
  }

  /** The index of a column, which is given one if it has none. */
  knownColumnIndex(column: Column): number {
    const index = this.columnIndex(column.id)
    if (index !== UNKNOWN_COLUMN) return index
    const lateIndex = this.columnCount
    this.#lateIndexes.set(column.id, lateIndex)
    this.lateColumns.push(column)
    this.redos.addColumn(column.physical)
    return lateIndex
  }

  /**
   * Appends rows `rows[start, end)` of a write block; cells that are unset, or of columns that the
   * block lacks, get the column's write default or null.
   *
   * Returns: the first slot; the others follow it in order.
   */
  append(
    keys: KeyArena,
    block: RowBlock,
    rows: Uint32Array,
    start: number,
    end: number,
    at: Timestamp,
  ): number {
    const first = this.rowCount
    assert(first + end - start <= MEM_ROW_COUNT_MAX, 'a MemRowSet has a slot for each row')
    const isStretch = end > start && isRun(rows, start, end)
    for (let from = start; from < end; ) {
      const chunk = this.#openChunk()
      const stop = Math.min(end, from + CHUNK_ROW_COUNT - chunk.rowCount)
      chunk.append(keys, rows, from, stop, isStretch, at)
      from = stop
    }
    this.#appendCells(block, rows, start, end, isStretch)
    this.rowCount = first + end - start
    return first
  }

  #appendCells(
    block: RowBlock,
    rows: Uint32Array,
    start: number,
    end: number,
    isStretch: boolean,
  ): void {
    const sources = this.#sources
    sources.fill(undefined)
    for (let i = 0; i < block.columns.length; i++) {
      sources[this.schema.mustById(block.columnIds[i]).index] = block.columns[i]
    }
    let columnBytes = 0
    for (let index = 0; index < sources.length; index++) {
      const column = this.schema.columns[index]
      appendCells(this.columns[index], column, sources[index], rows, start, end, isStretch)
      columnBytes += this.columns[index].heldBytes
    }
    sources.fill(undefined)
    this.#columnBytes = columnBytes
  }

  #openChunk(): RowChunk {
    const last = this.chunks.at(-1)
    if (last !== undefined && last.rowCount < CHUNK_ROW_COUNT) return last
    if (last !== undefined) {
      last.keys.trim()
      this.#closedBytes += last.heldBytes + CHUNK_OVERHEAD_BYTES
    }
    const chunk = new RowChunk(this.chunks.length)
    this.chunks.push(chunk)
    return chunk
  }

  /**
   * Whether a row is surely visible at a snapshot as it was inserted. Reads nothing of the row
   * itself.
   */
  isUnchanged(slot: number, snapshot: Timestamp): boolean {
    const chunk = this.chunks[slot >>> CHUNK_SHIFT]
    return !chunk.hasRedos && chunk.lastInsertedAt <= snapshot
  }

  /** Timestamp of the op that inserted a row. */
  insertedAt(slot: number): Timestamp {
    return this.chunks[slot >>> CHUNK_SHIFT].insertedAt[slot & CHUNK_MASK]
  }

  /** The newest redo of a row, or `NO_REDO`. */
  newestRedo(slot: number): number {
    return this.chunks[slot >>> CHUNK_SHIFT].newestRedo[slot & CHUNK_MASK]
  }

  /** Puts a redo at the head of a row's chain. */
  setNewestRedo(slot: number, redo: number): void {
    const chunk = this.chunks[slot >>> CHUNK_SHIFT]
    chunk.newestRedo[slot & CHUNK_MASK] = redo
    chunk.hasRedos = true
  }

  /** Whether a row has key `index` of `keys`. */
  hasKey(slot: number, keys: KeyArena, index: number): boolean {
    const own = this.chunks[slot >>> CHUNK_SHIFT].keys
    const row = slot & CHUNK_MASK
    return equalBytes(
      own.bytes,
      row === 0 ? 0 : own.ends[row - 1],
      own.ends[row],
      keys.bytes,
      index === 0 ? 0 : keys.ends[index - 1],
      keys.ends[index],
    )
  }

  /** Orders the key of a row and other bytes. */
  compareKeyTo(slot: number, bytes: Uint8Array): number {
    const own = this.chunks[slot >>> CHUNK_SHIFT].keys
    const row = slot & CHUNK_MASK
    return compareBytes(own.bytes, own.start(row), own.ends[row], bytes, 0, bytes.length)
  }

  /** Orders the keys of two rows. */
  compareKeys(a: number, b: number): number {
    const aKeys = this.chunks[a >>> CHUNK_SHIFT].keys
    const bKeys = this.chunks[b >>> CHUNK_SHIFT].keys
    const aRow = a & CHUNK_MASK
    const bRow = b & CHUNK_MASK
    return compareBytes(
      aKeys.bytes,
      aKeys.start(aRow),
      aKeys.ends[aRow],
      bKeys.bytes,
      bKeys.start(bRow),
      bKeys.ends[bRow],
    )
  }

  /** Bytes of a row's key. */
  keyBytes(slot: number): number {
    const keys = this.chunks[slot >>> CHUNK_SHIFT].keys
    const row = slot & CHUNK_MASK
    return keys.ends[row] - keys.start(row)
  }

  /** Appends the key of a row to `target`. */
  appendKey(slot: number, target: KeyArena): void {
    const keys = this.chunks[slot >>> CHUNK_SHIFT].keys
    const row = slot & CHUNK_MASK
    target.append(keys.bytes, keys.start(row), keys.ends[row])
    target.endKey()
  }

  /** Bytes of the cells of some columns as inserted; of the keys where there are none. */
  cellBytes(columnIds: readonly number[]): number {
    let bytes = 0
    if (columnIds.length === 0) for (const { keys } of this.chunks) bytes += keys.length
    for (const id of columnIds) {
      const index = this.schema.byId(id)?.index
      if (index === undefined) continue
      for (const chunk of this.columns[index].chunks) bytes += chunk.usedBytes
    }
    return bytes
  }

  /** Copy of a row's key. */
  key(slot: number): Uint8Array {
    return this.chunks[slot >>> CHUNK_SHIFT].keys.key(slot & CHUNK_MASK)
  }

  /** Walks everything. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    let heldBytes = this.redos.heldBytes
    let rowCount = 0
    for (const chunk of this.chunks) {
      heldBytes += chunk.heldBytes + CHUNK_OVERHEAD_BYTES
      rowCount += chunk.rowCount
    }
    for (let index = 0; index < this.columns.length; index++) {
      const column = this.columns[index]
      column.checkInvariants()
      assert(column.rowCount === this.rowCount, 'every row has a cell in each column')
      assert(
        this.schema.columns[index].isNullable || column.nullCount === 0,
        'a column that is not nullable holds no null',
      )
      heldBytes += column.heldBytes
    }
    assert(rowCount === this.rowCount, 'every row is in a chunk')
    assert(heldBytes === this.heldBytes, 'held bytes are those of the parts')
    this.redos.checkInvariants()
  }
}

function appendCells(
  target: ChunkedColumn,
  column: Column,
  source: ColumnVector | undefined,
  rows: Uint32Array,
  start: number,
  end: number,
  isStretch: boolean,
): void {
  if (source === undefined) {
    target.appendRepeated(column.writeDefault, end - start)
    return
  }
  assert(source.physical === column.physical, 'a block column is laid out as its schema says')
  if (source.isSet !== null) target.appendSet(source, rows, start, end, column.writeDefault)
  else if (isStretch && start < end) target.appendRange(source, rows[start], rows[end - 1] + 1)
  else target.appendRows(source, rows, start, end)
}
