/** Keys of rows of the simulator. */

import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import type { Schema } from '../../src/common/schema.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { ModelOperation, ModelRow } from '../support/tablet-model.ts'

/** A key: its cells. */
export type SimKey = readonly [k: number, s: string]

/** The key of a row, or null when it has none. */
export function keyOf(row: ModelRow): SimKey | null {
  return typeof row.k === 'number' && typeof row.s === 'string' ? [row.k, row.s] : null
}

/** The keys of all operations that have one. */
export function keysOf(operations: readonly ModelOperation[]): SimKey[] {
  return operations.map(([, row]) => keyOf(row)).filter((key) => key !== null)
}

/** Encoded keys. */
export function encodeSimKeys(schema: Schema, keys: readonly SimKey[]): KeyArena {
  const arena = new KeyArena()
  for (const [k, s] of keys) {
    const bytes = encodeKeyCells(schema.keyColumns, [k, utf8Encode(s)])
    arena.append(bytes, 0, bytes.length)
    arena.endKey()
  }
  return arena
}

/** Orders keys as the table does. */
export function compareSimKeys(a: SimKey, b: SimKey): number {
  if (a[0] !== b[0]) return a[0] - b[0]
  return a[1] === b[1] ? 0 : a[1] < b[1] ? -1 : 1
}
