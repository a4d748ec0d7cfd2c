import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import type { BatchLimits, RowSetIterator, ScanBatch } from '../row-set.ts'

const NO_KEYS = new KeyArena(1, 0)

/** A scan of one rowset, and where it stands in a merge. */
export class MergeCursor {
  readonly iterator: RowSetIterator
  /** Null before it was asked. */
  batch: ScanBatch | null = null
  keys = NO_KEYS
  /** The row of the batch it stands at; their count when the batch is used up. */
  next = 0
  count = 0
  /** The bytes that the batch was asked for. */
  bytesMax = 0
  /** Its number in the batch that is being made, and the first of its rows there that waits. */
  place = -1
  waiting = 0
  #doneKey: Uint8Array | null

  /** `start` is where its keys begin, null when that may be before all keys. */
  constructor(iterator: RowSetIterator, start: Uint8Array | null) {
    this.iterator = iterator
    this.#doneKey = start
  }

  /** Whether it was asked for rows. */
  get isAsked(): boolean {
    return this.batch !== null
  }

  /** Whether more must be read to know its next row. */
  get isStarved(): boolean {
    return this.next === this.count
  }

  /** Where it stands when starved: it is done up to there. Null: before all keys. */
  get doneKey(): Uint8Array | null {
    if (this.#doneKey === null && this.batch !== null) this.#doneKey = this.batch.lastKeyScanned
    return this.#doneKey
  }

  /** Goes on to the next batch. Returns: false when the scan has ended. */
  advance(limits: BatchLimits): boolean {
    const batch = this.iterator.next(limits)
    if (batch === null) return false
    assert(batch.keys !== null, 'a merged scan has keys')
    this.batch = batch
    this.bytesMax = limits.bytesMax
    this.keys = batch.keys
    this.next = 0
    this.waiting = 0
    this.count = batch.block.rowCount
    this.#doneKey = null
    return true
  }
}
