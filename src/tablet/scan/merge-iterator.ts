/**
 * Merges the scans of several rowsets into one in key order.
 *
 * Each cursor holds a batch of its rowset and stands at a row of it, or, when the batch is used up,
 * at the last key its scan is done with: a place below which it can give no more rows. A cursor
 * that was not asked yet stands where the keys of its rowset begin, so that of rowsets that follow
 * one another only one is read at a time. Cursors are kept in the order of where they stand, so the
 * rows of the first up to where the second stands come next.
 *
 *   a  ──●───●─●──────────────▷      ● rows of the batch
 *   b  ─────────────●──●──▷          ▷ done up to here, more must be read
 *   c  ────────────▷
 *   d                  ▷             not asked yet: its keys begin here
 *        └─ next ──┘└ c reads on before b gives more
 */

import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes, EMPTY_BYTES } from '../../util/bytes.ts'
import type {
  BatchLimits,
  KeyBounds,
  RowSetIterator,
  RowSetScan,
  ScanBatch,
  Selection,
} from '../row-set.ts'
import { MergeCursor } from './merge-cursor.ts'
import { MergeOutput } from './merge-output.ts'
import { selectBatch } from './select-batch.ts'

/** Rows that are taken of one rowset at a time, when there are others. */
const BATCH_ROWS_MAX = 1024

/** A scan to be merged, and where its keys lie. */
export interface MergeSource {
  /** Its batches carry keys. */
  readonly iterator: RowSetIterator
  readonly bounds: KeyBounds
}

/** One scan over several rowsets. Requires: their scans have the options of `scan`, but keys. */
export class MergeIterator implements RowSetIterator {
  scannedCount = 0
  readonly #isDescending: boolean
  readonly #isDiff: boolean
  readonly #output: MergeOutput
  readonly #withKeys: boolean
  readonly #fixedBytes: number
  readonly #binaryColumns: readonly number[]
  /** Those that have not ended, in the order of where they stand. */
  readonly #cursors: MergeCursor[]
  /** Cursors that were asked and have not ended, and those that stand before all keys. */
  #activeCount: number
  /** Where the batch ends: at a row of a cursor, or, −1, at its place. */
  #doneCursor: MergeCursor | null = null
  #doneRow = -1
  #doneKey: Uint8Array = EMPTY_BYTES
  #fittedBytes = 0

  constructor(sources: readonly MergeSource[], scan: RowSetScan) {
    this.#isDescending = scan.isDescending
    this.#isDiff = (scan.diffFrom ?? null) !== null
    this.#output = new MergeOutput(scan.columns, scan.withKeys)
    this.#withKeys = scan.withKeys
    const binaryColumns: number[] = []
    let fixedBytes = scan.withKeys ? Uint32Array.BYTES_PER_ELEMENT : 0
    scan.columns.forEach(({ physical }, index) => {
      if (physical === PHYSICAL.binary) binaryColumns.push(index)
      fixedBytes += physical === PHYSICAL.binary ? 4 : LANE_BYTES[physical]
    })
    this.#fixedBytes = fixedBytes
    this.#binaryColumns = binaryColumns
    this.#cursors = []
    for (const { iterator, bounds } of sources) {
      this.#cursors.unshift(new MergeCursor(iterator, startIn(bounds, scan)))
      this.#settleFirst()
    }
    this.#activeCount = this.#cursors.filter(({ doneKey }) => doneKey === null).length
  }

  next(limits: BatchLimits): ScanBatch | null {
    assert(limits.rowCountMax > 0 && limits.scannedMax > 0, 'a batch has room for a row')
    this.#output.clear()
    const before = this.scannedCount
    const whole = this.#fill(limits)
    const scannedCount = this.scannedCount - before
    if (whole !== null) return this.#batchOf(whole.block, whole.keys, scannedCount)
    if (this.#output.isEmpty && this.#cursors.length === 0) return null
    return this.#batchOf(this.#output.view(), this.#output.keys, scannedCount)
  }

  nextSelection(scannedMax: number): Selection | null {
    return selectBatch(this, scannedMax)
  }

  close(): void {
    for (const { iterator } of this.#cursors) iterator.close()
    this.#cursors.length = 0
  }

  #batchOf(block: RowBlock, keys: KeyArena | null, scannedCount: number): ScanBatch {
    const key = () => this.#lastKey()
    return {
      block,
      keys: this.#withKeys ? keys : null,
      scannedCount,
      get lastKeyScanned() {
        return key()
      },
    }
  }

  #lastKey(): Uint8Array {
    this.#noteDone()
    return this.#doneKey
  }

