/** Scans in a line: predicates by column name, key bounds as cells. */

import {
  type ColumnPredicate,
  equalityPredicate,
  inListPredicate,
  isNotNullPredicate,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import type { ScanSpec } from '../../src/common/scan-spec.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aCell, type PlainCell } from './partition-input.ts'

/** A predicate as the vectors write it; a range is `[lower, upper)` and null is open. */
export type PlainPredicate =
  | readonly [string, 'notnull']
  | readonly [string, '=', PlainCell]
  | readonly [string, 'in', readonly PlainCell[]]
  | readonly [string, 'range', PlainCell | null, PlainCell | null]

/** Cells of a key in key order; null is no bound. */
export type PlainKey = readonly PlainCell[] | null

/** A scan. */
export function aScan(
  schema: Schema,
  predicates: readonly PlainPredicate[],
  lower: PlainKey = null,
  upper: PlainKey = null,
): ScanSpec {
  return {
    predicates: predicates.map((predicate) => aPredicate(schema, predicate)),
    lowerKey: aKey(schema, lower),
    upperKey: aKey(schema, upper),
  }
}

function aPredicate(schema: Schema, [name, op, ...operands]: PlainPredicate): ColumnPredicate {
  const column = schema.byName(name)!
  const [first, second] = operands.map((it) =>
    Array.isArray(it) ? null : cellFor(column, it as PlainCell | null),
  )
  if (op === 'notnull') return isNotNullPredicate(column)
  if (op === '=') return equalityPredicate(column, first!)
  if (op === 'range') return rangePredicate(column, first, second)
  const values = operands[0] as readonly PlainCell[]
  return inListPredicate(
    column,
    values.map((value) => cellFor(column, value)!),
  )
}

function aKey(schema: Schema, cells: PlainKey): Uint8Array {
  if (cells === null) return EMPTY_BYTES
  const { keyColumns } = schema
  return encodeKeyCells(
    keyColumns,
    cells.map((cell, index) => cellFor(keyColumns[index], cell)!),
  )
}

/** JSON has numbers only where some columns hold bigints. */
function cellFor(column: Column, cell: PlainCell | null): Cell | null {
  if (cell === null) return null
  const isWide = column.physical === PHYSICAL.int64 || column.physical === PHYSICAL.int128
  return isWide && typeof cell === 'number' ? BigInt(cell) : aCell(cell)
}
