/** The columns of a diff scan: those asked for, and one that tells what became of rows. */

import { PHYSICAL } from './data-type.ts'
import type { Column } from './schema.ts'

/** Id of the column that tells whether a row is deleted. No column of a table has it. */
export const IS_DELETED_COLUMN_ID = 0xffff_ffff
/** Its name, unless the request gives another. */
export const IS_DELETED_NAME = 'is_deleted'

/** The column that tells whether a row is deleted. A row that no change says so of is not. */
export function isDeletedColumn(name = IS_DELETED_NAME): Column {
  return {
    id: IS_DELETED_COLUMN_ID,
    index: 0,
    name,
    type: 'BOOL',
    physical: PHYSICAL.int8,
    attributes: {},
    isKey: false,
    isNullable: false,
    writeDefault: null,
    readDefault: 0,
    comment: '',
    encoding: 'AUTO_ENCODING',
    compression: 'DEFAULT_COMPRESSION',
    isImmutable: false,
  }
}

/**
 * The columns of a diff scan's rows. Of a deleted row only the key is shown, so that all other
 * columns are nullable.
 */
export function diffColumns(columns: readonly Column[], isDeletedName: string): Column[] {
  const shown = columns.map((column) => (column.isKey ? column : { ...column, isNullable: true }))
  return [...shown, isDeletedColumn(isDeletedName)]
}
