import { describe, expect, test } from 'vitest'
import type { Cell } from '../../src/common/data-type.ts'
import { decodeKeyCells } from '../../src/common/encoded-key.ts'
import { boundText, rangeKeys } from '../../src/common/range-bound.ts'
import type { Column } from '../../src/common/schema.ts'
import { fromHex, toHex } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import {
  aBound,
  aCell,
  boundOf,
  type PlainBound,
  type PlainCell,
} from '../support/partition-input.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

type Bound = readonly (PlainCell | null)[]
interface Case {
  readonly in: Bound
  readonly out: Bound
  readonly error?: string
}
interface Vectors {
  readonly range_bound_increment: {
    readonly int8: Readonly<Record<'both' | 'lowerOnly' | 'upperOnly', readonly Case[]>>
    readonly stringAndVarchar10: { readonly both: readonly Case[] }
  }
}

const { int8, stringAndVarchar10 } = readVectors<Vectors>('partitions').range_bound_increment

const INT8S = aSchema('a INT8 KEY', 'b INT8 KEY', 'c INT8 KEY').keyColumns
const STRINGS = aSchema('a STRING KEY', 'b STRING KEY').keyColumns
const VARCHARS = aSchema('a VARCHAR(10) KEY', 'b VARCHAR(10) KEY').keyColumns

function bound(columns: readonly Column[], cells: Bound): PlainBound {
  return boundOf(
    columns.map((column) => column.name),
    cells,
  )
}

/** The key of an exclusive lower bound, made inclusive. */
function lowerKey(columns: readonly Column[], cells: Bound): string {
  return rangeKeys(columns, {
    lower: aBound(bound(columns, cells)),
    upper: aBound(null),
    lowerBoundType: 'EXCLUSIVE',
    upperBoundType: 'EXCLUSIVE',
  }).lowerKey
}

/** The key of an inclusive upper bound, made exclusive. */
function upperKey(columns: readonly Column[], cells: Bound): string {
  return rangeKeys(columns, {
    lower: aBound(null),
    upper: aBound(bound(columns, cells)),
    lowerBoundType: 'INCLUSIVE',
    upperBoundType: 'INCLUSIVE',
  }).upperKey
}

/** What the vectors leave unset is the smallest cell of its column. */
function cellsOf(columns: readonly Column[], cells: Bound): Cell[] {
  return cells.map((cell, i) => aCell(cell ?? (columns[i].type === 'INT8' ? -128 : '')))
}

function decoded(columns: readonly Column[], key: string): Cell[] {
  return decodeKeyCells(columns, fromHex(key))
}

describe('rangeKeys', () => {
  test('raises exclusive lower and inclusive upper bounds as the vectors do', () => {
    for (const { in: given, out } of int8.both) {
      const expected = cellsOf(INT8S, out)

      expect(decoded(INT8S, lowerKey(INT8S, given)), `lower ${given}`).toEqual(expected)
      expect(decoded(INT8S, upperKey(INT8S, given)), `upper ${given}`).toEqual(expected)
    }
    reportVectors('range_bound_increment (int8, both)', int8.both.length)
  })

  test('raises strings by a zero byte as the vectors do, whatever a VARCHAR may hold', () => {
    for (const columns of [STRINGS, VARCHARS]) {
      for (const { in: given, out } of stringAndVarchar10.both) {
        const expected = cellsOf(columns, out)

        expect(decoded(columns, lowerKey(columns, given))).toEqual(expected)
        expect(decoded(columns, upperKey(columns, given))).toEqual(expected)
      }
    }
    reportVectors('range_bound_increment (strings)', stringAndVarchar10.both.length * 2)
  })

  test('raises an exclusive lower bound of nothing and refuses one of the maximum', () => {
    const [ofNothing, ofMaximum] = int8.lowerOnly

    expect(decoded(INT8S, lowerKey(INT8S, ofNothing.in))).toEqual(cellsOf(INT8S, ofNothing.out))
    // Kudu's message begins with a capital and names the range partition key.
    expect(() => lowerKey(INT8S, ofMaximum.in)).toThrow(
      'must not have maximum values for all components: (127, 127, 127)',
    )
    reportVectors('range_bound_increment (lower only)', int8.lowerOnly.length)
  })

  test('makes an inclusive upper bound of nothing or of the maximum unbounded', () => {
    for (const { in: given } of int8.upperOnly) expect(upperKey(INT8S, given)).toBe('')
    reportVectors('range_bound_increment (upper only)', int8.upperOnly.length)
  })

  test('ends dates and decimals at what they can hold', () => {
    const { keyColumns } = aSchema('d DATE KEY', 'm DECIMAL(2) KEY')

    expect(decoded(keyColumns, lowerKey(keyColumns, [2_932_895, 99]))).toEqual([2_932_896, -99])
    expect(() => lowerKey(keyColumns, [2_932_896, 99])).toThrow('(9999-12-31, 99)')
    expect(upperKey(keyColumns, [2_932_896, 99])).toBe('')
  })

  test('leaves inclusive lower and exclusive upper bounds as they are', () => {
    const keys = rangeKeys(INT8S, {
      lower: aBound({ a: 1 }),
      upper: aBound({ a: 1, c: 2 }),
      lowerBoundType: 'INCLUSIVE',
      upperBoundType: 'EXCLUSIVE',
    })

    expect(keys).toEqual({ lowerKey: '810000', upperKey: '810082' })
  })

  test('cuts nothing off a bound that ends in minima', () => {
    const keys = rangeKeys(STRINGS, {
      lower: aBound({ a: 'x' }),
      upper: aBound(null),
      lowerBoundType: 'INCLUSIVE',
      upperBoundType: 'EXCLUSIVE',
    })

    expect(keys.lowerKey).toBe(`${toHex(Uint8Array.of(0x78))}0000`)
  })
})

describe('boundText', () => {
  test('shows the cells a bound leaves out, and one that sets none as unbounded', () => {
    expect(boundText(INT8S, aBound({ b: 3 }))).toBe('(-128, 3, -128)')
    expect(boundText(INT8S, aBound(null))).toBe('unbounded')
  })
})
