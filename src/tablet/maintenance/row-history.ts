/**
 * Merges what is known of rows into one history for each: the UNDO records of the rows that a
 * compaction writes. Hot.
 *
 *   input A     UNDO delete @1 │ base │ REDO update @3   REDO delete @5
 *   input B                                      UNDO delete @7 │ base │ REDO update @9
 *   ───────────────────────────────────────────────────────────────────────────────────
 *   output      UNDO delete @1   update @3   reinsert @5   delete @7   update @9 │ base
 *
 * Most rows have one life, and no REDO: their records are copied. For all others, every input's
 * records make one or two streams of steps back in time, and a walk takes the steps of all streams
 * from the latest on. All steps at one timestamp are one: what lay between them nobody ever saw.
 * The walk ends at the ancient history mark: an UNDO at or below it only leads to times below it,
 * which nobody may read.
 *
 * A REINSERT lacks the columns that are younger than its rowset was when it was written. Then all
 * changes of such a column came later, and going back over them leads to its read default.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'
import { DELTA_KINDS, type DeltaKind, type DeltaRecords } from '../delta/delta-records.ts'
import { BASE_REF, type BaseCells } from './history-cells.ts'
import { HistoryRecords } from './history-records.ts'
import { HistorySteps } from './history-steps.ts'
import type { MergePlan } from './merge-plan.ts'
import { SourceRecords } from './source-records.ts'

/** Undoing a REDO DELETE: the row was there before, with the cells that it still has. */
const REAPPEAR = 4
const NOBODY = -1

/** Delta records of one input, of the rows that a stretch of the plan names. */
export interface SourceDeltas {
  readonly undos: DeltaRecords
  readonly redos: DeltaRecords
}

/**
 * See the file's header.
 *
 *   begin ─► appendRows … ─► finish ─► begin …
 */
export class RowHistory {
  readonly #mark: Timestamp
  readonly #columnCount: number
  readonly #output: HistoryRecords
  #undos: SourceRecords[] = []
  #redos: SourceRecords[] = []

  // Streams of the row under way: member m's UNDOs are stream 2m, its REDOs 2m + 1. Steps of a
  // stream are [#streamStarts[s], #streamEnds[s]), ascending by time; the end moves down.
  #memberCount = 0
  readonly #memberSources: number[] = []
  readonly #memberOrdinals: number[] = []
  readonly #isThere: boolean[] = []
  readonly #streamStarts: number[] = []
  readonly #streamEnds: number[] = []
  readonly #steps = new HistorySteps()
  /** Of each member, each column's ref at the time where the walk stands. */
  #state = new Int32Array(0)

  // What the walk changed at the timestamp where it stands.
  #visible = NOBODY
  #stamp = 0
  readonly #changedStamps: Uint32Array
  #changedCount = 0
  readonly #changedColumns: Uint16Array

  /** Records of the row under way, latest first. */
  readonly #reversed = new HistorySteps()

  /** `columns`: those that histories are kept of, without the key's. */
  constructor(columns: readonly Column[], mark: Timestamp) {
    this.#mark = mark
    this.#columnCount = columns.length
    this.#output = new HistoryRecords(columns)
    this.#changedStamps = new Uint32Array(columns.length)
    this.#changedColumns = new Uint16Array(columns.length)
  }

  /**
   * Begins a stretch of rows with the records of all inputs of it, which are read until `finish`.
   */
  begin(sources: readonly SourceDeltas[]): void {
    const { cells } = this.#output
    this.#output.clear()
    this.#undos = sources.map(({ undos }) => new SourceRecords(undos, cells))
    this.#redos = sources.map(({ redos }) => new SourceRecords(redos, cells))
  }

  /**
   * Appends the histories of the plan's rows `[start, end)`, as of rows from `firstRow` on.
   *
   * Requires: stretches ascend, and the records of the inputs have all of these rows.
   */
  appendRows(plan: MergePlan, start: number, end: number, firstRow: number): void {
    const { sources, ordinals, olderRows } = plan
    let older = plan.olderFrom(start)
    for (let row = start; row < end; row++) {
      const source = sources[row]
      const ordinal = ordinals[row]
      const output = firstRow + row - start
      if (older < plan.olderCount && olderRows[older] === row) {
        older = this.#startLives(plan, row, older)
      } else {
        const hasUndos = this.#undos[source].seek(ordinal)
        if (!this.#redos[source].seek(ordinal)) {
          if (hasUndos) this.#copy(output, this.#undos[source])
          continue
        }
        this.#startRow()
      }
      this.#addMember(source, ordinal, true)
      this.#walk(output)
    }
  }

