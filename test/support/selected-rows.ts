import { inspect } from 'node:util'
import type { RowSetIterator } from '../../src/tablet/row-set.ts'
import { openRowSetScans, type ScanOptions } from '../../src/tablet/scan/tablet-scanner.ts'
import type { PlainCell, PlainRow } from './a-write-block.ts'
import { toPlain } from './row-data.ts'

/** The rows that a scan selects, as tests write them, in the order they come in. */
export function selectedRows(
  options: ScanOptions,
  scannedMax: number,
  borrowedRowsMin?: number,
): PlainRow[] {
  const columns = options.columnIds.map((id) => options.schema.mustById(id))
  const rows: PlainRow[] = []
  const scan: RowSetIterator = openRowSetScans(options, borrowedRowsMin)
  for (;;) {
    const selection = scan.nextSelection(scannedMax)
    if (selection === null) break
    for (let i = 0; i < selection.count; i++) {
      const row: Record<string, PlainCell> = {}
      columns.forEach(({ name }, index) => {
        const { cells, rows: cellRows } = selection.columns[index]
        row[name] = toPlain(cells.cell(cellRows[i]))
      })
      rows.push(row)
    }
  }
  scan.close()
  return rows
}

/** Rows in an order of their own. */
export function inSomeOrder(rows: readonly PlainRow[]): PlainRow[] {
  const keyed = rows.map((row) => ({ row, key: inspect(row) }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return keyed.map(({ row }) => row)
}
