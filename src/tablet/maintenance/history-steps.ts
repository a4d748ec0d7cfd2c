/** Changes of one row, with cells known by refs. Hot. */

import type { Timestamp } from '../../common/hybrid-clock.ts'

const CAPACITY_MIN = 64

/**
 * Steps appended one by one: first the cells of a step, then the step itself. Cells of step i are
 * `[cellEnds[i − 1], cellEnds[i])`. Arrays are replaced when they grow.
 */
export class HistorySteps {
  count = 0
  times = new Float64Array(CAPACITY_MIN)
  kinds = new Uint8Array(CAPACITY_MIN)
  cellEnds = new Uint32Array(CAPACITY_MIN)
  cellCount = 0
  cellColumns = new Uint16Array(CAPACITY_MIN)
  cellRefs = new Int32Array(CAPACITY_MIN)

  /** Forgets all steps. */
  clear(): void {
    this.count = 0
    this.cellCount = 0
  }

  /** Where the cells of a step begin. */
  cellStart(step: number): number {
    return step === 0 ? 0 : this.cellEnds[step - 1]
  }

  /** Appends a cell of the step to come. */
  pushCell(column: number, ref: number): void {
    const cell = this.cellCount
    if (cell === this.cellColumns.length) this.#growCells()
    this.cellColumns[cell] = column
    this.cellRefs[cell] = ref
    this.cellCount = cell + 1
  }

  /** Appends a step with the cells since the last. */
  pushStep(time: Timestamp, kind: number): void {
    const step = this.count
    if (step === this.times.length) this.#growSteps()
    this.times[step] = time
    this.kinds[step] = kind
    this.cellEnds[step] = this.cellCount
    this.count = step + 1
  }

  #growCells(): void {
    const columns = new Uint16Array(this.cellCount * 2)
    columns.set(this.cellColumns)
    this.cellColumns = columns
    const refs = new Int32Array(this.cellCount * 2)
    refs.set(this.cellRefs)
    this.cellRefs = refs
  }

  #growSteps(): void {
    const times = new Float64Array(this.count * 2)
    times.set(this.times)
    this.times = times
    const kinds = new Uint8Array(this.count * 2)
    kinds.set(this.kinds)
    this.kinds = kinds
    const cellEnds = new Uint32Array(this.count * 2)
    cellEnds.set(this.cellEnds)
    this.cellEnds = cellEnds
  }
}
