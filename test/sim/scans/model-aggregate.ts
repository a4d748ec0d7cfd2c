/** Aggregations of rows in the plainest way: unbounded integers, and fractions of them. */

import { numberOfParts, partsOf, ratioOf } from './exact-ratio.ts'
import {
  type Computed,
  compute,
  computedOf,
  type Doubts,
  kindOf,
  kindOfColumn,
  type ModelExpression,
  type NumberKind,
  Refusal,
} from './model-expression.ts'
import { compareValues, floorDivide, type ModelColumn, type Value } from './model-value.ts'
import type { ModelRow } from './version-model.ts'

/** What rows are grouped by. */
export interface ModelGroupKey {
  readonly column: string
  /** `15m`; null: the cell itself. */
  readonly bucket: string | null
  readonly as: string | null
}

/** What is asked of a group. */
export interface ModelAggregate {
  readonly op: 'COUNT' | 'COUNT_DISTINCT' | 'SUM' | 'MIN' | 'MAX' | 'AVG'
  /** null: rows. */
  readonly input: ModelExpression | null
  readonly as: string | null
}

/** An aggregation. */
export interface ModelAggregation {
  readonly groupBy: readonly ModelGroupKey[]
  readonly aggregates: readonly ModelAggregate[]
}

/** A cell of a result, right to within `error`; any will do when it is loose. */
export interface ExpectedCell {
  readonly value: Value
  readonly error: number
  readonly isLoose: boolean
}

/** A result: groups by ascending keys. */
export interface ExpectedGroups {
  readonly columns: readonly ModelColumn[]
  readonly rows: readonly (readonly ExpectedCell[])[]
  /** Whether a refusal is right, too. */
  readonly mayBeRefused: boolean
}

const UNIT_MICROS = { s: 1_000_000n, m: 60_000_000n, h: 3_600_000_000n, d: 86_400_000_000n }
const INT64 = [-(1n << 63n), (1n << 63n) - 1n] as const
const DECIMAL_BOUND = 10n ** 38n
/** What a sum of doubles may be off by, of itself and of all that was added. */
const SUM_ERROR = 1e-12
const CANCELLED_ERROR = 1e-26

/** The result of an aggregation. Throws: Refusal. */
export function aggregateRows(
  columns: readonly ModelColumn[],
  { groupBy, aggregates }: ModelAggregation,
  rows: readonly ModelRow[],
): ExpectedGroups {
  const doubts: Doubts = { mayBeRefused: false, isLoose: false }
  const results = resultColumns(columns, { groupBy, aggregates })
  const groups = new Map<string, { readonly keys: Value[]; readonly rows: ModelRow[] }>()
  if (groupBy.length === 0) groups.set('', { keys: [], rows: [] })
  for (const row of rows) {
    const keys = groupBy.map((key) => groupCell(columns, key, row))
    const name = groupBy.length === 0 ? '' : JSON.stringify(keys.map(nameOfKey))
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { keys, rows: [row] })
    else group.rows.push(row)
  }
  const keyColumns = results.slice(0, groupBy.length)
  const sorted = [...groups.values()].sort((a, b) => compareKeys(keyColumns, a.keys, b.keys))
  const cells = sorted.map((group) => [
    ...group.keys.map((value) => ({ value, error: 0, isLoose: false })),
    ...aggregates.map((aggregate) => aggregateCell(columns, aggregate, group.rows, doubts)),
  ])
  return { columns: results, rows: cells, mayBeRefused: doubts.mayBeRefused }
}

/** Tells group keys apart as groups are: NaN is one, and −0 is 0. */
export function nameOfKey(value: Value): string {
  return `${typeof value} ${value === 0 ? '0' : String(value)}`
}

