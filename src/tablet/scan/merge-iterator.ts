/**
 * Merges the scans of several rowsets into one in key order.
 *
 * Each cursor holds a batch of its rowset and stands at a row of it, or, when the batch is used up,
 * at the last key its scan is done with: a place below which it can give no more rows. Cursors are
 * kept in the order of where they stand, so the rows of the first up to where the second stands
 * come next.
 *
 *   a  ──●───●─●──────────────▷      ● rows of the batch
 *   b  ─────────────●──●──▷          ▷ done up to here, more must be read
 *   c  ────────────▷
 *        └─ next ──┘└ c reads on before b gives more
 */

import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { RowBlock } from '../../common/row-block.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes, EMPTY_BYTES } from '../../util/bytes.ts'
import type { BatchLimits, RowSetIterator, RowSetScan, ScanBatch } from '../row-set.ts'

/** Rows that are taken of one rowset at a time. */
const BATCH_ROWS_MAX = 1024
const FIRST_ROWS = new Uint32Array(BATCH_ROWS_MAX).map((_, row) => row)
const NO_KEYS = new KeyArena(1, 0)

/** A scan of one rowset and where it stands. */
class MergeCursor {
  block: RowBlock | null = null
  keys = NO_KEYS
  /** The row of the batch it stands at; their count when the batch is used up. */
  next = 0
  count = 0
  /** What the scan was done with when the batch ended; null before the first. */
  doneKey: Uint8Array | null = null
  readonly #iterator: RowSetIterator

  constructor(iterator: RowSetIterator) {
    this.#iterator = iterator
  }

  get isStarved(): boolean {
    return this.next === this.count
  }

  /** Rows looked at so far. */
  get scannedCount(): number {
    return this.#iterator.scannedCount
  }

  /** Goes on to the next batch. Returns: false when the scan has ended. */
  advance(limits: BatchLimits): boolean {
    const batch = this.#iterator.next(limits)
    if (batch === null) return false
    assert(batch.keys !== null, 'a merged scan has keys')
    this.block = batch.block
    this.keys = batch.keys
    this.next = 0
    this.count = batch.block.rowCount
    this.doneKey = batch.lastKeyScanned
    return true
  }
}

/** One scan over several rowsets. Requires: their scans carry keys and have the same options. */
export class MergeIterator implements RowSetIterator {
  scannedCount = 0
  readonly #isDescending: boolean
  readonly #output: RowBlockBuilder
  readonly #keys: KeyArena | null
  /** Those that have not ended, in the order of where they stand. */
  readonly #cursors: MergeCursor[]
  readonly #cursorCount: number
  #doneKey: Uint8Array = EMPTY_BYTES
  #fittedBytes = 0

  constructor(iterators: readonly RowSetIterator[], scan: RowSetScan) {
    this.#isDescending = scan.isDescending
    this.#output = new RowBlockBuilder(scan.columns, false)
    this.#keys = scan.withKeys ? new KeyArena() : null
    this.#cursors = iterators.map((iterator) => new MergeCursor(iterator))
    this.#cursorCount = iterators.length
  }

  next(limits: BatchLimits): ScanBatch | null {
    assert(limits.rowCountMax > 0 && limits.scannedMax > 0, 'a batch has room for a row')
    this.#output.clear()
    this.#keys?.clear()
    const scannedCount = this.#fill(limits)
    this.scannedCount += scannedCount
    if (this.#output.rowCount === 0 && this.#cursors.length === 0) return null
    const block = this.#output.view()
    return { block, keys: this.#keys, lastKeyScanned: this.#doneKey, scannedCount }
  }

  /** Returns: how many rows were looked at. */
  #fill(limits: BatchLimits): number {
    const cursors = this.#cursors
    let scannedCount = 0
    let rowsLeft = limits.rowCountMax
    let bytesLeft = limits.bytesMax
    while (rowsLeft > 0 && cursors.length > 0) {
      const first = cursors[0]
      if (first.isStarved) {
        if (first.doneKey !== null) {
          this.#doneKey = first.doneKey
          if (scannedCount >= limits.scannedMax) break
        }
        scannedCount += this.#refill(first, limits)
        continue
      }
      const count = Math.min(rowsLeft, this.#runEnd(first, cursors[1]) - first.next)
      const isFirst = rowsLeft === limits.rowCountMax
      const fitting = this.#fit(first, count, bytesLeft, isFirst)
      if (fitting === 0) break
      this.#give(first, fitting)
      rowsLeft -= fitting
      bytesLeft -= this.#fittedBytes
    }
    return scannedCount
  }

  /**
   * The first cursor goes on to its next batch: each gets its part of the rows to look at, so that
   * all get ahead.
   */
  #refill(first: MergeCursor, limits: BatchLimits): number {
    this.#cursors.shift()
    const before = first.scannedCount
    const hasMore = first.advance({
      rowCountMax: Math.min(limits.rowCountMax, BATCH_ROWS_MAX),
      bytesMax: Math.ceil(limits.bytesMax / this.#cursorCount),
      scannedMax: Math.ceil(limits.scannedMax / this.#cursorCount),
    })
    if (hasMore) this.#insert(first)
    return first.scannedCount - before
  }

  #insert(cursor: MergeCursor): void {
    const cursors = this.#cursors
    let low = 0
    let high = cursors.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(cursors[middle], cursor)) low = middle + 1
      else high = middle
    }
    cursors.splice(low, 0, cursor)
  }

