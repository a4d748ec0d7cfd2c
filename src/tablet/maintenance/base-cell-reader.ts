import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { Column } from '../../common/schema.ts'
import type { BaseCells } from './history-cells.ts'
import type { MergeSource } from './merge-source.ts'

/** Reads single cells of the bases of a compaction's inputs, through the page cache. Hot. */
export class BaseCellReader implements BaseCells {
  readonly #sources: readonly MergeSource[]

  constructor(sources: readonly MergeSource[]) {
    this.#sources = sources
  }

  appendCells(
    target: ColumnBuilder,
    column: Column,
    source: number,
    ordinals: Uint32Array,
    start: number,
    end: number,
  ): void {
    const reader = this.#sources[source].view.base.column(column.id)
    if (reader === null) {
      target.appendRepeated(column.readDefault, end - start)
      return
    }
    const rows = new Uint32Array(end - start)
    let next = start
    while (next < end) {
      const index = reader.pageIndexOf(ordinals[next])
      const pageStart = reader.pageStart(index)
      const pageEnd = reader.pageEnd(index)
      let count = 0
      for (; next < end && ordinals[next] < pageEnd; next++) {
        rows[count++] = ordinals[next] - pageStart
      }
      target.appendRows(reader.page(index, 'scan'), rows, 0, count)
    }
  }
}
