/** Rows that were looked up, as JSON. */

import type { Column } from '../common/schema.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { FoundRow } from '../router/lookup.ts'
import { ByteArena } from '../util/arena.ts'
import { utf8Decode } from '../util/bytes.ts'
import { createRowEncoder, type RowEncoder } from './format/row-encoder.ts'
import { RawJson } from './json-text.ts'

/** Each row as an object, null where there is none. Requires: the rows have these columns. */
export function encodeFoundRows(
  rows: readonly (FoundRow | null)[],
  columns: readonly Column[],
  values: ValueOptions,
): (RawJson | null)[] {
  const encoder = encoderOf(columns, values)
  const arena = new ByteArena()
  return rows.map((found) => {
    if (found === null) return null
    arena.truncate(0)
    encoder.appendRow(found.block, found.row, arena)
    return new RawJson(utf8Decode(arena.bytes.subarray(0, arena.length)))
  })
}

/** Encoders by the columns that they are for, and the way values are written. */
const encoders = new WeakMap<readonly Column[], Map<string, RowEncoder>>()

/** An encoder for the columns of a table, which come again and again. */
function encoderOf(columns: readonly Column[], values: ValueOptions): RowEncoder {
  const ofColumns = encoders.get(columns) ?? new Map<string, RowEncoder>()
  encoders.set(columns, ofColumns)
  const key = `${values.int64} ${values.timestamps}`
  const encoder =
    ofColumns.get(key) ?? createRowEncoder('json', columns, { ...values, nullText: '' })
  ofColumns.set(key, encoder)
  return encoder
}
