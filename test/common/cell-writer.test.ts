import { describe, expect, test } from 'vitest'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../src/common/cell-json.ts'
import { planCell } from '../../src/common/cell-plan.ts'
import { appendJsonCell, appendTextCell } from '../../src/common/cell-writer.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aColumn } from '../support/a-schema.ts'
import { printed } from '../support/scalars.ts'

function write(type: string, cells: readonly (Cell | null)[], options?: ValueOptions): string[] {
  const column = aColumn(`value ${type} NULL`)
  const plan = planCell(column, options ?? DEFAULT_VALUE_OPTIONS)
  const builder = new ColumnBuilder(column.physical)
  for (const cell of cells) builder.appendCell(cell)
  const vector = builder.view()
  return cells.map((cell, row) =>
    printed((arena) => {
      appendJsonCell(arena, plan, vector, row)
      if (cell === null) return
      arena.append(utf8Encode(' '), 0, 1)
      appendTextCell(arena, plan, vector, row)
    }),
  )
}

describe('appendJsonCell', () => {
  test('writes each row of a column, nulls too, beside its text', () => {
    expect(write('INT32', [1, null, -5])).toEqual(['1 1', 'null', '-5 -5'])
    expect(write('BOOL', [0, 1])).toEqual(['false false', 'true true'])
    expect(write('STRING', [utf8Encode('a"'), null, utf8Encode('')])).toEqual([
      '"a\\"" a"',
      'null',
      '"" ',
    ])
    expect(write('INT64', [-(2n ** 63n), 7n])).toEqual([
      '-9223372036854775808 -9223372036854775808',
      '7 7',
    ])
    expect(write('DECIMAL(20,1)', [-(10n ** 19n), 5n])).toEqual([
      '"-1000000000000000000.0" -1000000000000000000.0',
      '"0.5" 0.5',
    ])
    expect(write('DOUBLE', [0.5, Number.NaN, -0])).toEqual(['0.5 0.5', '"NaN" NaN', '-0 -0'])
    expect(write('DATE', [0])).toEqual(['"1970-01-01" 1970-01-01'])
    expect(write('BINARY', [utf8Encode('hi')])).toEqual(['"aGk=" aGk='])
  })

  test('obeys the options in JSON, and quotes no integer in text', () => {
    const options: ValueOptions = { int64: 'string', timestamps: 'millis' }

    expect(write('INT64', [5n], options)).toEqual(['"5" 5'])
    expect(write('UNIXTIME_MICROS', [-1n], options)).toEqual(['-1 -1'])
    expect(write('UNIXTIME_MICROS', [-1n], { ...options, timestamps: 'micros' })).toEqual(['-1 -1'])
    expect(write('UNIXTIME_MICROS', [1n])).toEqual([
      '"1970-01-01T00:00:00.000001Z" 1970-01-01T00:00:00.000001Z',
    ])
  })
})
