import { describe, expect, test } from 'vitest'
import type { ValueRules } from '../../../cli/perf/load-plan.ts'
import { RowGenerator } from '../../../cli/perf/row-generator.ts'
import { schemaOf } from '../../../cli/rest/table-schema.ts'
import { cellToJson } from '../../../src/common/cell-json.ts'
import type { DataType, TypeAttributes } from '../../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../../src/common/row-block-builder.ts'
import type { Column, Schema } from '../../../src/common/schema.ts'

const RULES: ValueRules = {
  isKeyRandom: false,
  isValueRandom: false,
  stringFixed: '',
  stringLength: 8,
}
const AS_MICROS = { int64: 'number', timestamps: 'micros' } as const

function aSchema(...types: readonly (DataType | [DataType, TypeAttributes])[]): Schema {
  const columns = types.map((it, index) => {
    const [type, attributes] = typeof it === 'string' ? [it, {}] : it
    const flags = { is_key: index === 0, is_nullable: false, immutable: false }
    return { id: index, name: `c${index}`, type, type_attributes: attributes, ...flags }
  })
  return schemaOf({ id: '', name: '', schema: { columns } })
}

interface Wanted {
  readonly first?: number
  readonly rows?: number
  readonly rules?: Partial<ValueRules>
  readonly columns?: readonly Column[]
}

/** Cells as JSON, row by row. */
function generate(
  schema: Schema,
  { first = 0, rows = 1, rules = {}, columns }: Wanted,
): string[][] {
  const written = columns ?? schema.columns
  const builder = new RowBlockBuilder(written, false)
  const generator = new RowGenerator(written, schema.columns.length, { ...RULES, ...rules })
  generator.append(builder, first, rows)
  const block = builder.view()
  return Array.from({ length: block.rowCount }, (_, row) =>
    written.map((column, index) => {
      const cell = block.columns[index].cell(row)
      return cell === null ? 'null' : cellToJson(column, cell, AS_MICROS)
    }),
  )
}

/** The cell with a number in a column of a type, as JSON. */
function cellOf(type: DataType, number: number, attributes: TypeAttributes = {}): string {
  const schema = aSchema('INT64', [type, attributes])
  return generate(schema, { first: number - 1 })[0][1]
}

