import { describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeCsv, decodeJson, decodeNdjson } from '../../support/decode-rows.ts'
import { encoded } from '../../support/encode-rows.ts'

const PLAIN: ValueOptions = { int64: 'number', timestamps: 'rfc3339' }
const QUOTED: ValueOptions = { int64: 'string', timestamps: 'rfc3339' }
const MICROS: ValueOptions = { int64: 'number', timestamps: 'micros' }
const MILLIS: ValueOptions = { int64: 'number', timestamps: 'millis' }

const text = (value: string) => utf8Encode(value)
const bytes = (...values: number[]) => Uint8Array.from(values)

type Example = readonly [
  type: string,
  cell: Cell,
  json: string,
  csv: string,
  options?: ValueOptions,
]
type FullExample = readonly [type: string, cell: Cell, json: string, csv: string, ValueOptions]

/** A cell, and how it is written in JSON and in CSV; each of them is read back as the cell. */
const WRITTEN: readonly Example[] = [
  ['BOOL', 1, 'true', 'true'],
  ['BOOL', 0, 'false', 'false'],
  ['INT8', -128, '-128', '-128'],
  ['INT8', 127, '127', '127'],
  ['INT16', -32768, '-32768', '-32768'],
  ['INT16', 32767, '32767', '32767'],
  ['INT32', -2147483648, '-2147483648', '-2147483648'],
  ['INT32', 2147483647, '2147483647', '2147483647'],
  ['INT32', 1000000000, '1000000000', '1000000000'],
  ['INT64', 0n, '0', '0'],
  ['INT64', 9007199254740993n, '9007199254740993', '9007199254740993'],
  ['INT64', -9223372036854775808n, '-9223372036854775808', '-9223372036854775808'],
  ['INT64', 9223372036854775807n, '9223372036854775807', '9223372036854775807'],
  ['INT64', 9223372036854775807n, '"9223372036854775807"', '9223372036854775807', QUOTED],
  ['INT64', -1n, '"-1"', '-1', QUOTED],
  ['FLOAT', Math.fround(0.1), '0.1', '0.1'],
  ['FLOAT', -0, '-0', '-0'],
  ['FLOAT', 16777216, '16777216', '16777216'],
  ['FLOAT', Math.fround(1e-45), '1e-45', '1e-45'],
  ['FLOAT', 3.4028234663852886e38, '3.4028235e+38', '3.4028235e+38'],
  ['FLOAT', Number.NaN, '"NaN"', 'NaN'],
  ['DOUBLE', 0.1, '0.1', '0.1'],
  ['DOUBLE', -0, '-0', '-0'],
  ['DOUBLE', 1e21, '1e+21', '1e+21'],
  ['DOUBLE', 123456789012345680000, '123456789012345680000', '123456789012345680000'],
  ['DOUBLE', 5e-324, '5e-324', '5e-324'],
  ['DOUBLE', Number.POSITIVE_INFINITY, '"Infinity"', 'Infinity'],
  ['DOUBLE', Number.NEGATIVE_INFINITY, '"-Infinity"', '-Infinity'],
  ['STRING', text(''), '""', '""'],
  ['STRING', text('a\u0000"é😀'), '"a\\u0000\\"é😀"', '"a\u0000""é😀"'],
  ['VARCHAR(3)', text('a😀b'), '"a😀b"', 'a😀b'],
  ['BINARY', bytes(), '""', '""'],
  ['BINARY', bytes(0), '"AA=="', 'AA=='],
  ['BINARY', bytes(0, 255), '"AP8="', 'AP8='],
  ['BINARY', bytes(251, 255, 190), '"+/++"', '+/++'],
  ['UNIXTIME_MICROS', 0n, '"1970-01-01T00:00:00.000000Z"', '1970-01-01T00:00:00.000000Z'],
  [
    'UNIXTIME_MICROS',
    1769903999000001n,
    '"2026-01-31T23:59:59.000001Z"',
    '2026-01-31T23:59:59.000001Z',
  ],
  ['UNIXTIME_MICROS', -1n, '"1969-12-31T23:59:59.999999Z"', '1969-12-31T23:59:59.999999Z'],
  [
    'UNIXTIME_MICROS',
    -9223372036854775808n,
    '"-290308-12-21T19:59:05.224192Z"',
    '-290308-12-21T19:59:05.224192Z',
  ],
  ['UNIXTIME_MICROS', 1769903999000001n, '1769903999000001', '1769903999000001', MICROS],
  [
    'UNIXTIME_MICROS',
    -9223372036854775808n,
    '-9223372036854775808',
    '-9223372036854775808',
    MICROS,
  ],
  ['UNIXTIME_MICROS', 1769903999123000n, '1769903999123', '1769903999123', MILLIS],
  ['UNIXTIME_MICROS', -1000n, '-1', '-1', MILLIS],
  ['DATE', 0, '"1970-01-01"', '1970-01-01'],
  ['DATE', -719162, '"0001-01-01"', '0001-01-01'],
  ['DATE', 2932896, '"9999-12-31"', '9999-12-31'],
  ['DECIMAL(9,2)', -5, '"-0.05"', '-0.05'],
  ['DECIMAL(9,9)', 999999999, '"0.999999999"', '0.999999999'],
  ['DECIMAL(4)', 1234, '"1234"', '1234'],
  ['DECIMAL(18,2)', 999999999999999999n, '"9999999999999999.99"', '9999999999999999.99'],
  ['DECIMAL(18,18)', -1n, '"-0.000000000000000001"', '-0.000000000000000001'],
  ['DECIMAL(38)', 10n ** 38n - 1n, `"${'9'.repeat(38)}"`, '9'.repeat(38)],
  ['DECIMAL(38,38)', 1n - 10n ** 38n, `"-0.${'9'.repeat(38)}"`, `-0.${'9'.repeat(38)}`],
]

