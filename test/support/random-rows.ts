/** Rows as JSON texts, written in all ways, many of them wrong. */

import { planCell } from '../../src/common/cell-plan.ts'
import { appendJsonCell } from '../../src/common/cell-writer.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import type { Prng } from '../../src/util/prng.ts'
import { aSchema } from './a-schema.ts'
import { randomCell } from './random-cell.ts'
import { randomJson, randomJsonString, randomSpace } from './random-json.ts'
import { printed } from './scalars.ts'

/** A column of every type and layout, with names that are no harm to those who know JSON. */
export const EVERY_TYPE: Schema = aSchema(
  'key INT64 KEY',
  'k2 STRING KEY',
  'b BOOL NULL',
  'i8 INT8 NULL',
  'i16 INT16 NULL',
  'i32 INT32 NULL',
  'i64 INT64 NULL',
  'float FLOAT NULL',
  'double DOUBLE NULL',
  '__proto__ STRING NULL',
  'constructor BINARY NULL',
  'time UNIXTIME_MICROS NULL',
  'naïve DATE NULL',
  'quo"te VARCHAR(4) NULL',
  'd9 DECIMAL(9,4) NULL',
  'd18 DECIMAL(18,2) NULL',
  'd38 DECIMAL(38,3) NULL',
)

const MIN_MICROS = -62_135_596_800_000_000n
const MAX_MICROS = 253_402_300_799_999_999n

/** A cell that every way of writing can show: timestamps of years with four digits. */
export function writableCell(prng: Prng, column: Column): Cell {
  const cell = randomCell(prng, column)
  if (column.type !== 'UNIXTIME_MICROS' || typeof cell !== 'bigint') return cell
  if (cell >= MIN_MICROS && cell <= MAX_MICROS) return cell
  return (cell < 0n ? -cell : cell) % MAX_MICROS
}

/** A cell as JSON writes it. */
export function jsonOf(column: Column, cell: Cell | null): string {
  const builder = new ColumnBuilder(column.physical, 1)
  builder.appendCell(cell)
  const plan = planCell(column, DEFAULT_VALUE_OPTIONS)
  return printed((arena) => appendJsonCell(arena, plan, builder.view(), 0))
}

const ODD_VALUES = [
  '1.0',
  '1e2',
  '-0',
  '0.00',
  '300',
  '1e400',
  '"1"',
  '"NaN"',
  '"-Infinity"',
  '"2026-01-31"',
  '"2026-01-31T23:59:59Z"',
  '"2026-01-31t23:59:59.5+02:00"',
  '"2026-02-30T00:00:00Z"',
  '"AQI="',
  '"AQI"',
  '"_-8"',
  '"\\ud83d"',
  '"a\\udc00b"',
  '"\\ud83d\\ude00"',
  '"\\u0041QI="',
  '""',
  'true',
  'false',
  'null',
  '12345678901234567890',
  '[]',
  '{}',
]

/** A value for a column, mostly right. */
function valueText(prng: Prng, column: Column): string {
  const kind = prng.below(40)
  if (kind < 34) return jsonOf(column, writableCell(prng, column))
  if (kind < 36) return 'null'
  if (kind < 39) return prng.pick(ODD_VALUES)
  return randomJson(prng, 2)
}

/** A name as JSON writes it, sometimes with escapes that it does not need. */
function nameText(prng: Prng, name: string): string {
  const plain = JSON.stringify(name)
  if (!prng.chance(0.03)) return plain
  const code = name.charCodeAt(0).toString(16).padStart(4, '0')
  return `"\\u${code}${JSON.stringify(name.slice(1)).slice(1)}`
}

/** How one body's rows are written. */
export interface RowStyle {
  /** Members in the schema's order, the same ones in most rows. */
  readonly isRegular: boolean
  readonly hasSpace: boolean
}

/** One row as a JSON text. */
export function randomRow(prng: Prng, schema: Schema, style: RowStyle): string {
  const columns = schema.columns.filter(({ isKey }) => !prng.chance(isKey ? 0.01 : 0.2))
  if (!style.isRegular && prng.chance(0.3)) columns.sort(() => prng.below(3) - 1)
  if (prng.chance(0.05)) columns.push(prng.pick(schema.columns))
  const space = () => (style.hasSpace ? randomSpace(prng).replaceAll('\n', '') : '')
  const members = columns.map((column) => {
    const name = nameText(prng, column.name)
    return `${space()}${name}${space()}:${space()}${valueText(prng, column)}${space()}`
  })
  if (prng.chance(0.03)) members.push(`${randomJsonString(prng)}:${randomJson(prng, 1)}`)
  if (prng.chance(0.02)) return randomJson(prng, 1).replaceAll('\n', '')
  return `{${members.join(',')}}`.replaceAll('\n', ' ')
}
