/**
 * Some rows of a DiskRowSet as they are at a snapshot, out of a scan's bounds. Hot.
 *
 *   ordinals     ─────[done][  window  ][ not looked at ]────
 *   page of x    ──┤                    ├────────────┤           a window ends where a page does
 *   page of y    ───┤            ├──────────┤                    of any column that is read
 *
 * Pages whose zone maps, and those of the deltas that may change their cells, cannot satisfy a test
 * are passed over unread. A window's rows are dropped as they are found invisible or fail a test,
 * one column after the other; only where rows are left are the other columns read.
 */

import type { ColumnBuilder } from '../../common/column-builder.ts'
import { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { BLOCK_BYTES_TARGET, PAGE_ROWS, READ_AHEAD_BYTES } from '../../common/limits.ts'
import type { Column } from '../../common/schema.ts'
import { CorruptionError } from '../../common/status.ts'
import { compareWhole } from '../../util/bytes.ts'
import { DeltaWindow } from '../delta/delta-window.ts'
import { gatherPatched } from '../delta/gather-patched.ts'
import { DiffDeltaWindow } from '../diff/diff-delta-window.ts'
import type { RowSetScan, SelectedColumn } from '../row-set.ts'
import { type ColumnTest, passesCell } from '../scan/column-test.ts'
import { ScanMeter } from '../scan/scan-meter.ts'
import { costOfTest, noteTested, type OrderedTest, orderTests } from '../scan/test-order.ts'
import type { DiskRowSetView } from './disk-row-set.ts'
import { ScanColumn, UNCHANGING } from './scan-column.ts'

/** Rows of a window at most. */
export const WINDOW_ROWS_MAX = PAGE_ROWS
/** The first window is small, for scans that want few rows; later ones double. */
const FIRST_WINDOW_ROWS = 256
/** Bytes that the columns of one scan read ahead, together. */
const SCAN_READ_AHEAD_BYTES = 4 * 1024 * 1024
const READ_AHEAD_BYTES_MIN = 8 * 1024

/** A bound of a batch's bytes that may be so much too high makes it too small. */
const SLACK_SHARE_MAX = 1 / 8

const FIRST_ROWS = new Uint32Array(WINDOW_ROWS_MAX).map((_, row) => row)
const SAME_ROW = new Uint32Array(WINDOW_ROWS_MAX)
const scratchRows = new Uint32Array(WINDOW_ROWS_MAX)
const scratchChanged = new Uint32Array(WINDOW_ROWS_MAX)
const scratchPositions = new Int32Array(WINDOW_ROWS_MAX)

/** A test and the column that has the cells for it. */
interface BoundTest extends OrderedTest {
  readonly column: ScanColumn
  readonly test: ColumnTest
  /** Whether the read default passes; for a column that is younger than the rowset. */
  readonly passesFallback: boolean
}

/**
 * The window of one scan. Rows `[0, count)` of the window are in the order of the scan; their
 * ordinals are `origin + rows[i]`.
 */
export class ScanWindow {
  count = 0
  origin = 0
  readonly rows: Uint32Array
  /** Ordinals that were not looked at: `[start, end)`. */
  start: number
  end: number
  readonly #isDescending: boolean
  /** Ordinals that the scan asks for. */
  readonly #wantedStart: number
  readonly #wantedEnd: number
  /** Every column that is read, once. */
  readonly #columns: readonly ScanColumn[]
  /** In the order in which they are worth it. */
  readonly #tests: BoundTest[]
  readonly #projected: readonly ScanColumn[]
  /** Those of the projected, once. */
  readonly #shown: readonly ScanColumn[]
  readonly #fixedBytes: number
  /** Bytes of each row, once measured; null when every row has the same size. */
  readonly #sizes: Float64Array | null
  #isMeasured = false
  /** Null when no delta says anything about the snapshot. */
  readonly #deltas: DeltaWindow | null
  /** The same, when only rows that changed are wanted. */
  readonly #diff: DiffDeltaWindow | null
  #windowRows = FIRST_WINDOW_ROWS

  /** Throws: CORRUPTION. Cost: reads the directory, and pages of keys where a bound lies within. */
  constructor(view: DiskRowSetView, scan: RowSetScan) {
    const { base, meta } = view
    if (base.rowCount !== meta.rowCount) {
      throw new CorruptionError(
        `rowset ${meta.id}: its directory has ${base.rowCount} rows, not ${meta.rowCount}`,
      )
    }
    this.#isDescending = scan.isDescending
    const meter = scan.meter ?? new ScanMeter([])
    const { start, end } = ordinalsIn(view, scan, meter)
    this.start = start
    this.end = end
    this.#wantedStart = start
    this.#wantedEnd = end
    const isPoint = (scan.keyHash ?? null) !== null
    const windowRowsMax = Math.min(WINDOW_ROWS_MAX, meta.rowCount)
    this.rows = new Uint32Array(windowRowsMax)
    const wanted = new Map<number, Column>()
    for (const { column } of scan.tests) wanted.set(column.id, column)
    for (const column of scan.columns) wanted.set(column.id, column)
    const changing = [...wanted.values()].filter(({ isKey }) => !isKey)
    const deltas = openDeltas(view, scan, changing)
    this.#diff = deltas instanceof DiffDeltaWindow ? deltas : null
    this.#deltas = this.#diff === null && deltas.relevantStores.length === 0 ? null : deltas
    const columns = new Map<number, ScanColumn>()
    const isBorrowed = end - start >= (scan.borrowedRowsMin ?? Number.POSITIVE_INFINITY)
    // Whoever reads all of a stored row reads it at once: storage fetches the whole row each time.
    const readAheadMax = isBorrowed ? 2 * BLOCK_BYTES_TARGET : READ_AHEAD_BYTES
    const readAheadBytes = Math.max(
      READ_AHEAD_BYTES_MIN,
      Math.min(readAheadMax, Math.floor(SCAN_READ_AHEAD_BYTES / wanted.size)),
    )
    for (const column of wanted.values()) {
      const index = changing.indexOf(column)
      const isChanging = index >= 0 && this.#deltas !== null && deltas.mayChange(index)
      const options = {
        reader: base.column(column.id),
        deltaIndex: isChanging ? index : UNCHANGING,
        isDescending: scan.isDescending,
        readAheadBytes,
        rowStart: start,
        rowEnd: end,
        isBorrowed,
        isPoint,
        passedFor: this.#diff === null ? ('zone_map' as const) : ('no_rows_left' as const),
        stats: meter.column(column.id),
      }
      columns.set(column.id, new ScanColumn(column, options))
    }
    const columnOf = ({ id }: Column) => columns.get(id) as ScanColumn
    this.#columns = [...columns.values()].filter(({ reader }) => reader !== null)
    this.#projected = scan.columns.map(columnOf)
    this.#shown = [...new Set(this.#projected)]
    const binaryCount = this.#projected.filter(({ isBinary }) => isBinary).length
    this.#sizes = binaryCount === 0 ? null : new Float64Array(windowRowsMax)
    let fixedBytes = binaryCount * Uint32Array.BYTES_PER_ELEMENT
    for (const { physical } of this.#projected) fixedBytes += LANE_BYTES[physical]
    this.#fixedBytes = fixedBytes
    this.#tests = this.#bind(scan.tests, columnOf)
  }

  /** Whether there is nothing left to look at. */
  get isAtEnd(): boolean {
    return this.start === this.end
  }

  /** The last ordinal looked at or passed over. Requires: there is one. */
  get doneOrdinal(): number {
    return this.#isDescending ? this.end : this.start - 1
  }

  #bind(tests: readonly ColumnTest[], columnOf: (column: Column) => ScanColumn): BoundTest[] {
    const bound: BoundTest[] = []
    for (const test of tests) {
      const column = columnOf(test.column)
      const isYounger = column.reader === null
      const passesFallback = isYounger && passesCell(test, test.column.readDefault)
      const isConstant = isYounger && column.deltaIndex === UNCHANGING
      const cost = costOfTest(column.physical, test.predicate)
      if (!isConstant) bound.push({ column, test, passesFallback, cost, rowsIn: 0, rowsKept: 0 })
      else if (!passesFallback) this.end = this.start
    }
    return bound
  }

  /**
   * Looks at up to `countMax` more rows and leaves in the window those that are visible and pass.
   * Returns: how many were looked at; 0 at the end. Throws: CORRUPTION.
   */
  load(countMax: number): number {
    const scannedCount = this.#load(countMax)
    if (this.count > 0) this.#findChanged()
    if (this.#isDescending) this.#reverse()
    return scannedCount
  }

  /** As `load`, of as many rows as pages have together. */
  loadSelection(countMax: number): number {
    this.#windowRows = WINDOW_ROWS_MAX
    const scannedCount = this.#load(countMax)
    if (this.count > 0) this.#findChanged()
    return scannedCount
  }

  #load(countMax: number): number {
    this.count = 0
    this.#isMeasured = false
    this.#pass()
    if (this.#diff !== null) this.start = this.#diff.firstChanged(this.start, this.end)
    if (this.isAtEnd) return 0
    const first = this.#isDescending ? this.end - 1 : this.start
    let low = 0
    let high = WINDOW_ROWS_MAX + first
    for (let i = 0; i < this.#columns.length; i++) {
      const column = this.#columns[i]
      column.seek(first)
      column.enter()
      low = Math.max(low, column.pageStart)
      high = Math.min(high, column.pageEnd)
    }
    const rowCount = Math.min(countMax, this.#windowRows)
    this.#windowRows = Math.min(WINDOW_ROWS_MAX, this.#windowRows * 2)
    if (this.#isDescending) {
      high = this.end
      low = Math.max(low, this.start, high - rowCount)
      this.end = low
    } else {
      low = this.start
      high = Math.min(high, this.end, low + rowCount)
      this.start = high
    }
    this.#take(low, high)
    return high - low
  }

  /** Passes over pages in which no row can satisfy a test. */
  #pass(): void {
    const stores = this.#deltas?.relevantStores ?? []
    for (let i = 0; i < this.#tests.length && !this.isAtEnd; i++) {
      const { column, test } = this.#tests[i]
      if (column.reader === null) continue
      column.seek(this.#isDescending ? this.end - 1 : this.start)
      if (column.pageMayMatch(test.predicate, stores)) continue
      if (this.#isDescending) this.end = Math.max(this.start, column.pageStart)
      else this.start = Math.min(this.end, column.pageEnd)
      i = -1
    }
  }

  #take(low: number, high: number): void {
    const { rows } = this
    // Rows count from where a page begins, so that mostly they are rows of all the pages.
    this.origin = this.#columns.length > 0 ? this.#columns[0].pageStart : low
    if (high - this.origin > WINDOW_ROWS_MAX) this.origin = low
    rows.set(FIRST_ROWS.subarray(low - this.origin, high - this.origin))
    this.count = high - low
    if (this.#deltas !== null) {
      this.#deltas.load(low, high)
      addTo(rows, this.count, this.origin)
      this.count = this.#deltas.keepVisible(rows, this.count)
      addTo(rows, this.count, -this.origin)
    }
    this.#filter()
  }

  #filter(): void {
    const tests = this.#tests
    for (let i = 0; i < tests.length && this.count > 0; i++) {
      const { count } = this
      this.#filterBy(tests[i])
      noteTested(tests[i], count, this.count)
    }
    if (tests.length > 1) orderTests(tests)
  }

  /** Drops the rows of the window that fail a test. */
  #filterBy(bound: BoundTest): void {
    const { column, test, passesFallback } = bound
    const { rows } = this
    const changed = this.#positions(column, scratchPositions)
    if (changed !== null) {
      this.#filterPatched(bound, changed)
    } else if (column.reader !== null) {
      if (column.pageAllMatches(test.predicate)) return
      const cells = column.cells()
      const shift = this.origin - column.pageStart
      addTo(rows, this.count, shift)
      this.count = test.test.keepPassing(cells, rows, this.count)
      addTo(rows, this.count, -shift)
    } else if (!passesFallback) {
      this.count = 0
    }
  }

  /** As `DeltaWindow.positions` of all rows. Requires: they ascend. */
  #positions(column: ScanColumn, out: Int32Array): ColumnVector | null {
    if (this.#deltas === null || column.deltaIndex === UNCHANGING) return null
    for (let i = 0; i < this.count; i++) scratchRows[i] = this.rows[i] + this.origin
    return this.#deltas.positions(column.deltaIndex, scratchRows, 0, this.count, out)
  }

  /**
   * As `#filterBy`, where some cells are changed ones: tests those of the base and the changed ones
   * by themselves, then goes through all rows and keeps those that either found.
   */
  #filterPatched(bound: BoundTest, changed: ColumnVector): void {
    const { column, test, passesFallback } = bound
    const { rows, count } = this
    const shift = this.origin - column.pageStart
    let baseCount = 0
    let changedCount = 0
    for (let i = 0; i < count; i++) {
      const position = scratchPositions[i]
      if (position < 0) scratchRows[baseCount++] = rows[i] + shift
      else scratchChanged[changedCount++] = position
    }
    if (column.reader === null) baseCount = passesFallback ? baseCount : 0
    else baseCount = test.test.keepPassing(column.cells(), scratchRows, baseCount)
    changedCount = test.test.keepPassing(changed, scratchChanged, changedCount)
    let kept = 0
    let nextBase = 0
    let nextChanged = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      const position = scratchPositions[i]
      if (position < 0) {
        if (nextBase === baseCount || scratchRows[nextBase] !== row + shift) continue
        nextBase++
      } else {
        if (nextChanged === changedCount || scratchChanged[nextChanged] !== position) continue
        nextChanged++
      }
      rows[kept++] = row
    }
    this.count = kept
  }

  /** Finds the changed cells of the rows that are left. */
  #findChanged(): void {
    for (let i = 0; i < this.#shown.length; i++) {
      const column = this.#shown[i]
      column.changed = null
      if (column.deltaIndex === UNCHANGING) continue
      if (column.positions.length < this.count) column.positions = new Int32Array(WINDOW_ROWS_MAX)
      column.changed = this.#positions(column, column.positions)
    }
  }

  #reverse(): void {
    this.rows.subarray(0, this.count).reverse()
    for (let i = 0; i < this.#shown.length; i++) {
      const { changed, positions } = this.#shown[i]
      if (changed !== null) positions.subarray(0, this.count).reverse()
    }
  }

  /**
   * Bytes that rows `[start, end)` of the window take in a block at most; infinity when that is not
   * known before they are measured one by one. Requires: there is one.
   */
  bytesAtMost(start: number, end: number): number {
    const { rows } = this
    const count = end - start
    let bytes = this.#fixedBytes * count
    if (this.#sizes === null) return bytes
    const low = Math.min(rows[start], rows[end - 1])
    const high = Math.max(rows[start], rows[end - 1])
    // Of rows that lie scattered it would be far too much.
    if (high - low >= count * 2) return Number.POSITIVE_INFINITY
    for (let i = 0; i < this.#projected.length; i++) {
      const column = this.#projected[i]
      if (column.isBinary) bytes += column.bytesAtMost(low + this.origin, high + this.origin, count)
    }
    return bytes
  }

  /**
   * Whether `bytesAtMost` is known, and nearly what rows `[start, end)` take. Requires: there is
   * one.
   */
  isTight(start: number, end: number): boolean {
    const { rows } = this
    if (Math.abs(rows[end - 1] - rows[start]) !== end - 1 - start) return false
    const bytes = this.bytesAtMost(start, end)
    if (bytes === Number.POSITIVE_INFINITY) return false
    let slack = 0
    for (let i = 0; i < this.#projected.length; i++) slack += this.#projected[i].bytesTooMany
    return slack * (end - start) <= bytes * SLACK_SHARE_MAX
  }

  /** Bytes that row `index` of the window takes in a block. */
  rowBytes(index: number): number {
    if (this.#sizes === null) return this.#fixedBytes
    if (!this.#isMeasured) this.#measure(this.#sizes)
    return this.#sizes[index]
  }

  #measure(sizes: Float64Array): void {
    sizes.fill(this.#fixedBytes, 0, this.count)
    for (let i = 0; i < this.#projected.length; i++) {
      const column = this.#projected[i]
      if (column.isBinary) column.addSizes(this.rows, this.count, this.origin, sizes)
    }
    this.#isMeasured = true
  }

  /** Ordinal of row `index` of the window. */
  ordinal(index: number): number {
    return this.origin + this.rows[index]
  }

  /**
   * Appends rows `[start, end)` of the window to `targets`, one a projected column. Throws:
   * CORRUPTION.
   */
  append(start: number, end: number, targets: readonly ColumnBuilder[]): void {
    const { rows } = this
    const isRun = rows[end - 1] - rows[start] === end - 1 - start
    let shifted = 0
    let shiftedRows = rows
    for (let i = 0; i < targets.length; i++) {
      const source = this.#projected[i]
      const { changed, positions, fallback } = source
      const target = targets[i]
      if (fallback !== null) {
        if (changed === null) target.appendRepeated(source.column.readDefault, end - start)
        else gatherPatched(fallback, 0, changed, positions, SAME_ROW, start, end, target)
        continue
      }
      const cells = source.cells()
      const shift = this.origin - source.pageStart
      if (changed !== null) {
        gatherPatched(cells, -shift, changed, positions, rows, start, end, target)
      } else if (isRun) {
        target.appendRange(cells, rows[start] + shift, rows[start] + shift + end - start)
      } else {
        if (shift !== shifted) {
          for (let row = start; row < end; row++) scratchRows[row] = rows[row] + shift
          shiftedRows = shift === 0 ? rows : scratchRows
          shifted = shift
        }
        target.appendRows(cells, shiftedRows, start, end)
      }
    }
  }

  /**
   * All rows of the window as they lie, one a projected column. Borrowed until the next load.
   * Requires: `loadSelection` found some.
   */
  selectedColumns(): SelectedColumn[] {
    const { count, origin } = this
    return this.#projected.map((column) => column.select(this.rows, count, origin))
  }

  /**
   * Rows `[start, end)` of the window as views of pages. Returns: null when they must be copied.
   * Throws: CORRUPTION.
   */
  views(start: number, end: number): ColumnVector[] | null {
    const { rows } = this
    if (rows[end - 1] - rows[start] !== end - 1 - start) return null
    const vectors: ColumnVector[] = []
    for (let i = 0; i < this.#projected.length; i++) {
      const column = this.#projected[i]
      if (column.changed !== null || column.fallback !== null) return null
      const first = rows[start] + this.origin - column.pageStart
      // Bitmaps can be cut at whole bytes only, and lanes of 16 bytes begin at a multiple of 8.
      if ((first & 7) !== 0) return null
      vectors.push(sliceVector(column.cells(), first, first + end - start))
    }
    return vectors
  }

  /** Lets go of what it holds. It is not used any more. */
  close(): void {
    const doneRow = this.#lastDone()
    for (const column of this.#columns) column.close(doneRow)
  }

  /** The last ordinal looked at or passed over; −1 when there is none. */
  #lastDone(): number {
    const start = this.#wantedStart
    const end = this.#wantedEnd
    if (start === end) return -1
    if (this.isAtEnd) return this.#isDescending ? start : end - 1
    const isBegun = this.#isDescending ? this.end < end : this.start > start
    return isBegun ? this.doneOrdinal : -1
  }
}

/** Cells `[start, end)` as views. Requires: `start` is a multiple of 8. */
function sliceVector(cells: ColumnVector, start: number, end: number): ColumnVector {
  if (start === 0 && end === cells.rowCount) return cells
  const { dictionary } = cells
  const isBinary = cells.physical === PHYSICAL.binary
  const width = LANE_BYTES[cells.physical]
  const bits = (bitmap: Uint8Array | null) => bitmap?.subarray(start >>> 3, (end + 7) >>> 3) ?? null
  if (dictionary !== null) {
    const { codes, values } = dictionary
    const some = { codes: codes.subarray(start, end), values }
    return ColumnVector.ofDictionary(some, bits(cells.validity))
  }
  return new ColumnVector(
    cells.physical,
    end - start,
    isBinary ? cells.bytes : cells.bytes.subarray(start * width, end * width),
    isBinary ? cells.offsets.subarray(start, end + 1) : null,
    bits(cells.validity),
    bits(cells.isSet),
  )
}

/** Adds a number, which may be negative, to the first `count` rows. */
function addTo(rows: Uint32Array, count: number, summand: number): void {
  if (summand === 0) return
  for (let i = 0; i < count; i++) rows[i] += summand
}

/** What the deltas of a rowset make of its rows, for a scan. */
function openDeltas(
  { undos, redos, memStores }: DiskRowSetView,
  { snapshot, diffFrom = null }: RowSetScan,
  columns: readonly Column[],
): DeltaWindow {
  const options = { undos, redos: [...redos, ...memStores], snapshot, columns }
  return diffFrom === null
    ? new DeltaWindow(options)
    : new DiffDeltaWindow({ ...options, diffFrom })
}

/** Ordinals of the rows within the bounds of a scan. */
function ordinalsIn(
  view: DiskRowSetView,
  { lowerKey, upperKey, keyHash = null }: RowSetScan,
  meter: ScanMeter,
): { readonly start: number; readonly end: number } {
  const { base, meta } = view
  if (keyHash !== null) {
    meter.countKeyPages(1)
    const found = base.keys.find(lowerKey)
    return found === null ? { start: 0, end: 0 } : { start: found, end: found + 1 }
  }
  const start = boundIn(view, lowerKey, 0, meter)
  return { start, end: Math.max(start, boundIn(view, upperKey, meta.rowCount, meter)) }
}

/** Ordinal of the first row at or above `key`; `open` when there is no bound. */
function boundIn(
  { base, meta }: DiskRowSetView,
  key: Uint8Array,
  open: number,
  meter: ScanMeter,
): number {
  if (key.length === 0) return open
  if (compareWhole(key, meta.lowerKey) <= 0) return 0
  const isAbove = meta.upperKey.length > 0 && compareWhole(key, meta.upperKey) >= 0
  if (isAbove) return meta.rowCount
  meter.countKeyPages(1)
  return base.keys.lowerBound(key)
}
