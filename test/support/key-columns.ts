/** Keys at random: schemas, rows of boundary cells, and their order in the plainest way. */

import type { Cell } from '../../src/common/data-type.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import type { Prng } from '../../src/util/prng.ts'
import { aSchema } from './a-schema.ts'
import { boundaryCells } from './boundary-cells.ts'
import { plainCompare } from './plain-predicate.ts'

/** Types that a key column can have. */
export const KEY_TYPES = [
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'UNIXTIME_MICROS',
  'DATE',
  'DECIMAL(4)',
  'DECIMAL(18)',
  'DECIMAL(38)',
  'STRING',
  'VARCHAR(3)',
  'BINARY',
] as const

/** A schema of one to `columnCountMax` key columns k0, k1 … and a value column. */
export function aRandomKeySchema(prng: Prng, columnCountMax: number): Schema {
  const count = prng.between(1, columnCountMax)
  const keys = Array.from({ length: count }, (_, index) => `k${index} ${prng.pick(KEY_TYPES)} KEY`)
  return aSchema(...keys, 'value DOUBLE NULL')
}

/** A boundary cell for each column. */
export function randomCells(prng: Prng, columns: readonly Column[]): Cell[] {
  return columns.map((column) => prng.pick(boundaryCells(column)))
}

/** Rows as a block of just these columns. */
export function blockOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): RowBlock {
  const builder = new RowBlockBuilder(columns, false)
  for (const row of rows) {
    for (const [index, cell] of row.entries()) builder.setCell(index, cell)
    builder.endRow()
  }
  return builder.view()
}

/** Orders tuples of cells, none of them NaN. */
export function comparePlainTuples(a: readonly Cell[], b: readonly Cell[]): number {
  for (const [index, cell] of a.entries()) {
    if (plainCompare(cell, '<', b[index])) return -1
    if (plainCompare(cell, '>', b[index])) return 1
  }
  return 0
}
