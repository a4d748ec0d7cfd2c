import { describe, expect, test } from 'vitest'
import { type ColumnPredicate, predicateMatchesCell } from '../../src/common/column-predicate.ts'
import { IN_VALUE_COUNT_MAX, PREDICATE_COUNT_MAX } from '../../src/common/limits.ts'
import {
  predicatesFromJson,
  predicatesFromText,
  predicatesToJson,
} from '../../src/common/predicate-request.ts'
import { type StatusDetails, StatusError } from '../../src/common/status.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'

const SCHEMA = aSchema(
  'key INT32 KEY',
  'tiny INT8 NULL',
  'big INT64',
  'flag BOOL NULL',
  'single FLOAT',
  'double DOUBLE',
  'price DECIMAL(5,2)',
  'text STRING NULL',
  'code VARCHAR(3)',
  'bytes BINARY',
  'at UNIXTIME_MICROS',
  'day DATE',
)

function read(...requests: readonly string[]): ColumnPredicate[] {
  return predicatesFromJson(SCHEMA, parseJson(`[${requests.join()}]`), DEFAULT_VALUE_OPTIONS)
}

/** A request of a column, an operator and a JSON value. */
function ask(column: string, op: string, value?: string): string {
  const member = op.toUpperCase() === 'IN' ? 'values' : 'value'
  const end = value === undefined ? '' : `,"${member}":${value}`
  return `{"column":"${column}","op":"${op}"${end}}`
}