  /**
   * The UNDO records of the rows appended. Borrowed until the next `begin`.
   *
   * Throws: CORRUPTION when a base that is needed cannot be read.
   */
  finish(base: BaseCells): DeltaRecords {
    return this.#output.finish(base)
  }

  /** Copies the UNDOs found of a row. */
  #copy(output: number, undos: SourceRecords): void {
    const { timestamps, kinds, cellEnds, cellColumns, cellPositions } = undos.records
    const target = this.#output
    const mark = this.#mark
    for (let record = undos.start; record < undos.end; record++) {
      if (timestamps[record] <= mark) continue
      target.startRecord(output, timestamps[record], kinds[record] as DeltaKind)
      const end = cellEnds[record]
      for (let cell = record === 0 ? 0 : cellEnds[record - 1]; cell < end; cell++) {
        const from = cellColumns[cell]
        const column = undos.columns[from]
        if (column >= 0) target.pickCell(column, undos.shifts[from] + cellPositions[cell])
      }
      target.endRecord()
    }
  }

  #startRow(): void {
    this.#memberCount = 0
    this.#steps.clear()
    this.#reversed.clear()
  }

  /** Adds the older lives of a row. Returns the place of the next row's. */
  #startLives(plan: MergePlan, row: number, older: number): number {
    const { olderCount, olderRows, olderSources, olderOrdinals } = plan
    this.#startRow()
    let next = older
    while (next < olderCount && olderRows[next] === row) {
      this.#seek(olderSources[next], olderOrdinals[next])
      this.#addMember(olderSources[next], olderOrdinals[next], false)
      next++
    }
    this.#seek(plan.sources[row], plan.ordinals[row])
    return next
  }

  #seek(source: number, ordinal: number): void {
    this.#undos[source].seek(ordinal)
    this.#redos[source].seek(ordinal)
  }

  /** Adds an input of a row, whose records were sought. The base comes last. */
  #addMember(source: number, ordinal: number, isBase: boolean): void {
    const member = this.#memberCount++
    const first = member * this.#columnCount
    if (first + this.#columnCount > this.#state.length) {
      const grown = new Int32Array((first + this.#columnCount) * 2)
      grown.set(this.#state)
      this.#state = grown
    }
    this.#state.fill(BASE_REF, first, first + this.#columnCount)
    this.#memberSources[member] = source
    this.#memberOrdinals[member] = ordinal
    this.#isThere[member] = isBase
    this.#streamStarts[member * 2] = this.#steps.count
    this.#addUndos(this.#undos[source])
    this.#streamEnds[member * 2] = this.#steps.count
    this.#streamStarts[member * 2 + 1] = this.#steps.count
    this.#addRedos(this.#redos[source], member, isBase)
    this.#streamEnds[member * 2 + 1] = this.#steps.count
  }

  #addUndos(undos: SourceRecords): void {
    const { timestamps, kinds, cellEnds, cellColumns, cellPositions } = undos.records
    for (let record = undos.start; record < undos.end; record++) {
      if (timestamps[record] <= this.#mark) continue
      const end = cellEnds[record]
      for (let cell = record === 0 ? 0 : cellEnds[record - 1]; cell < end; cell++) {
        const from = cellColumns[cell]
        const column = undos.columns[from]
        if (column >= 0) this.#steps.pushCell(column, undos.shifts[from] + cellPositions[cell])
      }
      this.#steps.pushStep(timestamps[record], kinds[record])
    }
  }

  /** Turns REDOs into steps back. A base's DELETE stays one: the row is there by itself. */
  #addRedos(redos: SourceRecords, member: number, isBase: boolean): void {
    const { timestamps, kinds, cellEnds, cellColumns, cellPositions } = redos.records
    const first = member * this.#columnCount
    for (let record = redos.start; record < redos.end; record++) {
      const isKept = timestamps[record] > this.#mark
      if (kinds[record] === DELTA_KINDS.DELETE) {
        if (isKept && !isBase) this.#steps.pushStep(timestamps[record], REAPPEAR)
        continue
      }
      const end = cellEnds[record]
      for (let cell = record === 0 ? 0 : cellEnds[record - 1]; cell < end; cell++) {
        const from = cellColumns[cell]
        const column = redos.columns[from]
        if (column < 0) continue
        if (isKept) this.#steps.pushCell(column, this.#refOf(member, column))
        this.#state[first + column] = redos.shifts[from] + cellPositions[cell]
      }
      if (isKept) this.#steps.pushStep(timestamps[record], DELTA_KINDS.UPDATE)
    }
  }

  /** Ref of a member's cell at the time where the walk stands. */
  #refOf(member: number, column: number): number {
    const place = member * this.#columnCount + column
    if (this.#state[place] === BASE_REF) {
      const cells = this.#output.cells[column]
      this.#state[place] = cells.request(this.#memberSources[member], this.#memberOrdinals[member])
    }
    return this.#state[place]
  }

  /** Goes back from the base to the mark, then gives out the records on the way, oldest first. */
  #walk(output: number): void {
    const streamCount = this.#memberCount * 2
    const starts = this.#streamStarts
    const ends = this.#streamEnds
    this.#visible = this.#memberCount - 1
    for (;;) {
      let time = -1
      for (let stream = 0; stream < streamCount; stream++) {
        if (ends[stream] === starts[stream]) continue
        const latest = this.#steps.times[ends[stream] - 1]
        if (latest > time) time = latest
      }
      if (time < 0) break
      this.#stamp++
      this.#changedCount = 0
      // A member's REDOs come after its UNDOs, so they are undone before them.
      for (let stream = streamCount - 1; stream >= 0; stream--) {
        while (ends[stream] > starts[stream] && this.#steps.times[ends[stream] - 1] === time) {
          this.#applyStep(stream >>> 1, --ends[stream])
        }
      }
      this.#endTime(time)
    }
    this.#giveOut(output)
  }

  /** Takes one step back of a member. */
  #applyStep(member: number, step: number): void {
    const steps = this.#steps
    const kind = steps.kinds[step]
    if (kind === DELTA_KINDS.DELETE) {
      this.#isThere[member] = false
      return
    }
    if (kind !== DELTA_KINDS.UPDATE) this.#isThere[member] = true
    const first = member * this.#columnCount
    const end = steps.cellEnds[step]
    for (let cell = steps.cellStart(step); cell < end; cell++) {
      const column = steps.cellColumns[cell]
      this.#state[first + column] = steps.cellRefs[cell]
      if (member === this.#visible) this.#noteChange(column)
    }
  }

  #noteChange(column: number): void {
    if (this.#changedStamps[column] === this.#stamp) return
    this.#changedStamps[column] = this.#stamp
    this.#changedColumns[this.#changedCount++] = column
  }

  /** Makes a record of all that changed at one time. */
  #endTime(time: Timestamp): void {
    const after = this.#visible
    const before = this.#findVisible()
    this.#visible = before
    if (before === NOBODY) {
      if (after !== NOBODY) this.#reversed.pushStep(time, DELTA_KINDS.DELETE)
    } else if (before !== after) {
      for (let column = 0; column < this.#columnCount; column++) {
        this.#reversed.pushCell(column, this.#refOf(before, column))
      }
      // With no column but the key's, a row that was replaced is what it was.
      if (after === NOBODY) this.#reversed.pushStep(time, DELTA_KINDS.REINSERT)
      else if (this.#columnCount > 0) this.#reversed.pushStep(time, DELTA_KINDS.UPDATE)
    } else if (this.#changedCount > 0) {
      const changed = this.#changedColumns.subarray(0, this.#changedCount).sort()
      for (let i = 0; i < changed.length; i++) {
        this.#reversed.pushCell(changed[i], this.#refOf(before, changed[i]))
      }
      this.#reversed.pushStep(time, DELTA_KINDS.UPDATE)
    }
  }

  /** The member that has the row at the time where the walk stands. */
  #findVisible(): number {
    let found = NOBODY
    for (let member = 0; member < this.#memberCount; member++) {
      if (!this.#isThere[member]) continue
      if (VERIFY) assert(found === NOBODY, 'a row is in one rowset at a time')
      found = member
    }
    return found
  }

  #giveOut(output: number): void {
    const target = this.#output
    const { count, times, kinds, cellEnds, cellColumns, cellRefs } = this.#reversed
    for (let record = count - 1; record >= 0; record--) {
      target.startRecord(output, times[record], kinds[record] as DeltaKind)
      const end = cellEnds[record]
      for (let cell = this.#reversed.cellStart(record); cell < end; cell++) {
        target.pickCell(cellColumns[cell], cellRefs[cell])
      }
      target.endRecord()
    }
  }
}

/** Bytes of records and their cells, about. */
export function recordBytes(records: DeltaRecords): number {
  let bytes = records.count * 16
  for (const { cells } of records.columns) bytes += cells.bytes.length + cells.offsets.length * 4
  return bytes
}
