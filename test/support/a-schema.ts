/**
 * Schemas and columns in a line: `aSchema('a INT8 KEY', 'b STRING KEY', 'c DECIMAL(5,2) NULL')`.
 * Column ids start at 10, so that nothing can take them for positions.
 */

import { DATA_TYPES, type TypeAttributes } from '../../src/common/data-type.ts'
import { type Column, type ColumnDefinition, Schema } from '../../src/common/schema.ts'
import { assert } from '../../src/util/assert.ts'

const FIRST_ID = 10

/**
 * A schema of columns written as `name TYPE [KEY | NULL]`. Requires: key columns first, at least
 * one.
 */
export function aSchema(...columns: readonly string[]): Schema {
  return new Schema(columns.map((text, index) => aColumnDefinition(text, FIRST_ID + index)))
}

/** One column, written as in `aSchema`; it may be of a type or kind that no key can have. */
export function aColumn(text: string): Column {
  const key = aColumnDefinition('key_of_a_column INT32 KEY', FIRST_ID - 1)
  const definition = aColumnDefinition(text, FIRST_ID)
  return new Schema(definition.isKey ? [definition, key] : [key, definition]).mustById(FIRST_ID)
}

/** A column's definition, written as in `aSchema`. */
export function aColumnDefinition(text: string, id: number): ColumnDefinition {
  const match = /^(\S+) ([A-Z0-9_]+)(?:\((\d+)(?:,(\d+))?\))?( KEY| NULL)?$/.exec(text)
  assert(match !== null, 'a column reads `name TYPE(attributes) KEY`')
  const [, name, typeName, first, second, kind] = match
  const type = DATA_TYPES.find((known) => known === typeName)
  assert(type !== undefined, 'a column has a known type')
  let attributes: TypeAttributes = {}
  if (type === 'VARCHAR') attributes = { length: Number(first) }
  if (type === 'DECIMAL') attributes = { precision: Number(first), scale: Number(second ?? 0) }
  return {
    id,
    name,
    type,
    attributes,
    isKey: kind === ' KEY',
    isNullable: kind === ' NULL',
    writeDefault: null,
    readDefault: null,
    comment: '',
    encoding: 'AUTO_ENCODING',
    compression: 'DEFAULT_COMPRESSION',
    isImmutable: false,
  }
}
