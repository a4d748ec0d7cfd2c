import type { Physical } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import { ChunkedColumn } from './chunked-column.ts'
import type { MemRowStore } from './mem-row-store.ts'

/** A column of a MemRowSet and where its cells are. */
export interface HistoryColumn {
  readonly id: number
  readonly physical: Physical
  /** Cells as inserted, by slot. Of a column younger than the rows: one cell, its read default. */
  readonly kept: ChunkedColumn
  /** Changed cells by position, or null when there are none. */
  readonly changed: ChunkedColumn | null
  /** Whether the column is younger than the rows. */
  readonly isLate: boolean
}

/** The columns of a store by their indexes, those included that changes brought in later. */
export function historyColumns(rows: MemRowStore): HistoryColumn[] {
  return columnsOf(rows).map((column, index) => {
    const { id, physical } = column
    const isLate = index >= rows.columns.length
    const kept = isLate ? readDefaultOf(column) : rows.columns[index]
    return { id, physical, kept, changed: rows.redos.column(index), isLate }
  })
}

/** The columns of a store as their schemas say, by their indexes. */
export function columnsOf(rows: MemRowStore): readonly Column[] {
  return [...rows.schema.columns, ...rows.lateColumns]
}

function readDefaultOf(column: Column): ChunkedColumn {
  const cells = new ChunkedColumn(column.physical)
  cells.appendRepeated(column.readDefault, 1)
  return cells
}
