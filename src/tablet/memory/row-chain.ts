/**
 * The changes to one row of a MemRowSet, cut into what made it and what ended it. Hot.
 *
 * Only what an op left is ever seen, so of the changes with one timestamp the last says whether the
 * row was there behind them. The base of a row is its last state in which it was there:
 *
 *   inserted @3 │ UPDATE @5 │ DELETE @7  REINSERT @7 │ UPDATE @8  DELETE @8 │ DELETE … @9
 *   └────────────── redos[0, count): they lead to the base ──────────────┘└─ deletedAt = 8
 */

import { TIMESTAMP_MAX, type Timestamp } from '../../common/hybrid-clock.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { REDO_KINDS } from './redo-log.ts'
import { NO_REDO } from './row-chunk.ts'

/** One row's changes, for one row after the other. */
export class RowChain {
  /** Numbers of the redos that lead to the base, oldest first: `[0, count)`. Replaced on growth. */
  redos = new Int32Array(16)
  count = 0
  /** When the base ended for good; TIMESTAMP_MAX while the row is there. */
  deletedAt: Timestamp = TIMESTAMP_MAX
  readonly #rows: MemRowStore
  readonly #redoEnd: number

  /** Chains of redos below `redoEnd`. */
  constructor(rows: MemRowStore, redoEnd: number) {
    this.#rows = rows
    this.#redoEnd = redoEnd
  }

  /**
   * Takes up the chain of a row. Returns: whether the row was there at any time; when not, nothing
   * else is meaningful. Cost: O(changes of the row).
   */
  load(slot: number): boolean {
    this.#collect(this.#rows.newestRedo(slot))
    this.deletedAt = TIMESTAMP_MAX
    this.#cutEnd()
    const isAsInserted = this.count === 0
    return !isAsInserted || this.deletedAt !== this.#rows.insertedAt(slot)
  }

  #collect(newest: number): void {
    const { redos: log } = this.#rows
    let redo = newest
    while (redo >= this.#redoEnd) redo = log.older(redo)
    this.count = 0
    for (; redo !== NO_REDO; redo = log.older(redo)) {
      if (this.count === this.redos.length) this.#grow()
      this.redos[this.count++] = redo
    }
    if (this.count > 1) this.redos.subarray(0, this.count).reverse()
  }

  #grow(): void {
    const grown = new Int32Array(this.redos.length * 2)
    grown.set(this.redos)
    this.redos = grown
  }

  /** Takes off the ops behind which the row was not there. */
  #cutEnd(): void {
    const { redos: log } = this.#rows
    const { redos } = this
    while (this.count > 0 && log.kind(redos[this.count - 1]) === REDO_KINDS.DELETE) {
      const at = log.at(redos[this.count - 1])
      this.deletedAt = at
      while (this.count > 0 && log.at(redos[this.count - 1]) === at) this.count--
    }
  }

  /** Where the changes of the op end that begin at `start`. Requires: `start < count`. */
  opEnd(start: number): number {
    const { redos: log } = this.#rows
    const at = log.at(this.redos[start])
    let end = start + 1
    while (end < this.count && log.at(this.redos[end]) === at) end++
    return end
  }
}
