/**
 * Which rows of a DiskRowSet changed within a time. Hot.
 *
 *   records    ──12──15──│──21────24──30──│──33──▷      one that is UNDO or REDO: the time counts
 *                      after            upTo
 *
 * Every change that may still be read, also the insertion of a row, is an UNDO or REDO record of
 * the time when it was made, whatever was flushed or compacted since.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaReader, DeltaRun, DeltaStore } from '../delta/delta-store.ts'

const UNCHANGED = 0
const CHANGED = 1
const NO_COLUMNS: readonly number[] = []

/** Whether a store may have records above one time and at or below another. Reads nothing. */
export function hasRecordsWithin(store: DeltaStore, after: Timestamp, upTo: Timestamp): boolean {
  return store.recordCount > 0 && store.newest > after && store.oldest <= upTo
}

/** See the file's header. It serves one reader, for one stretch of rows after the other. */
export class ChangedRows {
  /** Rows of the stretch that changed. */
  count = 0
  readonly #after: Timestamp
  readonly #upTo: Timestamp
  readonly #readers: readonly DeltaReader[]
  /** UNCHANGED or CHANGED, by row of the stretch. */
  #marks = new Uint8Array(0)
  #start = 0
  #end = 0

  /** Requires: what comes to the stores later is above `upTo`. */
  constructor(stores: readonly DeltaStore[], after: Timestamp, upTo: Timestamp) {
    this.#after = after
    this.#upTo = upTo
    const wants = { snapshot: upTo, columnIds: NO_COLUMNS, changedAfter: after }
    this.#readers = stores
      .filter((store) => hasRecordsWithin(store, after, upTo))
      .map((store) => store.openReader(wants))
  }

  /** Takes up the rows `[start, end)`. Throws: CORRUPTION that names a block. */
  load(start: number, end: number): void {
    const rowCount = end - start
    if (this.#marks.length < rowCount) this.#marks = new Uint8Array(rowCount)
    else if (this.count > 0) this.#marks.fill(UNCHANGED)
    this.#start = start
    this.#end = end
    this.count = 0
    for (let i = 0; i < this.#readers.length; i++) {
      const runs = this.#readers[i].read(start, end)
      for (let run = 0; run < runs.length; run++) this.#mark(runs[run])
    }
  }

  #mark({ records, start, end }: DeltaRun): void {
    const { ordinals, timestamps } = records
    const marks = this.#marks
    const first = this.#start
    let count = 0
    for (let i = start; i < end; i++) {
      if (timestamps[i] <= this.#after || timestamps[i] > this.#upTo) continue
      const row = ordinals[i] - first
      count += marks[row] ^ CHANGED
      marks[row] = CHANGED
    }
    this.count += count
  }

  /** Whether a row of the stretch changed. */
  isChanged(ordinal: number): boolean {
    assert(ordinal >= this.#start && ordinal < this.#end, 'the row is in the stretch')
    return this.#marks[ordinal - this.#start] === CHANGED
  }

  /** The first row of the stretch that changed. Requires: there is one. */
  get first(): number {
    return this.#start + this.#marks.indexOf(CHANGED)
  }
}
