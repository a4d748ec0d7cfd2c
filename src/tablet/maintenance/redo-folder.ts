import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { DELTA_KINDS, type DeltaKind, type DeltaRecords } from '../delta/delta-records.ts'
import type { BaseCells } from './history-cells.ts'
import { HistoryRecords } from './history-records.ts'
import { SourceRecords } from './source-records.ts'

/** REDO records need nothing of a base. */
const NO_BASE: BaseCells = {
  appendCells(_target: ColumnBuilder): void {
    assert(false, 'a REDO record has its cells')
  },
}

/**
 * Rewrites REDO records with the cells of some columns only, and without what nobody can see: of
 * the cells of a column at or below the ancient history mark only the last one shows, and none of a
 * row that was deleted by then. Hot.
 */
export class RedoFolder {
  readonly #output: HistoryRecords
  readonly #mark: Timestamp
  /** Of each column, the row in which a later cell at or below the mark was seen, plus one. */
  readonly #hiddenIn: Float64Array
  #isHidden = new Uint8Array(64)

  /** `columns`: those whose cells are kept. */
  constructor(columns: readonly Column[], mark: Timestamp) {
    this.#output = new HistoryRecords(columns)
    this.#mark = mark
    this.#hiddenIn = new Float64Array(columns.length)
  }

  /**
   * Returns: borrowed until the next call. Requires: all records of a row come at once, and rows
   * ascend from call to call.
   */
  fold(records: DeltaRecords): DeltaRecords {
    const target = this.#output
    target.clear()
    const source = new SourceRecords(records, target.cells)
    const { count, ordinals, timestamps, kinds, cellEnds, cellColumns, cellPositions } = records
    const cellCount = count === 0 ? 0 : cellEnds[count - 1]
    if (this.#isHidden.length < cellCount) this.#isHidden = new Uint8Array(cellCount)
    else this.#isHidden.fill(0, 0, cellCount)
    for (let start = 0; start < count; ) {
      let end = start + 1
      while (end < count && ordinals[end] === ordinals[start]) end++
      if (timestamps[start] <= this.#mark) this.#hide(source, start, end)
      for (let record = start; record < end; record++) {
        target.startRecord(ordinals[record], timestamps[record], kinds[record] as DeltaKind)
        for (let cell = record === 0 ? 0 : cellEnds[record - 1]; cell < cellEnds[record]; cell++) {
          const from = cellColumns[cell]
          const column = source.columns[from]
          if (column < 0 || this.#isHidden[cell] === 1) continue
          target.pickCell(column, source.shifts[from] + cellPositions[cell])
        }
        target.endRecord()
      }
      start = end
    }
    return target.finish(NO_BASE)
  }

  /** Marks the cells of a row's records `[start, end)` that a later one hides for good. */
  #hide({ records, columns }: SourceRecords, start: number, end: number): void {
    const { ordinals, timestamps, kinds, cellEnds, cellColumns } = records
    const stamp = ordinals[start] + 1
    let isGone = false
    for (let record = end - 1; record >= start; record--) {
      if (timestamps[record] > this.#mark) continue
      if (kinds[record] === DELTA_KINDS.DELETE) isGone = true
      const first = record === 0 ? 0 : cellEnds[record - 1]
      for (let cell = cellEnds[record] - 1; cell >= first; cell--) {
        const column = columns[cellColumns[cell]]
        if (column < 0) continue
        if (isGone || this.#hiddenIn[column] === stamp) this.#isHidden[cell] = 1
        this.#hiddenIn[column] = stamp
      }
    }
  }
}
