import { describe, expect, test } from 'vitest'
import { JsonRowEncoder } from '../../../src/api/format/json-row-encoder.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../../src/common/row-block-builder.ts'
import type { Column } from '../../../src/common/schema.ts'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import { ByteArena } from '../../../src/util/arena.ts'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { EVERY_TYPE, writableCell } from '../../support/random-rows.ts'

type Rows = readonly (readonly (Cell | null)[])[]

/** The rows as `appendRows` writes them, cut in two, and one by one. */
function bothWays(columns: readonly Column[], rows: Rows, values: ValueOptions, isLine: boolean) {
  const builder = new RowBlockBuilder(columns, false)
  for (const row of rows) {
    row.forEach((cell, i) => {
      builder.columns[i].appendCell(cell)
    })
    builder.rowCount++
  }
  const block = builder.view()
  const many = new ByteArena(1)
  const middle = rows.length >> 1
  const encoder = new JsonRowEncoder(columns, values, isLine)
  encoder.appendRows(block, 0, middle, many)
  if (!isLine && middle > 0 && middle < rows.length) many.append(utf8Encode(','), 0, 1)
  encoder.appendRows(block, middle, rows.length, many)
  const single = new ByteArena(1)
  for (let row = 0; row < rows.length; row++) {
    if (!isLine && row > 0) single.append(utf8Encode(','), 0, 1)
    encoder.appendRow(block, row, single)
  }
  const text = ({ bytes, length }: ByteArena) => utf8Decode(bytes.subarray(0, length))
  return { many: text(many), single: text(single) }
}

const DEFAULTS: ValueOptions = { int64: 'number', timestamps: 'rfc3339' }

describe('JsonRowEncoder', () => {
  test('writes many rows at once as it writes them one by one', () => {
    for (let seed = 0; seed < 60; seed++) {
      const prng = new Prng(seed)
      const values: ValueOptions = {
        int64: prng.pick(['number', 'string']),
        timestamps: prng.pick(['rfc3339', 'micros', 'millis']),
      }
      const columns = EVERY_TYPE.columns.filter(() => prng.chance(0.7))
      const nullChance = prng.pick([0, 0.1, 1])
      const rows = Array.from({ length: prng.below(300) }, () =>
        columns.map((column) => {
          const isNull = column.isNullable && prng.chance(nullChance)
          return isNull ? null : writableCell(prng, column)
        }),
      )
      const { many, single } = bothWays(columns, rows, values, prng.chance(0.5))
      expect(many === single, `seed ${seed}: ${many.slice(0, 200)}`).toBe(true)
    }
  })

  test.each([
    ['k INT64 KEY', [0n, 9n, 10n, 999_999_999n, 1_000_000_000n, 2n ** 52n - 1n, -(2n ** 52n)]],
    ['k INT64 KEY', [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 1n]],
    ['k DECIMAL(15,0) KEY', [0n, -1n, 999_999_999_999_999n, -999_999_999_999_999n]],
    ['k DECIMAL(15,2) KEY', [0n, -1n, 9n, 10n, 99n, 100n, 999_999_999_999_999n, -100n]],
    ['k DECIMAL(15,15) KEY', [0n, -1n, 999_999_999_999_999n, 100_000_000_000_000n]],
    ['k DECIMAL(18,18) KEY', [0n, -1n, 10n ** 18n - 1n]],
    ['k DECIMAL(9,4) KEY', [0, -1, 9999, 10_000, 999_999_999, -999_999_999]],
    ['k INT32 KEY', [0, -1, 2 ** 31 - 1, -(2 ** 31), 999_999_999, 1_000_000_000]],
    ['k DATE KEY', [0, -719_162, 2_932_896, 4096, 8192, 0, 4096]],
  ] as const)('writes the ends of %s', (definition, cells) => {
    const { columns } = aSchema(definition)
    const rows = cells.map((cell) => [cell])
    const { many, single } = bothWays(columns, rows, DEFAULTS, true)
    expect(many).toBe(single)
  })

  test('escapes what one of many strings needs', () => {
    const { columns } = aSchema('k STRING KEY')
    for (const odd of ['"', '\\', '\n', '\u0000', '\u001f', 'é', '😀']) {
      const rows = ['plain', `a${odd}b`, ''].map((text) => [utf8Encode(text)])
      const { many } = bothWays(columns, rows, DEFAULTS, true)
      expect(
        many
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).k),
      ).toEqual(['plain', `a${odd}b`, ''])
    }
  })
})