  /** Remembers where the batch ends, before its cursor goes on. */
  #noteDone(): void {
    const cursor = this.#doneCursor
    if (cursor === null) return
    this.#doneKey =
      this.#doneRow === -1 ? (cursor.doneKey ?? EMPTY_BYTES) : cursor.keys.key(this.#doneRow)
    this.#doneCursor = null
  }

  #setDone(cursor: MergeCursor, row: number): void {
    this.#doneCursor = cursor
    this.#doneRow = row
  }

  /** Fills the output. Returns: a batch of one rowset that can be given out as it is, else null. */
  #fill(limits: BatchLimits): ScanBatch | null {
    const cursors = this.#cursors
    const before = this.scannedCount
    let rowsLeft = limits.rowCountMax
    let bytesLeft = limits.bytesMax
    let hasDone = false
    while (rowsLeft > 0 && cursors.length > 0) {
      const first = cursors[0]
      if (first.isStarved) {
        if (first.isAsked) {
          this.#setDone(first, -1)
          hasDone = true
        }
        // Where one begins that was not asked cannot be told as a last key.
        if (hasDone && this.scannedCount - before >= limits.scannedMax) break
        this.#refill(first, limits, this.scannedCount - before)
        continue
      }
      if (this.#isDiff && this.#passOlderLife()) continue
      const isFirst = rowsLeft === limits.rowCountMax
      const end = this.#runEnd(first, cursors[1])
      if (isFirst && this.#isWhole(first, end, limits)) return this.#giveWhole(first)
      const fitting = this.#fit(first, Math.min(rowsLeft, end - first.next), bytesLeft, isFirst)
      if (fitting === 0) break
      this.#give(first, fitting)
      hasDone = true
      rowsLeft -= fitting
      bytesLeft -= this.#fittedBytes
    }
    return null
  }

  /**
   * The first cursor goes on to its next batch. Those that are read at the same time share the rows
   * to look at, so that all get ahead.
   */
  #refill(first: MergeCursor, limits: BatchLimits, scannedCount: number): void {
    this.#noteDone()
    if (first.place >= 0) this.#output.flush()
    if (!first.isAsked && first.doneKey !== null) this.#activeCount++
    const shares = this.#activeCount
    const rowCountMax = shares === 1 ? limits.rowCountMax : BATCH_ROWS_MAX
    const before = first.iterator.scannedCount
    const { scannedMax } = limits
    const scannedLeft = scannedCount < scannedMax ? scannedMax - scannedCount : scannedMax
    const hasMore = first.advance({
      rowCountMax: Math.min(limits.rowCountMax, rowCountMax),
      bytesMax: Math.ceil(limits.bytesMax / shares),
      scannedMax: Math.ceil(scannedLeft / shares),
    })
    this.scannedCount += first.iterator.scannedCount - before
    if (hasMore) {
      this.#settleFirst()
    } else {
      this.#cursors.shift()
      this.#activeCount--
      first.iterator.close()
    }
  }

  /** Moves the first cursor to where it belongs among the others. */
  #settleFirst(): void {
    const cursors = this.#cursors
    const cursor = cursors[0]
    if (cursors.length === 1 || !this.#isBefore(cursors[1], cursor)) return
    let low = 2
    let high = cursors.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(cursors[middle], cursor)) low = middle + 1
      else high = middle
    }
    for (let i = 1; i < low; i++) cursors[i - 1] = cursors[i]
    cursors[low - 1] = cursor
  }

  /**
   * Whether `a` stands before `b`. At one key: one that was not asked, which may have a row there;
   * then rows; then those that are done with it.
   */
  #isBefore(a: MergeCursor, b: MergeCursor): boolean {
    if (!a.isStarved) {
      const start = a.keys.start(a.next)
      return this.#compareTo(b, b.next, a.keys.bytes, start, a.keys.ends[a.next]) >= 0
    }
    const { doneKey } = a
    if (doneKey === null) return true
    const order = this.#compareTo(b, b.next, doneKey, 0, doneKey.length)
    return a.isAsked ? order > 0 : order >= 0
  }

  /**
   * Where row `row` of a cursor, or the cursor itself when starved, stands to a key in the scan's
   * order.
   */
  #compareTo(
    cursor: MergeCursor,
    row: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    let order: number
    if (row < cursor.count) {
      const { keys } = cursor
      order = compareBytes(keys.bytes, keys.start(row), keys.ends[row], bytes, start, end)
    } else {
      const { doneKey } = cursor
      if (doneKey === null) return -1
      order = compareBytes(doneKey, 0, doneKey.length, bytes, start, end)
    }
    return this.#isDescending ? -order : order
  }

  /**
   * Passes over the next row if it is deleted and the row of another rowset has its key: in a diff
   * the same key may have ended in one and live on in another. Returns: whether it did. Requires:
   * the first cursor is not starved.
   */
  #passOlderLife(): boolean {
    const cursors = this.#cursors
    const [first, second] = cursors
    if (second === undefined || second.isStarved) return false
    const start = second.keys.start(second.next)
    const bytes = second.keys.bytes
    const order = this.#compareTo(first, first.next, bytes, start, second.keys.ends[second.next])
    if (order !== 0) return false
    if (!isDeletedRow(first)) {
      assert(isDeletedRow(second), 'a key has one life at a time')
      cursors[0] = second
      cursors[1] = first
    }
    // What waits is a run of rows from the first one on: none may be left out in its midst.
    this.#output.flush()
    cursors[0].next++
    this.#settleFirst()
    return true
  }

  /**
   * The first row of `first` behind its next one that is behind the place of `second`; in a diff,
   * that is there too.
   */
  #runEnd(first: MergeCursor, second: MergeCursor | undefined): number {
    if (second === undefined) return first.count
    const isStarved = second.isStarved
    const bytes = isStarved ? second.doneKey : second.keys.bytes
    assert(bytes !== null, 'no row comes before every rowset at its place was asked')
    const start = isStarved ? 0 : second.keys.start(second.next)
    const end = isStarved ? bytes.length : second.keys.ends[second.next]
    let low = first.next + 1
    for (let step = 1; low < first.count; step *= 2) {
      const row = Math.min(low + step, first.count) - 1
      if (this.#isBehind(first, row, bytes, start, end)) {
        return this.#firstBehind(first, low, row, bytes, start, end)
      }
      low = row + 1
    }
    return low
  }

  /** The first row of `[low, high]` behind a key. Requires: row `high` is. */
  #firstBehind(
    cursor: MergeCursor,
    low: number,
    high: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    let from = low
    let to = high
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#isBehind(cursor, middle, bytes, start, end)) to = middle
      else from = middle + 1
    }
    return from
  }

  /** Whether a row stands behind a key; in a diff, or at it. */
  #isBehind(
    cursor: MergeCursor,
    row: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    const order = this.#compareTo(cursor, row, bytes, start, end)
    return order > 0 || (order === 0 && this.#isDiff)
  }

  /** Whether the batch of a cursor can be given out as it is, and is not a small part of one. */
  #isWhole(cursor: MergeCursor, end: number, limits: BatchLimits): boolean {
    if (cursor.next > 0 || end < cursor.count || end > limits.rowCountMax) return false
    const { bytesMax } = cursor
    return bytesMax === limits.bytesMax || (bytesMax < limits.bytesMax && end >= BATCH_ROWS_MAX)
  }

  #giveWhole(first: MergeCursor): ScanBatch | null {
    this.#setDone(first, first.count - 1)
    first.next = first.count
    this.#settleFirst()
    return first.batch
  }

  /** How many of the next `count` rows fit `bytesMax`; the first row of a batch always does. */
  #fit(cursor: MergeCursor, count: number, bytesMax: number, isFirst: boolean): number {
    const { batch, keys, next } = cursor
    assert(batch !== null, 'a cursor with rows has a block')
    const { columns } = batch.block
    let total = 0
    let fitting = 0
    while (fitting < count) {
      const row = next + fitting
      let bytes = this.#fixedBytes
      if (this.#withKeys) bytes += keys.ends[row] - keys.start(row)
      for (let i = 0; i < this.#binaryColumns.length; i++) {
        const { offsets } = columns[this.#binaryColumns[i]]
        bytes += offsets[row + 1] - offsets[row]
      }
      if (total + bytes > bytesMax && !(isFirst && fitting === 0)) break
      total += bytes
      fitting++
    }
    this.#fittedBytes = total
    return fitting
  }

  /** Gives out the next `count` rows of the first cursor and puts it where it then stands. */
  #give(first: MergeCursor, count: number): void {
    this.#output.take(first, count)
    this.#setDone(first, first.next - 1)
    this.#settleFirst()
  }
}

/** Whether the next row is one that a diff shows as deleted. Requires: it is a diff. */
function isDeletedRow({ batch, next }: MergeCursor): boolean {
  return batch?.block.columns.at(-1)?.lanes[next] === 1
}

/** Where the keys of a source begin in the order of a scan; null: before all keys. */
function startIn({ lowerKey, upperKey }: KeyBounds, scan: RowSetScan): Uint8Array | null {
  const own = scan.isDescending ? upperKey : lowerKey
  const asked = scan.isDescending ? scan.upperKey : scan.lowerKey
  if (own.length === 0) return null
  if (asked.length === 0) return own
  const order = compareBytes(own, 0, own.length, asked, 0, asked.length)
  return (scan.isDescending ? order >= 0 : order <= 0) ? null : own
}