/** What a predicate reads when it is shown, without the column's name. */
function shown(...requests: readonly string[]): string {
  const text = predicatesToJson(SCHEMA, read(...requests), DEFAULT_VALUE_OPTIONS)
  return text.replaceAll(/"column":|"op":|[{}[\]"]/g, '')
}

function refusal(work: () => unknown): StatusError {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('predicatesFromJson', () => {
  test.each([
    ['tiny', '=', '5', 'tiny,=,value:5'],
    ['tiny', '=', '300', 'tiny,IN,values:'],
    ['tiny', '=', '1.5', 'tiny,IN,values:'],
    ['tiny', '<', '300', 'tiny,IS NOT NULL'],
    ['tiny', '<=', '127', 'tiny,IS NOT NULL'],
    ['tiny', '>=', '-128', 'tiny,IS NOT NULL'],
    ['tiny', '>', '-1e400', 'tiny,IS NOT NULL'],
    ['tiny', '>', '300', 'tiny,IN,values:'],
    ['tiny', '>=', '127', 'tiny,=,value:127'],
    ['tiny', '<=', '1.5', 'tiny,<,value:2'],
    ['tiny', '>', '1.5', 'tiny,>=,value:2'],
    ['tiny', 'IN', '[]', 'tiny,IN,values:'],
    ['tiny', 'IN', '[3,1,300,3]', 'tiny,IN,values:1,3'],
    ['tiny', 'IN', '[3,1.5,3]', 'tiny,=,value:3'],
    ['big', '=', '9007199254740993', 'big,=,value:9007199254740993'],
    ['big', '=', '9007199254740993.0', 'big,=,value:9007199254740993'],
    ['big', '<', '1e400', ''],
    ['big', '<=', '9223372036854775807', ''],
    ['flag', 'IN', '[true,false]', 'flag,IS NOT NULL'],
    ['flag', '>', 'false', 'flag,=,value:true'],
    ['single', '=', '0.1', 'single,=,value:0.1'],
    ['double', '=', '-0', 'double,=,value:0'],
    ['double', '=', '"NaN"', 'double,IN,values:'],
    ['double', 'IN', '["NaN",1]', 'double,=,value:1'],
    ['double', '>=', '"-Infinity"', 'double,>=,value:-Infinity'],
    ['double', '<=', '"Infinity"', 'double,>=,value:-Infinity'],
    ['double', '>', '1e999', 'double,=,value:Infinity'],
    ['price', '=', '1.25', 'price,=,value:1.25'],
    ['price', '=', '1.255', 'price,IN,values:'],
    ['price', '<', '"1.255"', 'price,<,value:1.26'],
    ['price', '<', '1000', ''],
    ['code', '=', '"abcd"', 'code,IN,values:'],
    ['code', '>', '"abcd"', 'code,>=,value:abc\\u0000'],
    ['text', '>=', '""', 'text,IS NOT NULL'],
    ['text', '<', '""', 'text,IN,values:'],
    ['text', 'STARTS WITH', '"ab"', 'text,>=,value:ab,text,<,value:ac'],
    ['text', 'STARTS WITH', '""', 'text,IS NOT NULL'],
    ['text', 'STARTS WITH', '"\\u007f"', 'text,>=,value:\u007f,text,<,value:\u0080'],
    ['text', 'STARTS WITH', '"\\ud7ff"', 'text,>=,value:\ud7ff,text,<,value:\ue000'],
    ['text', 'STARTS WITH', '"a\\udbff\\udfff"', 'text,>=,value:a\u{10ffff},text,<,value:b'],
    ['text', 'STARTS WITH', '"\\udbff\\udfff"', 'text,>=,value:\u{10ffff}'],
    ['code', 'STARTS WITH', '"abcd"', 'code,IN,values:'],
    ['bytes', 'STARTS WITH', '"AP8="', 'bytes,>=,value:AP8=,bytes,<,value:AQ=='],
    ['bytes', 'STARTS WITH', '"//8="', 'bytes,>=,value://8='],
    ['tiny', 'is null', undefined, 'tiny,IS NULL'],
    ['big', 'Is Null', undefined, 'big,IN,values:'],
    ['big', 'IS NOT NULL', undefined, ''],
    ['tiny', 'IS NOT NULL', undefined, 'tiny,IS NOT NULL'],
    ['day', '<', '"0001-01-01"', 'day,IN,values:'],
    ['at', '=', '"1970-01-01T00:00:00Z"', 'at,=,value:1970-01-01T00:00:00.000000Z'],
  ])('reads %s %s %s as %s', (column, op, value, expected) => {
    expect(shown(ask(column, op, value))).toBe(expected)
  })

  test('merges predicates on one column', () => {
    const requests = [ask('tiny', '>', '3'), ask('big', '=', '1'), ask('tiny', '<=', '9')]

    expect(shown(...requests)).toBe('big,=,value:1,tiny,>=,value:4,tiny,<,value:10')
  })

  test('lets NaN satisfy IS NOT NULL only', () => {
    const column = SCHEMA.mustById(read(ask('double', '<', '1e999'))[0].columnId)
    for (const [op, value] of [
      ['=', '"NaN"'],
      ['<', '"NaN"'],
      ['>=', '"NaN"'],
      ['<=', '"Infinity"'],
      ['>=', '"-Infinity"'],
      ['<', '1e999'],
      ['IN', '["NaN"]'],
    ]) {
      const [predicate] = read(ask('double', op, value))
      expect(predicateMatchesCell(column, predicate, Number.NaN), `${op} ${value}`).toBe(false)
    }
    expect(read(ask('double', 'IS NOT NULL'))).toEqual([])
  })

  test.each([
    ['{}', 'member "predicates" must be an array', undefined],
    ['[5]', 'predicates[0] must be an object', undefined],
    ['[null]', 'predicates[0] must be an object', undefined],
    ['[[]]', 'predicates[0] must be an object', undefined],
    ['[{}]', 'predicates[0] needs a string in member "column"', undefined],
    ['[{"column":5}]', 'predicates[0] needs a string in member "column"', undefined],
    ['[{"column":"tiny"}]', 'predicates[0] needs a string in member "op"', undefined],
    [
      '[{"column":"tiny","op":"IS NULL"},{"column":"tiny","op":"=","values":[1]}]',
      'predicates[1]: op = takes no member "values"',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"in","value":1}]',
      'predicates[0]: op IN takes no member "value"',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"in","values":1}]',
      'predicates[0]: op IN needs an array in member "values"',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"in"}]',
      'predicates[0]: op IN needs an array in member "values"',
      'tiny',
    ],
    ['[{"column":"tiny","op":"<"}]', 'predicates[0]: op < needs a member "value"', 'tiny'],
    [
      '[{"column":"tiny","op":"is null","value":1}]',
      'predicates[0]: op IS NULL takes no member "value"',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"=","value":1,"foo":2}]',
      'predicates[0] has an unknown member "foo"',
      undefined,
    ],
    [
      '[{"column":"tiny","op":"=","value":1,"__proto__":2}]',
      'predicates[0] has an unknown member "__proto__"',
      undefined,
    ],
    ['[{"column":"nope","op":"="}]', 'predicates[0]: there is no column "nope"', 'nope'],
    [
      '[{"column":"toString","op":"="}]',
      'predicates[0]: there is no column "toString"',
      'toString',
    ],
    [
      '[{"column":"tiny","op":"!=","value":1}]',
      'predicates[0]: op "!=" is none of =, <, <=, >, >=, IN, STARTS WITH, IS NULL, IS NOT NULL',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"starts with","value":1}]',
      'predicates[0]: op STARTS WITH is for STRING, VARCHAR and BINARY, column "tiny" is INT8',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"=","value":null}]',
      'predicates[0]: null compares with nothing, ask IS NULL',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"IN","values":[1,null]}]',
      'predicates[0]: null compares with nothing, ask IS NULL',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"=","value":[1]}]',
      'predicates[0]: an array is not a value of column "tiny"',
      'tiny',
    ],
    [
      '[{"column":"tiny","op":"=","value":{}}]',
      'predicates[0]: an object is not a value of column "tiny"',
      'tiny',
    ],
  ])('refuses %s', (text, message, column) => {
    const error = refusal(() => predicatesFromJson(SCHEMA, parseJson(text), DEFAULT_VALUE_OPTIONS))

    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.message).toBe(message)
    expect(error.details.column).toBe(column)
  })

  test.each([
    ['tiny', '"5"'],
    ['tiny', 'true'],
    ['flag', '1'],
    ['text', '5'],
    ['text', '"\\ud800"'],
    ['bytes', '"not base64!"'],
    ['double', '"many"'],
    ['at', '"yesterday"'],
    ['day', 'false'],
  ])('refuses a value of the wrong kind: %s = %s', (column, value) => {
    const error = refusal(() => read(ask(column, '=', value)))

    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.message).toContain(`column "${column}"`)
    expect(error.details.column).toBe(column)
  })

  test('takes as many predicates as the limit says and refuses one more', () => {
    const requests = Array.from({ length: PREDICATE_COUNT_MAX }, () => ask('tiny', '>', '3'))

    expect(read(...requests)).toHaveLength(1)
    const { message, details } = refusal(() => read(...requests, requests[0]))
    expect(message).toBe(`scan has ${PREDICATE_COUNT_MAX + 1} predicates, limit is 1000`)
    expect(details).toEqual({ limit: PREDICATE_COUNT_MAX } satisfies StatusDetails)
  })

  test('takes as many IN values in all as the limit says and refuses one more', () => {
    const half = `[${Array.from({ length: IN_VALUE_COUNT_MAX / 2 }, (_, i) => i)}]`

    expect(read(ask('key', 'IN', half), ask('big', 'IN', half))).toHaveLength(2)
    const { message, details } = refusal(() => {
      return read(ask('key', 'IN', half), ask('big', 'IN', half), ask('tiny', 'IN', '[1]'))
    })
    expect(message).toBe('scan has more than 10000 IN values in all')
    expect(details).toEqual({ limit: IN_VALUE_COUNT_MAX } satisfies StatusDetails)
  })

  test('shows a long name or operator in part', () => {
    const long = 'x'.repeat(1_000_000)

    expect(refusal(() => read(ask(long, '='))).message.length).toBeLessThan(200)
    expect(refusal(() => read(ask('tiny', long))).message.length).toBeLessThan(200)
    expect(refusal(() => read(`{"${long}":1}`)).message.length).toBeLessThan(200)
  })
})

