/** The columns of a table as the service tells of them. */

import type { DataType, TypeAttributes } from '../../src/common/data-type.ts'
import { type ColumnDefinition, Schema } from '../../src/common/schema.ts'

/** What is read of a table object. */
export interface TableObject {
  readonly id: string
  readonly name: string
  readonly schema: { readonly columns: readonly ColumnObject[] }
}

/** What is read of a column. */
export interface ColumnObject {
  readonly id: number
  readonly name: string
  readonly type: DataType
  readonly type_attributes?: TypeAttributes
  readonly is_key: boolean
  readonly is_nullable: boolean
  readonly immutable: boolean
}

/** The schema of a table, as far as whoever writes or reads rows needs it: without defaults. */
export function schemaOf(table: TableObject): Schema {
  return new Schema(table.schema.columns.map(definitionOf))
}

function definitionOf(column: ColumnObject): ColumnDefinition {
  return {
    id: column.id,
    name: column.name,
    type: column.type,
    attributes: column.type_attributes ?? {},
    isKey: column.is_key,
    isNullable: column.is_nullable,
    writeDefault: null,
    readDefault: null,
    comment: '',
    encoding: 'AUTO_ENCODING',
    compression: 'DEFAULT_COMPRESSION',
    isImmutable: column.immutable,
  }
}
