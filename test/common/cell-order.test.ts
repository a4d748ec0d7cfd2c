import { describe, expect, test } from 'vitest'
import {
  compareCells,
  decrementCell,
  incrementCells,
  maxCell,
  minCell,
  nextCell,
} from '../../src/common/cell-order.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aColumn } from '../support/a-schema.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { plainCompare } from '../support/plain-predicate.ts'
import { cellOf, columnsOf } from '../support/vector-columns.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Pair {
  readonly a: string
  readonly b: string
  readonly expect: boolean
}
interface Vectors {
  readonly consecutive: Readonly<Record<'int64' | 'double' | 'string', readonly Pair[]>>
  readonly cell_try_decrement: {
    readonly cases: readonly { type: string; in: string; ok: boolean; out: string }[]
  }
  readonly key_increment: {
    readonly cases: readonly { types: string[]; in: string[]; out: string[]; ok: boolean }[]
  }
}

const { consecutive, cell_try_decrement, key_increment } = readVectors<Vectors>('keys')

const TYPES = [
  'BOOL',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'UNIXTIME_MICROS',
  'DATE',
  'FLOAT',
  'DOUBLE',
  'DECIMAL(1)',
  'DECIMAL(9)',
  'DECIMAL(10)',
  'DECIMAL(18)',
  'DECIMAL(19)',
  'DECIMAL(38)',
  'STRING',
  'VARCHAR(3)',
  'BINARY',
]

/** The double above a positive or below a negative one, by its bits: away from zero. */
function awayFromZero(value: number): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigUint64(0, view.getBigUint64(0) + 1n)
  return view.getFloat64(0)
}

function doubleOf(text: string): number {
  const match = /^nextafter\((.+),\+inf\)$/.exec(text)
  if (match === null) return Number(text)
  const value = Number(match[1])
  if (value >= 0) return awayFromZero(value)
  // The double above a negative one is that from which one step leads to it.
  let above = value * (1 - Number.EPSILON)
  while (awayFromZero(above) !== value) above = awayFromZero(above)
  return above
}

function isNext(column: Column, a: Cell, b: Cell): boolean {
  const next = nextCell(column, a)
  return next !== null && compareCells(column.physical, next, b) === 0
}

describe('compareCells', () => {
  test('orders the boundary cells of every type as plain comparison does, NaN above all', () => {
    for (const type of TYPES) {
      const column = aColumn(`c ${type}`)
      for (const a of boundaryCells(column)) {
        for (const b of boundaryCells(column)) {
          const order = Math.sign(compareCells(column.physical, a, b))

          const plain = Number(plainCompare(a, '>', b)) - Number(plainCompare(a, '<', b))
          const nan = Number(Number.isNaN(a)) - Number(Number.isNaN(b))
          expect(order, `${type} ${String(a)} ${String(b)}`).toBe(plain === 0 ? nan : plain)
        }
      }
    }
  })
})

describe('minCell and maxCell', () => {
  test('bound every cell that is a number or bytes', () => {
    for (const type of TYPES) {
      const column = aColumn(`c ${type}`)
      const max = maxCell(column)
      for (const cell of boundaryCells(column).filter((it) => !Number.isNaN(it))) {
        expect(compareCells(column.physical, minCell(column), cell), type).toBeLessThanOrEqual(0)
        if (max === null) continue
        expect(compareCells(column.physical, cell, max), type).toBeLessThanOrEqual(0)
      }
    }
  })

  test('are the ends of the type, of a date its calendar and of a decimal its digits', () => {
    const ends = (type: string) => [minCell(aColumn(`c ${type}`)), maxCell(aColumn(`c ${type}`))]

    expect(ends('INT8')).toEqual([-128, 127])
    expect(ends('INT64')).toEqual([-(2n ** 63n), 2n ** 63n - 1n])
    expect(ends('DATE')).toEqual([-719_162, 2_932_896])
    expect(ends('BOOL')).toEqual([0, 1])
    expect(ends('DECIMAL(5,2)')).toEqual([-99_999, 99_999])
    expect(ends('DECIMAL(18,2)')).toEqual([-(10n ** 18n) + 1n, 10n ** 18n - 1n])
    expect(ends('DOUBLE')).toEqual([-Infinity, Infinity])
    expect(ends('STRING')).toEqual([new Uint8Array(0), null])
  })
})

