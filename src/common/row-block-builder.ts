/**
 * Builds a RowBlock row by row or by gathering rows of other blocks. Hot.
 */

import { assert } from '../util/assert.ts'
import { ColumnBuilder } from './column-builder.ts'
import { type Cell, PHYSICAL, type Physical } from './data-type.ts'
import { RowBlock } from './row-block.ts'

/** A column of a block to be built. */
export interface BlockColumn {
  readonly id: number
  readonly physical: Physical
}

const UNSET = 0
const VALUE = 1
const NULL = 2

/**
 * Rows under construction. Between `endRow` calls at most one row is pending: its cells are set in
 * any order, the last setting of a column counts, and `dropRow` forgets it. Columns are named by
 * index.
 */
export class RowBlockBuilder {
  readonly columns: readonly ColumnBuilder[]
  readonly columnIds: readonly number[]
  rowCount = 0
  readonly #hasOperations: boolean
  #operations: Uint8Array
  readonly #pending: Uint8Array

  constructor(columns: readonly BlockColumn[], hasOperations: boolean, capacityRows = 16) {
    this.columns = columns.map((column) => new ColumnBuilder(column.physical, capacityRows))
    this.columnIds = columns.map((column) => column.id)
    this.#hasOperations = hasOperations
    this.#operations = new Uint8Array(hasOperations ? capacityRows : 0)
    this.#pending = new Uint8Array(columns.length)
  }

  /** Bytes that the rows so far take, as an upper estimate of the byte form's sections. */
  get usedBytes(): number {
    let bytes = this.rowCount
    for (const column of this.columns) bytes += column.usedBytes
    return bytes
  }

  /** Sets an int8, int16 or int32 lane (BOOL, DATE and small DECIMALs too), or a float lane. */
  setNumber(index: number, value: number): void {
    const column = this.columns[index]
    column.reserve(1)
    column.lanes[column.rowCount] = value
    this.#pending[index] = VALUE
  }

  /** Sets an int64 lane by its words. */
  setPair(index: number, low: number, high: number): void {
    const column = this.columns[index]
    column.reserve(1)
    const offset = column.rowCount * 2
    column.lanes[offset] = low
    column.lanes[offset + 1] = high
    this.#pending[index] = VALUE
  }

  /** Sets an int128 lane by its words, low word first. */
  setQuad(index: number, word0: number, word1: number, word2: number, word3: number): void {
    const column = this.columns[index]
    column.reserve(1)
    const offset = column.rowCount * 4
    column.lanes[offset] = word0
    column.lanes[offset + 1] = word1
    column.lanes[offset + 2] = word2
    column.lanes[offset + 3] = word3
    this.#pending[index] = VALUE
  }

  /** Sets a binary cell to `source[start, end)`. */
  setBytes(index: number, source: Uint8Array, start: number, end: number): void {
    const column = this.columns[index]
    column.reserve(1)
    column.values.truncate(column.offsets[column.rowCount])
    column.values.append(source, start, end)
    this.#pending[index] = VALUE
  }

  /** Sets a cell to null. */
  setNull(index: number): void {
    this.#pending[index] = NULL
  }

  /** Sets a cell to a plain value or null. For edges. */
  setCell(index: number, cell: Cell | null): void {
    const column = this.columns[index]
    if (cell === null) {
      this.setNull(index)
    } else if (column.physical === PHYSICAL.binary) {
      assert(cell instanceof Uint8Array, 'binary cell is not bytes')
      this.setBytes(index, cell, 0, cell.length)
    } else if (typeof cell === 'bigint') {
      const low = Number(BigInt.asUintN(32, cell))
      const second = Number(BigInt.asUintN(32, cell >> 32n))
      if (column.physical === PHYSICAL.int64) this.setPair(index, low, second)
      else {
        const third = Number(BigInt.asUintN(32, cell >> 64n))
        this.setQuad(index, low, second, third, Number(BigInt.asUintN(32, cell >> 96n)))
      }
    } else {
      assert(typeof cell === 'number', 'cell does not fit its column')
      this.setNumber(index, cell)
    }
  }

  /** Whether the pending row has a cell for a column, null or not. */
  hasPending(index: number): boolean {
    return this.#pending[index] !== UNSET
  }

  /** Whether the pending row sets a column to null. */
  isPendingNull(index: number): boolean {
    return this.#pending[index] === NULL
  }

  /**
   * Completes the pending row; columns not set stay unset. `operation` counts in write blocks only.
   */
  endRow(operation = 0): void {
    const pending = this.#pending
    for (let index = 0; index < pending.length; index++) {
      const column = this.columns[index]
      const state = pending[index]
      if (state === VALUE) {
        column.endCell()
      } else {
        // A value may have been set before the null.
        if (state === NULL) clearPendingValue(column)
        column.appendNull(state === NULL)
      }
      pending[index] = UNSET
    }
    if (this.#hasOperations) this.#appendOperation(operation)
    this.rowCount++
  }

  /** Forgets the cells set since the last `endRow`. */
  dropRow(): void {
    const pending = this.#pending
    for (let index = 0; index < pending.length; index++) {
      if (pending[index] !== UNSET) clearPendingValue(this.columns[index])
      pending[index] = UNSET
    }
  }

  /**
   * Completes `count` rows whose cells were appended to every column by itself; row i has
   * `operations[i]`. Requires: no row is pending.
   */
  endRows(operations: Uint8Array, count: number): void {
    if (this.#hasOperations) {
      for (let i = 0; i < count; i++) {
        this.#appendOperation(operations[i])
        this.rowCount++
      }
    } else {
      this.rowCount += count
    }
    assert(
      this.columns.every((column) => column.rowCount === this.rowCount),
      'columns end together',
    )
  }

  #appendOperation(operation: number): void {
    if (this.rowCount === this.#operations.length) {
      const grown = new Uint8Array(Math.max(16, this.rowCount * 2))
      grown.set(this.#operations)
      this.#operations = grown
    }
    this.#operations[this.rowCount] = operation
  }

  /**
   * Appends rows `rows[start, end)` of a block with the same columns in the same order.
   * Requires: no row is pending.
   */
  appendRows(block: RowBlock, rows: Uint32Array, start: number, end: number): void {
    for (let index = 0; index < this.columns.length; index++) {
      this.columns[index].appendRows(block.columns[index], rows, start, end)
    }
    if (this.#hasOperations) {
      assert(block.operations !== null, 'source block has no operations')
      for (let i = start; i < end; i++) {
        this.#appendOperation(block.operations[rows[i]])
        this.rowCount++
      }
    } else {
      this.rowCount += end - start
    }
  }

  /** The rows so far. Borrowed: good until the builder is changed. */
  view(): RowBlock {
    return new RowBlock(
      this.rowCount,
      this.columnIds,
      this.columns.map((column) => column.view()),
      this.#hasOperations ? this.#operations.subarray(0, this.rowCount) : null,
    )
  }

  /** Forgets all rows and keeps the capacity. */
  clear(): void {
    this.dropRow()
    for (const column of this.columns) column.clear()
    this.rowCount = 0
  }
}

/** Undoes a value that was written for the pending row: its lane to zero, its bytes away. */
function clearPendingValue(column: ColumnBuilder): void {
  const row = column.rowCount
  switch (column.physical) {
    case PHYSICAL.binary:
      column.values.truncate(column.offsets[row])
      break
    case PHYSICAL.int64:
      column.lanes[row * 2] = 0
      column.lanes[row * 2 + 1] = 0
      break
    case PHYSICAL.int128:
      column.lanes.fill(0, row * 4, row * 4 + 4)
      break
    default:
      column.lanes[row] = 0
  }
}
