import { DELTA_BLOCK_RECORDS } from '../../common/limits.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { mergeDeltaRecords } from '../delta/merge-delta-records.ts'
import { sliceDeltaRecords } from '../delta/slice-delta-records.ts'

/**
 * Reads delta records row by row from the first row on, a block's worth at a time: a block is
 * decoded once or twice, however few rows are asked for. Going back is allowed, and costs as much
 * as the beginning.
 */
export class RecordsAhead {
  readonly #stores: readonly DeltaStore[]
  readonly #windowRows: number
  #start = 0
  #end = 0
  #parts: readonly DeltaRecords[] = []

  /** Stores of one rowset, oldest first. */
  constructor(stores: readonly DeltaStore[], rowCount: number) {
    this.#stores = stores
    let recordCount = 0
    for (const store of stores) recordCount += store.recordCount
    this.#windowRows = Math.ceil((rowCount * DELTA_BLOCK_RECORDS) / Math.max(1, recordCount))
  }

  /**
   * Records of the rows `[start, end)` as runs; of records of one row an earlier run has the older
   * ones. Throws: CORRUPTION.
   */
  parts(start: number, end: number): DeltaRecords[] {
    if (this.#stores.length === 0 || start === end) return []
    if (start < this.#start || end > this.#end) {
      this.#start = start
      this.#end = Math.max(end, start + this.#windowRows)
      this.#parts = this.#stores.flatMap((store) => store.readParts(start, this.#end))
    }
    const parts: DeltaRecords[] = []
    for (const records of this.#parts) {
      const part = sliceDeltaRecords(records, start, end)
      if (part.count > 0) parts.push(part)
    }
    return parts
  }

  /** The same as one run, ascending by row and time. Throws: CORRUPTION. */
  read(start: number, end: number): DeltaRecords {
    return mergeDeltaRecords(this.parts(start, end))
  }

  /** Lets go of what was read ahead. */
  clear(): void {
    this.#start = 0
    this.#end = 0
    this.#parts = []
  }
}
