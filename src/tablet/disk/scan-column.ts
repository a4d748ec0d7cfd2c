/**
 * One column of a DiskRowSet as a scan goes through it. Hot.
 *
 *   page         ├───────────── cells ─────────────┤
 *   window             ├── rows that are read ──┤
 *
 * A window of a scan never reaches beyond a page of any column it reads, so that the cells of its
 * rows are one vector.
 */

import { CFileCursor } from '../../cfile/cfile-cursor.ts'
import type { CFileReader } from '../../cfile/cfile-reader.ts'
import { type ZoneMap, zoneAllMatch, zoneMayMatch } from '../../cfile/zone-map.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnPredicate } from '../../common/column-predicate.ts'
import type { ColumnDictionary, ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'
import { PAGE_ROWS } from '../../common/limits.ts'
import type { ColumnScanStats, PageSkip } from '../../common/scan-stats.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { getBit } from '../../util/bitmap.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { gatherPatched } from '../delta/gather-patched.ts'
import type { SelectedColumn } from '../row-set.ts'

/** `deltaIndex` of a column whose cells never change: those of the key. */
export const UNCHANGING = -1

const FIRST_ROWS = new Uint32Array(PAGE_ROWS).map((_, row) => row)
const SAME_ROW = new Uint32Array(PAGE_ROWS)

/** How a scan reads a column. */
export interface ScanColumnOptions {
  /** Null when the column is younger than the rowset. */
  readonly reader: CFileReader | null
  /** Its index in the scan's DeltaWindow, or `UNCHANGING`. */
  readonly deltaIndex: number
  readonly isDescending: boolean
  readonly readAheadBytes: number
  /** Rows that the scan asks for: `[rowStart, rowEnd)`. */
  readonly rowStart: number
  readonly rowEnd: number
  /** Whether they are a single one. */
  readonly isPoint: boolean
  /** Whether cells are good for one window only, and nothing is kept of them. */
  readonly isBorrowed: boolean
  /** Why pages that no window came to are passed over. */
  readonly passedFor: PageSkip
  /** Counts what becomes of the pages. */
  readonly stats: ColumnScanStats
}

/** See the file's header. */
export class ScanColumn {
  readonly column: Column
  readonly physical: Physical
  readonly deltaIndex: number
  readonly reader: CFileReader | null
  /** One cell, what rows show that did not change it, when there is no base column; else null. */
  readonly fallback: ColumnVector | null
  /** The page that the window is in. */
  pageStart = 0
  pageEnd = 0
  /** Changed cells of the window's rows, and where: see `DeltaWindow.positions`. */
  changed: ColumnVector | null = null
  positions = new Int32Array(0)
  readonly #cursor: CFileCursor | null
  #pageIndex = -1
  #mayMatchPage = -1
  #mayMatch = true
  #allMatchPage = -1
  #allMatch = false
  readonly #stats: ColumnScanStats
  readonly #passedFor: PageSkip
  readonly #isDescending: boolean
  /** Pages that the scan asks for: `[#firstPage, #endPage)`. */
  readonly #firstPage: number = 0
  readonly #endPage: number = 0
  /** The page that a window was in last, how many there were, and what became of this one. */
  #enteredPage = -1
  #enteredCount = 0
  #isRead = false
  #isDecided = false
  /** Bytes of the longest and the shortest value of a page's dictionary. */
  #longest = 0
  #shortest = 0
  #longestPage = -1
  /** Rows of the page, and cells that are copied because of changed ones, for selections. */
  #pageRows = new Uint32Array(0)
  #patched: ColumnBuilder | null = null

  constructor(column: Column, options: ScanColumnOptions) {
    const { reader, deltaIndex, stats } = options
    assert(
      reader === null || reader.physical === column.physical,
      'a column never changes its layout',
    )
    this.column = column
    this.physical = column.physical
    this.deltaIndex = deltaIndex
    this.reader = reader
    this.fallback = reader === null ? fallbackOf(column) : null
    this.#stats = stats
    this.#passedFor = options.passedFor
    this.#isDescending = options.isDescending
    this.#cursor = null
    if (reader === null) return
    const { rowStart, rowEnd } = options
    if (rowStart < rowEnd) {
      this.#firstPage = reader.pageIndexOf(rowStart)
      this.#endPage = reader.pageIndexOf(rowEnd - 1) + 1
    }
    const wantedCount = this.#endPage - this.#firstPage
    stats.pages += reader.pageCount
    stats.pagesSkipped.key_bounds += reader.pageCount - wantedCount
    this.#cursor = new CFileCursor(reader, {
      isDescending: options.isDescending,
      readAheadBytes: options.readAheadBytes,
      pageStart: this.#firstPage,
      pageEnd: this.#endPage,
      intent: options.isPoint ? 'point' : 'scan',
      isBorrowed: options.isBorrowed,
      stats,
    })
  }

  /** Whether its cells are strings or other bytes. */
  get isBinary(): boolean {
    return this.physical === PHYSICAL.binary
  }

  /** Goes to the page that has a row. Reads nothing. Requires: there is a base column. */
  seek(row: number): void {
    if (row >= this.pageStart && row < this.pageEnd) return
    const { reader } = this
    assert(reader !== null, 'a page is sought in a base column')
    const isNeighbour = this.#pageIndex >= 0 && (row === this.pageEnd || row === this.pageStart - 1)
    const step = row === this.pageEnd ? 1 : -1
    this.#pageIndex = isNeighbour ? this.#pageIndex + step : reader.pageIndexOf(row)
    this.pageStart = reader.pageStart(this.#pageIndex)
    this.pageEnd = reader.pageEnd(this.#pageIndex)
  }

  /** Notes that a window is in the page. */
  enter(): void {
    if (this.#enteredPage === this.#pageIndex) return
    this.#leave()
    this.#enteredPage = this.#pageIndex
    this.#enteredCount++
  }

  /** Counts the page that a window was in, unless it was read. */
  #leave(): void {
    if (this.#enteredPage >= 0 && !this.#isRead) {
      this.#stats.pagesSkipped[this.#isDecided ? 'zone_map' : 'no_rows_left']++
    }
    this.#isRead = false
    this.#isDecided = false
  }

  /** The cells of the page. Throws: CORRUPTION. Cost: decodes it when it was not asked for yet. */
  cells(): ColumnVector {
    assert(this.#cursor !== null, 'pages are those of a base column')
    this.#isRead = true
    return this.#cursor.page(this.#pageIndex)
  }

  /**
   * Whether a row of the page may satisfy a predicate, which is always the same one, given the
   * deltas that may change its cells. Throws: CORRUPTION. Cost: worked out once a page.
   */
  pageMayMatch(predicate: ColumnPredicate, deltas: readonly DeltaStore[]): boolean {
    if (this.#mayMatchPage === this.#pageIndex) return this.#mayMatch
    const { reader, physical } = this
    assert(reader !== null, 'zone maps are those of a base column')
    this.#mayMatch =
      zoneMayMatch(reader.zone(this.#pageIndex), physical, predicate) ||
      this.deltasMayMatch(predicate, deltas, this.pageStart, this.pageEnd)
    this.#mayMatchPage = this.#pageIndex
    return this.#mayMatch
  }

  /**
   * Whether every cell of the page satisfies a predicate, which is always the same one, so that
   * none is read for it. Changed cells are not asked. Throws and cost: as `pageMayMatch`.
   */
  pageAllMatches(predicate: ColumnPredicate): boolean {
    if (this.#allMatchPage !== this.#pageIndex) {
      const { reader, physical } = this
      assert(reader !== null, 'zone maps are those of a base column')
      this.#allMatch = zoneAllMatch(reader.zone(this.#pageIndex), physical, predicate)
      this.#allMatchPage = this.#pageIndex
    }
    this.#isDecided ||= this.#allMatch
    return this.#allMatch
  }

  /** Whether a changed cell of the rows `[start, end)` may satisfy a predicate. */
  deltasMayMatch(
    predicate: ColumnPredicate,
    deltas: readonly DeltaStore[],
    start: number,
    end: number,
  ): boolean {
    if (this.deltaIndex === UNCHANGING) return false
    for (const store of deltas) {
      const zone = store.valueZone(this.column.id, start, end)
      if (zone !== null && zoneMayMatch(zone, this.physical, predicate)) return true
    }
    return false
  }

  /**
   * The cells of a window's rows, which count from `origin`; copied where some are changed ones.
   * Borrowed until the next call. Requires: `changed` and `positions` are those of the rows.
   */
  select(rows: Uint32Array, count: number, origin: number): SelectedColumn {
    const { changed, positions, fallback } = this
    const shift = origin - this.pageStart
    if (changed !== null) {
      this.#patched ??= new ColumnBuilder(this.physical, count)
      this.#patched.clear()
      const base = fallback ?? this.cells()
      const baseRows = fallback === null ? rows : SAME_ROW
      const baseShift = fallback === null ? -shift : 0
      gatherPatched(base, baseShift, changed, positions, baseRows, 0, count, this.#patched)
      return { cells: this.#patched.view(), rows: FIRST_ROWS, zone: null }
    }
    if (fallback !== null) return { cells: fallback, rows: SAME_ROW, zone: null }
    return new SelectedPage(this, this.#rowsOfPage(rows, count, shift), count)
  }

  #rowsOfPage(rows: Uint32Array, count: number, shift: number): Uint32Array {
    if (shift === 0) return rows
    if (this.#pageRows.length < count) this.#pageRows = new Uint32Array(PAGE_ROWS)
    const pageRows = this.#pageRows
    for (let i = 0; i < count; i++) pageRows[i] = rows[i] + shift
    return pageRows
  }

  /** What is known of `count` cells of the page without reading them; null: nothing is. */
  zoneOf(count: number): ZoneMap | null {
    if (this.reader === null || count !== this.pageEnd - this.pageStart) return null
    return this.reader.zone(this.#pageIndex)
  }

  /**
   * Bytes of `count` values of the rows `[first, last]` at most; infinity when some are changed.
   */
  bytesAtMost(first: number, last: number, count: number): number {
    if (this.changed !== null) return Number.POSITIVE_INFINITY
    if (this.fallback !== null) return this.fallback.valueBytes * count
    const cells = this.cells()
    const { dictionary } = cells
    if (dictionary === null) {
      const { offsets } = cells
      return offsets[last + 1 - this.pageStart] - offsets[first - this.pageStart]
    }
    this.#lookAtLengths(dictionary)
    return this.#longest * count
  }

  /** Bytes by which `bytesAtMost`, where it is known, may be too high for each of rows in a run. */
  get bytesTooMany(): number {
    if (this.fallback !== null || !this.isBinary) return 0
    const { dictionary, validity } = this.cells()
    if (dictionary === null) return 0
    this.#lookAtLengths(dictionary)
    return this.#longest - (validity === null ? this.#shortest : 0)
  }

  #lookAtLengths({ values }: ColumnDictionary): void {
    if (this.#longestPage === this.#pageIndex) return
    const { offsets, rowCount } = values
    let longest = 0
    let shortest = Number.POSITIVE_INFINITY
    for (let i = 0; i < rowCount; i++) {
      const length = offsets[i + 1] - offsets[i]
      if (length > longest) longest = length
      if (length < shortest) shortest = length
    }
    this.#longest = longest
    this.#shortest = Math.min(longest, shortest)
    this.#longestPage = this.#pageIndex
  }

  /** Adds to `sizes[i]` the bytes of the cell of `rows[i]`, which counts from `origin`. */
  addSizes(rows: Uint32Array, count: number, origin: number, sizes: Float64Array): void {
    const { changed, positions, fallback } = this
    const base = fallback ?? this.cells()
    const shift = origin - this.pageStart
    if (base.dictionary !== null && changed === null) {
      addCodedSizes(base.dictionary, base.validity, rows, count, shift, sizes)
      return
    }
    if (changed === null && fallback === null) {
      const { offsets } = base
      for (let i = 0; i < count; i++) {
        const row = rows[i] + shift
        sizes[i] += offsets[row + 1] - offsets[row]
      }
      return
    }
    // Values of a dictionary need no joining.
    const codes = base.dictionary === null ? null : base.dictionary.codes
    const { offsets } = base.dictionary === null ? base : base.dictionary.values
    for (let i = 0; i < count; i++) {
      const position = changed === null ? -1 : positions[i]
      if (position >= 0 && changed !== null) {
        sizes[i] += changed.offsets[position + 1] - changed.offsets[position]
        continue
      }
      const row = fallback === null ? rows[i] + shift : 0
      const value = codes === null ? row : codes[row]
      if (codes === null || !base.isNull(row)) sizes[i] += offsets[value + 1] - offsets[value]
    }
  }

  /**
   * Lets go of what it holds, and counts the pages that were passed over. `doneRow`: the last row
   * that was looked at or passed over; −1 when there is none.
   */
  close(doneRow: number): void {
    this.#cursor?.clear()
    this.changed = null
    if (this.reader === null || doneRow < 0) return
    this.#leave()
    this.#enteredPage = -1
    const page = this.reader.pageIndexOf(doneRow)
    const count = this.#isDescending ? this.#endPage - page : page + 1 - this.#firstPage
    this.#stats.pagesSkipped[this.#passedFor] += count - this.#enteredCount
    this.#enteredCount = count
  }
}

/** Cells of a page, which is decoded when it is asked for. */
class SelectedPage implements SelectedColumn {
  readonly rows: Uint32Array
  readonly #column: ScanColumn
  readonly #count: number

  constructor(column: ScanColumn, rows: Uint32Array, count: number) {
    this.rows = rows
    this.#column = column
    this.#count = count
  }

  get cells(): ColumnVector {
    return this.#column.cells()
  }

  get zone(): ZoneMap | null {
    return this.#column.zoneOf(this.#count)
  }
}

/** Adds to `sizes[i]` the bytes of the value of cell `rows[i] + shift`. */
function addCodedSizes(
  { codes, values }: ColumnDictionary,
  validity: Uint8Array | null,
  rows: Uint32Array,
  count: number,
  shift: number,
  sizes: Float64Array,
): void {
  const { offsets } = values
  for (let i = 0; i < count; i++) {
    const row = rows[i] + shift
    if (validity !== null && !getBit(validity, row)) continue
    sizes[i] += offsets[codes[row] + 1] - offsets[codes[row]]
  }
}

function fallbackOf(column: Column): ColumnVector {
  const builder = new ColumnBuilder(column.physical, 1)
  builder.appendCell(column.readDefault)
  return builder.view()
}
