/**
 * Write blocks in a line: `aWriteBlock(schema, [['INSERT', { k: 1, v: 'x' }], ['DELETE', { k: 2
 * }]])`.
 */

import type { Cell } from '../../src/common/data-type.ts'
import { encodeRowBlock, type RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import type { Schema } from '../../src/common/schema.ts'
import { assert } from '../../src/util/assert.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/**
 * A value as tests write it: texts become UTF-8, integers of 64 bits and more may be written as
 * numbers.
 */
export type PlainCell = Cell | string | null

/** A row by column name; a column left out is unset. */
export type PlainRow = Readonly<Record<string, PlainCell>>

/** An operation and its row. */
export type PlainOperation = readonly [operation: RowOperationName, row: PlainRow]

/** A write block with all columns of a schema, or only those named. */
export function aWriteBlock(
  schema: Schema,
  operations: readonly PlainOperation[],
  columnNames: readonly string[] = schema.columns.map((column) => column.name),
): RowBlock {
  const columns = columnNames.map((name) => {
    const column = schema.byName(name)
    assert(column !== undefined, 'the schema has the column')
    return column
  })
  const builder = new RowBlockBuilder(columns, true)
  for (const [operation, row] of operations) {
    for (const [name, value] of Object.entries(row)) {
      const index = columns.findIndex((column) => column.name === name)
      assert(index !== -1, 'the block has the column')
      builder.setCell(index, cellOf(value, columns[index].physical))
    }
    builder.endRow(ROW_OPERATIONS[operation])
  }
  return builder.view()
}

/** The byte form of `aWriteBlock`. */
export function aShare(schema: Schema, ...operations: readonly PlainOperation[]): Uint8Array {
  return encodeRowBlock(aWriteBlock(schema, operations))
}

function cellOf(value: PlainCell, physical: number): Cell | null {
  if (typeof value === 'string') return utf8Encode(value)
  const isWide = physical === 3 || physical === 6
  return typeof value === 'number' && isWide ? BigInt(value) : value
}
