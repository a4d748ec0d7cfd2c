/** Rows of plain cells as blocks, and through the encoders. */

import {
  createRowEncoder,
  type RowEncodeOptions,
  type RowFormat,
} from '../../src/api/format/row-encoder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import type { Column } from '../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import { assert } from '../../src/util/assert.ts'
import { utf8DecodeStrict } from '../../src/util/bytes.ts'
import { printed } from './scalars.ts'

/** A block of rows with a cell a column. */
export function aBlock(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | null)[])[],
): RowBlock {
  const builder = new RowBlockBuilder(columns, false)
  for (const row of rows) {
    for (const [index, cell] of row.entries()) builder.setCell(index, cell)
    builder.endRow()
  }
  return builder.view()
}

/** What an encoder writes of all rows, header first. */
export function encoded(
  format: RowFormat,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | null)[])[],
  options: Partial<RowEncodeOptions> = {},
): string {
  const encoder = createRowEncoder(format, columns, {
    ...DEFAULT_VALUE_OPTIONS,
    nullText: '',
    ...options,
  })
  const block = aBlock(columns, rows)
  return printed((out) => {
    const start = out.length
    encoder.appendHeader(out)
    encoder.appendRows(block, 0, rows.length, out)
    assert(utf8DecodeStrict(out.bytes.slice(start, out.length)) !== undefined, 'UTF-8 is written')
  })
}
