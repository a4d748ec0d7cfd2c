import { assert } from '../../util/assert.ts'
import type { BatchLimits, RowSetIterator, ScanBatch, Selection } from '../row-set.ts'

/**
 * Scans one after the other. Requires: every key of a scan comes before all keys of those behind
 * it, in the order of the scans; or that nobody asks for batches, which say where to go on.
 */
export class SequenceIterator implements RowSetIterator {
  /** Those that have not ended; the last is read. */
  readonly #iterators: RowSetIterator[]
  #endedCount = 0

  constructor(iterators: readonly RowSetIterator[]) {
    this.#iterators = [...iterators].reverse()
  }

  get scannedCount(): number {
    const iterator = this.#iterators.at(-1)
    return this.#endedCount + (iterator?.scannedCount ?? 0)
  }

  next(limits: BatchLimits): ScanBatch | null {
    assert(limits.rowCountMax > 0 && limits.scannedMax > 0, 'a batch has room for a row')
    for (;;) {
      const iterator = this.#iterators.at(-1)
      if (iterator === undefined) return null
      const batch = iterator.next(limits)
      if (batch !== null) return batch
      this.#endLast(iterator)
    }
  }

  nextSelection(scannedMax: number): Selection | null {
    for (;;) {
      const iterator = this.#iterators.at(-1)
      if (iterator === undefined) return null
      const selection = iterator.nextSelection(scannedMax)
      if (selection !== null) return selection
      this.#endLast(iterator)
    }
  }

  #endLast(iterator: RowSetIterator): void {
    this.#endedCount += iterator.scannedCount
    iterator.close()
    this.#iterators.pop()
  }

  close(): void {
    for (const iterator of this.#iterators) iterator.close()
    this.#iterators.length = 0
  }
}
