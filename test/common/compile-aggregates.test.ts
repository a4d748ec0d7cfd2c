import { describe, expect, test } from 'vitest'
import {
  type AggregateRequest,
  type CompiledAggregates,
  compileAggregates,
} from '../../src/common/compile-aggregates.ts'
import { COLUMN_COUNT_MAX } from '../../src/common/limits.ts'
import type { Column } from '../../src/common/schema.ts'
import { aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'

const SCHEMA = aSchema(
  'key INT32 KEY',
  'tiny INT8 NULL',
  'big INT64',
  'flag BOOL NULL',
  'single FLOAT',
  'price DECIMAL(12,2)',
  'text STRING NULL',
  'code VARCHAR(3)',
  'at UNIXTIME_MICROS',
  'day DATE NULL',
)

function compile(request: object): CompiledAggregates {
  return compileAggregates(SCHEMA, parseJson(JSON.stringify(request)) as AggregateRequest)
}

function typed({ name, type, attributes, isNullable }: Column): string {
  const { precision, scale, length } = attributes
  const details = [precision ?? length, scale].filter((part) => part !== undefined).join()
  return `${name} ${type}${details === '' ? '' : `(${details})`}${isNullable ? ' NULL' : ''}`
}

/** The columns of a result, as a table's columns are written. */
function columns(request: object): string[] {
  return compile(request).columns.map(typed)
}

describe('compileAggregates', () => {
  test('has the group keys, then the aggregates, each with its type', () => {
    const request = {
      group_by: ['flag', 'text', 'code', { column: 'at', bucket: '1h', as: 'hour' }, 'day'],
      aggregates: [
        { op: 'COUNT' },
        { op: 'count', column: 'tiny' },
        { op: 'Count_Distinct', column: 'text' },
        { op: 'SUM', column: 'big' },
        { op: 'SUM', column: 'tiny' },
        { op: 'SUM', column: 'single' },
        { op: 'SUM', column: 'price' },
        { op: 'MIN', column: 'code' },
        { op: 'MAX', column: 'day' },
        { op: 'MAX', column: 'price' },
        { op: 'AVG', column: 'price' },
        { op: 'AVG', column: 'tiny', as: 'mean' },
      ],
    }

    expect(columns(request)).toEqual([
      'flag BOOL NULL',
      'text STRING NULL',
      'code VARCHAR(3)',
      'hour UNIXTIME_MICROS',
      'day DATE NULL',
      'count INT64',
      'count_tiny INT64',
      'count_distinct_text INT64',
      'sum_big INT64',
      'sum_tiny INT64 NULL',
      'sum_single DOUBLE',
      'sum_price DECIMAL(38,2)',
      'min_code VARCHAR(3)',
      'max_day DATE NULL',
      'max_price DECIMAL(12,2)',
      'avg_price DOUBLE',
      'mean DOUBLE NULL',
    ])
  })

  test('has the types of expressions, which are named by their op', () => {
    const sides = { op: 'SUM', expr: ['*', 'price', ['-', 1, 'tiny']] }
    const aggregates = [
      sides,
      { op: 'MIN', expr: ['+', 'big', 'key'] },
      { op: 'MAX', expr: ['/', 'big', 'key'] },
      { op: 'AVG', expr: ['+', 'big', 'key'] },
      { op: 'COUNT', expr: ['/', 'big', 'key'] },
      { op: 'COUNT_DISTINCT', expr: 'price' },
      { op: 'SUM', expr: 0.5, as: 'halves' },
    ]

    expect(columns({ group_by: ['flag'], aggregates }).slice(1)).toEqual([
      'sum DECIMAL(38,2) NULL',
      'min INT64',
      'max DOUBLE NULL',
      'avg DOUBLE',
      'count INT64',
      'count_distinct INT64',
      'halves DECIMAL(38,1)',
    ])
  })

  test('without groups has nulls wherever there may be no row', () => {
    const aggregates = [
      { op: 'COUNT' },
      { op: 'COUNT_DISTINCT', column: 'key' },
      { op: 'SUM', column: 'big' },
      { op: 'AVG', column: 'big' },
      { op: 'MIN', column: 'key' },
      { op: 'MAX', expr: 1 },
    ]

    expect(columns({ aggregates })).toEqual([
      'count INT64',
      'count_distinct_key INT64',
      'sum_big INT64 NULL',
      'avg_big DOUBLE NULL',
      'min_key INT32 NULL',
      'max INT64 NULL',
    ])
  })

  test('tells what to compute by ids of columns', () => {
    const request = {
      group_by: ['text', { column: 'at', bucket: '15m' }],
      aggregates: [{ op: 'COUNT' }, { op: 'MAX', column: 'big' }, { op: 'SUM', expr: 'big' }],
    }
    const big = { kind: 'column', columnId: 12 }

    expect(compile(request).spec).toEqual({
      groupBy: [
        { columnId: 16, bucketMicros: null },
        { columnId: 18, bucketMicros: 900_000_000 },
      ],
      aggregates: [
        { op: 'COUNT', input: { kind: 'rows' } },
        { op: 'MAX', input: big },
        {
          op: 'SUM',
          input: { kind: 'expression', expression: { ...big, type: { kind: 'integer' } } },
        },
      ],
    })
  })

  test('gives the columns of the result their indexes as ids', () => {
    const { columns: found } = compile({ group_by: ['big'], aggregates: [{ op: 'COUNT' }] })

    expect(found.map(({ id, index, isKey }) => [id, index, isKey])).toEqual([
      [0, 0, false],
      [1, 1, false],
    ])
  })

  test.each([
    ['1s', 1e6],
    ['90m', 5.4e9],
    ['24h', 8.64e10],
    ['7d', 6.048e11],
    ['104249d', 104249 * 8.64e10],
    ['9007199254s', 9007199254e6],
  ])('reads a bucket of %s', (bucket, micros) => {
    const { spec } = compile({ group_by: [{ bucket, column: 'at' }] })

    expect(spec.groupBy[0].bucketMicros).toBe(micros)
  })

  test('groups alone are the different values of columns', () => {
    expect(columns({ group_by: ['text', { column: 'text', as: 'again' }] })).toEqual([
      'text STRING NULL',
      'again STRING NULL',
    ])
  })

  test.each<[string, object, string]>([
    ['nothing to do', {}, 'aggregation needs member "aggregates" or "group_by"'],
    ['empty lists', { group_by: [], aggregates: [] }, 'aggregation needs member "aggregates"'],
    ['groups that are no list', { group_by: 'text' }, 'member "group_by" must be an array'],
    ['aggregates that are no list', { aggregates: {} }, 'member "aggregates" must be an array'],
    ['null as a list', { aggregates: null }, 'member "aggregates" must be an array'],
    ['an unknown group', { group_by: ['x'] }, 'group_by[0]: there is no column "x"'],
    ['a number as a group', { group_by: [1] }, 'group_by[0] must be an object'],
    ['a list as a group', { group_by: [['text']] }, 'group_by[0] must be an object'],
    [
      'a stranger in a group',
      { group_by: [{ column: 'at', by: 1 }] },
      'group_by[0] has an unknown member "by"',
    ],
    [
      'a bucket of nothing',
      { group_by: [{ bucket: '1h' }] },
      'group_by[0] needs a string in member "column"',
    ],
    [
      'a bucket of a date',
      { group_by: [{ bucket: '1h', column: 'day' }] },
      'group_by[0]: buckets are for UNIXTIME_MICROS, column "day" is DATE',
    ],
    [
      'a bucket of a number',
      { group_by: [{ bucket: 3600, column: 'at' }] },
      'group_by[0] needs a string in member "bucket"',
    ],
  ])('refuses %s', (_, request, message) => {
    expect(() => compile(request)).toThrow(message)
  })

  test.each(['', '1', 'h', '0h', '01h', '-1h', '1.5h', '1w', '1H', ' 1h', '1h ', '1e3s', '1h1m'])(
    'refuses a bucket of "%s"',
    (bucket) => {
      const request = { group_by: [{ bucket, column: 'at' }] }

      expect(() => compile(request)).toThrow(
        `group_by[0]: bucket "${bucket}" is not a count of seconds, minutes, hours or days`,
      )
    },
  )

  test.each(['104250d', '9007199255s', `${'9'.repeat(400)}d`])(
    'refuses a bucket of %s, which is too long',
    (bucket) => {
      const request = { group_by: [{ bucket, column: 'at' }] }

      expect(() => compile(request)).toThrow('longer than the limit of 9007199254740991 microsec')
    },
  )

  test.each<[unknown, string]>([
    [null, 'aggregates[0] must be an object'],
    ['COUNT', 'aggregates[0] must be an object'],
    [5, 'aggregates[0] must be an object'],
    [{}, 'aggregates[0] needs a string in member "op"'],
    [{ op: 1 }, 'aggregates[0] needs a string in member "op"'],
    [{ op: 'MEDIAN' }, 'aggregates[0]: op "MEDIAN" is none of COUNT, COUNT_DISTINCT, SUM, MIN'],
    [{ op: 'SUM' }, 'aggregates[0]: op SUM needs a member "column" or "expr"'],
    [{ op: 'count_distinct' }, 'op COUNT_DISTINCT needs a member "column" or "expr"'],
    [{ op: 'SUM', colum: 'big' }, 'aggregates[0] has an unknown member "colum"'],
    [{ op: 'SUM', column: 'none' }, 'aggregates[0]: there is no column "none"'],
    [{ op: 'SUM', column: null }, 'aggregates[0] needs a string in member "column"'],
    [{ op: 'SUM', column: '__proto__' }, 'there is no column "__proto__"'],
    [{ op: 'SUM', column: 'big', expr: 1 }, 'aggregates[0] has both "column" and "expr"'],
    [{ op: 'SUM', expr: ['+', 'big', 'none'] }, 'aggregates[0].expr[2]: there is no column'],
    [{ op: 'SUM', expr: null }, 'aggregates[0].expr must be'],
    [{ op: 'SUM', column: 'text' }, 'op SUM is for numbers, column "text" is STRING'],
    [{ op: 'AVG', column: 'flag' }, 'op AVG is for numbers, column "flag" is BOOL'],
    [{ op: 'sum', column: 'at' }, 'op SUM is for numbers, column "at" is UNIXTIME_MICROS'],
    [{ op: 'AVG', column: 'day' }, 'op AVG is for numbers, column "day" is DATE'],
    [{ op: 'COUNT', as: '' }, 'aggregates[0]: member "as" is empty'],
    [{ op: 'COUNT', as: 5 }, 'aggregates[0] needs a string in member "as"'],
    [{ op: 'COUNT', as: 'a\0b' }, 'aggregates[0]: member "as" has a NUL character'],
    [{ op: 'COUNT', as: 'a\ud800' }, 'aggregates[0]: member "as" has a lone surrogate'],
    [{ op: 'COUNT', as: 'ä'.repeat(129) }, 'member "as" is 258 bytes, limit is 256'],
  ])('refuses the aggregate %j', (aggregate, message) => {
    expect(() => compile({ aggregates: [aggregate] })).toThrow(message)
  })

  test.each<[object, string]>([
    [{ aggregates: [{ op: 'COUNT' }, { op: 'COUNT', expr: 1 }] }, 'count'],
    [{ group_by: ['text'], aggregates: [{ op: 'MIN', column: 'big', as: 'text' }] }, 'text'],
    [{ group_by: ['at', { bucket: '1h', column: 'at' }] }, 'at'],
    [{ group_by: ['key', 'key'] }, 'key'],
  ])('refuses two columns of one name: %j', (request, name) => {
    expect(() => compile(request)).toThrow(
      expect.objectContaining({
        message: `two columns of the result are named "${name}", give one another name with "as"`,
        details: { column: name },
      }),
    )
  })

  test('takes as many columns as a table may have', () => {
    const aggregates = Array.from({ length: COLUMN_COUNT_MAX }, (_, i) => {
      return { op: 'COUNT', as: `n${i}` }
    })

    expect(compile({ aggregates }).columns).toHaveLength(COLUMN_COUNT_MAX)
    expect(() => compile({ group_by: ['text'], aggregates })).toThrow(
      'result would have 301 columns, limit is 300',
    )
  })

  test('takes the names of an object as ordinary names', () => {
    const aggregates = ['__proto__', 'constructor', 'toString'].map((as) => ({ op: 'COUNT', as }))

    expect(columns({ aggregates })).toEqual([
      '__proto__ INT64',
      'constructor INT64',
      'toString INT64',
    ])
  })
})