/** Other ways of writing a cell in JSON. */
const ALSO_JSON: readonly (readonly [type: string, json: string, cell: Cell])[] = [
  ['INT8', '1.0', 1],
  ['INT16', '1e3', 1000],
  ['INT32', '-0', 0],
  ['INT32', '12300e-2', 123],
  ['INT64', '9007199254740993.0', 9007199254740993n],
  ['INT64', '"9007199254740993"', 9007199254740993n],
  ['INT64', '9223372036854775807e0', 9223372036854775807n],
  ['FLOAT', '16777217', 16777216],
  ['DOUBLE', '9007199254740993', 9007199254740992],
  ['DOUBLE', '1E2', 100],
  ['STRING', '"\\u0061\\ud83d\\ude00\\n"', text('a😀\n')],
  ['VARCHAR(3)', '"\\u0061bc"', text('abc')],
  ['BINARY', '"_-8"', bytes(255, 239)],
  ['BINARY', '"AP8"', bytes(0, 255)],
  ['BINARY', '"\\u0041P8="', bytes(0, 255)],
  ['UNIXTIME_MICROS', '"2026-01-31T23:59:59Z"', 1769903999000000n],
  ['UNIXTIME_MICROS', '"2026-01-31t23:59:59.5z"', 1769903999500000n],
  ['UNIXTIME_MICROS', '"2026-02-01T00:59:59.123456000+01:00"', 1769903999123456n],
  ['UNIXTIME_MICROS', '1769903999000001', 1769903999000001n],
  ['DECIMAL(9,2)', '1.5', 150],
  ['DECIMAL(9,2)', '"1.500"', 150],
  ['DECIMAL(18,2)', '1e15', 10n ** 17n],
  ['DECIMAL(38,3)', '12345678901234567890.125', 12345678901234567890125n],
]

/** Other ways of writing a cell in CSV. */
const ALSO_CSV: readonly (readonly [type: string, csv: string, cell: Cell])[] = [
  ['BOOL', 'TRUE', 1],
  ['BOOL', '"fAlse"', 0],
  ['INT32', '"12"', 12],
  ['INT64', '1e3', 1000n],
  ['DOUBLE', 'nan', Number.NaN],
  ['FLOAT', '-INFINITY', Number.NEGATIVE_INFINITY],
  ['UNIXTIME_MICROS', '2026-01-31 23:59:59+00', 1769903999000000n],
  ['UNIXTIME_MICROS', '2026-02-01T00:59:59+0100', 1769903999000000n],
  ['UNIXTIME_MICROS', '1769903999000001', 1769903999000001n],
  ['BINARY', 'AP8', bytes(0, 255)],
]

