import { describe, expect, test } from 'vitest'
import {
  type ColumnPredicate,
  equalityPredicate,
  inclusiveRangePredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { decodeKeyCells, encodeKeyCells, successorKey } from '../../src/common/encoded-key.ts'
import { combinePredicates, optimizeScanSpec, type ScanSpec } from '../../src/common/scan-spec.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { EMPTY_BYTES, utf8Decode, utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

type VectorCell = number | string
type VectorPredicate = readonly [string, string, ...(VectorCell | VectorCell[])[]]

interface OptimizeCase {
  readonly test: string
  readonly predicates: readonly VectorPredicate[]
  readonly erase?: false
  readonly pkLowerInclusive?: readonly VectorCell[] | null
  readonly pkUpperExclusive?: readonly VectorCell[] | null
  readonly remaining?: Readonly<Record<string, string>>
  readonly merged?: Readonly<Record<string, string>>
  readonly schema?: string
}

interface OptimizeVectors {
  readonly cases: readonly OptimizeCase[]
  readonly extra?: readonly OptimizeCase[]
}

const vectors = readVectors<{
  readonly scan_spec_optimize_int8: OptimizeVectors
  readonly scan_spec_optimize_string: OptimizeVectors
}>('scan-spec')

const INT8_KEYS = aSchema('a INT8 KEY', 'b INT8 KEY', 'c INT8 KEY', 'd INT8 NULL', 'e INT8')
const STRING_KEYS = aSchema('a INT8 KEY', 'b STRING KEY', 'c STRING KEY')

function columnOf(schema: Schema, name: string): Column {
  const column = schema.byName(name)
  if (column === undefined) throw new Error(`no column ${name}`)
  return column
}

function toCell(value: VectorCell): Cell {
  return typeof value === 'string' ? utf8Encode(value) : value
}

function predicateOf(schema: Schema, [name, op, operand]: VectorPredicate): ColumnPredicate {
  const column = columnOf(schema, name)
  if (Array.isArray(operand)) return inListPredicate(column, operand.map(toCell))
  const cell = toCell(operand ?? 0)
  switch (op) {
    case '=':
      return equalityPredicate(column, cell)
    case '<':
      return rangePredicate(column, null, cell)
    case '<=':
      return inclusiveRangePredicate(column, null, cell)
    case '>=':
      return rangePredicate(column, cell, null)
    default:
      return isNotNullPredicate(column)
  }
}

/** A predicate as the vectors write it. */
function textOf(schema: Schema, predicate: ColumnPredicate): string {
  const { name } = schema.mustById(predicate.columnId)
  const { kind, lower, upper, values } = predicate
  const shown = (cell: Cell) => {
    if (!(cell instanceof Uint8Array)) return String(cell)
    return `"${utf8Decode(cell).replaceAll('\0', '\\000')}"`
  }
  if (kind === 'IN_LIST') return `${name} IN (${values.map(shown).join(', ')})`
  if (kind === 'EQUALITY' && lower !== null) return `${name} = ${shown(lower)}`
  if (kind !== 'RANGE') return `${name} ${kind.replaceAll('_', ' ')}`
  const from = lower === null ? [] : [`${name} >= ${shown(lower)}`]
  const to = upper === null ? [] : [`${name} < ${shown(upper)}`]
  return [...from, ...to].join(' AND ')
}

function textsOf(
  schema: Schema,
  predicates: readonly ColumnPredicate[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    predicates.map((it) => [schema.mustById(it.columnId).name, textOf(schema, it)]),
  )
}

function keyOf(schema: Schema, cells: readonly VectorCell[] | null | undefined): Uint8Array {
  return cells ? encodeKeyCells(schema.keyColumns, cells.map(toCell)) : EMPTY_BYTES
}

function specOf(schema: Schema, predicates: readonly ColumnPredicate[]): ScanSpec {
  return {
    predicates: combinePredicates(schema, predicates),
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
  }
}

function cellsOf(schema: Schema, key: Uint8Array): Cell[] | null {
  return key.length === 0 ? null : decodeKeyCells(schema.keyColumns, key)
}

describe('optimizeScanSpec', () => {
  test.each([
    ['scan_spec_optimize_int8', INT8_KEYS],
    ['scan_spec_optimize_string', STRING_KEYS],
  ] as const)('narrows the bounds and keeps the predicates as %s says', (group, tableSchema) => {
    const cases = [...vectors[group].cases, ...(vectors[group].extra ?? [])]

    for (const it of cases) {
      const schema = it.schema === undefined ? tableSchema : aSchema('a INT8 KEY')
      const predicates = it.predicates.map((predicate) => predicateOf(schema, predicate))
      if (it.merged !== undefined) {
        expect(textsOf(schema, combinePredicates(schema, predicates)), it.test).toEqual(it.merged)
        continue
      }
      const erasePushed = it.erase !== false
      const spec = optimizeScanSpec(schema, specOf(schema, predicates), { erasePushed })
      expect(spec.isEmpty, it.test).toBe(false)
      expect(cellsOf(schema, spec.lowerKey), it.test).toEqual(
        cellsOf(schema, keyOf(schema, it.pkLowerInclusive)),
      )
      expect(cellsOf(schema, spec.upperKey), it.test).toEqual(
        cellsOf(schema, keyOf(schema, it.pkUpperExclusive)),
      )
      expect(textsOf(schema, spec.predicates), it.test).toEqual(it.remaining ?? {})
    }

    reportVectors(group, cases.length)
  })

  // [1, 2, 5] ──► [1, 3, min]: a = 1, b = 2, c ≥ 5
  test('makes predicates of bounds that share a prefix', () => {
    const spec = optimizeScanSpec(
      INT8_KEYS,
      {
        predicates: [],
        lowerKey: keyOf(INT8_KEYS, [1, 2, 5]),
        upperKey: keyOf(INT8_KEYS, [1, 3, -128]),
      },
      { erasePushed: false },
    )

    expect(textsOf(INT8_KEYS, spec.predicates)).toEqual({ a: 'a = 1', b: 'b = 2', c: 'c >= 5' })
  })

  test('cuts an IN list by the bounds, and the bounds by what is left of it', () => {
    const spec = optimizeScanSpec(INT8_KEYS, {
      predicates: [inListPredicate(columnOf(INT8_KEYS, 'a'), [1, 5, 9])],
      lowerKey: keyOf(INT8_KEYS, [3, 7, 7]),
      upperKey: keyOf(INT8_KEYS, [8, 7, 7]),
    })

    expect(spec.predicates).toEqual([])
    expect(cellsOf(INT8_KEYS, spec.lowerKey)).toEqual([5, -128, -128])
    expect(cellsOf(INT8_KEYS, spec.upperKey)).toEqual([6, -128, -128])
  })

  test('takes a bound behind a key for the key that follows', () => {
    const spec = optimizeScanSpec(INT8_KEYS, {
      predicates: [],
      lowerKey: successorKey(keyOf(INT8_KEYS, [1, 2, 127])),
      upperKey: keyOf(INT8_KEYS, [1, 4, -128]),
    })

    expect(cellsOf(INT8_KEYS, spec.lowerKey)).toEqual([1, 3, -128])
    expect(spec.predicates).toEqual([])
  })

  test.each([
    ['a predicate that matches nothing', [nonePredicate(columnOf(INT8_KEYS, 'e'))], null, null],
    ['IS NULL on a column without nulls', [plainIsNull(columnOf(INT8_KEYS, 'e'))], null, null],
    ['equal bounds', [], [1, 2, 3], [1, 2, 3]],
    ['inverted bounds', [], [1, 2, 4], [1, 2, 3]],
    [
      'a predicate outside the bounds',
      [equalityPredicate(columnOf(INT8_KEYS, 'a'), 9)],
      [1, 2, 3],
      [4, -128, -128],
    ],
    [
      'a later predicate outside the bounds',
      [equalityPredicate(columnOf(INT8_KEYS, 'b'), 9)],
      [1, 2, 3],
      [1, 4, 3],
    ],
    [
      'predicates just below the bounds',
      [1, 2, 3].map((cell, i) => equalityPredicate(INT8_KEYS.columns[i], cell)),
      [1, 2, 4],
      null,
    ],
  ] as const)('finds that no row can match: %s', (_, predicates, lower, upper) => {
    const spec = optimizeScanSpec(INT8_KEYS, {
      predicates,
      lowerKey: keyOf(INT8_KEYS, lower),
      upperKey: keyOf(INT8_KEYS, upper),
    })

    expect(spec.isEmpty).toBe(true)
  })

  function plainIsNull(column: Column): ColumnPredicate {
    return { ...isNullPredicate({ ...column, isNullable: true }) }
  }

  test('puts predicates in the order in which they are worth evaluating', () => {
    const schema = aSchema('k INT8 KEY', 'a INT8 NULL', 'b INT64', 'c INT8', 'd STRING NULL')
    const [, a, b, c, d] = schema.columns

    const spec = optimizeScanSpec(
      schema,
      specOf(schema, [
        isNotNullPredicate(a),
        equalityPredicate(b, 5n),
        equalityPredicate(c, 5),
        isNullPredicate(d),
      ]),
    )

    expect(spec.predicates.map((it) => schema.mustById(it.columnId).name)).toEqual([
      'd',
      'c',
      'b',
      'a',
    ])
  })
})

describe('combinePredicates', () => {
  test('drops IS NOT NULL on a column without nulls, keeps it on another', () => {
    const predicates = ['d', 'e'].map((name) => isNotNullPredicate(columnOf(INT8_KEYS, name)))

    expect(textsOf(INT8_KEYS, combinePredicates(INT8_KEYS, predicates))).toEqual({
      d: 'd IS NOT NULL',
    })
  })

  test('keeps a range over all floats on a column without nulls, since NaN is not in it', () => {
    const schema = aSchema('k INT8 KEY', 'x DOUBLE')
    const all = rangePredicate(schema.columns[1], -Infinity, null)

    expect(combinePredicates(schema, [all])).toEqual([all])
  })
})
