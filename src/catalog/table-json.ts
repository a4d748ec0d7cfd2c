/**
 * The stored form of a table: JSON text, in which every column default survives exactly.
 *
 * `format` counts up when the form changes; a reader knows its own and the one before.
 */

import {
  decodeColumnDefinition,
  type EncodedColumnDefinition,
  encodeColumnDefinition,
} from '../common/column-definition-json.ts'
import { CorruptionError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'

const FORMAT = 1

interface StoredTable extends Omit<TableEntry, 'columns'> {
  readonly format: number
  readonly columns: readonly EncodedColumnDefinition[]
}

/** The stored form of a table. */
export function encodeTable(table: TableEntry): string {
  const stored: StoredTable = {
    format: FORMAT,
    ...table,
    columns: table.columns.map(encodeColumnDefinition),
  }
  return JSON.stringify(stored)
}

/** The table of a stored form. Throws: CORRUPTION when this program does not know the form. */
export function decodeTable(text: string): TableEntry {
  const { format, ...stored } = JSON.parse(text) as StoredTable
  if (format !== FORMAT) {
    throw new CorruptionError(`table is stored in format ${format}, this program reads ${FORMAT}`)
  }
  return { ...stored, columns: stored.columns.map(decodeColumnDefinition) }
}
