import { describe, expect, test } from 'vitest'
import type { Expression, NumberType } from '../../src/common/aggregate-spec.ts'
import { ExpressionReader } from '../../src/common/expression-reader.ts'
import { EXPRESSION_PART_COUNT_MAX } from '../../src/common/limits.ts'
import { aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'

const SCHEMA = aSchema(
  'key INT32 KEY',
  'tiny INT8 NULL',
  'big INT64',
  'flag BOOL NULL',
  'single FLOAT',
  'double DOUBLE',
  'price DECIMAL(12,2)',
  'fine DECIMAL(38,30)',
  'whole DECIMAL(5,0)',
  'text STRING NULL',
  'bytes BINARY',
  'at UNIXTIME_MICROS',
  'day DATE',
  '+ INT16',
  '1 INT32',
)

function read(text: string): Expression {
  return new ExpressionReader(SCHEMA).read(parseJson(text), 'expr')
}

/** An expression as text: columns by name, literals as integer and scale, all with their types. */
function shown(expression: Expression): string {
  const type = shownType(expression.type)
  switch (expression.kind) {
    case 'column':
      return `${SCHEMA.mustById(expression.columnId).name}:${type}`
    case 'literal':
      return `${expression.unscaled}/${expression.scale}:${type}`
    case 'binary':
      return `(${shown(expression.left)} ${expression.op} ${shown(expression.right)}):${type}`
  }
}

function shownType(type: NumberType): string {
  return type.kind === 'decimal' ? `d${type.scale}` : type.kind[0].replace('d', 'f')
}

describe('ExpressionReader', () => {
  test.each([
    ['"tiny"', 'tiny:i'],
    ['"single"', 'single:f'],
    ['"whole"', 'whole:d0'],
    ['["+","tiny","big"]', '(tiny:i + big:i):i'],
    ['["*","price",["-",1,"price"]]', '(price:d2 * (1/0:i - price:d2):d2):d4'],
    ['["+","price","fine"]', '(price:d2 + fine:d30):d30'],
    ['["-","tiny","whole"]', '(tiny:i - whole:d0):d0'],
    ['["/","tiny","big"]', '(tiny:i / big:i):f'],
    ['["*","price","double"]', '(price:d2 * double:f):f'],
    ['["+",["/",1,2],"price"]', '((1/0:i / 2/0:i):f + price:d2):f'],
    ['["-","+","1"]', '(+:i - 1:i):i'],
  ])('types %s as %s', (request, expected) => {
    expect(shown(read(request))).toBe(expected)
  })

  test.each([
    ['0', '0/0:i'],
    ['-0', '0/0:i'],
    ['0.000e5', '0/0:i'],
    ['1.0', '1/0:i'],
    ['1.50', '15/1:d1'],
    ['-0.05', '-5/2:d2'],
    ['12e-3', '12/3:d3'],
    ['1.2e3', '1200/0:i'],
    ['9223372036854775807', '9223372036854775807/0:i'],
    ['-9223372036854775808', '-9223372036854775808/0:i'],
    ['9223372036854775808', '9223372036854775808/0:d0'],
    ['1e37', `1${'0'.repeat(37)}/0:d0`],
    [`${'9'.repeat(38)}`, `${'9'.repeat(38)}/0:d0`],
    [`-0.${'9'.repeat(38)}`, `-${'9'.repeat(38)}/38:d38`],
    ['1e-38', '1/38:d38'],
  ])('reads the number %s exactly', (text, expected) => {
    expect(shown(read(text))).toBe(expected)
  })

  test.each([
    ['1e38', 'expr: 1e38 has more than 38 digits'],
    ['1e-39', 'expr: 1e-39 has more than 38 digits'],
    ['1e999999999999', 'expr: 1e999999999999 has more than 38 digits'],
    ['1e-999999999999', 'expr: 1e-999999999999 has more than 38 digits'],
    [`1.${'3'.repeat(38)}`, `expr: 1.${'3'.repeat(38)} has more than 38 digits`],
    [`["+",1,${'7'.repeat(80)}]`, `expr[2]: ${'7'.repeat(64)}… has more than 38 digits`],
    ['"none"', 'expr: there is no column "none"'],
    ['["*","price","nö"]', 'expr[2]: there is no column "nö"'],
    ['"text"', 'expr: column "text" is STRING, expressions are of numbers'],
    ['["+",1,["+","at",1]]', 'expr[2][1]: column "at" is UNIXTIME_MICROS, expressions are of num'],
    ['"day"', 'expr: column "day" is DATE'],
    ['"flag"', 'expr: column "flag" is BOOL'],
    ['"bytes"', 'expr: column "bytes" is BINARY'],
    ['["*","fine","fine"]', 'expr: product has 60 digits behind the point, limit is 38'],
    ['["/",["*","fine","fine"],2]', 'expr[1]: product has 60 digits'],
    ['[]', 'expr must begin with one of + - * /'],
    ['[1,2,3]', 'expr must begin with one of + - * /'],
    ['["%",1,2]', 'expr: operator "%" is none of + - * /'],
    ['["constructor",1,2]', 'expr: operator "constructor" is none of + - * /'],
    ['["-",1]', 'expr: operator - has two sides, not 1'],
    ['["+",1,2,3]', 'expr: operator + has two sides, not 3'],
    ['["+"]', 'expr: operator + has two sides, not 0'],
    ['null', 'expr must be a column'],
    ['true', 'expr must be a column'],
    ['{"column":"big"}', 'expr must be a column'],
    ['["+",1,null]', 'expr[2] must be a column'],
  ])('refuses %s', (request, message) => {
    expect(() => read(request)).toThrow(message)
  })

  test('names the column and the limit', () => {
    expect(() => read('"text"')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', details: { column: 'text' } }),
    )
    expect(() => read('1e38')).toThrow(expect.objectContaining({ details: { limit: 38 } }))
  })

  test('counts the parts of all its expressions together', () => {
    const reader = new ExpressionReader(SCHEMA)
    for (let i = 0; i < EXPRESSION_PART_COUNT_MAX; i++) reader.read('big', 'expr')

    expect(() => reader.read('big', 'expr')).toThrow(
      expect.objectContaining({
        message: `expressions have more than ${EXPRESSION_PART_COUNT_MAX} parts in all`,
        details: { limit: EXPRESSION_PART_COUNT_MAX },
      }),
    )
  })
})
