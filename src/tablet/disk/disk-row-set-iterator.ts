/**
 * Scans the rows of a DiskRowSet in key order at a snapshot: batches out of a ScanWindow. Nothing
 * is read before the first.
 *
 *   window    [given out][  next  ·  ·  ·  ]     what does not fit a batch stays for the next
 *   keys                 [ · · ]                 read for a few rows at a time, when asked for
 */

import type { KeyFileCursor } from '../../cfile/key-file-reader.ts'
import { RowBlock } from '../../common/row-block.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import type { BatchLimits, RowSetIterator, RowSetScan, ScanBatch, Selection } from '../row-set.ts'
import type { RowSetPin } from './disk-row-set.ts'
import { ScanWindow } from './scan-window.ts'

/** Rows whose keys are read at a time: however long they are, they fit memory. */
const KEYED_ROWS_MAX = 256

/** Fewer rows are copied, to make batches that are not too small. */
const VIEW_ROWS_MIN = 2048

const scratchKeys = new KeyArena()

/** See the file's header. */
export class DiskRowSetIterator implements RowSetIterator {
  scannedCount = 0
  readonly #pin: RowSetPin
  readonly #scan: RowSetScan
  readonly #keys: KeyArena | null
  #output: RowBlockBuilder | null = null
  #window: ScanWindow | null = null
  #isClosed = false
  #isLeftOut = false
  /** The first row of the window that was not given out. */
  #next = 0
  /** Keys of the rows `[#keyedStart, #keyedEnd)` of the window. */
  #keyCursor: KeyFileCursor | null = null
  readonly #keyed = new KeyArena(1, 0)
  #keyedStart = 0
  #keyedEnd = 0
  /** The last row that the scan is done with. */
  #doneOrdinal = 0
  #lastGiven = -1
  #fittedBytes = 0
  /** The batch when it is no copy. */
  #views: RowBlock | null = null

  /** Takes the pin over. */
  constructor(pin: RowSetPin, scan: RowSetScan) {
    this.#pin = pin
    this.#scan = scan
    this.#keys = scan.withKeys ? new KeyArena() : null
  }

