/** Rows of blocks as plain objects, and their keys. */

import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeys } from '../../src/common/encoded-key.ts'
import { hashKeys } from '../../src/common/hash-keys.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import { type ColumnDefinition, Schema } from '../../src/common/schema.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { utf8Decode } from '../../src/util/bytes.ts'
import { aColumnDefinition } from './a-schema.ts'
import { aWriteBlock, type PlainCell, type PlainRow } from './a-write-block.ts'

/** Seed of the key hashes of tests. */
export const KEY_HASH_SEED = 7

/**
 * A schema of columns as in `aSchema`, with what that cannot say: `['v INT32', { writeDefault: 7
 * }]`.
 */
export function schemaWith(
  ...columns: readonly (string | readonly [string, Partial<ColumnDefinition>])[]
): Schema {
  return new Schema(
    columns.map((column, index) => {
      const [text, more] = typeof column === 'string' ? [column, {}] : column
      return { ...aColumnDefinition(text, 10 + index), ...more }
    }),
  )
}

/** A block of the columns that some row names. */
export function blockOf(schema: Schema, rows: readonly PlainRow[]): RowBlock {
  const named = schema.columns.filter((column) => rows.some((row) => column.name in row))
  return aWriteBlock(
    schema,
    rows.map((row) => ['INSERT', row]),
    named.map((column) => column.name),
  )
}

/** A cell as tests write it. */
export function toPlain(cell: Cell | null): PlainCell {
  return cell instanceof Uint8Array ? utf8Decode(cell) : cell
}

/** Rows of a block as tests write them; unset cells are left out. */
export function rowsOf(schema: Schema, block: RowBlock): PlainRow[] {
  return Array.from({ length: block.rowCount }, (_, row) => {
    const plain: Record<string, PlainCell> = {}
    block.columns.forEach((vector, index) => {
      const { name } = schema.mustById(block.columnIds[index])
      if (vector.hasCell(row)) plain[name] = toPlain(vector.cell(row))
    })
    return plain
  })
}

/** Encoded keys of all rows of a block that has the key columns. */
export function keysOf(schema: Schema, block: RowBlock): KeyArena {
  const keys = new KeyArena()
  const columns = schema.keyColumns.map((column) => block.columnById(column.id)!)
  encodeKeys(columns, block.rowCount, keys)
  return keys
}

/** Hashes of all keys. */
export function hashesOf(keys: KeyArena): Uint32Array {
  const hashes = new Uint32Array(keys.count)
  hashKeys(keys, 0, KEY_HASH_SEED, hashes)
  return hashes
}
