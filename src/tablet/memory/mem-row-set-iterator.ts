/**
 * Scans the rows of a MemRowSet in key order at a snapshot. Hot.
 *
 * Rows are taken from the order a window at a time. A window's rows are dropped as they are found
 * invisible or fail a test, one column after the other; only the rest have their other columns
 * copied. What does not fit a batch stays in the window for the next.
 *
 *   order    ───────[done][  window  ][ not looked at ]────
 *                          ^ #next: rows before it were given out
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { successorKey } from '../../common/encoded-key.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { DiffRowWindow } from '../diff/diff-row-window.ts'
import type {
  BatchLimits,
  KeyBounds,
  RowSetIterator,
  RowSetScan,
  ScanBatch,
  Selection,
} from '../row-set.ts'
import type { CellTest } from '../scan/cell-test.ts'
import { passesCell } from '../scan/column-test.ts'
import { selectBatch } from '../scan/select-batch.ts'
import { costOfTest, noteTested, type OrderedTest, orderTests } from '../scan/test-order.ts'
import type { SortedSlots } from './key-order.ts'
import { type MemRowStore, UNKNOWN_COLUMN } from './mem-row-store.ts'
import { type ReadColumn, ReadColumns, readColumn } from './read-columns.ts'
import { RowWindow } from './row-window.ts'

/** The first window is small, for scans that want few rows; later ones double. */
const FIRST_WINDOW_ROWS = 64
const WINDOW_ROWS_MAX = 2048
/** Bytes of strings that are copied for a test at a time, unless one alone is longer. */
const TEST_BYTES_MAX = 256 * 1024
const NO_SLOT = -1

const FIRST_ROWS = new Uint32Array(WINDOW_ROWS_MAX).map((_, row) => row)
const scratchRows = new Uint32Array(WINDOW_ROWS_MAX)
const scratchKept = new Uint32Array(WINDOW_ROWS_MAX)

/** A test and where the cells for it come from. */
interface BoundTest extends OrderedTest {
  readonly column: ReadColumn
  readonly test: CellTest
  readonly cells: ColumnBuilder
}

/**
 * A scan of a MemRowSet. It holds the order it was opened with: rows added later are none of its
 * own.
 */
export class MemRowSetIterator implements RowSetIterator {
  scannedCount = 0
  readonly #rows: MemRowStore
  readonly #slots: Uint32Array
  readonly #isDescending: boolean
  readonly #projected: ReadColumns
  /** In the order in which they are worth it. */
  readonly #tests: BoundTest[]
  readonly #output: RowBlockBuilder
  readonly #keys: KeyArena | null
  readonly #window: RowWindow
  #windowRows = FIRST_WINDOW_ROWS
  /** Places of the order that were not looked at: `[#start, #end)`. */
  #start: number
  #end: number
  /** Places of the order that the scan asks for: `[start, end)`. */
  readonly #wanted: { readonly start: number; readonly end: number }
  /** The first row of the window that was not given out. */
  #next = 0
  /** The last row looked at, and the last row that the scan is done with. */
  #lastSlot = NO_SLOT
  #doneSlot = NO_SLOT
  /** Bytes of the rows that `#fit` let through last. */
  #fittedBytes = 0
  #release: (() => void) | null

