/** Rows as selections of pages: among others in any places, with or without a dictionary. */

import { zoneMapOf } from '../../src/cfile/zone-map.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import type { RowSetIterator, SelectedColumn, Selection } from '../../src/tablet/row-set.ts'
import type { Prng } from '../../src/util/prng.ts'
import { cellText, type PlainCells } from './plain-aggregate.ts'

/** A scan that gives rows as random selections of the columns asked for. */
export class SelectedPages implements RowSetIterator {
  scannedCount = 0
  isClosed = false
  readonly #prng: Prng
  readonly #columns: readonly Column[]
  readonly #rows: readonly PlainCells[]
  readonly #decoys: readonly PlainCells[]
  #next = 0

  /** `decoys`: rows that lie in pages and are never selected. */
  constructor(
    prng: Prng,
    schema: Schema,
    columnIds: readonly number[],
    rows: readonly PlainCells[],
    decoys: readonly PlainCells[],
  ) {
    this.#prng = prng
    this.#columns = columnIds.map((id) => schema.mustById(id))
    this.#rows = rows
    this.#decoys = decoys
  }

  next(): never {
    throw new Error('batches are not asked for')
  }

  nextSelection(): Selection | null {
    if (this.#next === this.#rows.length) return null
    const prng = this.#prng
    const count = prng.chance(0.1) ? 0 : prng.between(1, Math.max(1, this.#rows.length / 3))
    const rows = this.#rows.slice(this.#next, this.#next + count)
    this.#next += rows.length
    this.scannedCount += rows.length
    const columns = rows.length === 0 ? [] : this.#columns.map((column) => this.#page(column, rows))
    return { count: rows.length, columns, scannedCount: rows.length }
  }

  #page(column: Column, rows: readonly PlainCells[]): SelectedColumn {
    const prng = this.#prng
    const isWhole = prng.chance(0.5)
    const numbers = new Uint32Array(rows.length + prng.below(3))
    const cells: PlainCells = []
    for (let i = 0; i < rows.length; i++) {
      while (!isWhole && this.#decoys.length > 0 && prng.chance(0.4)) {
        ;(cells as unknown[]).push(prng.pick(this.#decoys)[column.index])
      }
      numbers[i] = (cells as unknown[]).push(rows[i][column.index]) - 1
    }
    const vector = vectorOf(column, cells, column.physical === PHYSICAL.binary && prng.chance(0.5))
    const zone = isWhole && prng.chance(0.7) ? zoneMapOf(vector) : null
    return { cells: vector, rows: numbers, zone }
  }

  close(): void {
    this.isClosed = true
  }
}

function vectorOf(column: Column, cells: PlainCells, hasDictionary: boolean): ColumnVector {
  const builder = new ColumnBuilder(column.physical, cells.length)
  for (const cell of cells) builder.appendCell(cell)
  const vector = builder.view()
  if (!hasDictionary) return vector
  const values = new ColumnBuilder(column.physical, 1)
  const codes = new Map<string, number>()
  // Codes of null mean nothing.
  const coded = Uint16Array.from(cells, (cell) => {
    if (cell === null) return 65_535
    const known = codes.get(cellText(cell))
    if (known !== undefined) return known
    values.appendCell(cell)
    codes.set(cellText(cell), values.rowCount - 1)
    return values.rowCount - 1
  })
  return ColumnVector.ofDictionary({ codes: coded, values: values.view() }, vector.validity)
}
