/** Primary keys of rows as clients write them: in JSON by name or in order, in paths as text. */

import { cellFromJson, cellFromText, DEFAULT_VALUE_OPTIONS } from '../common/cell-json.ts'
import type { Cell } from '../common/data-type.ts'
import { encodeKeyCells } from '../common/encoded-key.ts'
import { isJsonObject } from '../common/json-object.ts'
import { KEY_BYTES_MAX } from '../common/limits.ts'
import type { Column, Schema } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import type { ValueOptions } from '../common/value-options.ts'
import { shownName } from './json-tree.ts'
import { decodeSegment } from './raw-path.ts'

/**
 * The cells of a key given by column name, in key order. `what` names it in errors.
 *
 * Throws: INVALID_ARGUMENT when it misses a key column, has another member, or a wrong value.
 */
export function keyCellsFromJson(
  schema: Schema,
  key: unknown,
  what: string,
  options: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Cell[] {
  if (!isJsonObject(key)) throw invalidArgument(`${what} must be an object`)
  for (const name of Object.keys(key)) {
    if (schema.byName(name)?.isKey === true) continue
    throw invalidArgument(`${what} has ${shownName(name)}, which is no key column`)
  }
  return schema.keyColumns.map((column) => {
    if (Object.hasOwn(key, column.name)) return keyCell(column, key[column.name], options)
    throw invalidArgument(`${what} needs a value of key column "${column.name}"`, {
      column: column.name,
    })
  })
}

/** The cells of a key given as an array in key order. Throws: INVALID_ARGUMENT. */
export function keyCellsFromArray(schema: Schema, key: unknown, options: ValueOptions): Cell[] {
  if (!Array.isArray(key)) throw invalidArgument('query parameter "key" must be a JSON array')
  checkCount(schema, key.length, 'query parameter "key"')
  return schema.keyColumns.map((column, index) => keyCell(column, key[index], options))
}

/** The cells of a key given as segments of a path, in key order, still encoded. */
export function keyCellsFromSegments(
  schema: Schema,
  segments: readonly string[],
  options: ValueOptions,
): Cell[] {
  const texts = segments.map(decodeSegment)
  checkCount(schema, texts.length, 'path')
  return schema.keyColumns.map((column, index) => {
    if (texts[index] !== '') return cellFromText(column, texts[index], options)
    const detail = `path has an empty segment for key column "${column.name}"`
    throw invalidArgument(`${detail}; use row?key=`, { column: column.name })
  })
}

/** The encoded key of cells in key order. Throws: INVALID_ARGUMENT when it is too large. */
export function encodedKey(schema: Schema, cells: readonly Cell[]): Uint8Array {
  const key = encodeKeyCells(schema.keyColumns, cells)
  if (key.length <= KEY_BYTES_MAX) return key
  throw invalidArgument(`encoded primary key is ${key.length} bytes, limit is ${KEY_BYTES_MAX}`, {
    limit: KEY_BYTES_MAX,
  })
}

function keyCell(column: Column, value: unknown, options: ValueOptions): Cell {
  const cell = cellFromJson(column, value, options)
  if (cell !== null) return cell
  throw invalidArgument(`column "${column.name}": null is not allowed for a key column`, {
    column: column.name,
  })
}

function checkCount(schema: Schema, count: number, what: string): void {
  const expected = schema.keyColumnCount
  if (count === expected) return
  throw invalidArgument(`${what} has ${count} key values, table has ${expected} key columns`)
}
