/**
 * The rows of a scan over all its tablets, as runs of rows inside batches.
 *
 *   unordered   tablet after tablet in partition-key order, by key inside one
 *   ordered     merged by encoded primary key over all tablets
 *
 * A feed is taken from synchronously while it has rows at hand; only fetching waits.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { TABLET_FAN_OUT_MAX } from '../common/limits.ts'
import { compareBytes } from '../util/bytes.ts'
import type { ScanFrameBatch } from '../wire/scan-frame.ts'
import type { TabletCursor } from './tablet-cursor.ts'

/** Rows `[start, end)` of a batch. */
export interface RowRun {
  /** Index of the tablet they are of. */
  readonly tablet: number
  readonly batch: ScanFrameBatch
  readonly start: number
  readonly end: number
}

/**
 * What a step came to: rows are at hand; none were found for a while, or in one of the tablets; or
 * there are no more.
 */
export type FeedStep = 'rows' | 'nothing' | 'end'

/** Where a scan can go on: in a tablet, behind a key or, if null, from the tablet's start. */
export interface FeedPosition {
  readonly tablet: number
  readonly afterKey: Uint8Array | null
}

/** Rows of a scan in its order. */
export interface RowFeed {
  /** The next rows at hand, or null: then `more` or `step` tells. */
  take(): RowRun | null
  /** Waits until rows are at hand. Returns: whether there are any; false at the end of the scan. */
  more(): Promise<boolean>
  /** As `more`, but gives the caller a say after every step. */
  step(): Promise<FeedStep>
  /** Gives back the memory of all rows taken so far, at which nobody looks any more. */
  recycle(): void
  /**
   * Where to go on if the scan ends here, while no rows are at hand; null: behind the last row
   * taken.
   */
  readonly position: FeedPosition | null
  /** Whether it is known, without asking, that no rows are left. */
  readonly isEnded: boolean
  /** The snapshot a tablet answered with; null while none has. */
  readonly snapshot: Timestamp | null
  /** Lets go of all tablets. */
  close(): Promise<void>
}

/**
 * Tablet after tablet. How many of the next tablets are asked ahead doubles whenever one turns out
 * to hold no more than was asked of it, and is one again when one holds more: a scan that finds
 * little is not a chain of single calls, and one that finds much fetches nothing in vain.
 */
export class SequentialFeed implements RowFeed {
  snapshot: Timestamp | null = null
  readonly #cursors: readonly TabletCursor[]
  /** First batches that were asked for ahead, by cursor. */
  readonly #asked: Promise<ScanFrameBatch | null>[] = []
  #current = 0
  #window = 1
  /** Key up to which the current cursor's tablet was looked at in vain. */
  #doneKey: Uint8Array | null = null
  #batch: ScanFrameBatch | null = null

  constructor(cursors: readonly TabletCursor[]) {
    this.#cursors = cursors
  }

  take(): RowRun | null {
    const batch = this.#batch
    if (batch === null) return null
    this.#batch = null
    const { index } = this.#cursors[this.#current]
    return { tablet: index, batch, start: 0, end: batch.block.rowCount }
  }

  async more(): Promise<boolean> {
    let step = await this.step()
    while (step === 'nothing') step = await this.step()
    return step === 'rows'
  }