  /**
   * Whether `a` stands before `b`, which was asked already: as it does when it was not; at one key,
   * a row stands before what is done with it.
   */
  #isBefore(a: MergeCursor, b: MergeCursor): boolean {
    if (a.doneKey === null) return true
    if (a.isStarved) return this.#compareTo(b, b.next, a.doneKey, 0, a.doneKey.length) > 0
    const start = a.keys.start(a.next)
    return this.#compareTo(b, b.next, a.keys.bytes, start, a.keys.ends[a.next]) >= 0
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
      const key = cursor.doneKey ?? EMPTY_BYTES
      order = compareBytes(key, 0, key.length, bytes, start, end)
    }
    return this.#isDescending ? -order : order
  }

  /** The first row of `first` behind the place where `second` stands. */
  #runEnd(first: MergeCursor, second: MergeCursor | undefined): number {
    if (second === undefined) return first.count
    assert(second.doneKey !== null, 'no row comes before every rowset was asked')
    const isStarved = second.isStarved
    const bytes = isStarved ? second.doneKey : second.keys.bytes
    const start = isStarved ? 0 : second.keys.start(second.next)
    const end = isStarved ? bytes.length : second.keys.ends[second.next]
    let row = first.next
    while (row < first.count && this.#compareTo(first, row, bytes, start, end) <= 0) row++
    return row
  }

  #fit(cursor: MergeCursor, count: number, bytesMax: number, isFirst: boolean): number {
    const { block, keys } = cursor
    assert(block !== null, 'a cursor with rows has a block')
    let total = 0
    let fitting = 0
    while (fitting < count) {
      const row = cursor.next + fitting
      const keyBytes = this.#keys === null ? 0 : keys.ends[row] - keys.start(row) + 4
      const bytes = rowBytes(block, row) + keyBytes
      if (total + bytes > bytesMax && !(isFirst && fitting === 0)) break
      total += bytes
      fitting++
    }
    this.#fittedBytes = total
    return fitting
  }

  /** Gives out the next `count` rows of the first cursor and puts it where it then stands. */
  #give(first: MergeCursor, count: number): void {
    const { block, keys } = first
    assert(block !== null, 'a cursor with rows has a block')
    const end = first.next + count
    const columns = this.#output.columns
    for (let index = 0; index < columns.length; index++) {
      columns[index].appendRows(block.columns[index], FIRST_ROWS, first.next, end)
    }
    this.#output.rowCount += count
    if (this.#keys !== null) {
      for (let row = first.next; row < end; row++) {
        this.#keys.append(keys.bytes, keys.start(row), keys.ends[row])
        this.#keys.endKey()
      }
    }
    this.#doneKey = keys.key(end - 1)
    first.next = end
    this.#cursors.shift()
    this.#insert(first)
  }
}

/** Bytes that a row takes in a block. */
function rowBytes(block: RowBlock, row: number): number {
  let bytes = 0
  for (let index = 0; index < block.columns.length; index++) {
    const { physical, offsets } = block.columns[index]
    if (physical === PHYSICAL.binary) bytes += offsets[row + 1] - offsets[row] + 4
    else bytes += LANE_BYTES[physical]
  }
  return bytes
}
