/** Rows as Kudu's load generator makes them: an INT64 key, an INT32 and a short string. */

import { utf8Encode } from '../../src/util/bytes.ts'
import { benchSchema, type InsertBlocks } from './bench-schema.ts'

/** Its table. */
export const LOADGEN_SCHEMA = benchSchema([
  { name: 'key', type: 'INT64', isKey: true },
  { name: 'int_val', type: 'INT32' },
  { name: 'string_val', type: 'STRING' },
])

/** Appends the row with a key. */
export function appendLoadgenRow(blocks: InsertBlocks, key: number): void {
  const [keys, ints, strings] = blocks.builder.columns
  keys.appendCell(BigInt(key))
  ints.appendCell(key & 0x7fffffff)
  strings.appendCell(utf8Encode(`string value ${key}`))
}
