import { describe, expect, test } from 'vitest'
import { maxCell, minCell } from '../../src/common/cell-order.ts'
import {
  anyNumberPredicate,
  type ColumnPredicate,
  comparePredicateSelectivity,
  equalityPredicate,
  exclusiveRangePredicate,
  inclusiveRangePredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  isTrivialPredicate,
  mergePredicates,
  nonePredicate,
  predicateMatchesCell,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { type Column, Schema } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aColumn, aColumnDefinition } from '../support/a-schema.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

type VectorValue = null | number | boolean | string
/**
 * `[kind, …operands]`: indexes into a list of values when merging, the values themselves otherwise.
 */
type VectorPredicate = readonly [string, ...unknown[]]

interface ConstructorCase {
  readonly type: string
  readonly op: string
  readonly args: readonly VectorValue[]
  readonly kind?: string
  readonly expect?: VectorPredicate | 'no predicate'
}

interface MergeCase {
  readonly a: VectorPredicate
  readonly b: VectorPredicate
  readonly expect: VectorPredicate
}

interface PredicateVectors {
  readonly predicate_constructors: { readonly cases: readonly ConstructorCase[] }
  readonly predicate_merge: {
    readonly valueLists: Readonly<Record<string, readonly VectorValue[]>>
    readonly cases: readonly MergeCase[]
  }
  readonly predicate_selectivity_order: { readonly lessThan: readonly [string, string][] }
}

const vectors = readVectors<PredicateVectors>('predicates')

const KINDS: Readonly<Record<string, string>> = {
  none: 'NONE',
  null: 'IS_NULL',
  notnull: 'IS_NOT_NULL',
  eq: 'EQUALITY',
  in: 'IN_LIST',
  range: 'RANGE',
}

const FIXED_TYPES = [
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'UNIXTIME_MICROS',
  'FLOAT',
  'DOUBLE',
  'DECIMAL(9)',
  'DECIMAL(18)',
  'DECIMAL(38)',
  'DATE',
]
const BINARY_TYPES = ['STRING', 'BINARY', 'VARCHAR(10)']

function cellOf(column: Column, value: VectorValue): Cell {
  if (value === 'type minimum') return minCell(column)
  if (value === 'type maximum') return maxCell(column) ?? 0
  return typeof value === 'string' ? utf8Encode(value) : Number(value)
}

function build(column: Column, op: string, args: readonly (Cell | null)[]): ColumnPredicate {
  switch (op) {
    case 'range':
      return rangePredicate(column, args[0], args[1])
    case 'inclusiveRange':
      return inclusiveRangePredicate(column, args[0], args[1])
    case 'exclusiveRange':
      return exclusiveRangePredicate(column, args[0], args[1])
    case 'eq':
      return equalityPredicate(column, args[0] ?? 0)
    case 'in':
      return inListPredicate(
        column,
        args.filter((cell) => cell !== null),
      )
    case 'null':
      return isNullPredicate(column)
    case 'notnull':
      return isNotNullPredicate(column)
    default:
      return nonePredicate(column)
  }
}

describe('constructors of predicates', () => {
  test('make what the vectors say', () => {
    const { cases } = vectors.predicate_constructors
    let count = 0

    for (const { type, op, args, kind, expect: expected } of cases) {
      for (const name of typesOf(type)) {
        const column = aColumn(name)
        const toCell = (value: VectorValue) => (value === null ? null : cellOf(column, value))
        const predicate = build(column, op, args.map(toCell))
        const where = `${name} ${op} ${JSON.stringify(args)}`
        count++
        if (kind !== undefined) expect(predicate.kind, where).toBe(KINDS[kind])
        else if (expected === 'no predicate') {
          expect(isTrivialPredicate(column, predicate), where).toBe(true)
        } else {
          const [form, ...operands] = expected ?? ['none']
          const cells = (operands as VectorValue[]).map(toCell)
          expect(predicate, where).toEqual(build(column, form, cells))
        }
      }
    }

    reportVectors('predicate_constructors', count)
  })

  function typesOf(type: string): string[] {
    const isEvery = type.startsWith('any of')
    if (isEvery || type.startsWith('same list')) {
      const names = isEvery ? [...FIXED_TYPES, ...BINARY_TYPES] : FIXED_TYPES
      return names.map((name) => `x ${name} NULL`)
    }
    return type.endsWith(' NOT NULL') ? [`x ${type.split(' ')[0]}`] : [`x ${type} NULL`]
  }

  test('turn a range up to the cell behind the least into an equality', () => {
    const column = aColumn('x INT8')

    expect(rangePredicate(column, null, -127)).toEqual(equalityPredicate(column, -128))
  })

  test('keep a range over all floats a range, since NaN is not in it', () => {
    const column = aColumn('x DOUBLE')
    const all = rangePredicate(column, -Infinity, null)

    expect(all.kind).toBe('RANGE')
    expect(all).toEqual(anyNumberPredicate(column))
    expect(inclusiveRangePredicate(column, null, Infinity)).toEqual(all)
    expect(predicateMatchesCell(column, all, Number.NaN)).toBe(false)
    expect(predicateMatchesCell(column, all, -Infinity)).toBe(true)
  })

  test('match nothing when they are given NaN', () => {
    const column = aColumn('x FLOAT')

    expect(equalityPredicate(column, Number.NaN).kind).toBe('NONE')
    expect(rangePredicate(column, Number.NaN, null).kind).toBe('NONE')
    expect(rangePredicate(column, null, Number.NaN).kind).toBe('NONE')
    expect(inclusiveRangePredicate(column, null, Number.NaN).kind).toBe('NONE')
    expect(exclusiveRangePredicate(column, Number.NaN, null).kind).toBe('NONE')
    expect(inListPredicate(column, [Number.NaN]).kind).toBe('NONE')
    expect(inListPredicate(column, [Number.NaN, 1])).toEqual(equalityPredicate(column, 1))
  })

  test('hold 0 where they are given −0', () => {
    const column = aColumn('x DOUBLE')

    expect(equalityPredicate(column, -0).lower).toBe(0)
    expect(inListPredicate(column, [1, 0, -0]).values).toEqual([0, 1])
    expect(exclusiveRangePredicate(column, -0, null).lower).toBe(Number.MIN_VALUE)
  })

  test('sort a list and drop what repeats', () => {
    const column = aColumn('x STRING')
    const values = ['b', 'a', 'c', 'b', 'a'].map(utf8Encode)

    expect(inListPredicate(column, values).values).toEqual(['a', 'b', 'c'].map(utf8Encode))
  })

  test('match nothing with IS NULL on a column without nulls', () => {
    expect(isNullPredicate(aColumn('x INT8')).kind).toBe('NONE')
    expect(isNullPredicate(aColumn('x INT8 NULL')).kind).toBe('IS_NULL')
  })

  test('make plain data', () => {
    const predicate = inListPredicate(aColumn('x BINARY'), [utf8Encode('b'), utf8Encode('a')])

    expect(structuredClone(predicate)).toEqual(predicate)
  })
})