describe('RowGenerator', () => {
  test('counts on from column to column and from row to row', () => {
    const schema = aSchema('INT64', 'INT32', 'STRING')

    expect(generate(schema, { first: 30, rows: 3 })).toEqual([
      ['30', '31', '"32.xxxxx"'],
      ['33', '34', '"35.xxxxx"'],
      ['36', '37', '"38.xxxxx"'],
    ])
  })

  test('gives keys alone the numbers that they have in whole rows', () => {
    const schema = aSchema('INT64', 'INT32', 'STRING')
    const keys = generate(schema, { first: 30, rows: 3, columns: schema.keyColumns })

    expect(keys).toEqual([['30'], ['33'], ['36']])
  })

  test('makes of parts what it makes of the whole', () => {
    const schema = aSchema('INT64', 'STRING', 'DOUBLE')
    const rules = { isKeyRandom: true, isValueRandom: true }
    const whole = generate(schema, { first: 7, rows: 100, rules })
    const parts = [
      ...generate(schema, { first: 7, rows: 33, rules }),
      ...generate(schema, { first: 7 + 33 * 3, rows: 67, rules }),
    ]

    expect(parts).toEqual(whole)
  })

  test.each<[DataType, TypeAttributes, number, string]>([
    ['BOOL', {}, 6, 'false'],
    ['BOOL', {}, 7, 'true'],
    ['INT8', {}, 127, '127'],
    ['INT8', {}, 128, '0'],
    ['INT16', {}, 32_770, '2'],
    ['INT32', {}, 2 ** 31 - 1, '2147483647'],
    ['INT32', {}, 2 ** 32 + 5, '5'],
    ['INT64', {}, 2 ** 53 - 1, '9007199254740991'],
    ['UNIXTIME_MICROS', {}, 2 ** 40, '1099511627776'],
    ['DATE', {}, 1, '"1970-01-02"'],
    ['DATE', {}, 2_932_896, '"9999-12-31"'],
    ['DATE', {}, 2_932_897, '"1970-01-01"'],
    ['FLOAT', {}, 2 ** 24 + 1, '16777216'],
    ['DOUBLE', {}, 2 ** 40 + 1, '1099511627777'],
    ['DECIMAL', { precision: 3, scale: 2 }, 12_345, '"3.45"'],
    ['DECIMAL', { precision: 9, scale: 0 }, 12_345_678_901, '"345678901"'],
    ['DECIMAL', { precision: 15, scale: 5 }, 2 ** 53 - 1, '"71992547.40991"'],
    ['DECIMAL', { precision: 18, scale: 2 }, 2 ** 53 - 1, '"90071992547409.91"'],
    ['DECIMAL', { precision: 38, scale: 1 }, 2 ** 53 - 1, '"900719925474099.1"'],
    ['STRING', {}, 0x7fffffff, '"21474836"'],
    ['STRING', {}, 123_456, '"123456.x"'],
    ['VARCHAR', { length: 4 }, 5, '"5.xx"'],
    ['BINARY', {}, 5, `"${Buffer.from('5.xxxxxx').toString('base64')}"`],
  ])('%s %j of %d is %s', (type, attributes, number, json) => {
    expect(cellOf(type, number, attributes)).toBe(json)
  })

  test('writes every digit of numbers of every length', () => {
    for (let digits = 1; digits <= 15; digits++) {
      for (const number of [
        10 ** (digits - 1),
        10 ** digits - 1,
        1234567890123456 % 10 ** digits,
      ]) {
        const schema = aSchema('STRING')
        const [[text]] = generate(schema, { first: number, rules: { stringLength: 100 } })

        expect(text).toBe(`"${`${number}.`.padEnd(100, 'x')}"`)
      }
    }
  })

  test('takes a fixed string instead, cut to what a VARCHAR holds', () => {
    const schema = aSchema('INT64', 'STRING', ['VARCHAR', { length: 2 }], 'BINARY', 'INT8')
    const [, row] = generate(schema, { rows: 2, rules: { stringFixed: 'äöü' } })

    expect(row).toEqual(['5', '"äöü"', '"äö"', '"w6TDtsO8"', '9'])
  })

  test('gives empty strings when asked for no length', () => {
    expect(generate(aSchema('INT64', 'STRING'), { rules: { stringLength: 0 } })).toEqual([
      ['0', '""'],
    ])
  })

  test('mixes up the numbers of keys, or of the other columns', () => {
    const schema = aSchema('INT64', 'INT64')
    const keys = generate(schema, { rows: 50, rules: { isKeyRandom: true } })
    const others = generate(schema, { rows: 50, rules: { isValueRandom: true } })

    expect(keys.map((row) => row[1])).toEqual(others.map((_, i) => String(i * 2 + 1)))
    expect(others.map((row) => row[0])).toEqual(keys.map((_, i) => String(i * 2)))
    expect(new Set(keys.map((row) => row[0])).size).toBe(50)
    const cells = [...keys.map((row) => row[0]), ...others.map((row) => row[1])].map(BigInt)
    expect(cells.every((cell) => cell >= 0n && cell < 2n ** 63n)).toBe(true)
    // Half of them have the highest bit that they may have.
    const high = cells.filter((cell) => cell >= 2n ** 62n).length
    expect(high).toBeGreaterThan(25)
    expect(high).toBeLessThan(75)
  })

  test('mixes up numbers so that no two become the same', () => {
    const keys = generate(aSchema('INT64'), { rows: 20_000, rules: { isKeyRandom: true } })

    expect(new Set(keys.map(([key]) => key)).size).toBe(20_000)
  })

  test('keeps random cells in range of their types', () => {
    const schema = aSchema(
      'INT8',
      'DATE',
      ['DECIMAL', { precision: 1, scale: 1 }],
      ['DECIMAL', { precision: 17, scale: 0 }],
      'STRING',
    )
    const rules = { isKeyRandom: true, isValueRandom: true, stringLength: 20 }
    for (const [int8, date, small, large, text] of generate(schema, { rows: 2000, rules })) {
      expect(Number(int8)).toBeLessThan(128)
      expect(date).toMatch(/^"[1-9]\d{3}-\d\d-\d\d"$/)
      expect(small).toMatch(/^"0\.\d"$/)
      expect(large).toMatch(/^"\d{1,16}"$/)
      expect(text).toMatch(/^"\d{1,16}\.x*"$/)
    }
  })
})
