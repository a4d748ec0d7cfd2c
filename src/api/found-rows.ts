/** Rows that were looked up, as JSON. */

import type { Column } from '../common/schema.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { FoundRow } from '../router/lookup.ts'
import { ByteArena } from '../util/arena.ts'
import { utf8Decode } from '../util/bytes.ts'
import { createRowEncoder } from './format/row-encoder.ts'
import { RawJson } from './json-text.ts'

/** Each row as an object, null where there is none. Requires: the rows have these columns. */
export function encodeFoundRows(
  rows: readonly (FoundRow | null)[],
  columns: readonly Column[],
  values: ValueOptions,
): (RawJson | null)[] {
  const encoder = createRowEncoder('json', columns, { ...values, nullText: '' })
  const arena = new ByteArena()
  return rows.map((found) => {
    if (found === null) return null
    arena.truncate(0)
    encoder.appendRow(found.block, found.row, arena)
    return new RawJson(utf8Decode(arena.bytes.subarray(0, arena.length)))
  })
}
