/**
 * Expressions over columns, worked out a selection of rows at a time. Hot.
 *
 *   SUM(price × (1 − discount))   SUM(price × (1 − discount) × (1 + tax))
 *              └────────┬───────────────────┘
 *               one node, worked out once
 *
 * A node has the number of each row, or null: where an operand is null, and where something is
 * divided by zero.
 */

import { aggregateText } from '../../common/aggregate-plan.ts'
import type { Expression, ExpressionOp, NumberType } from '../../common/aggregate-spec.ts'
import { ratioToDouble } from '../../common/ratio-to-double.ts'
import { invalidArgument } from '../../common/status.ts'
import { assert } from '../../util/assert.ts'
import type { SelectedColumn } from '../row-set.ts'
import { loadPlain, loadWide } from './load-numbers.ts'
import { NumberVector, PLAIN_END, writeDoubles } from './number-vector.ts'

/** Digits of an exact number. */
const DIGITS_MAX = 38
const EXACT_END = 10n ** BigInt(DIGITS_MAX)

/** All expressions of an aggregation. */
export class ExpressionGraph {
  readonly #nodes = new Map<string, ExpressionNode>()
  readonly #columnIndex: ReadonlyMap<number, number>

  /** `columnIds`: those of the selections, in their order. */
  constructor(columnIds: readonly number[]) {
    this.#columnIndex = new Map(columnIds.map((id, index) => [id, index]))
  }

  /** The node of an expression; the same expression has the same node. */
  node(expression: Expression): ExpressionNode {
    const text = aggregateText(expression)
    let node = this.#nodes.get(text)
    if (node === undefined) {
      node = this.#open(expression)
      this.#nodes.set(text, node)
    }
    return node
  }

  /** The node of a column's cells. */
  column(columnId: number, type: NumberType): ColumnNode {
    return this.node({ kind: 'column', type, columnId }) as ColumnNode
  }

  #open(expression: Expression): ExpressionNode {
    switch (expression.kind) {
      case 'column': {
        const index = this.#columnIndex.get(expression.columnId)
        assert(index !== undefined, 'columns of expressions are read')
        return new ColumnNode(expression.type, index)
      }
      case 'literal':
        return new LiteralNode(expression.type, expression.unscaled, expression.scale)
      case 'binary': {
        const { type, op, left, right } = expression
        const operands = [this.node(left), this.node(right)] as const
        return type.kind === 'double'
          ? new DoubleNode(type, op, ...operands)
          : new ExactNode(type, op, ...operands)
      }
    }
  }

  /** Nodes: what is worked out for each row. */
  get nodeCount(): number {
    return this.#nodes.size
  }

  /** Takes the next rows. */
  load(columns: readonly SelectedColumn[], count: number): void {
    for (const node of this.#nodes.values()) node.load(columns, count)
  }
}

/** A number for each row of a selection. */
export abstract class ExpressionNode {
  readonly type: NumberType
  protected readonly result = new NumberVector()
  protected count = 0
  #doubles: NumberVector | null = null
  #rows: NumberVector | null = null
  #isEvaluated = false
  #hasDoubles = false

  constructor(type: NumberType) {
    this.type = type
  }

  /** Digits behind the point of exact numbers. */
  get scale(): number {
    return this.type.kind === 'decimal' ? this.type.scale : 0
  }

  /** Takes the next rows; nothing is worked out. */
  load(_columns: readonly SelectedColumn[], count: number): void {
    this.count = count
    this.#isEvaluated = false
    this.#hasDoubles = false
  }

