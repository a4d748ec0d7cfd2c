import type { ColumnBuilder } from '../../common/column-builder.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { ChunkedColumn } from './chunked-column.ts'
import { type MemRowStore, UNKNOWN_COLUMN } from './mem-row-store.ts'
import type { RowWindow } from './row-window.ts'

/** A column that somebody reads of a MemRowSet. */
export interface ReadColumn {
  /** Its index in the store, or `UNKNOWN_COLUMN`. */
  readonly index: number
  readonly physical: Physical
  /**
   * One cell, what rows show that did not change it, when the column is younger than the rows; else
   * null.
   */
  readonly fallback: ChunkedColumn | null
}

/** Finds a column of a reader's schema in a store, which may lack it. */
export function readColumn(rows: MemRowStore, column: Column): ReadColumn {
  const index = rows.columnIndex(column.id)
  const isOwn = index !== UNKNOWN_COLUMN && index < rows.columns.length
  assert(
    !isOwn || rows.columns[index].physical === column.physical,
    'a column never changes its layout',
  )
  let fallback: ChunkedColumn | null = null
  if (!isOwn) {
    fallback = new ChunkedColumn(column.physical)
    fallback.appendRepeated(column.readDefault, 1)
  }
  return { index, physical: column.physical, fallback }
}

/** The columns of a projection, in its order. */
export class ReadColumns {
  readonly columns: readonly ReadColumn[]
  readonly #binaryColumns: readonly ReadColumn[]
  readonly #fixedBytes: number

  constructor(rows: MemRowStore, columns: readonly Column[]) {
    this.columns = columns.map((column) => readColumn(rows, column))
    this.#binaryColumns = this.columns.filter(({ physical }) => physical === PHYSICAL.binary)
    let fixedBytes = this.#binaryColumns.length * Uint32Array.BYTES_PER_ELEMENT
    for (const { physical } of this.columns) fixedBytes += LANE_BYTES[physical]
    this.#fixedBytes = fixedBytes
  }

  /** Bytes that a row of a window takes in a block. */
  rowBytes(window: RowWindow, row: number): number {
    let bytes = this.#fixedBytes
    for (let i = 0; i < this.#binaryColumns.length; i++) {
      bytes += window.valueBytes(this.#binaryColumns[i], row)
    }
    return bytes
  }

  /** Appends rows `[start, end)` of a window to `targets`, one a column. */
  append(window: RowWindow, start: number, end: number, targets: readonly ColumnBuilder[]): void {
    for (let i = 0; i < targets.length; i++) window.gather(this.columns[i], start, end, targets[i])
  }
}