describe('predicatesFromText', () => {
  function readText(...records: readonly string[]): ColumnPredicate[] {
    const fields = records.map((record) => record.split(','))
    return predicatesFromText(SCHEMA, fields, DEFAULT_VALUE_OPTIONS)
  }

  test.each([
    ['tiny,=,5', ask('tiny', '=', '5')],
    ['tiny,in,5,6,300', ask('tiny', 'IN', '[5,6]')],
    ['tiny,IN', ask('tiny', 'IN', '[]')],
    ['tiny,<,300', ask('tiny', 'IS NOT NULL')],
    ['text,=,', ask('text', '=', '""')],
    ['text,starts with,a', ask('text', 'STARTS WITH', '"a"')],
    ['flag,=,TRUE', ask('flag', '=', 'true')],
    ['double,>,-infinity', ask('double', '>', '"-Infinity"')],
    ['bytes,=,AP8=', ask('bytes', '=', '"AP8="')],
    ['text,is null', ask('text', 'IS NULL')],
  ])('reads %s as %s', (record, request) => {
    expect(readText(record)).toEqual(read(request))
  })

  test.each([
    ['tiny', 'where[0] needs a column and an op'],
    ['nope,=,1', 'where[0]: there is no column "nope"'],
    ['tiny,~,1', 'where[0]: op "~" is none of '],
    ['tiny,=', 'where[0]: op = takes one value, not 0'],
    ['tiny,=,1,2', 'where[0]: op = takes one value, not 2'],
    ['tiny,IS NULL,1', 'where[0]: op IS NULL takes no value, not 1'],
  ])('refuses %s', (record, message) => {
    const error = refusal(() => readText(record))

    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.message).toContain(message)
  })
})

describe('predicatesToJson', () => {
  test('keeps INT64 exact, and quotes names and texts', () => {
    const schema = aSchema('a"b\\ INT64 KEY', 'text STRING')
    const [key, text] = schema.columns
    const equality = { kind: 'EQUALITY', upper: null, values: [] } as const
    const predicates = [
      { ...equality, columnId: key.id, lower: 9223372036854775807n },
      { ...equality, columnId: text.id, lower: utf8Encode('"\n') },
    ]

    expect(predicatesToJson(schema, predicates, DEFAULT_VALUE_OPTIONS)).toBe(
      '[{"column":"a\\"b\\\\","op":"=","value":9223372036854775807},' +
        '{"column":"text","op":"=","value":"\\"\\n"}]',
    )
  })

  test('writes values as the request asked for them', () => {
    const predicates = read(ask('at', '=', '5'), ask('big', '=', '6'))
    const options = { int64: 'string', timestamps: 'micros' } as const

    expect(predicatesToJson(SCHEMA, predicates, options)).toBe(
      '[{"column":"big","op":"=","value":"6"},{"column":"at","op":"=","value":5}]',
    )
  })
})
