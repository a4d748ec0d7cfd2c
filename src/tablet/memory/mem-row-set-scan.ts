/**
 * A scan of a MemRowSet that outlives it: however long a reader takes, what was flushed is not kept
 * in memory for it.
 *
 *   MemRowSet    ──batch──batch──┐ flushed
 *   DiskRowSets                  └──batch──batch──▷   from the key where it is, as of its time
 */

import { assert } from '../../util/assert.ts'
import type {
  BatchLimits,
  RowSet,
  RowSetIterator,
  RowSetScan,
  ScanBatch,
  Selection,
} from '../row-set.ts'
import { SequenceIterator } from '../scan/sequence-iterator.ts'
import type { SortedSlots } from './key-order.ts'
import { MemRowSetIterator } from './mem-row-set-iterator.ts'
import type { MemRowStore } from './mem-row-store.ts'

/** See the file's header. */
export class MemRowSetScan implements RowSetIterator {
  readonly #scan: RowSetScan
  /** Null once it reads memory no more. */
  #memory: MemRowSetIterator | null
  #current: RowSetIterator
  #isBegun = false
  /** Rows looked at before the current one. */
  #doneCount = 0

  /** `release` is called once, when it reads memory no more. */
  constructor(rows: MemRowStore, order: SortedSlots, scan: RowSetScan, release: () => void) {
    this.#scan = scan
    this.#memory = new MemRowSetIterator(rows, order, scan, release)
    this.#current = this.#memory
  }

  get scannedCount(): number {
    return this.#doneCount + this.#current.scannedCount
  }

  next(limits: BatchLimits): ScanBatch | null {
    this.#begin()
    return this.#current.next(limits)
  }

  nextSelection(scannedMax: number): Selection | null {
    this.#begin()
    return this.#current.nextSelection(scannedMax)
  }

  #begin(): void {
    if (!this.#isBegun && this.#memory !== null) this.#scan.meter?.countRowSet()
    this.#isBegun = true
  }

  close(): void {
    this.#current.close()
  }

  /**
   * Goes on behind what was given out, in rowsets that have the rows instead. The batch that is out
   * stays good. Requires: their keys ascend. Cost: reads nothing.
   */
  goOnIn(rowSets: readonly RowSet[]): void {
    const memory = this.#memory
    assert(memory !== null, 'a scan leaves memory once')
    const rest = memory.rest()
    this.#doneCount = memory.scannedCount
    this.#memory = null
    memory.close()
    const scan = { ...this.#scan, ...rest, keyHash: null }
    scan.meter?.countRowSets(rowSets.length)
    const scans = rest === null ? [] : rowSets.map((rowSet) => rowSet.openIterator(scan))
    if (scan.isDescending) scans.reverse()
    this.#current = new SequenceIterator(scans)
  }
}
