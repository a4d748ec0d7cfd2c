import { describe, expect, test } from 'vitest'
import { type OrderColumn, orderRows, readOrder } from '../../src/api/aggregate-order.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { RowBlock } from '../../src/common/row-block.ts'
import type { Column } from '../../src/common/schema.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn, aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'
import { COLUMN_TEXTS } from '../support/random-cell.ts'
import { randomVector } from '../support/random-vector.ts'

const SEEDS = Array.from({ length: 8 }, (_, seed) => seed)

describe('orderRows', () => {
  test.each(SEEDS)('orders rows of every type as a plain sort does, seed %i', (seed) => {
    const prng = new Prng(seed)
    for (let round = 0; round < 20; round++) {
      const columns = Array.from({ length: 3 }, () => aColumn(prng.pick(COLUMN_TEXTS)))
      const block = aBlock(prng, columns, prng.below(200))
      const by = someColumns(prng, columns.length)
      const keyCount = prng.below(columns.length + 1)
      const rows = [...orderRows(block, by, keyCount)]

      expect(rows, `seed ${seed}, round ${round}`).toEqual(plainOrder(block, by, keyCount))
    }
  })

  test('has nulls last either way, and NaN above all numbers', () => {
    const cells = [1, null, Number.NaN, Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY]
    const block = blockOf(aColumn('x DOUBLE NULL'), cells)
    const ordered = (isDescending: boolean) => {
      return [...orderRows(block, [{ index: 0, isDescending }], 0)].map((row) => cells[row])
    }

    expect(ordered(false)).toEqual([-Infinity, 0, 1, Infinity, Number.NaN, null])
    expect(ordered(true)).toEqual([Number.NaN, Infinity, 1, 0, -Infinity, null])
  })

  test('takes -0 for 0 and keeps what is equal in its order', () => {
    const block = blockOf(aColumn('x DOUBLE'), [0, -0, 0, -1, -0])

    expect([...orderRows(block, [{ index: 0, isDescending: false }], 0)]).toEqual([3, 0, 1, 2, 4])
    expect([...orderRows(block, [{ index: 0, isDescending: true }], 0)]).toEqual([0, 1, 2, 4, 3])
    expect([...orderRows(block, [], 1)]).toEqual([3, 0, 1, 2, 4])
  })

  test('of no rows is nothing', () => {
    expect(orderRows(blockOf(aColumn('x INT8'), []), [], 1)).toHaveLength(0)
  })
})

describe('readOrder', () => {
  const { columns } = aSchema('n INT32 KEY', 'name STRING', 'x DOUBLE NULL')
  const read = (text: string) => readOrder(columns, parseJson(text))

  test('finds the columns of the result', () => {
    expect(readOrder(columns, undefined)).toEqual([])
    expect(read('[]')).toEqual([])
    expect(read('["x",{"column":"n"},{"column":"name","descending":true}]')).toEqual([
      { index: 2, isDescending: false },
      { index: 0, isDescending: false },
      { index: 1, isDescending: true },
    ])
    expect(read('[{"column":"n","descending":false}]')[0].isDescending).toBe(false)
  })

  test.each([
    ['{"column":"n"}', 'member "order_by" must be an array'],
    ['null', 'member "order_by" must be an array'],
    ['[1]', 'order_by[0] must be an object'],
    ['["n",{}]', 'order_by[1] needs a string in member "column"'],
    ['["none"]', 'order_by[0]: the result has no column "none"'],
    ['[{"column":"toString"}]', 'order_by[0]: the result has no column "toString"'],
    ['["n",{"column":"n","descending":true}]', 'order_by[1]: "n" is listed twice'],
    ['[{"column":"n","desc":true}]', 'order_by[0] has an unknown member "desc"'],
    ['[{"column":"n","descending":"true"}]', 'member "descending" must be true or false'],
    ['[{"column":"n","descending":1}]', 'member "descending" must be true or false'],
    ['[{"column":"n","descending":null}]', 'member "descending" must be true or false'],
  ])('refuses %s', (request, message) => {
    expect(() => read(request)).toThrow(message)
  })
})

function aBlock(prng: Prng, columns: readonly Column[], rowCount: number): RowBlock {
  const vectors = columns.map((column) => {
    return randomVector(prng, column, rowCount, prng.pick([0, 0.1, 0.9]))
  })
  return new RowBlock(rowCount, [...columns.keys()], vectors, null)
}

function blockOf(column: Column, cells: readonly (Cell | null)[]): RowBlock {
  const builder = new ColumnBuilder(column.physical)
  for (const cell of cells) {
    if (cell === null) builder.appendNull(true)
    else builder.appendCell(cell)
  }
  return new RowBlock(cells.length, [0], [builder.view()], null)
}

/** Some columns in some order, each at most once. */
function someColumns(prng: Prng, count: number): OrderColumn[] {
  const indexes = [...Array(count).keys()].filter(() => prng.chance(0.6))
  if (prng.chance(0.5)) indexes.reverse()
  return indexes.map((index) => ({ index, isDescending: prng.chance(0.5) }))
}

function plainOrder(block: RowBlock, by: readonly OrderColumn[], keyCount: number): number[] {
  const keys = [...Array(keyCount).keys()].map((index) => ({ index, isDescending: false }))
  const rows = Array.from({ length: block.rowCount }, (_, row) => row)
  return rows.sort((a, b) => {
    for (const { index, isDescending } of [...by, ...keys]) {
      const left = block.columns[index].cell(a)
      const right = block.columns[index].cell(b)
      if (left === null && right === null) continue
      if (left === null || right === null) return left === null ? 1 : -1
      const found = plainComparison(left, right)
      if (found !== 0) return isDescending ? -found : found
    }
    return a - b
  })
}

function plainComparison(a: Cell, b: Cell): number {
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return Number(a > (b as typeof a)) - Number(a < (b as typeof a))
}
