/**
 * What the deltas of a rowset make of a run of its rows at a snapshot. Hot.
 *
 *   base ◄── UNDO records above the snapshot: the first of a row that has the cell
 *        └─► else REDO records at or below it: the last that has the cell
 *
 * Of each row and column it is noted which part of which store has the cell, and at which position;
 * cells are gathered only for the columns that a reader asks for.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import { DELTA_KINDS, type DeltaColumn, type DeltaRecords } from './delta-records.ts'
import type { DeltaReader, DeltaRun, DeltaStore, DeltaWants } from './delta-store.ts'

/** Where a cell is that no delta changes. */
export const BASE_CELL = -1

const NOT_WANTED = -1
const THERE = 0
const GONE = 1

/** What to read of the deltas of a rowset, and as of when. */
export interface DeltaWindowOptions {
  /** In any order. */
  readonly undos: readonly DeltaStore[]
  /** Oldest first. */
  readonly redos: readonly DeltaStore[]
  readonly snapshot: Timestamp
  /** Columns whose cells are wanted; none of the key's. */
  readonly columns: readonly { readonly id: number; readonly physical: Physical }[]
}

let scratchPositions = new Uint32Array(256)

/** Where the changed cells of one column of the window are. Row 0 is the first of the window. */
class WindowColumn {
  readonly id: number
  /** Position in the part's cells, or in `gathered` once `isGathered`, or BASE_CELL. */
  positions = new Int32Array(0)
  /** Part that has the cell. */
  parts = new Uint16Array(0)
  /** Timestamp of the record that has the cell. */
  times = new Float64Array(0)
  isChanged = false
  /** The column of each part that may have cells. */
  readonly sources: (DeltaColumn | null)[] = []
  /** All changed cells, once asked for. */
  cells: ColumnVector | null = null
  readonly #builder: ColumnBuilder
  #rowCount = 0

  constructor(id: number, physical: Physical) {
    this.id = id
    this.#builder = new ColumnBuilder(physical)
  }

  clear(rowCount: number): void {
    if (this.positions.length < rowCount) {
      this.positions = new Int32Array(rowCount).fill(BASE_CELL)
      this.parts = new Uint16Array(rowCount)
      this.times = new Float64Array(rowCount)
    } else if (this.isChanged) {
      this.positions.fill(BASE_CELL, 0, this.#rowCount)
    }
    this.isChanged = false
    this.sources.length = 0
    this.cells = null
    this.#rowCount = rowCount
  }

  /** The changed cells; positions are theirs from then on. Requires: there are some. */
  gather(): ColumnVector {
    if (this.cells !== null) return this.cells
    const only = this.#onlySource()
    this.cells = only === null ? this.#join() : only.cells
    return this.cells
  }

  /** The source of all changed cells, or null when there are several. */
  #onlySource(): DeltaColumn | null {
    let found = -1
    for (let row = 0; row < this.#rowCount; row++) {
      if (this.positions[row] === BASE_CELL || this.parts[row] === found) continue
      if (found !== -1) return null
      found = this.parts[row]
    }
    return this.sources[found]
  }

  #join(): ColumnVector {
    const builder = this.#builder
    builder.clear()
    if (scratchPositions.length < this.#rowCount) scratchPositions = new Uint32Array(this.#rowCount)
    for (let part = 0; part < this.sources.length; part++) {
      const source = this.sources[part]
      if (source !== null) this.#joinPart(part, source)
    }
    return builder.view()
  }

  #joinPart(part: number, source: DeltaColumn): void {
    const { positions, parts } = this
    const first = this.#builder.rowCount
    let count = 0
    for (let row = 0; row < this.#rowCount; row++) {
      if (positions[row] === BASE_CELL || parts[row] !== part) continue
      scratchPositions[count] = positions[row]
      positions[row] = first + count++
    }
    if (count > 0) this.#builder.appendRows(source.cells, scratchPositions, 0, count)
  }
}

