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
import { zoneMayMatch } from '../../cfile/zone-map.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnPredicate } from '../../common/column-predicate.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaStore } from '../delta/delta-store.ts'

/** `deltaIndex` of a column whose cells never change: those of the key. */
export const UNCHANGING = -1

/** How a scan reads a column. */
export interface ScanColumnOptions {
  /** Null when the column is younger than the rowset. */
  readonly reader: CFileReader | null
  /** Its index in the scan's DeltaWindow, or `UNCHANGING`. */
  readonly deltaIndex: number
  readonly isDescending: boolean
  readonly readAheadBytes: number
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
  #zonePage = -1
  #zoneMayMatch = true

  constructor(column: Column, options: ScanColumnOptions) {
    const { reader, deltaIndex, isDescending, readAheadBytes } = options
    assert(
      reader === null || reader.physical === column.physical,
      'a column never changes its layout',
    )
    this.column = column
    this.physical = column.physical
    this.deltaIndex = deltaIndex
    this.reader = reader
    this.fallback = reader === null ? fallbackOf(column) : null
    this.#cursor =
      reader === null ? null : new CFileCursor(reader, { isDescending, readAheadBytes })
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

  /** The cells of the page. Throws: CORRUPTION. Cost: decodes it when it was not asked for yet. */
  cells(): ColumnVector {
    assert(this.#cursor !== null, 'pages are those of a base column')
    return this.#cursor.page(this.#pageIndex)
  }

  /**
   * Whether a row of the page may satisfy a predicate, which is always the same one, given the
   * deltas that may change its cells. Throws: CORRUPTION. Cost: worked out once a page.
   */
  pageMayMatch(predicate: ColumnPredicate, deltas: readonly DeltaStore[]): boolean {
    if (this.#zonePage === this.#pageIndex) return this.#zoneMayMatch
    const { reader, physical } = this
    assert(reader !== null, 'zone maps are those of a base column')
    this.#zoneMayMatch =
      zoneMayMatch(reader.zone(this.#pageIndex), physical, predicate) ||
      this.deltasMayMatch(predicate, deltas, this.pageStart, this.pageEnd)
    this.#zonePage = this.#pageIndex
    return this.#zoneMayMatch
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

  /** Adds to `sizes[i]` the bytes of the cell of `rows[i]`, which counts from `origin`. */
  addSizes(rows: Uint32Array, count: number, origin: number, sizes: Float64Array): void {
    const { changed, positions, fallback } = this
    const base = fallback ?? this.cells()
    const { offsets } = base
    const shift = origin - this.pageStart
    if (changed === null && fallback === null) {
      for (let i = 0; i < count; i++) {
        const row = rows[i] + shift
        sizes[i] += offsets[row + 1] - offsets[row]
      }
      return
    }
    for (let i = 0; i < count; i++) {
      const position = changed === null ? -1 : positions[i]
      if (position >= 0 && changed !== null) {
        sizes[i] += changed.offsets[position + 1] - changed.offsets[position]
      } else {
        const row = fallback === null ? rows[i] + shift : 0
        sizes[i] += offsets[row + 1] - offsets[row]
      }
    }
  }

  /** Lets go of what it holds. */
  clear(): void {
    this.#cursor?.clear()
    this.changed = null
  }
}

function fallbackOf(column: Column): ColumnVector {
  const builder = new ColumnBuilder(column.physical, 1)
  builder.appendCell(column.readDefault)
  return builder.view()
}