describe('nextCell', () => {
  test('gives the second of two cells exactly where the vectors call them consecutive', () => {
    const columns = {
      int64: aColumn('c INT64'),
      double: aColumn('c DOUBLE'),
      string: aColumn('c STRING'),
    }
    const read = { int64: BigInt, double: doubleOf, string: utf8Encode }
    let count = 0
    for (const type of ['int64', 'double', 'string'] as const) {
      for (const { a, b, expect: isConsecutive } of consecutive[type]) {
        const next = isNext(columns[type], read[type](a), read[type](b))

        expect(next, `${type} ${a} ${b}`).toBe(isConsecutive)
        count++
      }
    }
    reportVectors('consecutive', count)
  })

  test('leaves no boundary cell between a cell and the next, and none above the last', () => {
    for (const type of TYPES) {
      const column = aColumn(`c ${type}`)
      for (const cell of boundaryCells(column)) {
        const next = nextCell(column, cell)

        const above = boundaryCells(column).filter((it) => plainCompare(it, '>', cell))
        const message = `${type} ${String(cell)}`
        if (next === null) {
          expect(above, message).toEqual([])
        } else {
          expect(plainCompare(next, '>', cell), message).toBe(true)
          expect(
            above.every((it) => plainCompare(it, '>=', next)),
            message,
          ).toBe(true)
        }
      }
    }
  })

  test('steps through zero among floats', () => {
    const double = aColumn('c DOUBLE')
    const float = aColumn('c FLOAT')

    expect(nextCell(double, 0)).toBe(Number.MIN_VALUE)
    expect(nextCell(double, -0)).toBe(Number.MIN_VALUE)
    expect(nextCell(double, -Number.MIN_VALUE)).toBe(-0)
    expect(nextCell(double, -Infinity)).toBe(-Number.MAX_VALUE)
    expect(nextCell(float, 0)).toBe(2 ** -149)
    expect(nextCell(float, 1)).toBe(1 + 2 ** -23)
    expect(nextCell(float, -1)).toBe(-1 + 2 ** -24)
    expect(nextCell(float, Number.NaN)).toBe(null)
  })
})

describe('decrementCell', () => {
  // Kudu has unsigned integers: a UINT32 below stands for the INT32 that is 2^31 less.
  test('gives the cells of the vectors', () => {
    for (const { type, in: text, ok, out } of cell_try_decrement.cases) {
      const [column] = columnsOf([type])

      const below = decrementCell(column, cellOf(type, text))

      expect(below, `${type} ${text}`).toEqual(ok ? cellOf(type, out) : null)
    }
    reportVectors('cell_try_decrement', cell_try_decrement.cases.length)
  })

  test('undoes nextCell wherever it gives a cell: for every integer but the least', () => {
    for (const type of TYPES) {
      const column = aColumn(`c ${type}`)
      const isInteger = !['FLOAT', 'DOUBLE', 'STRING', 'VARCHAR(3)', 'BINARY'].includes(type)
      for (const cell of boundaryCells(column)) {
        const below = decrementCell(column, cell)

        const message = `${type} ${String(cell)}`
        if (below !== null) expect(nextCell(column, below), message).toEqual(cell)
        if (isInteger) expect(below === null, message).toBe(cell === minCell(column))
      }
    }
  })

  test('takes a trailing zero byte off and no other', () => {
    const column = aColumn('c BINARY')

    expect(decrementCell(column, Uint8Array.of(97, 0, 0))).toEqual(Uint8Array.of(97, 0))
    expect(decrementCell(column, Uint8Array.of(0, 1))).toBe(null)
  })
})

describe('incrementCells', () => {
  // Where Kudu says that a tuple overflowed and leaves it at its least, there is no tuple above.
  test('gives the tuples of the vectors', () => {
    for (const { types, in: texts, out, ok } of key_increment.cases) {
      const cells = texts.map((text, i) => cellOf(types[i], text))

      const raised = incrementCells(columnsOf(types), cells)

      const expected = ok ? out.map((text, i) => cellOf(types[i], text)) : null
      expect(raised, `${types} ${texts}`).toEqual(expected)
    }
    reportVectors('key_increment', key_increment.cases.length)
  })

  test('leaves the tuple it was given alone', () => {
    const cells = [1, 127]

    expect(incrementCells(columnsOf(['INT8', 'INT8']), cells)).toEqual([2, -128])
    expect(cells).toEqual([1, 127])
  })
})
