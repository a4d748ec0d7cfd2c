/**
 * The rows of one request that one tablet will get next. Hot.
 */

import { encodeRowBlock, RowBlock } from '../common/row-block.ts'
import { RowBlockBuilder } from '../common/row-block-builder.ts'
import type { Schema } from '../common/schema.ts'

/** A share ready to be sent. */
export interface Share {
  /** Byte form of a write block. */
  readonly block: Uint8Array
  /** Request row number of each row. */
  readonly rowIndexes: Uint32Array
}

/** Gathers rows for one tablet and gives them out as shares. */
export class ShareBuilder {
  readonly #builder: RowBlockBuilder
  readonly #keyColumnCount: number
  #rowIndexes = new Uint32Array(64)

  constructor(schema: Schema) {
    const columns = schema.columns.map(({ id, physical }) => ({ id, physical }))
    this.#builder = new RowBlockBuilder(columns, true)
    this.#keyColumnCount = schema.keyColumnCount
  }

  /** Rows gathered. */
  get rowCount(): number {
    return this.#builder.rowCount
  }

  /**
   * Appends rows `rows[start, end)` of a block; `rowIndexes` gives their numbers in the request.
   */
  append(
    block: RowBlock,
    rowIndexes: Uint32Array,
    rows: Uint32Array,
    start: number,
    end: number,
  ): void {
    const first = this.#builder.rowCount
    this.#builder.appendRows(block, rows, start, end)
    const needed = this.#builder.rowCount
    if (needed > this.#rowIndexes.length) {
      const grown = new Uint32Array(Math.max(needed, this.#rowIndexes.length * 2))
      grown.set(this.#rowIndexes.subarray(0, first))
      this.#rowIndexes = grown
    }
    for (let i = start, out = first; i < end; i++, out++) {
      this.#rowIndexes[out] = rowIndexes[rows[i]]
    }
  }

  /** Gives out the rows gathered and starts anew. Columns that no row sets are left out. */
  take(): Share {
    const whole = this.#builder.view()
    const ids: number[] = []
    const columns = []
    for (let index = 0; index < whole.columns.length; index++) {
      const isNeverSet = this.#builder.columns[index].unsetCount === whole.rowCount
      if (isNeverSet && index >= this.#keyColumnCount) continue
      ids.push(whole.columnIds[index])
      columns.push(whole.columns[index])
    }
    const block = encodeRowBlock(new RowBlock(whole.rowCount, ids, columns, whole.operations))
    const rowIndexes = this.#rowIndexes.slice(0, whole.rowCount)
    this.#builder.clear()
    return { block, rowIndexes }
  }
}

/** Adds to `sizes[i]` the bytes that row `i` of a block takes in a share. */
export function addRowSizes(block: RowBlock, fixedBytes: number, sizes: Float64Array): void {
  sizes.fill(fixedBytes, 0, block.rowCount)
  for (const column of block.columns) {
    const { offsets } = column
    if (offsets.length !== block.rowCount + 1 || offsets.length === 1) continue
    for (let row = 0; row < block.rowCount; row++) sizes[row] += offsets[row + 1] - offsets[row]
  }
}
