import { describe, expect, test } from 'vitest'
import { JsonResultEncoder } from '../../../src/api/format/json-result-encoder.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { RowBlock } from '../../../src/common/row-block.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { ByteArena } from '../../../src/util/arena.ts'
import { utf8Decode } from '../../../src/util/bytes.ts'
import { aColumn } from '../../support/a-schema.ts'

const COLUMN = aColumn('n INT32 NULL')

/** The JSON of runs of rows, each of which is appended by itself. */
function encoded(...runs: readonly (readonly (number | null)[])[]): string {
  const out = new ByteArena(1)
  const encoder = new JsonResultEncoder([COLUMN], DEFAULT_VALUE_OPTIONS, 17)
  encoder.appendHeader(out)
  for (const cells of runs) {
    const builder = new ColumnBuilder(COLUMN.physical)
    for (const cell of cells) {
      if (cell === null) builder.appendNull(true)
      else builder.appendCell(cell)
    }
    const block = new RowBlock(cells.length, [0], [builder.view()], null)
    encoder.appendRows(block, 0, cells.length, out)
  }
  encoder.appendFooter(out)
  return utf8Decode(out.bytes.subarray(0, out.length))
}

describe('JsonResultEncoder', () => {
  test('writes one object, whatever runs the rows come in', () => {
    const expected = '{"rows":[{"n":1},{"n":null},{"n":3}],"snapshot_timestamp":17}'

    expect(encoded([1, null, 3])).toBe(expected)
    expect(encoded([1], [], [null], [3])).toBe(expected)
    expect(encoded([], [1, null], [3], [])).toBe(expected)
  })

  test('writes no rows as an empty list', () => {
    expect(encoded()).toBe('{"rows":[],"snapshot_timestamp":17}')
    expect(encoded([])).toBe('{"rows":[],"snapshot_timestamp":17}')
  })
})
