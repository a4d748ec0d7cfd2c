/** Rows of the table `id INT64 KEY, name STRING, n INT8 NULL`, one for each number. */

/** A row, or a part of one. */
export interface NumberedRow {
  readonly id: number
  readonly name?: string
  readonly n?: number | null
}

/** Columns of their table, as `aNewTable` takes them. */
export const NUMBERED_COLUMNS = ['id INT64 KEY', 'name STRING', 'n INT8 NULL']

/** The row of a number. */
export function numberedRow(id: number): NumberedRow {
  return { id, name: `row ${id}`, n: id % 3 === 0 ? null : id % 100 }
}

/** The rows of the numbers `[start, end)`. */
export function numberedRows(start: number, end: number): NumberedRow[] {
  return Array.from({ length: end - start }, (_, i) => numberedRow(start + i))
}

/** Rows by number. */
export function byNumber(rows: readonly NumberedRow[]): NumberedRow[] {
  return [...rows].sort((a, b) => a.id - b.id)
}
