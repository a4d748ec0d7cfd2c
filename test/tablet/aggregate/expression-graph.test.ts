import { describe, expect, test } from 'vitest'
import { FIRST_ROWS } from '../../../src/common/aggregate/first-rows.ts'
import type { Expression, ExpressionOp, NumberType } from '../../../src/common/aggregate-spec.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { type Cell, PHYSICAL } from '../../../src/common/data-type.ts'
import { StatusError } from '../../../src/common/status.ts'
import { ExpressionGraph } from '../../../src/tablet/aggregate/expression-graph.ts'

const INTEGER: NumberType = { kind: 'integer' }
const DOUBLE: NumberType = { kind: 'double' }
const scaled = (scale: number): NumberType => ({ kind: 'decimal', scale })

const a = (type: NumberType): Expression => ({ kind: 'column', type, columnId: 1 })
const b = (type: NumberType): Expression => ({ kind: 'column', type, columnId: 2 })

function literal(unscaled: bigint, scale = 0): Expression {
  const type = scale === 0 ? INTEGER : scaled(scale)
  return { kind: 'literal', type, unscaled, scale }
}

function binary(op: ExpressionOp, type: NumberType, left: Expression, right: Expression) {
  return { kind: 'binary', type, op, left, right } as const
}

type Cells = readonly (Cell | null)[]

/** The numbers of an expression over two INT128 or DOUBLE columns. */
function evaluate(expression: Expression, aCells: Cells, bCells: Cells): unknown[] {
  const graph = new ExpressionGraph([1, 2])
  const node = graph.node(expression)
  const columns = [aCells, bCells].map((cells) => {
    const isDouble = cells.some((cell) => typeof cell === 'number')
    const builder = new ColumnBuilder(isDouble ? PHYSICAL.float64 : PHYSICAL.int128, cells.length)
    for (const cell of cells) builder.appendCell(cell)
    return { cells: builder.view(), rows: FIRST_ROWS.upTo(cells.length), zone: null }
  })
  graph.load(columns, aCells.length)
  const vector = node.rows()
  return aCells.map((_, i) => {
    if (vector.isNull !== null && vector.isNull[i] !== 0) return null
    return vector.isWide ? vector.wide[i] : vector.values[i]
  })
}

describe('ExpressionGraph', () => {
  test('brings summands to the larger scale, and adds the scales of factors', () => {
    const sum = binary('-', scaled(3), a(scaled(1)), b(scaled(3)))
    const product = binary('*', scaled(4), a(scaled(1)), b(scaled(3)))

    expect(evaluate(sum, [15n, -1n], [250n, 1n])).toEqual([1250, -101])
    expect(evaluate(product, [15n, -1n], [250n, 1n])).toEqual([3750, -1])
  })

  test('is exact on both sides of what a double holds', () => {
    const sum = binary('+', INTEGER, a(INTEGER), b(INTEGER))
    const square = binary('*', INTEGER, a(INTEGER), a(INTEGER))
    const below = 2n ** 53n - 1n

    expect(evaluate(sum, [below], [1n])).toEqual([2n ** 53n])
    expect(evaluate(sum, [below], [2n])).toEqual([2n ** 53n + 1n])
    expect(evaluate(square, [94_906_267n], [0n])).toEqual([94_906_267n ** 2n])
    expect(evaluate(square, [-(10n ** 18n) - 1n], [0n])).toEqual([(10n ** 18n + 1n) ** 2n])
  })

  test('has a number of at most 38 digits in every row, or none', () => {
    const sum = binary('+', INTEGER, a(INTEGER), literal(1n))
    const last = 10n ** 38n - 1n

    expect(evaluate(sum, [last - 1n, -last], [0n, 0n])).toEqual([last, 1n - last])
    expect(() => evaluate(sum, [last], [0n])).toThrow(StatusError)
    expect(() => evaluate(sum, [last], [0n])).toThrow('has more than 38 digits')
  })

  test('is null where an operand is, whatever the other one is', () => {
    const product = binary('*', INTEGER, binary('+', INTEGER, a(INTEGER), b(INTEGER)), literal(7n))
    const wide = 9n * 10n ** 37n

    expect(evaluate(product, [1n, null, 3n], [null, null, 4n])).toEqual([null, null, 49])
    const large = binary(
      '+',
      scaled(1),
      a(INTEGER),
      binary('+', scaled(1), b(INTEGER), literal(1n, 1)),
    )
    expect(evaluate(large, [wide / 100n, null], [null, wide / 100n])).toEqual([null, null])
  })

  test('is null where something is divided by zero, of either sign', () => {
    const ratio = binary('/', DOUBLE, a(DOUBLE), b(DOUBLE))
    const exact = binary('/', DOUBLE, a(scaled(2)), b(scaled(1)))

    expect(evaluate(ratio, [1, 0, 3, Number.NaN], [0, -0, -2, 1])).toEqual([
      null,
      null,
      -1.5,
      Number.NaN,
    ])
    expect(evaluate(exact, [100n, null, 100n], [0n, 1n, 30n])).toEqual([null, null, 1 / 3])
  })

  test('turns exact numbers into the nearest doubles', () => {
    const scales = [2, 22, 23, 38]
    for (const scale of scales) {
      const ratio = binary('/', DOUBLE, a(scaled(scale)), literal(1n))
      const cells = [1n, 3n, 2n ** 53n + 1n, 10n ** 37n + 1n]
      expect(evaluate(ratio, cells, cells)).toEqual(
        cells.map((cell) => Number(`${cell}e-${scale}`)),
      )
    }
  })

  test('works literals out alone', () => {
    const half = binary('/', DOUBLE, literal(1n), literal(20n, 1))
    const sum = binary('+', scaled(1), literal(2n ** 60n), literal(5n, 1))

    expect(evaluate(half, [1n, 2n], [0n, 0n])).toEqual([0.5, 0.5])
    expect(evaluate(sum, [1n], [0n])).toEqual([2n ** 60n * 10n + 5n])
    expect(evaluate(binary('/', DOUBLE, literal(1n), literal(0n)), [1n], [0n])).toEqual([null])
  })

  test('has one node for what is asked twice', () => {
    const graph = new ExpressionGraph([1, 2])
    const discounted = binary('*', scaled(4), a(scaled(2)), b(scaled(2)))
    graph.node(discounted)
    const count = graph.nodeCount
    graph.node(structuredClone(discounted))

    expect(count).toBe(3)
    expect(graph.nodeCount).toBe(3)
  })
})