describe('mergePredicates', () => {
  test('merges as the vectors say, both ways, for every list of values', () => {
    const { cases, valueLists } = vectors.predicate_merge

    for (const [type, values] of Object.entries(valueLists)) {
      const column = aColumn(`x ${type} NULL`)
      for (const { a, b, expect: expected } of cases) {
        const [left, right, merged] = [a, b, expected].map((it) => predicateOf(column, values, it))
        const where = `${type} ${JSON.stringify([a, b])}`
        expect(mergePredicates(column, left, right), where).toEqual(merged)
        expect(mergePredicates(column, right, left), where).toEqual(merged)
      }
    }

    reportVectors('predicate_merge', cases.length)
  })

  function predicateOf(
    column: Column,
    values: readonly VectorValue[],
    [form, ...operands]: VectorPredicate,
  ): ColumnPredicate {
    const indexes = (form === 'in' ? operands[0] : operands) as (number | null)[]
    return build(
      column,
      form,
      indexes.map((index) => (index === null ? null : cellOf(column, values[index]))),
    )
  }

  test('merges a thousand ranges with ten thousand long texts in no time', () => {
    const column = aColumn('x STRING')
    const prefix = 'a'.repeat(3000)
    const values = Array.from({ length: 10_000 }, (_, i) => utf8Encode(prefix + 10_000 * (i + 1)))
    let merged = inListPredicate(column, values)

    for (let i = 0; i < 1000; i++) {
      merged = mergePredicates(column, merged, rangePredicate(column, utf8Encode(prefix), null))
    }

    expect(merged.values).toHaveLength(10_000)
  })
})

describe('comparePredicateSelectivity', () => {
  test('orders as the vectors say', () => {
    const { lessThan } = vectors.predicate_selectivity_order
    let count = 0

    for (const [earlier, later] of lessThan) {
      for (const [first, second] of eachDecimal(earlier, later)) {
        const schema = new Schema([
          aColumnDefinition('key INT32 KEY', 1),
          aColumnDefinition(`b ${typeIn(second)} NULL`, 2),
          aColumnDefinition(`a ${typeIn(first)} NULL`, 3),
        ])
        const a = predicateIn(schema.mustById(3), first)
        const b = predicateIn(schema.mustById(2), second)
        expect(comparePredicateSelectivity(schema, a, b), `${first} < ${second}`).toBeLessThan(0)
        expect(comparePredicateSelectivity(schema, b, a), `${first} < ${second}`).toBeGreaterThan(0)
        count++
      }
    }

    reportVectors('predicate_selectivity_order', count)
  })

  const PRECISIONS: Readonly<Record<string, number>> = { 32: 9, 64: 18, 128: 38 }

  function eachDecimal(earlier: string, later: string): [string, string][] {
    if (!earlier.includes('32/64/128')) return [[earlier, later]]
    return Object.keys(PRECISIONS).map((bits) => {
      const first = earlier.replace('32/64/128', bits)
      return [first, later.replace('same', first.slice(first.indexOf('(') + 1, -1))]
    })
  }

  function typeIn(text: string): string {
    const type = text.slice(text.indexOf('(') + 1, -1)
    return type.replace(/DECIMAL(\d+)/, (_, bits: string) => `DECIMAL(${PRECISIONS[bits]})`)
  }

  function predicateIn(column: Column, text: string): ColumnPredicate {
    const cell = column.type === 'STRING' ? utf8Encode('x') : 5
    const value = typeof minCell(column) === 'bigint' ? 5n : cell
    if (text.startsWith('IS NULL')) return isNullPredicate(column)
    if (text.startsWith('IS NOT NULL')) return isNotNullPredicate(column)
    return text.startsWith('=')
      ? equalityPredicate(column, value)
      : rangePredicate(column, value, null)
  }

  test('puts what matches nothing first', () => {
    const schema = new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      aColumnDefinition('a STRING NULL', 2),
    ])
    const none = nonePredicate(schema.mustById(2))
    const equality = equalityPredicate(schema.mustById(1), 1)

    expect(comparePredicateSelectivity(schema, none, equality)).toBeLessThan(0)
  })
})
