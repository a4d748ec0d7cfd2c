/**
 * The rows of a diff as they are shown, out of rows as the rowsets have them. Hot.
 *
 *   row            tests on other columns    cells but the key's
 *   there          must pass                 as they are
 *   deleted        not asked                 null
 *
 * What a deleted row's cells were is nobody's, so neither are they shown nor asked.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector, Lanes } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import { RowBlock } from '../../common/row-block.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import type { Column } from '../../common/schema.ts'
import { KeyArena } from '../../util/arena.ts'
import { BASE_CELL } from '../delta/delta-window.ts'
import { gatherPatched } from '../delta/gather-patched.ts'
import type { BatchLimits, RowSetIterator, ScanBatch, Selection } from '../row-set.ts'
import type { ColumnTest } from '../scan/column-test.ts'
import { selectBatch } from '../scan/select-batch.ts'

const DELETED = 1
/** The only cell of a column of nulls. */
const NULL_CELL = 0

/** A test, and where the batches have the cells for it. */
export interface PlacedTest {
  readonly test: ColumnTest
  readonly place: number
}

/** What to make of the rows. */
export interface DiffShape {
  /**
   * Columns to show; the first so many of the source's. The source's last one tells whether a row
   * is deleted, and is shown behind them.
   */
  readonly columns: readonly Column[]
  readonly isDeleted: Column
  /** Tests on columns that are none of the key's. */
  readonly tests: readonly PlacedTest[]
}

let scratchRows = new Uint32Array(1024)
let scratchPassing = new Uint32Array(1024)
let scratchPositions = new Int32Array(1024)

/** See the file's header. */
export class DiffIterator implements RowSetIterator {
  readonly #source: RowSetIterator
  readonly #shape: DiffShape
  readonly #columnIds: readonly number[]
  readonly #output: RowBlockBuilder
  /** One null for each column that deleted rows do not show; null for those of the key. */
  readonly #nulls: readonly (ColumnVector | null)[]
  readonly #keys = new KeyArena(1, 0)

  /** Closes the source when it is closed. */
  constructor(source: RowSetIterator, shape: DiffShape) {
    this.#source = source
    this.#shape = shape
    const shown = [...shape.columns, shape.isDeleted]
    this.#columnIds = shown.map(({ id }) => id)
    this.#output = new RowBlockBuilder(shown, false)
    this.#nulls = shape.columns.map(({ isKey, physical }) => (isKey ? null : nullOf(physical)))
  }

  get scannedCount(): number {
    return this.#source.scannedCount
  }

  next(limits: BatchLimits): ScanBatch | null {
    const batch = this.#source.next(limits)
    if (batch === null) return null
    const { block, keys } = batch
    const { rowCount } = block
    const { lanes } = block.columns[block.columns.length - 1]
    const count = this.#keepPassing(block, lanes)
    const deletedCount = findDeleted(lanes, count)
    if (count === rowCount && deletedCount === 0) return batchOf(batch, this.#asItIs(block), keys)
    this.#gather(block, count, deletedCount)
    return batchOf(batch, this.#output.view(), this.#gatherKeys(keys, count, rowCount))
  }

  nextSelection(scannedMax: number): Selection | null {
    return selectBatch(this, scannedMax)
  }

  close(): void {
    this.#source.close()
  }

  /** Writes the rows that are shown to `scratchRows`. Returns: how many. */
  #keepPassing({ rowCount, columns }: RowBlock, deleted: Lanes): number {
    const { tests } = this.#shape
    if (scratchRows.length < rowCount) {
      scratchRows = new Uint32Array(rowCount * 2)
      scratchPassing = new Uint32Array(rowCount * 2)
      scratchPositions = new Int32Array(rowCount * 2)
    }
    const rows = scratchRows
    let passing = 0
    for (let row = 0; row < rowCount; row++) {
      rows[row] = row
      if (deleted[row] !== DELETED) scratchPassing[passing++] = row
    }
    if (tests.length === 0) return rowCount
    for (let i = 0; i < tests.length && passing > 0; i++) {
      const { test, place } = tests[i]
      passing = test.test.keepPassing(columns[place], scratchPassing, passing)
    }
    return this.#joinPassing(deleted, rowCount, passing)
  }

  /** Joins the rows that passed and the deleted ones, in their order. */
  #joinPassing(deleted: Lanes, rowCount: number, passing: number): number {
    let kept = 0
    let next = 0
    for (let row = 0; row < rowCount; row++) {
      const hasPassed = next < passing && scratchPassing[next] === row
      if (hasPassed) next++
      if (hasPassed || deleted[row] === DELETED) scratchRows[kept++] = row
    }
    return kept
  }

  #asItIs({ rowCount, columns }: RowBlock): RowBlock {
    const shown = columns.slice(0, this.#shape.columns.length)
    shown.push(columns[columns.length - 1])
    return new RowBlock(rowCount, this.#columnIds, shown, null)
  }

  /** Copies the rows that are shown, with nulls where they are deleted. */
  #gather({ columns }: RowBlock, count: number, deletedCount: number): void {
    const output = this.#output
    output.clear()
    for (let i = 0; i < this.#nulls.length; i++) {
      const nulls = deletedCount === 0 ? null : this.#nulls[i]
      const target = output.columns[i]
      gatherPatched(columns[i], 0, nulls, scratchPositions, scratchRows, 0, count, target)
    }
    const isDeleted = columns[columns.length - 1]
    output.columns[this.#nulls.length].appendRows(isDeleted, scratchRows, 0, count)
    output.rowCount = count
  }

  #gatherKeys(keys: KeyArena | null, count: number, rowCount: number): KeyArena | null {
    if (keys === null || count === rowCount) return keys
    this.#keys.clear()
    for (let i = 0; i < count; i++) {
      this.#keys.appendRange(keys, scratchRows[i], scratchRows[i] + 1)
    }
    return this.#keys
  }
}

/**
 * Says in `scratchPositions` which of the rows that are shown are deleted. Returns: how many.
 */
function findDeleted(deleted: Lanes, count: number): number {
  let deletedCount = 0
  for (let i = 0; i < count; i++) {
    const isDeleted = deleted[scratchRows[i]] === DELETED
    scratchPositions[i] = isDeleted ? NULL_CELL : BASE_CELL
    if (isDeleted) deletedCount++
  }
  return deletedCount
}

/** Other rows for a batch. Its last key is asked for when it is wanted. */
function batchOf(batch: ScanBatch, block: RowBlock, keys: KeyArena | null): ScanBatch {
  return {
    block,
    keys,
    scannedCount: batch.scannedCount,
    get lastKeyScanned() {
      return batch.lastKeyScanned
    },
  }
}

function nullOf(physical: Physical): ColumnVector {
  const builder = new ColumnBuilder(physical, 1)
  builder.appendNull(true)
  return builder.view()
}
