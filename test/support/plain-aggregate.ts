/** Aggregation by the book: a row at a time, with whole numbers of any size. */

import type {
  AggregateInput,
  AggregateSpec,
  Expression,
  GroupKey,
} from '../../src/common/aggregate-spec.ts'
import { aggregateResultTypes, numberTypeOf } from '../../src/common/aggregate-types.ts'
import { type Cell, physicalOf } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { toHex } from '../../src/util/bytes.ts'

/** Cells of a row, by the index of their column. */
export type PlainCells = readonly (Cell | null)[]

/** A number: exact ones are digits and a scale. */
type PlainNumber = { readonly digits: bigint; readonly scale: number } | number

/** A result; of sums of doubles with the error that they may have. */
export interface PlainResult {
  readonly cell: Cell | null
  readonly tolerance: number
}

/** Whether a result is what it must be. */
export function isSameResult(found: unknown, { cell, tolerance }: PlainResult): boolean {
  if (tolerance === 0) return cellText(found as Cell | null) === cellText(cell)
  if (tolerance === Infinity) return typeof found === 'number'
  return typeof found === 'number' && Math.abs(found - (cell as number)) <= tolerance
}

/** Results of a group: its keys, then its aggregates. */
export type PlainGroup = readonly PlainResult[]

/** A number that has no place in its type. */
export class PlainOverflow extends Error {}

const LIMIT = 10n ** 38n

/** Aggregates rows. Returns: groups by the text of their keys. Throws: PlainOverflow. */
export function plainAggregate(
  schema: Schema,
  spec: AggregateSpec,
  rows: readonly PlainCells[],
): Map<string, PlainGroup> {
  const groups = new Map<string, { keys: (Cell | null)[]; rows: PlainCells[] }>()
  if (spec.groupBy.length === 0) groups.set('', { keys: [], rows: [] })
  for (const row of rows) {
    const keys = spec.groupBy.map((key) => keyOf(schema, key, row))
    const text = groupText(keys)
    const group = groups.get(text) ?? { keys, rows: [] }
    groups.set(text, group)
    group.rows.push(row)
  }
  const types = aggregateResultTypes(schema, spec).slice(spec.groupBy.length)
  return new Map(
    [...groups].map(([text, group]) => {
      const results = spec.aggregates.map(({ op, input }, i) => {
        const physical = physicalOf(types[i].type, types[i].attributes)
        return resultOf(schema, op, input, group.rows, physical === physicalOf('INT64'))
      })
      return [text, [...group.keys.map((cell) => ({ cell, tolerance: 0 })), ...results]]
    }),
  )
}

/** What tells groups apart. */
export function groupText(keys: readonly (Cell | null)[]): string {
  return keys.map(cellText).join(' ')
}

/** A cell as a text: equal cells have the same. */
export function cellText(cell: Cell | null): string {
  if (cell === null) return 'null'
  if (cell instanceof Uint8Array) return `x${toHex(cell)}`
  return String(cell === 0 ? 0 : cell)
}

function keyOf(schema: Schema, { columnId, bucketMicros }: GroupKey, row: PlainCells) {
  const cell = row[schema.mustById(columnId).index]
  if (bucketMicros === null || cell === null) return cell
  const width = BigInt(bucketMicros)
  const time = cell as bigint
  const start = time >= 0n ? (time / width) * width : -((-time + width - 1n) / width) * width
  if (start < -(2n ** 63n)) throw new PlainOverflow()
  return start
}

function resultOf(
  schema: Schema,
  op: string,
  input: AggregateInput,
  rows: readonly PlainCells[],
  isInt64: boolean,
): PlainResult {
  const exact = (cell: Cell | null): PlainResult => ({ cell, tolerance: 0 })
  if (input.kind === 'rows') return exact(BigInt(rows.length))
  if (input.kind === 'column' && op !== 'SUM' && op !== 'AVG') {
    const { index } = schema.mustById(input.columnId)
    return exact(
      ofCells(
        op,
        rows.map((row) => row[index]).filter((cell) => cell !== null),
      ),
    )
  }
  const expression: Expression =
    input.kind === 'expression' ? input.expression : columnOf(schema.mustById(input.columnId))
  const numbers = rows
    .map((row) => evaluate(schema, expression, row))
    .filter((value) => value !== null)
  if (op === 'COUNT') return exact(BigInt(numbers.length))
  if (op === 'SUM' || op === 'AVG') return sumOf(op, numbers, isInt64)
  const cells = numbers.map((value) => (typeof value === 'number' ? value : value.digits))
  const cell = ofCells(op, cells)
  if (isInt64 && typeof cell === 'bigint' && BigInt.asIntN(64, cell) !== cell) {
    throw new PlainOverflow()
  }
  return exact(cell)
}

function columnOf(column: Column): Expression {
  const type = numberTypeOf(column)
  if (type === undefined) throw new Error('the column is not of numbers')
  return { kind: 'column', type, columnId: column.id }
}