  next(limits: BatchLimits): ScanBatch | null {
    assert(limits.rowCountMax > 0 && limits.scannedMax > 0, 'a batch has room for a row')
    assert(!this.#isClosed, 'a closed scan is not read')
    const window = this.#open()
    if (window === null) return null
    this.#output ??= new RowBlockBuilder(this.#scan.columns, false)
    this.#output.clear()
    this.#keys?.clear()
    this.#views = null
    const scannedCount = this.#fill(window, this.#output, limits)
    this.scannedCount += scannedCount
    if (this.#views !== null) return this.#batchOf(this.#views, scannedCount)
    const isDone = this.#next === window.count && window.isAtEnd
    if (this.#output.rowCount === 0 && isDone) return null
    return this.#batchOf(this.#output.view(), scannedCount)
  }

  nextSelection(scannedMax: number): Selection | null {
    assert(scannedMax > 0, 'a selection has room for a row')
    assert(!this.#isClosed, 'a closed scan is not read')
    const window = this.#open()
    if (window === null) return null
    const scannedCount = window.loadSelection(scannedMax)
    if (scannedCount === 0) return null
    this.scannedCount += scannedCount
    const columns = window.count === 0 ? [] : window.selectedColumns()
    return { count: window.count, columns, scannedCount }
  }

  /** Returns: null when the rowset has no row for the scan, as far as its Bloom filter tells. */
  #open(): ScanWindow | null {
    if (this.#window !== null || this.#isLeftOut) return this.#window
    const { meter, keyHash = null } = this.#scan
    const { meta, base } = this.#pin.view
    if (keyHash !== null && !base.mayContain(keyHash)) {
      this.#isLeftOut = true
      meter?.leaveOut(meta.id, 'bloom_filter')
      return null
    }
    meter?.countRowSet()
    this.#window = new ScanWindow(this.#pin.view, this.#scan)
    return this.#window
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#window?.close()
    this.#keyCursor?.clear()
    this.#output = null
    this.#pin.release()
  }

  #batchOf(block: RowBlock, scannedCount: number): ScanBatch {
    const ordinal = this.#doneOrdinal
    const key = () => this.#keyOf(ordinal)
    return {
      block,
      keys: this.#keys,
      scannedCount,
      get lastKeyScanned() {
        return key()
      },
    }
  }

  #keyOf(ordinal: number): Uint8Array {
    const keys = this.#keys
    if (keys !== null && keys.count > 0 && ordinal === this.#lastGiven) {
      return keys.key(keys.count - 1)
    }
    scratchKeys.clear()
    this.#scan.meter?.countKeyPages(1)
    this.#pin.view.base.keys.appendKeys(ordinal, ordinal + 1, scratchKeys)
    return scratchKeys.key(0)
  }

  /** Returns: how many rows were looked at. */
  #fill(window: ScanWindow, output: RowBlockBuilder, limits: BatchLimits): number {
    let scannedCount = 0
    let rowsLeft = limits.rowCountMax
    let bytesLeft = limits.bytesMax
    while (rowsLeft > 0) {
      if (this.#next === window.count) {
        if (window.isAtEnd || scannedCount >= limits.scannedMax) break
        scannedCount += this.#load(window, limits.scannedMax - scannedCount)
        continue
      }
      const isFirst = rowsLeft === limits.rowCountMax
      const count = this.#fit(window, rowsLeft, bytesLeft, isFirst)
      if (count === 0) break
      if (isFirst && this.#giveViews(window, count, limits)) break
      this.#give(window, output, count)
      rowsLeft -= count
      bytesLeft -= this.#fittedBytes
    }
    return scannedCount
  }

  #load(window: ScanWindow, countMax: number): number {
    const count = window.load(countMax)
    this.#next = 0
    this.#keyedStart = 0
    this.#keyedEnd = 0
    if (window.count === 0) this.#doneOrdinal = window.doneOrdinal
    return count
  }

  /** How many of the next rows fit: at most `countMax`; the first row of a batch always does. */
  #fit(window: ScanWindow, countMax: number, bytesMax: number, isFirst: boolean): number {
    let count = Math.min(countMax, window.count - this.#next)
    if (this.#keys !== null) {
      if (this.#next === this.#keyedEnd) this.#readKeys(window)
      count = Math.min(count, this.#keyedEnd - this.#next)
    }
    let fitting = this.#fitAtMost(window, count, bytesMax)
    const isExact = fitting === count || window.isTight(this.#next, this.#next + count)
    if (!isExact || (fitting === 0 && isFirst)) {
      fitting = this.#fitMeasured(window, count, bytesMax, isFirst)
    }
    return fitting < count ? alignedCount(window.rows[this.#next], fitting) : fitting
  }

  /** How many of the next `count` rows surely fit, without a look at each of them. */
  #fitAtMost(window: ScanWindow, count: number, bytesMax: number): number {
    let fitting = 0
    let over = count + 1
    for (let tried = count; fitting + 1 < over; tried = (fitting + over) >>> 1) {
      const bytes = window.bytesAtMost(this.#next, this.#next + tried) + this.#keyBytes(tried)
      // Not known for all of them: nor is it for some.
      if (bytes === Number.POSITIVE_INFINITY) return 0
      if (bytes > bytesMax) {
        over = tried
        continue
      }
      fitting = tried
      this.#fittedBytes = bytes
    }
    return fitting
  }

  /** As `#fit`, to the byte. */
  #fitMeasured(window: ScanWindow, count: number, bytesMax: number, isFirst: boolean): number {
    let total = 0
    let fitting = 0
    while (fitting < count) {
      const row = this.#next + fitting
      let bytes = window.rowBytes(row)
      if (this.#keys !== null) {
        const key = row - this.#keyedStart
        bytes += this.#keyed.ends[key] - this.#keyed.start(key) + 4
      }
      if (total + bytes > bytesMax && !(isFirst && fitting === 0)) break
      total += bytes
      fitting++
    }
    this.#fittedBytes = total
    return fitting
  }

  /** Bytes of the keys of the next `count` rows. */
  #keyBytes(count: number): number {
    if (this.#keys === null) return 0
    const first = this.#next - this.#keyedStart
    return this.#keyed.ends[first + count - 1] - this.#keyed.start(first) + 4 * count
  }

  /**
   * Gives out the next `count` rows of the window as they lie in their pages, if they make a good
   * batch by themselves. Returns: whether it did.
   */
  #giveViews(window: ScanWindow, count: number, limits: BatchLimits): boolean {
    const isSmall = count < limits.rowCountMax / 2 && count < VIEW_ROWS_MIN
    if (isSmall || this.#keys !== null) return false
    const vectors = window.views(this.#next, this.#next + count)
    if (vectors === null) return false
    const columnIds = this.#scan.columns.map(({ id }) => id)
    this.#views = new RowBlock(count, columnIds, vectors, null)
    this.#passTo(window, this.#next + count)
    return true
  }

  /** Gives out the next `count` rows of the window. */
  #give(window: ScanWindow, output: RowBlockBuilder, count: number): void {
    const end = this.#next + count
    window.append(this.#next, end, output.columns)
    output.rowCount += count
    const keyedStart = this.#keyedStart
    this.#keys?.appendRange(this.#keyed, this.#next - keyedStart, end - keyedStart)
    this.#passTo(window, end)
  }

  #passTo(window: ScanWindow, end: number): void {
    this.#next = end
    this.#lastGiven = window.ordinal(end - 1)
    this.#doneOrdinal = end === window.count ? window.doneOrdinal : this.#lastGiven
  }

  /** Reads the keys of the next rows of the window: a run of ordinals at a time. */
  #readKeys(window: ScanWindow): void {
    this.#keyCursor ??= this.#pin.view.base.keys.openCursor(this.#scan.isDescending)
    this.#keyedStart = this.#next
    this.#keyedEnd = Math.min(window.count, this.#next + KEYED_ROWS_MAX)
    this.#keyed.clear()
    const { pageCount } = this.#keyCursor
    const step = this.#scan.isDescending ? -1 : 1
    for (let row = this.#keyedStart; row < this.#keyedEnd; ) {
      const first = window.ordinal(row)
      let last = first
      row++
      while (row < this.#keyedEnd && window.ordinal(row) === last + step) {
        last += step
        row++
      }
      if (step === 1) this.#keyCursor.appendKeys(first, last + 1, this.#keyed)
      else this.#appendReversed(this.#keyCursor, last, first + 1)
    }
    this.#scan.meter?.countKeyPages(this.#keyCursor.pageCount - pageCount)
  }

  #appendReversed(cursor: KeyFileCursor, start: number, end: number): void {
    scratchKeys.clear()
    cursor.appendKeys(start, end, scratchKeys)
    for (let key = end - start - 1; key >= 0; key--) {
      this.#keyed.appendRange(scratchKeys, key, key + 1)
    }
  }
}

/** About `count` rows, so that what follows begins at a multiple of 8 if it can. */
function alignedCount(first: number, count: number): number {
  const over = (first + count) & 7
  return over < count ? count - over : count
}