/** See the file's header. One window serves one reader, for one run of rows after the other. */
export class DeltaWindow {
  readonly #undos: readonly DeltaStore[]
  readonly #redos: readonly DeltaStore[]
  readonly #undoReaders: DeltaReader[] = []
  readonly #redoReaders: DeltaReader[] = []
  readonly #wants: DeltaWants
  readonly #columns: readonly WindowColumn[]
  readonly #places = new Map<number, number>()
  #start = 0
  #end = 0
  /** THERE or GONE, by row of the window. */
  #states = new Uint8Array(0)
  /** Time of the UNDO record that says whether the row is there; Infinity: none does. */
  #undoTimes = new Float64Array(0)
  #goneCount = 0
  #hasStates = false
  #partCount = 0
  // Columns of a part by their place among those wanted; made again when the columns are others.
  #mapped: readonly DeltaColumn[] | null = null
  #mapping = new Int16Array(0)

  constructor({ undos, redos, snapshot, columns }: DeltaWindowOptions) {
    this.#wants = { snapshot, columnIds: columns.map((column) => column.id) }
    this.#undos = undos.filter((store) => {
      return store.recordCount > 0 && store.newest > snapshot && this.#isAboutWanted(store)
    })
    this.#redos = redos
    this.#columns = columns.map((column) => new WindowColumn(column.id, column.physical))
    columns.forEach((column, place) => {
      assert(!this.#places.has(column.id), 'a column is wanted once')
      this.#places.set(column.id, place)
    })
  }

  /** Stores that say anything about the snapshot. Changes later than now matter to none of it. */
  get relevantStores(): readonly DeltaStore[] {
    return [...this.#undos, ...this.#redos.filter((store) => this.#isRelevant(store))]
  }

  #isRelevant(redo: DeltaStore): boolean {
    const isOfSnapshot = redo.recordCount > 0 && redo.oldest <= this.#wants.snapshot
    return isOfSnapshot && this.#isAboutWanted(redo)
  }

  /** Whether a store says of rows that they come or go, or has a cell of a wanted column. */
  #isAboutWanted(store: DeltaStore): boolean {
    if (store.deleteCount > 0 || store.reinsertCount > 0) return true
    return this.#wants.columnIds.some((id) => store.cellCount(id) > 0)
  }

  /**
   * Whether a relevant store has a cell of column `columnIndex` of the options: if not, the base
   * alone says what is in it.
   */
  mayChange(columnIndex: number): boolean {
    const { id } = this.#columns[columnIndex]
    return (
      this.#undos.some((store) => store.cellCount(id) > 0) ||
      this.#redos.some((store) => store.cellCount(id) > 0 && this.#isRelevant(store))
    )
  }

  /** Takes up the rows `[start, end)`. Throws: CORRUPTION that names a block. */
  load(start: number, end: number): void {
    this.#clear(start, end)
    for (let i = 0; i < this.#redos.length; i++) {
      if (!this.#isRelevant(this.#redos[i])) continue
      this.#redoReaders[i] ??= this.#redos[i].openReader(this.#wants)
      for (const run of this.#redoReaders[i].read(start, end)) this.#applyRedos(run)
    }
    for (let i = 0; i < this.#undos.length; i++) {
      this.#undoReaders[i] ??= this.#undos[i].openReader(this.#wants)
      for (const run of this.#undoReaders[i].read(start, end)) this.#applyUndos(run)
    }
  }

  #clear(start: number, end: number): void {
    const rowCount = end - start
    if (this.#states.length < rowCount) {
      this.#states = new Uint8Array(rowCount)
      this.#undoTimes = new Float64Array(this.#undos.length === 0 ? 0 : rowCount).fill(Infinity)
    } else if (this.#hasStates) {
      this.#states.fill(THERE)
      this.#undoTimes.fill(Infinity)
    }
    for (const column of this.#columns) column.clear(rowCount)
    this.#start = start
    this.#end = end
    this.#goneCount = 0
    this.#hasStates = false
    this.#partCount = 0
  }

  /** Places of the columns of a part; names the part in those that are wanted. */
  #mapColumns({ columns }: DeltaRecords): Int16Array {
    if (this.#mapped !== columns) {
      if (this.#mapping.length < columns.length) this.#mapping = new Int16Array(columns.length)
      for (let i = 0; i < columns.length; i++) {
        this.#mapping[i] = this.#places.get(columns[i].columnId) ?? NOT_WANTED
      }
      this.#mapped = columns
    }
    for (let i = 0; i < columns.length; i++) {
      const place = this.#mapping[i]
      if (place === NOT_WANTED) continue
      const { sources } = this.#columns[place]
      while (sources.length < this.#partCount) sources.push(null)
      sources.push(columns[i])
    }
    return this.#mapping
  }

  #beginPart(): number {
    assert(this.#partCount < 0xffff, 'parts of a window can be numbered')
    return this.#partCount++
  }

  #applyRedos({ records, start: first, end: last }: DeltaRun): void {
    const { snapshot } = this.#wants
    const mapping = this.#mapColumns(records)
    const part = this.#beginPart()
    const { ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions } = records
    const columns = this.#columns
    const start = this.#start
    let cell = first === 0 ? 0 : cellEnds[first - 1]
    for (let i = first; i < last; i++) {
      const end = cellEnds[i]
      const at = timestamps[i]
      if (at > snapshot) {
        cell = end
        continue
      }
      const row = ordinals[i] - start
      if (kinds[i] === DELTA_KINDS.DELETE) this.#setGone(row)
      for (; cell < end; cell++) {
        const place = mapping[cellColumns[cell]]
        if (place === NOT_WANTED) continue
        const column = columns[place]
        if (column.positions[row] !== BASE_CELL && column.times[row] > at) continue
        column.positions[row] = cellPositions[cell]
        column.parts[row] = part
        column.times[row] = at
        column.isChanged = true
      }
    }
  }

  #setGone(row: number): void {
    if (this.#states[row] === THERE) this.#goneCount++
    this.#states[row] = GONE
    this.#hasStates = true
  }

  #applyUndos({ records, start: first, end: last }: DeltaRun): void {
    const { snapshot } = this.#wants
    const mapping = this.#mapColumns(records)
    const part = this.#beginPart()
    const { ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions } = records
    const columns = this.#columns
    const start = this.#start
    let cell = first === 0 ? 0 : cellEnds[first - 1]
    for (let i = first; i < last; i++) {
      const end = cellEnds[i]
      const at = timestamps[i]
      if (at <= snapshot) {
        cell = end
        continue
      }
      const row = ordinals[i] - start
      if (kinds[i] !== DELTA_KINDS.UPDATE && at < this.#undoTimes[row]) {
        this.#undoTimes[row] = at
        this.#setState(row, kinds[i] === DELTA_KINDS.DELETE ? GONE : THERE)
      }
      for (; cell < end; cell++) {
        const place = mapping[cellColumns[cell]]
        if (place === NOT_WANTED) continue
        const column = columns[place]
        // What is at or below the snapshot is of a REDO record, which any UNDO above it overrides.
        const isUndone = column.positions[row] !== BASE_CELL && column.times[row] > snapshot
        if (isUndone && column.times[row] <= at) continue
        column.positions[row] = cellPositions[cell]
        column.parts[row] = part
        column.times[row] = at
        column.isChanged = true
      }
    }
  }

  #setState(row: number, state: number): void {
    this.#goneCount += state - this.#states[row]
    this.#states[row] = state
    this.#hasStates = true
  }

  /**
   * Keeps of `rows[0, count)` those that are there at the snapshot, in their order. Returns: how
   * many. Requires: they are ordinals within the window.
   */
  keepVisible(rows: Uint32Array, count: number): number {
    if (this.#goneCount === 0) return count
    const states = this.#states
    const start = this.#start
    let kept = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += states[row - start] ^ GONE
    }
    return kept
  }

  /** Whether a row of the window is there at the snapshot. */
  isVisible(ordinal: number): boolean {
    assert(ordinal >= this.#start && ordinal < this.#end, 'the row is in the window')
    return this.#states[ordinal - this.#start] === THERE
  }

  /**
   * Says where the cells of column `columnIndex` (of the options) of the rows `rows[start, end)`
   * are: `out[i]` is BASE_CELL where that of `rows[i]` is the base's, else a row of the returned
   * vector.
   *
   * Returns: null when all are the base's; `out` says so only if the vector is there. Borrowed
   * until the next `load`. Requires: rows are ordinals within the window. Throws: CORRUPTION that
   * names a block.
   */
  positions(
    columnIndex: number,
    rows: Uint32Array,
    start: number,
    end: number,
    out: Int32Array,
  ): ColumnVector | null {
    const column = this.#columns[columnIndex]
    if (!column.isChanged) return null
    const cells = column.gather()
    const { positions } = column
    const first = this.#start
    let all = BASE_CELL
    for (let i = start; i < end; i++) {
      const position = positions[rows[i] - first]
      out[i] = position
      all &= position
    }
    // −1 & −1 is −1; any position at or above 0 clears the sign.
    return all < 0 ? null : cells
  }
}