/** Orders group keys: nulls last. */
export function compareKeys(
  columns: readonly ModelColumn[],
  a: readonly Value[],
  b: readonly Value[],
): number {
  for (const [i, { type }] of columns.entries()) {
    const order = compareNullsLast(type, a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

/** Orders two cells of a type, nulls last. */
export function compareNullsLast(type: ModelColumn['type'], a: Value, b: Value): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return compareValues(type, a, b)
}

function groupCell(
  columns: readonly ModelColumn[],
  { column, bucket }: ModelGroupKey,
  row: ModelRow,
): Value {
  const value = row[columns.findIndex(({ name }) => name === column)]
  if (bucket === null || value === null) return value
  const micros = bucketMicros(bucket)
  const start = floorDivide(value as bigint, micros) * micros
  if (start < INT64[0]) throw new Refusal('a bucket begins before the first time there is')
  return start
}

function bucketMicros(bucket: string): bigint {
  const unit = bucket.slice(-1) as keyof typeof UNIT_MICROS
  return BigInt(bucket.slice(0, -1)) * UNIT_MICROS[unit]
}

/** The columns of a result. Throws: Refusal when two have one name. */
export function resultColumns(
  columns: readonly ModelColumn[],
  { groupBy, aggregates }: ModelAggregation,
): ModelColumn[] {
  const known = (name: string) => columns.find((column) => column.name === name) as ModelColumn
  const results = [
    ...groupBy.map(({ column, as }) => ({ ...known(column), name: as ?? column })),
    ...aggregates.map(({ op, input, as }) => {
      const word = op.toLowerCase()
      const name = input?.kind === 'column' ? `${word}_${input.column}` : word
      const source = input?.kind === 'column' ? known(input.column) : null
      const isNullable =
        !op.startsWith('COUNT') && (groupBy.length === 0 || mayBeNull(columns, input))
      const plain = plainColumn(as ?? name, isNullable)
      return { ...plain, ...resultType(columns, op, input, source) }
    }),
  ]
  const names = results.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new Refusal('two results of one name')
  return results
}

/** Whether an input may be null in every row of a group. */
function mayBeNull(columns: readonly ModelColumn[], input: ModelExpression | null): boolean {
  if (input?.kind === 'column') return sourceOf(columns, input)?.isNullable === true
  if (input?.kind !== 'binary') return false
  return input.op === '/' || mayBeNull(columns, input.left) || mayBeNull(columns, input.right)
}

function plainColumn(name: string, isNullable: boolean): ModelColumn {
  return {
    name,
    type: 'INT64',
    precision: 0,
    scale: 0,
    length: 0,
    isKey: false,
    isNullable,
    defaultValue: null,
    encoding: 'AUTO_ENCODING',
    compression: 'DEFAULT_COMPRESSION',
  }
}

type ResultType = Pick<ModelColumn, 'type' | 'precision' | 'scale' | 'length'>

function resultType(
  columns: readonly ModelColumn[],
  op: ModelAggregate['op'],
  input: ModelExpression | null,
  source: ModelColumn | null,
): ResultType {
  const plain = { precision: 0, scale: 0, length: 0 }
  // What cannot be computed is refused whatever is made of it.
  if (source === null && input !== null) kindOf(columns, input)
  if (op === 'COUNT' || op === 'COUNT_DISTINCT' || input === null)
    return { type: 'INT64', ...plain }
  if (op === 'AVG') return { type: 'DOUBLE', ...plain }
  if (source !== null && op !== 'SUM') {
    const { type, precision, scale, length } = source
    return { type, precision, scale, length }
  }
  const { kind, scale } = numberKind(columns, input, source)
  if (kind === 'decimal') return { type: 'DECIMAL', precision: 38, scale, length: 0 }
  return { type: kind === 'integer' ? 'INT64' : 'DOUBLE', ...plain }
}

function numberKind(
  columns: readonly ModelColumn[],
  input: ModelExpression,
  source: ModelColumn | null,
): NumberKind {
  const kind = source === null ? kindOf(columns, input) : kindOfColumn(source)
  if (kind === null) throw new Refusal('no numbers')
  return kind
}

function aggregateCell(
  columns: readonly ModelColumn[],
  { op, input }: ModelAggregate,
  rows: readonly ModelRow[],
  doubts: Doubts,
): ExpectedCell {
  if (input === null) return certain(BigInt(rows.length))
  if (input.kind === 'column' && (op === 'MIN' || op === 'MAX' || op.startsWith('COUNT'))) {
    const index = columns.findIndex(({ name }) => name === input.column)
    const cells = rows.map((row) => row[index]).filter((cell) => cell !== null)
    return cellOfValues(columns[index], op, cells)
  }
  const own: Doubts = { mayBeRefused: false, isLoose: false }
  const numbers = rows.flatMap((row) => {
    const number =
      op === 'COUNT' ? countedOf(columns, input, row, own) : numberOf(columns, input, row, own)
    return number === null ? [] : [number]
  })
  doubts.mayBeRefused ||= own.mayBeRefused
  const cell = cellOfNumbers(op, numbers, numberKind(columns, input, sourceOf(columns, input)))
  return own.isLoose ? { ...cell, isLoose: true } : cell
}

function sourceOf(columns: readonly ModelColumn[], input: ModelExpression): ModelColumn | null {
  if (input.kind !== 'column') return null
  return columns.find(({ name }) => name === input.column) ?? null
}

function numberOf(
  columns: readonly ModelColumn[],
  input: ModelExpression,
  row: ModelRow,
  doubts: Doubts,
): Computed | null {
  if (input.kind !== 'column') return compute(columns, input, row, doubts)
  const index = columns.findIndex(({ name }) => name === input.column)
  return computedOf(columns[index], row[index])
}

/** As `numberOf`: what is only counted need not be computed, and so need not be refused. */
function countedOf(
  columns: readonly ModelColumn[],
  input: ModelExpression,
  row: ModelRow,
  doubts: Doubts,
): Computed | null {
  try {
    return numberOf(columns, input, row, doubts)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    doubts.mayBeRefused = true
    doubts.isLoose = true
    return null
  }
}

function certain(value: Value): ExpectedCell {
  return { value, error: 0, isLoose: false }
}

function cellOfValues(
  { type }: ModelColumn,
  op: ModelAggregate['op'],
  cells: readonly Value[],
): ExpectedCell {
  if (op === 'COUNT') return certain(BigInt(cells.length))
  if (op === 'COUNT_DISTINCT') return certain(BigInt(new Set(cells.map(nameOfKey)).size))
  const sign = op === 'MIN' ? 1 : -1
  let best: Value = null
  for (const cell of cells) {
    if (best === null || compareValues(type, cell, best) * sign < 0) best = cell
  }
  return certain(best)
}

function cellOfNumbers(
  op: ModelAggregate['op'],
  numbers: readonly Computed[],
  kind: NumberKind,
): ExpectedCell {
  if (op === 'COUNT') return certain(BigInt(numbers.length))
  if (op === 'COUNT_DISTINCT') return distinctCell(numbers, kind)
  if (numbers.length === 0) return certain(null)
  if (kind.kind === 'double') return doubleCell(op, numbers as readonly Double[])
  const exact = numbers.map((number) => (number as Exact).unscaled)
  const sum = exact.reduce((total, value) => total + value, 0n)
  if (op === 'AVG') {
    const value = ratioOf(sum, BigInt(exact.length) * 10n ** BigInt(kind.scale))
    return { value, error: Math.abs(value) * SUM_ERROR, isLoose: false }
  }
  if (op === 'SUM') return certain(fitting(sum, kind))
  const best = exact.reduce((a, b) => (a < b === (op === 'MIN') ? a : b))
  return certain(fitting(best, kind))
}

type Exact = Extract<Computed, { kind: 'exact' }>
type Double = Extract<Computed, { kind: 'double' }>

function fitting(value: bigint, { kind }: NumberKind): bigint {
  const fits =
    kind === 'integer'
      ? value >= INT64[0] && value <= INT64[1]
      : value > -DECIMAL_BOUND && value < DECIMAL_BOUND
  if (!fits) throw new Refusal('a result does not fit')
  return value
}

function distinctCell(numbers: readonly Computed[], { kind }: NumberKind): ExpectedCell {
  const isLoose = numbers.some((number) => number.kind === 'double' && number.error > 0)
  const names = numbers.map((number) => {
    return nameOfKey(number.kind === 'double' ? number.value : number.unscaled)
  })
  const count = certain(BigInt(new Set(names).size))
  return kind === 'double' && isLoose ? { ...count, isLoose } : count
}

function doubleCell(op: ModelAggregate['op'], numbers: readonly Double[]): ExpectedCell {
  const values = numbers.map(({ value }) => value)
  const error = Math.max(...numbers.map((number) => number.error))
  if (op === 'MIN' || op === 'MAX') {
    const known = values.filter((value) => !Number.isNaN(value))
    const isUnknown = op === 'MAX' ? known.length < values.length : known.length === 0
    if (isUnknown) return certain(Number.NaN)
    const best = known.reduce((a, b) => (a < b === (op === 'MIN') ? a : b))
    return { value: best, error, isLoose: false }
  }
  const divisor = op === 'AVG' ? BigInt(values.length) : 1n
  const odd = values.filter((value) => !Number.isFinite(value))
  if (odd.length > 0) {
    // A part that is finite may become infinite on the way to the other infinity.
    const size = values.reduce((a, b) => a + (Number.isFinite(b) ? Math.abs(b) : 0), 0)
    return { ...certain(odd.reduce((a, b) => a + b)), isLoose: size === Infinity }
  }
  const parts = values.map(partsOf)
  const sum = ratioOf(
    parts.reduce((a, b) => a + b),
    (1n << 1074n) * divisor,
  )
  const size = numberOfParts(parts.reduce((a, b) => a + (b < 0n ? -b : b), 0n))
  const errors = numbers.reduce((total, number) => total + number.error, 0)
  return {
    value: sum,
    error: errors + Math.abs(sum) * SUM_ERROR + size * CANCELLED_ERROR + Number.MIN_VALUE,
    isLoose: !(size + errors < Number.MAX_VALUE),
  }
}
