import { describe, expect, test } from 'vitest'
import { type OrderColumn, orderRows } from '../../src/api/order-rows.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { RowBlock } from '../../src/common/row-block.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
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

  test('tells the widest integers apart', () => {
    const highs = [0n, 1n, 5n, 1n << 22n, (1n << 32n) - 1n, 1n << 32n, 1n << 53n, (1n << 60n) - 1n]
    const around = highs.flatMap((high) => [high - 1n, high, high + 1n, -high])
    const lows = [0n, 1n, (1n << 63n) - 1n, (1n << 64n) - 2n, (1n << 64n) - 1n]
    const cells = around.flatMap((high) => lows.map((low) => (high << 64n) | low)).reverse()
    const block = blockOf(aColumn('x DECIMAL(38)'), cells)
    const ordered = [...orderRows(block, [{ index: 0, isDescending: false }], 0)]

    expect(ordered.map((row) => cells[row])).toEqual(
      cells.toSorted((a, b) => Number(a > b) - Number(a < b)),
    )
  })

  test.each(['', 'the same beginning of all '])('sorts texts that begin with "%s"', (start) => {
    const ends = [
      '',
      '\0',
      '\0\0',
      'a',
      'a\0',
      'ab',
      'abc',
      'abcd',
      'abcde',
      'abcdef',
      'b',
      'é',
      '水',
    ]
    const texts = [...ends, ...ends].map((end) => `${start}${end}`).reverse()
    const cells = texts.map((text) => utf8Encode(text))
    const block = blockOf(aColumn('x STRING'), cells)

    for (const isDescending of [false, true]) {
      const ordered = [...orderRows(block, [{ index: 0, isDescending }], 0)]
      const sign = isDescending ? -1 : 1
      const expected = cells.toSorted((a, b) => sign * Buffer.compare(a, b))
      expect(ordered.map((row) => cells[row])).toEqual(expected)
    }
  })

  test('of no rows is nothing', () => {
    expect(orderRows(blockOf(aColumn('x INT8'), []), [], 1)).toHaveLength(0)
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