  async step(): Promise<FeedStep> {
    if (this.#batch !== null) return 'rows'
    if (this.#current === this.#cursors.length) return 'end'
    const cursor = this.#cursors[this.#current]
    this.#askAhead()
    const asked = this.#asked[this.#current] ?? cursor.next()
    delete this.#asked[this.#current]
    const batch = await asked
    // Closed while it was fetched.
    if (this.#current === this.#cursors.length) return 'end'
    this.#batch = batch
    this.snapshot ??= cursor.snapshot
    if (!cursor.isExhausted) this.#window = 1
    if (this.#batch !== null) return 'rows'
    this.#doneKey = cursor.doneKey
    if (!cursor.isExhausted) return 'nothing'
    this.#current++
    this.#doneKey = null
    this.#window = Math.min(this.#window * 2, TABLET_FAN_OUT_MAX)
    return this.#current === this.#cursors.length ? 'end' : 'nothing'
  }

  recycle(): void {
    this.#cursors.at(this.#current)?.recycle()
  }

  get position(): FeedPosition | null {
    const cursor = this.#cursors.at(this.#current)
    return cursor === undefined ? null : { tablet: cursor.index, afterKey: this.#doneKey }
  }

  get isEnded(): boolean {
    const isLast = this.#current >= this.#cursors.length - 1
    return this.#batch === null && isLast && (this.#cursors.at(this.#current)?.isDone ?? true)
  }

  async close(): Promise<void> {
    this.#current = this.#cursors.length
    await Promise.all(this.#cursors.map((cursor) => cursor.close()))
  }

  #askAhead(): void {
    const end = Math.min(this.#current + this.#window, this.#cursors.length)
    for (let index = Math.max(this.#current + 1, this.#asked.length); index < end; index++) {
      this.#asked[index] = keepHandled(this.#cursors[index].next())
    }
  }
}

/** A promise whose failure is seen when it is awaited, and is no unhandled rejection until then. */
function keepHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => null)
  return promise
}

/**
 * All tablets merged by key, ascending or descending.
 *
 *  I1  `#heap[0]` is the cursor whose next row comes first; no two rows have the same key;
 *  I2  a cursor that is in the heap has a row at hand.
 */
export class MergeFeed implements RowFeed {
  snapshot: Timestamp | null = null
  readonly #cursors: readonly TabletCursor[]
  readonly #sign: number
  readonly #batches: (ScanFrameBatch | null)[]
  readonly #rows: Uint32Array
  readonly #heap: number[] = []
  /** Cursors that must fetch before anything more can be given. */
  #empty: number[]

  /** Requires: the cursors' batches have keys. */
  constructor(cursors: readonly TabletCursor[], isDescending: boolean) {
    this.#cursors = cursors
    this.#sign = isDescending ? -1 : 1
    this.#batches = cursors.map(() => null)
    this.#rows = new Uint32Array(cursors.length)
    this.#empty = cursors.map((_, index) => index)
  }

  take(): RowRun | null {
    if (this.#empty.length > 0 || this.#heap.length === 0) return null
    const top = this.#heap[0]
    const batch = this.#batches[top]
    if (batch === null) return null
    const start = this.#rows[top]
    const end = this.#runEnd(top, batch, start)
    this.#rows[top] = end
    if (end === batch.block.rowCount) this.#retire(top)
    else this.#sink(0)
    return { tablet: this.#cursors[top].index, batch, start, end }
  }

  async more(): Promise<boolean> {
    let step = await this.step()
    while (step === 'nothing') step = await this.step()
    return step === 'rows'
  }

  async step(): Promise<FeedStep> {
    const fetched = this.#empty
    const batches = await Promise.all(fetched.map((index) => this.#cursors[index].next()))
    this.#empty = []
    for (let i = 0; i < fetched.length; i++) {
      const index = fetched[i]
      const cursor = this.#cursors[index]
      this.snapshot ??= cursor.snapshot
      this.#batches[index] = batches[i]
      this.#rows[index] = 0
      if (batches[i] !== null) this.#push(index)
      else if (!cursor.isExhausted) this.#empty.push(index)
    }
    if (this.#empty.length > 0) return 'nothing'
    return this.#heap.length > 0 ? 'rows' : 'end'
  }

  recycle(): void {
    // Of a batch that others were taken after, rows may still be at hand.
  }

  get position(): FeedPosition | null {
    return null
  }

  get isEnded(): boolean {
    return this.#heap.length === 0 && this.#empty.every((index) => this.#cursors[index].isDone)
  }

  async close(): Promise<void> {
    await Promise.all(this.#cursors.map((cursor) => cursor.close()))
  }

  /** Where the run of the first cursor ends: before the first row of another cursor. */
  #runEnd(top: number, batch: ScanFrameBatch, start: number): number {
    const rowCount = batch.block.rowCount
    if (this.#heap.length === 1) return rowCount
    const rival = this.#heap.length === 2 ? this.#heap[1] : this.#firstChild()
    let end = start + 1
    while (end < rowCount) {
      this.#rows[top] = end
      if (!this.#isBefore(top, rival)) break
      end++
    }
    return end
  }

  #firstChild(): number {
    const [, left, right] = this.#heap
    return this.#isBefore(left, right) ? left : right
  }

  #retire(top: number): void {
    this.#batches[top] = null
    this.#empty.push(top)
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink(0)
  }

  #isBefore(a: number, b: number): boolean {
    const aKeys = this.#batches[a]?.keys
    const bKeys = this.#batches[b]?.keys
    if (!aKeys || !bKeys) throw new TypeError('an ordered scan needs keys')
    const aRow = this.#rows[a]
    const bRow = this.#rows[b]
    const order = compareBytes(
      aKeys.bytes,
      aKeys.start(aRow),
      aKeys.ends[aRow],
      bKeys.bytes,
      bKeys.start(bRow),
      bKeys.ends[bRow],
    )
    return order * this.#sign < 0
  }

  #push(index: number): void {
    const heap = this.#heap
    let at = heap.push(index) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(heap[at], heap[parent])) return
      ;[heap[at], heap[parent]] = [heap[parent], heap[at]]
      at = parent
    }
  }

  #sink(from: number): void {
    const heap = this.#heap
    let at = from
    for (;;) {
      const left = at * 2 + 1
      if (left >= heap.length) return
      const right = left + 1
      const child = right < heap.length && this.#isBefore(heap[right], heap[left]) ? right : left
      if (!this.#isBefore(heap[child], heap[at])) return
      ;[heap[at], heap[child]] = [heap[child], heap[at]]
      at = child
    }
  }
}