const REFUSED_JSON: readonly (readonly [type: string, json: string, message: string])[] = [
  ['BOOL', '1', '1 is not a value of BOOL'],
  ['BOOL', '"true"', '"true" is not a value of BOOL'],
  ['INT8', '300', '300 is out of range for INT8'],
  ['INT8', '-129', '-129 is out of range for INT8'],
  ['INT16', '1.5', '1.5 is not an integer, as INT16 needs'],
  ['INT32', '"1"', '"1" is not a value of INT32'],
  ['INT32', '2147483648', '2147483648 is out of range for INT32'],
  ['INT64', '9223372036854775808', '9223372036854775808 is out of range for INT64'],
  ['INT64', '9007199254740993.5', '9007199254740993.5 is not an integer'],
  ['INT64', '1e999999999', '1e999999999 is out of range for INT64'],
  ['INT64', '" 1"', '" 1" is not a value of INT64'],
  ['FLOAT', '3.5e38', '3.5e38 is out of range for FLOAT'],
  ['DOUBLE', '1e400', '1e400 is out of range for DOUBLE'],
  ['DOUBLE', '"1"', '"1" is not a value of DOUBLE'],
  ['DOUBLE', '"nan"', '"nan" is not a value of DOUBLE'],
  ['STRING', '1', '1 is not a value of STRING'],
  ['STRING', '"\\udc00"', 'value has a lone surrogate'],
  ['VARCHAR(3)', '"abcd"', 'value is longer than the limit of 3 code points'],
  ['STRING', `"${'x'.repeat(65_537)}"`, 'value is larger than the limit of 65536 bytes'],
  ['BINARY', `"${'A'.repeat(87_384)}"`, 'value is larger than the limit of 65536 bytes'],
  ['BINARY', '"A"', '"A" is not a value of BINARY'],
  ['BINARY', '"+_=="', '"+_==" is not a value of BINARY'],
  [
    'UNIXTIME_MICROS',
    '"2026-01-31T23:59:59"',
    '"2026-01-31T23:59:59" is not a value of UNIXTIME_MICROS',
  ],
  ['UNIXTIME_MICROS', '"2026-01-31 23:59:59Z"', 'is not a value of UNIXTIME_MICROS'],
  ['UNIXTIME_MICROS', '"2026-01-31T23:59:59.0000001Z"', 'is finer than a microsecond'],
  ['UNIXTIME_MICROS', '"2026-02-29T00:00:00Z"', 'is not a value of UNIXTIME_MICROS'],
  ['DATE', '"2026-02-30"', '"2026-02-30" is not a value of DATE'],
  ['DATE', '"0000-01-01"', '"0000-01-01" is out of range for DATE'],
  ['DATE', '1', '1 is not a value of DATE'],
  ['DECIMAL(9,2)', '0.001', '0.001 has more than 2 digits behind the point'],
  ['DECIMAL(3,2)', '10', '10 is out of range for DECIMAL(3,2)'],
  ['DECIMAL(18,2)', 'true', 'true is not a value of DECIMAL(18,2)'],
  ['DECIMAL(38)', `1${'0'.repeat(38)}`, 'is out of range for DECIMAL(38,0)'],
]

function withOptions([type, cell, json, csv, options]: Example): FullExample {
  return [type, cell, json, csv, options ?? PLAIN]
}

function schemaOf(type: string) {
  return aSchema('k INT32 KEY', `v ${type} NULL`)
}

function valueRead(decoded: ReturnType<typeof decodeJson>): Cell | null {
  expect({ ...decoded, rows: decoded.rows.length }).toEqual({
    rows: 1,
    problems: [],
    failure: null,
  })
  return decoded.rows[0].cells[1][1]
}

describe('createRowEncoder', () => {
  test.each(WRITTEN.map(withOptions))(
    'writes %s %s as %s, as %s in CSV, and both are read back',
    (type, cell, json, csv, values) => {
      const schema = schemaOf(type)
      const rows = [[1, cell]]

      expect(encoded('json', schema.columns, rows, values)).toBe(`{"k":1,"v":${json}}`)
      expect(encoded('csv', schema.columns, rows, values)).toBe(`k,v\n1,${csv}\n`)
      expect(valueRead(decodeJson(schema, `{"rows":[{"k":1,"v":${json}}]}`, values))).toEqual(cell)
      // An odd row takes the exact road, a plain one the quick one.
      for (const line of [`{"k":1,"v":${json}}`, `{"\\u006b":1,"v":${json}}`]) {
        expect(valueRead(decodeNdjson(schema, line, { values }))).toEqual(cell)
      }
      expect(valueRead(decodeCsv(schema, `k,v\n1,${csv}\n`, { values }))).toEqual(cell)
    },
  )
})

describe('NdjsonDecoder', () => {
  test.each(ALSO_JSON)('reads %s from %s', (type, json, cell) => {
    for (const line of [`{"k":1,"v":${json}}`, `{"\\u006b":1,"v":${json}}`]) {
      expect(valueRead(decodeNdjson(schemaOf(type), line))).toEqual(cell)
    }
  })

  test('reads integers as milliseconds on demand, and strings as ever', () => {
    const schema = schemaOf('UNIXTIME_MICROS')
    const read = (json: string) => {
      return valueRead(decodeNdjson(schema, `{"k":1,"v":${json}}`, { values: MILLIS }))
    }

    expect(read('1769903999123')).toBe(1769903999123000n)
    expect(read('"2026-01-31T23:59:59.000001Z"')).toBe(1769903999000001n)
  })

  test.each(REFUSED_JSON)('refuses as %s %s: %s', (type, json, message) => {
    for (const line of [`{"k":1,"v":${json}}`, `{"\\u006b":1,"v":${json}}`]) {
      const { rows, problems } = decodeNdjson(schemaOf(type), line)

      expect(rows).toEqual([])
      expect(problems).toEqual([[0, 'v', expect.stringContaining(`column "v": `)]])
      expect(problems[0][2]).toContain(message)
    }
  })
})

describe('CsvDecoder', () => {
  test.each(ALSO_CSV)('reads %s from %s', (type, csv, cell) => {
    expect(valueRead(decodeCsv(schemaOf(type), `k,v\n1,${csv}\n`))).toEqual(cell)
  })
})
