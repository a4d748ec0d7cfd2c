/**
 * Makes of the chain of each row in a DeltaMemStore the one record that a snapshot shows. Hot.
 *
 * Cells are named as records are made, and copied only for the columns that are asked for. What is
 * in a log never changes, so the store may be written to in between.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Physical } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { gatherCells } from '../memory/gather-cells.ts'
import type { HistoryColumn } from '../memory/history-columns.ts'
import { NOT_WANTED, REDO_KINDS, type RedoLog, UNCHANGED } from '../memory/redo-log.ts'
import { NO_REDO } from '../memory/row-chunk.ts'
import { DELTA_KINDS, type DeltaColumn } from './delta-records.ts'
import type { DeltaReader, DeltaRun, DeltaWants } from './delta-store.ts'
import { lowerOrdinal, type OrdinalIndex } from './ordinal-index.ts'
import { RecordArrays } from './record-arrays.ts'

const CAPACITY_MIN = 8
const NO_RUNS: readonly DeltaRun[] = []

/** The cells of one column that the records of a read have. */
class NamedCells implements DeltaColumn {
  readonly columnId: number
  readonly physical: Physical
  count = 0
  readonly #column: HistoryColumn
  #positions = new Int32Array(CAPACITY_MIN)
  #builder: ColumnBuilder | null = null
  #cells: ColumnVector | null = null

  constructor(column: HistoryColumn) {
    this.columnId = column.id
    this.physical = column.physical
    this.#column = column
  }

  clear(): void {
    this.count = 0
    this.#cells = null
  }

  /** Names a cell. Returns its number. */
  push(position: number): number {
    if (this.count === this.#positions.length) {
      const grown = new Int32Array(this.count * 2)
      grown.set(this.#positions)
      this.#positions = grown
    }
    this.#positions[this.count] = position
    return this.count++
  }

  get cells(): ColumnVector {
    if (this.#cells !== null) return this.#cells
    this.#builder ??= new ColumnBuilder(this.physical, this.count)
    this.#builder.clear()
    gatherCells(this.#column.kept, null, this.#positions, 0, this.count, this.#builder)
    this.#cells = this.#builder.view()
    return this.#cells
  }
}

/** See the file's header. */
export class DeltaMemReader implements DeltaReader {
  readonly #log: RedoLog
  readonly #index: OrdinalIndex
  /** Columns of the log by index; there may be more of them later. */
  readonly #columns: readonly HistoryColumn[]
  readonly #columnIds: ReadonlySet<number>
  readonly #snapshot: Timestamp
  readonly #changedAfter: Timestamp
  /** By index in the log: place among those wanted. */
  #wanted = new Int16Array(0)
  #named: NamedCells[] = []
  #positions = new Int32Array(0)
  readonly #records = new RecordArrays(CAPACITY_MIN)

  constructor(
    log: RedoLog,
    index: OrdinalIndex,
    columns: readonly HistoryColumn[],
    wants: DeltaWants,
  ) {
    this.#log = log
    this.#index = index
    this.#columns = columns
    this.#columnIds = new Set(wants.columnIds)
    this.#snapshot = wants.snapshot
    this.#changedAfter = wants.changedAfter ?? Infinity
  }

  read(start: number, end: number): readonly DeltaRun[] {
    if (this.#wanted.length !== this.#columns.length) this.#mapColumns()
    this.#records.clear()
    for (let place = 0; place < this.#named.length; place++) this.#named[place].clear()
    const index = this.#index
    if (end - start === 1) {
      const newest = index.get(start)
      if (newest !== NO_REDO) this.#readRow(start, newest)
    } else {
      const { count } = index
      const sorted = index.sorted()
      const stop = lowerOrdinal(sorted, count, end)
      for (let i = lowerOrdinal(sorted, count, start); i < stop; i++) {
        this.#readRow(sorted[i], index.sortedValue(i))
      }
    }
    const { count } = this.#records
    if (count === 0) return NO_RUNS
    return [{ records: this.#records.view(this.#named), start: 0, end: count }]
  }

  #mapColumns(): void {
    const columns = this.#columns
    this.#wanted = new Int16Array(columns.length).fill(NOT_WANTED)
    this.#named = []
    for (let i = 0; i < columns.length; i++) {
      if (!this.#columnIds.has(columns[i].id)) continue
      this.#wanted[i] = this.#named.length
      this.#named.push(new NamedCells(columns[i]))
    }
    this.#positions = new Int32Array(this.#named.length)
  }

  #readRow(ordinal: number, newest: number): void {
    const log = this.#log
    const redo = log.newestAt(newest, this.#snapshot)
    if (redo === NO_REDO) return
    if (log.kind(redo) === REDO_KINDS.DELETE) {
      this.#records.add(ordinal, log.at(redo), DELTA_KINDS.DELETE)
      return
    }
    const positions = this.#positions.fill(UNCHANGED)
    const isWanted = log.resolve(redo, this.#wanted, positions.length, positions, 0) > 0
    if (!isWanted && log.at(redo) <= this.#changedAfter) return
    this.#records.add(ordinal, log.at(redo), DELTA_KINDS.UPDATE)
    for (let place = 0; place < positions.length; place++) {
      if (positions[place] === UNCHANGED) continue
      this.#records.addCell(place, this.#named[place].push(positions[place]))
    }
  }
}