  /** The numbers. Throws: INVALID_ARGUMENT when one has too many digits. Cost: once a selection. */
  vector(): NumberVector {
    if (!this.#isEvaluated) this.evaluate()
    this.#isEvaluated = true
    return this.result
  }

  /** As `vector`, with a number for each row also when all are the same. */
  rows(): NumberVector {
    const vector = this.vector()
    if (!vector.isConstant) return vector
    this.#rows ??= new NumberVector()
    const rows = this.#rows
    rows.isWide = vector.isWide
    rows.bound = vector.bound
    if (vector.isWide) for (let i = 0; i < this.count; i++) rows.wide[i] = vector.wide[0]
    else rows.reserve(this.count).fill(vector.values[0], 0, this.count)
    return rows
  }

  /** The numbers as doubles. */
  doubles(): NumberVector {
    if (this.type.kind === 'double') return this.vector()
    const exact = this.vector()
    this.#doubles ??= new NumberVector()
    const doubles = this.#doubles
    if (this.#hasDoubles) return doubles
    doubles.isConstant = exact.isConstant
    doubles.isNull = exact.isNull
    writeDoubles(exact, this.scale, this.count, doubles.reserve(this.count))
    this.#hasDoubles = true
    return doubles
  }

  protected abstract evaluate(): void
}

/** Cells of a column. */
export class ColumnNode extends ExpressionNode {
  readonly #index: number
  #column: SelectedColumn | null = null
  #isPlain: boolean | null = null

  constructor(type: NumberType, index: number) {
    super(type)
    this.#index = index
  }

  /** The cells. Requires: rows were loaded. */
  get column(): SelectedColumn {
    assert(this.#column !== null, 'rows were loaded')
    return this.#column
  }

  override load(columns: readonly SelectedColumn[], count: number): void {
    super.load(columns, count)
    this.#column = columns[this.#index]
    this.#isPlain = null
  }

  /** The plain numbers; null when the cells are too large for that. */
  plain(): NumberVector | null {
    this.#isPlain ??= loadPlain(this.column, this.count, this.result)
    return this.#isPlain ? this.result : null
  }

  protected override evaluate(): void {
    if (this.plain() === null) loadWide(this.column, this.count, this.result)
  }
}

class LiteralNode extends ExpressionNode {
  constructor(type: NumberType, unscaled: bigint, scale: number) {
    super(type)
    if (type.kind !== 'double') {
      this.result.setConstant(unscaled * 10n ** BigInt(this.scale - scale))
      return
    }
    this.result.isConstant = true
    this.result.values[0] = ratioToDouble(unscaled, 10n ** BigInt(scale))
  }

  protected override evaluate(): void {
    // It is the same for all rows.
  }
}

abstract class BinaryNode extends ExpressionNode {
  protected readonly op: ExpressionOp
  protected readonly left: ExpressionNode
  protected readonly right: ExpressionNode

  constructor(type: NumberType, op: ExpressionOp, left: ExpressionNode, right: ExpressionNode) {
    super(type)
    this.op = op
    this.left = left
    this.right = right
  }
}

/** Exact numbers: integers and decimals. */
class ExactNode extends BinaryNode {
  protected override evaluate(): void {
    const a = this.left.vector()
    const b = this.right.vector()
    const { result, count } = this
    assert(this.op !== '/', 'what is divided is a double')
    result.joinNulls(a, b, count)
    result.isConstant = a.isConstant && b.isConstant
    // Summands are brought to the scale of the sum; a product's scale is the sum of both.
    const isProduct = this.op === '*'
    const aPower = isProduct ? 0 : this.scale - this.left.scale
    const bPower = isProduct ? 0 : this.scale - this.right.scale
    const aBound = a.bound * 10 ** aPower
    const bBound = b.bound * 10 ** bPower
    const bound = isProduct ? aBound * bBound : aBound + bBound
    result.isWide = a.isWide || b.isWide || !(bound < PLAIN_END)
    if (result.isWide) {
      this.#combineWide(a, aPower, b, bPower)
    } else {
      result.bound = bound
      const end = result.isConstant ? 1 : count
      const values = result.reserve(end)
      if (isProduct) multiply(a, b, end, values)
      else add(a, 10 ** aPower, b, (this.op === '-' ? -1 : 1) * 10 ** bPower, end, values)
      if (result.isConstant) result.wide = [BigInt(values[0])]
    }
    if (!result.isConstant) result.clearNulls(count)
  }

  #combineWide(a: NumberVector, aPower: number, b: NumberVector, bPower: number): void {
    const { result, op, count } = this
    const left = a.integers(count)
    const right = b.integers(count)
    const aUnit = 10n ** BigInt(aPower)
    const bUnit = 10n ** BigInt(bPower) * (op === '-' ? -1n : 1n)
    const aStep = a.isConstant ? 0 : 1
    const bStep = b.isConstant ? 0 : 1
    const end = result.isConstant ? 1 : count
    for (let i = 0; i < end; i++) {
      const x = left[i * aStep]
      const y = right[i * bStep]
      const value = op === '*' ? x * y : x * aUnit + y * bUnit
      result.wide[i] = value
      if (value < EXACT_END && value > -EXACT_END) continue
      if (result.isNull === null || result.isNull[i] === 0) throw tooManyDigits()
    }
  }
}

/** Doubles. */
class DoubleNode extends BinaryNode {
  protected override evaluate(): void {
    const a = this.left.doubles()
    const b = this.right.doubles()
    const { result, op, count } = this
    result.joinNulls(a, b, count)
    result.isConstant = a.isConstant && b.isConstant && op !== '/'
    const end = result.isConstant ? 1 : count
    const values = result.reserve(end)
    if (op === '/') this.#divide(a, b, values)
    else if (op === '*') multiply(a, b, end, values)
    else add(a, 1, b, op === '-' ? -1 : 1, end, values)
    if (!result.isConstant) result.clearNulls(count)
  }

  #divide(a: NumberVector, b: NumberVector, values: Float64Array): void {
    const { result, count } = this
    const aStep = a.isConstant ? 0 : 1
    const bStep = b.isConstant ? 0 : 1
    let zeroCount = 0
    for (let i = 0; i < count; i++) {
      const divisor = b.values[i * bStep]
      if (divisor === 0) zeroCount++
      values[i] = a.values[i * aStep] / divisor
    }
    if (zeroCount === 0) return
    const before = result.isNull
    const marks = result.reserveNulls(count)
    if (before === null) marks.fill(0, 0, count)
    else if (before !== marks) marks.set(before.subarray(0, count))
    for (let i = 0; i < count; i++) if (b.values[i * bStep] === 0) marks[i] = 1
  }
}

/** Writes `a × aUnit + b × bUnit`. */
function add(
  a: NumberVector,
  aUnit: number,
  b: NumberVector,
  bUnit: number,
  count: number,
  out: Float64Array,
): void {
  const left = a.values
  const right = b.values
  if (a.isConstant) {
    const constant = left[0] * aUnit
    if (b.isConstant) out[0] = constant + right[0] * bUnit
    else for (let i = 0; i < count; i++) out[i] = constant + right[i] * bUnit
  } else if (b.isConstant) {
    const constant = right[0] * bUnit
    for (let i = 0; i < count; i++) out[i] = left[i] * aUnit + constant
  } else {
    for (let i = 0; i < count; i++) out[i] = left[i] * aUnit + right[i] * bUnit
  }
}

function multiply(a: NumberVector, b: NumberVector, count: number, out: Float64Array): void {
  const left = a.values
  const right = b.values
  if (a.isConstant) {
    const constant = left[0]
    if (b.isConstant) out[0] = constant * right[0]
    else for (let i = 0; i < count; i++) out[i] = constant * right[i]
  } else if (b.isConstant) {
    const constant = right[0]
    for (let i = 0; i < count; i++) out[i] = left[i] * constant
  } else {
    for (let i = 0; i < count; i++) out[i] = left[i] * right[i]
  }
}

function tooManyDigits(): Error {
  return invalidArgument(`number of an expression has more than ${DIGITS_MAX} digits`, {
    limit: DIGITS_MAX,
  })
}
