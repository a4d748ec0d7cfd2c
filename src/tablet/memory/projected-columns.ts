import type { ColumnBuilder } from '../../common/column-builder.ts'
import { type Cell, LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import type { RowWindow } from './row-window.ts'

/** Index of a column that a rowset does not hold. */
export const MISSING = -1

/** The index of a reader's column in a rowset's schema, or `MISSING` when it is younger. */
export function columnIndexIn(schema: Schema, column: Column): number {
  const own = schema.byId(column.id)
  if (own === undefined) return MISSING
  assert(own.physical === column.physical, 'a column never changes its layout')
  return own.index
}

/** Columns that a reader wants of a rowset: where they lie in it, and what their cells take. */
export class ProjectedColumns {
  /** Index in the rowset's schema, or `MISSING`, of each column. */
  readonly indexes: readonly number[]
  readonly #defaults: readonly (Cell | null)[]
  readonly #binaryIndexes: readonly number[]
  readonly #fixedBytes: number

  constructor(schema: Schema, columns: readonly Column[]) {
    this.indexes = columns.map((column) => columnIndexIn(schema, column))
    this.#defaults = columns.map((column) => column.readDefault)
    this.#binaryIndexes = this.indexes.filter(
      (index, i) => index !== MISSING && columns[i].physical === PHYSICAL.binary,
    )
    let fixedBytes = 0
    for (let i = 0; i < columns.length; i++) {
      const { physical, readDefault } = columns[i]
      fixedBytes += physical === PHYSICAL.binary ? 4 : LANE_BYTES[physical]
      if (this.indexes[i] !== MISSING || !(readDefault instanceof Uint8Array)) continue
      fixedBytes += readDefault.length
    }
    this.#fixedBytes = fixedBytes
  }

  /** Bytes that a row of a window takes in a block. */
  rowBytes(window: RowWindow, row: number): number {
    let bytes = this.#fixedBytes
    for (let i = 0; i < this.#binaryIndexes.length; i++) {
      bytes += window.valueBytes(this.#binaryIndexes[i], row)
    }
    return bytes
  }

  /** Appends rows `[start, end)` of a window to `targets`, one a column. */
  append(window: RowWindow, start: number, end: number, targets: readonly ColumnBuilder[]): void {
    for (let i = 0; i < targets.length; i++) {
      const index = this.indexes[i]
      if (index === MISSING) targets[i].appendRepeated(this.#defaults[i], end - start)
      else window.gather(index, start, end, targets[i])
    }
  }
}