function ofCells(op: string, cells: readonly Cell[]): Cell | null {
  if (op === 'COUNT') return BigInt(cells.length)
  if (op === 'COUNT_DISTINCT') return BigInt(new Set(cells.map(cellText)).size)
  let best: Cell | null = null
  for (const cell of cells) {
    if (best === null || (op === 'MIN' ? isBelow(cell, best) : isBelow(best, cell))) best = cell
  }
  return best === 0 ? 0 : best
}

function isBelow(a: Cell, b: Cell): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) < 0
  if (Number.isNaN(a)) return false
  return Number.isNaN(b) || a < b
}

function evaluate(schema: Schema, expression: Expression, row: PlainCells): PlainNumber | null {
  switch (expression.kind) {
    case 'column': {
      const column = schema.mustById(expression.columnId)
      const cell = row[column.index]
      if (cell === null || cell instanceof Uint8Array) return null
      if (column.type === 'FLOAT' || column.type === 'DOUBLE') return cell as number
      return { digits: BigInt(cell), scale: column.attributes.scale ?? 0 }
    }
    case 'literal':
      return { digits: expression.unscaled, scale: expression.scale }
    case 'binary': {
      const left = evaluate(schema, expression.left, row)
      const right = evaluate(schema, expression.right, row)
      return left === null || right === null ? null : operate(expression.op, left, right)
    }
  }
}

function operate(op: string, a: PlainNumber, b: PlainNumber): PlainNumber | null {
  if (op === '/' || typeof a === 'number' || typeof b === 'number') {
    const x = doubleOf(a)
    const y = doubleOf(b)
    if (op === '/') return y === 0 ? null : x / y
    return op === '*' ? x * y : op === '+' ? x + y : x - y
  }
  const scale = op === '*' ? a.scale + b.scale : Math.max(a.scale, b.scale)
  const x = a.digits * 10n ** BigInt(scale - a.scale)
  const y = b.digits * 10n ** BigInt(scale - b.scale)
  const digits = op === '*' ? a.digits * b.digits : op === '+' ? x + y : x - y
  if (digits >= LIMIT || digits <= -LIMIT) throw new PlainOverflow()
  return { digits, scale }
}

function doubleOf(value: PlainNumber): number {
  return typeof value === 'number' ? value : Number(`${value.digits}e-${value.scale}`)
}

function sumOf(op: string, numbers: readonly PlainNumber[], isInt64: boolean): PlainResult {
  if (numbers.length === 0) return { cell: null, tolerance: 0 }
  if (typeof numbers[0] === 'number') {
    const { cell, tolerance } = sumOfDoubles(numbers as number[])
    if (op === 'SUM') return { cell, tolerance }
    const count = numbers.length
    if (!Number.isFinite(cell)) return { cell: cell / count, tolerance }
    return { cell: cell / count, tolerance: tolerance / count + Math.abs(cell / count) * 1e-15 }
  }
  const exact = numbers as { digits: bigint; scale: number }[]
  const sum = exact.reduce((total, { digits }) => total + digits, 0n)
  if (op === 'AVG') {
    const zeros = 60
    const quotient = (sum * 10n ** BigInt(zeros)) / BigInt(numbers.length)
    return { cell: Number(`${quotient}e-${exact[0].scale + zeros}`), tolerance: 0 }
  }
  const fits = isInt64 ? BigInt.asIntN(64, sum) === sum : sum < LIMIT && sum > -LIMIT
  if (!fits) throw new PlainOverflow()
  return { cell: sum, tolerance: 0 }
}

/** The sum of doubles, worked out exactly, and how far one that is compensated may be from it. */
function sumOfDoubles(numbers: readonly number[]): { cell: number; tolerance: number } {
  if (numbers.some((value) => !Number.isFinite(value))) {
    return { cell: numbers.reduce((sum, value) => sum + value, 0), tolerance: 0 }
  }
  let sum = 0n
  let magnitude = 0
  for (const value of numbers) {
    sum += unitsOf(value)
    magnitude += Math.abs(value)
  }
  // In units of 2^-1074, the least double.
  const isLarge = sum > 2n ** 100n || sum < -(2n ** 100n)
  const shift = isLarge ? BigInt(sum.toString(2).length - 90) : 0n
  const power = Number(shift) - 1074
  const half = Math.floor(power / 2)
  const cell = Number(sum >> shift) * 2 ** half * 2 ** (power - half)
  const unit = 2 ** -53
  // On its way a sum may pass the greatest double: infinity, or anything that comes of it.
  if (magnitude > Number.MAX_VALUE / 2) return { cell, tolerance: Infinity }
  const rests = numbers.length ** 2 * unit * unit * magnitude
  return { cell, tolerance: 4 * unit * Math.abs(cell) + 4 * rests }
}

function unitsOf(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, Math.abs(value))
  const whole = bits.getBigUint64(0)
  const exponent = whole >> 52n
  const fraction = whole & 0xf_ffff_ffff_ffffn
  const units = exponent === 0n ? fraction : (fraction | (2n ** 52n)) << (exponent - 1n)
  return value < 0 ? -units : units
}