  /** `release` is called once, when the scan is closed. */
  constructor(rows: MemRowStore, order: SortedSlots, scan: RowSetScan, release: () => void) {
    this.#release = release
    this.#rows = rows
    this.#slots = order.slots
    this.#isDescending = scan.isDescending
    this.#projected = new ReadColumns(rows, scan.columns)
    this.#output = new RowBlockBuilder(scan.columns, false)
    this.#keys = scan.withKeys ? new KeyArena() : null
    this.#start = boundIn(rows, order, scan.lowerKey, 0)
    this.#end = boundIn(rows, order, scan.upperKey, order.count)
    const tests: BoundTest[] = []
    for (const columnTest of scan.tests) {
      const column = readColumn(rows, columnTest.column)
      const cells = new ColumnBuilder(column.physical)
      const cost = costOfTest(column.physical, columnTest.predicate)
      const seen = { cost, rowsIn: 0, rowsKept: 0 }
      const { test } = columnTest
      if (column.index !== UNKNOWN_COLUMN) tests.push({ column, test, cells, ...seen })
      else if (!passesCell(columnTest, columnTest.column.readDefault)) this.#end = this.#start
    }
    this.#tests = tests
    this.#end = Math.max(this.#start, this.#end)
    this.#wanted = { start: this.#start, end: this.#end }
    const wanted = [...tests.map((test) => test.column), ...this.#projected.columns]
    const { snapshot, diffFrom = null } = scan
    this.#window =
      diffFrom === null
        ? new RowWindow(rows, snapshot, wanted, 0)
        : new DiffRowWindow(rows, { diffFrom, snapshot }, wanted)
  }

  next(limits: BatchLimits): ScanBatch | null {
    assert(limits.rowCountMax > 0 && limits.scannedMax > 0, 'a batch has room for a row')
    const output = this.#output
    output.clear()
    this.#keys?.clear()
    const scannedCount = this.#fill(limits)
    this.scannedCount += scannedCount
    if (output.rowCount === 0 && this.#isDone()) return null
    return {
      block: output.view(),
      keys: this.#keys,
      lastKeyScanned: this.#rows.key(this.#doneSlot),
      scannedCount,
    }
  }

  nextSelection(scannedMax: number): Selection | null {
    return selectBatch(this, scannedMax)
  }

  close(): void {
    this.#release?.()
    this.#release = null
  }

  /**
   * Bounds of the keys that the scan is not done with; null when it is done with all. Rows that
   * were added later may have keys beyond those of its own: they lie outside.
   */
  rest(): KeyBounds | null {
    if (this.#isDone()) return null
    const ends = this.#isDescending ? this.#wanted.start : this.#wanted.end - 1
    const begins = this.#isDescending ? this.#wanted.end - 1 : this.#wanted.start
    const done = this.#doneSlot === NO_SLOT ? null : this.#rows.key(this.#doneSlot)
    const first = this.#rows.key(this.#slots[begins])
    const last = this.#rows.key(this.#slots[ends])
    if (this.#isDescending) return { lowerKey: last, upperKey: done ?? successorKey(first) }
    return { lowerKey: done === null ? first : successorKey(done), upperKey: successorKey(last) }
  }

  #isDone(): boolean {
    return this.#next === this.#window.count && this.#start === this.#end
  }

  /** Returns: how many rows were looked at. */
  #fill(limits: BatchLimits): number {
    const window = this.#window
    let scannedCount = 0
    let rowsLeft = limits.rowCountMax
    let bytesLeft = limits.bytesMax
    while (rowsLeft > 0) {
      if (this.#next === window.count) {
        if (this.#start === this.#end || scannedCount >= limits.scannedMax) break
        scannedCount += this.#load(limits.scannedMax - scannedCount)
        continue
      }
      const isFirst = rowsLeft === limits.rowCountMax
      const count = this.#fit(Math.min(rowsLeft, window.count - this.#next), bytesLeft, isFirst)
      if (count === 0) break
      this.#give(count)
      rowsLeft -= count
      bytesLeft -= this.#fittedBytes
    }
    return scannedCount
  }

  /**
   * Looks at up to `countMax` more rows and leaves in the window those that pass. Returns: how
   * many.
   */
  #load(countMax: number): number {
    const window = this.#window
    const slots = this.#slots
    const count = Math.min(countMax, this.#windowRows, this.#end - this.#start)
    this.#windowRows = Math.min(WINDOW_ROWS_MAX, this.#windowRows * 2)
    window.clear(count)
    if (this.#isDescending) {
      const start = this.#end - count
      for (let i = this.#end - 1; i >= start; i--) window.add(slots[i])
      this.#end = start
      this.#lastSlot = slots[start]
    } else {
      const end = this.#start + count
      for (let i = this.#start; i < end; i++) window.add(slots[i])
      this.#start = end
      this.#lastSlot = slots[end - 1]
    }
    this.#filter()
    this.#next = 0
    if (window.count === 0) this.#doneSlot = this.#lastSlot
    return count
  }

  #filter(): void {
    const window = this.#window
    const tests = this.#tests
    for (let i = 0; i < tests.length && window.count > 0; i++) {
      const { count } = window
      this.#filterBy(tests[i])
      noteTested(tests[i], count, window.count)
    }
    if (tests.length > 1) orderTests(tests)
  }

  /** Drops the rows of the window that fail a test. */
  #filterBy({ column, test, cells }: BoundTest): void {
    const window = this.#window
    let kept = 0
    for (let start = 0; start < window.count; ) {
      const end = this.#sliceEnd(column, start)
      cells.clear()
      window.gather(column, start, end, cells)
      scratchRows.set(FIRST_ROWS.subarray(0, end - start))
      const passing = test.keepPassing(cells.view(), scratchRows, end - start)
      for (let i = 0; i < passing; i++) scratchKept[kept++] = start + scratchRows[i]
      start = end
    }
    if (kept < window.count) window.keep(scratchKept, kept)
  }

  /** Where rows from `start` on end whose cells may be copied for a test at once. */
  #sliceEnd(column: ReadColumn, start: number): number {
    const count = this.#window.count
    if (column.physical !== PHYSICAL.binary) return count
    let end = start
    for (let bytes = 0; end < count; end++) {
      bytes += this.#window.valueBytes(column, end)
      if (bytes > TEST_BYTES_MAX && end > start) break
    }
    return end
  }

  /** How many of the next `count` rows fit `bytesMax`; the first row of a batch always does. */
  #fit(count: number, bytesMax: number, isFirst: boolean): number {
    let total = 0
    let fitting = 0
    while (fitting < count) {
      const row = this.#next + fitting
      let bytes = this.#projected.rowBytes(this.#window, row)
      if (this.#keys !== null) bytes += this.#rows.keyBytes(this.#window.slots[row]) + 4
      if (total + bytes > bytesMax && !(isFirst && fitting === 0)) break
      total += bytes
      fitting++
    }
    this.#fittedBytes = total
    return fitting
  }

  /** Gives out the next `count` rows of the window. */
  #give(count: number): void {
    const window = this.#window
    const end = this.#next + count
    this.#projected.append(window, this.#next, end, this.#output.columns)
    this.#output.rowCount += count
    if (this.#keys !== null) {
      for (let row = this.#next; row < end; row++) {
        this.#rows.appendKey(window.slots[row], this.#keys)
      }
    }
    this.#next = end
    this.#doneSlot = end === window.count ? this.#lastSlot : window.slots[end - 1]
  }
}

/** Place of the first row at or above `key`; `open` when there is no bound. */
function boundIn(rows: MemRowStore, order: SortedSlots, key: Uint8Array, open: number): number {
  if (key.length === 0) return open
  let low = 0
  let high = order.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows.compareKeyTo(order.slots[middle], key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
