/** Random Arrow streams for random tables, and the rows that they are. */

import type { Cell } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { concatBytes } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import { aSchema } from './a-schema.ts'
import {
  ARROW_EOS,
  type PlainArrowCell,
  type PlainArrowField,
  type PlainArrowStyle,
  plainBatch,
  plainDictionary,
  plainSchema,
} from './plain-arrow.ts'
import { plainArrowCell, randomArrowCell, randomArrowType } from './plain-arrow-cells.ts'
import { COLUMN_TEXTS } from './random-cell.ts'

/** A row: its cells by column name, or undefined when it cannot be one. */
export type PlainArrowRow = readonly (readonly [string, Cell | null])[] | undefined

/** A stream and what it says. */
export interface RandomArrow {
  readonly schema: Schema
  readonly messages: readonly Uint8Array[]
  readonly bytes: Uint8Array
  readonly rows: readonly PlainArrowRow[]
  /** Rows before each message. */
  readonly rowCounts: readonly number[]
}

const KEY_TEXTS = ['INT64', 'INT8', 'STRING', 'BINARY', 'UNIXTIME_MICROS', 'DATE', 'DECIMAL(20,3)']

/** A table of one key column and some of the others, of random types. */
export function randomArrowSchema(prng: Prng): Schema {
  const count = prng.between(1, 6)
  const columns = Array.from({ length: count }, (_, i) => {
    return `${prng.pick(COLUMN_TEXTS).replace('value', `c${i}`)} NULL`
  })
  return aSchema(`key ${prng.pick(KEY_TEXTS)} KEY`, ...columns)
}

interface SentColumn {
  readonly column: Column
  readonly field: PlainArrowField
  /** Values of the dictionary as they are now. */
  readonly values: PlainArrowCell[]
}

/** A random stream of several batches. */
export function randomArrow(prng: Prng): RandomArrow {
  const schema = randomArrowSchema(prng)
  const sent = schema.columns.filter(({ isKey }) => isKey || prng.chance(0.85))
  if (prng.chance(0.3)) sent.reverse()
  const columns = sent.map((column, i) => randomColumn(prng, column, BigInt(i + 5)))
  const fields = columns.map(({ field }) => field)
  const style = randomStyle(prng)
  const messages = [plainSchema(fields)]
  const rowCounts = [0]
  const rows: PlainArrowRow[] = []
  for (let left = prng.between(0, 4); left > 0; left--) {
    for (const column of columns) {
      if (column.field.dictionary === undefined || (left % 3 !== 1 && prng.chance(0.4))) continue
      messages.push(randomDictionary(prng, column, style))
      rowCounts.push(rows.length)
    }
    const rowCount = prng.pick([0, 1, 7, 8, 9, prng.below(80)])
    const cells = columns.map((column) => randomCells(prng, column, rowCount))
    messages.push(plainBatch(fields, cells, style))
    rowCounts.push(rows.length)
    for (let row = 0; row < rowCount; row++) {
      rows.push(rowOf(schema, columns, cells, row))
    }
  }
  if (prng.chance(0.8)) messages.push(ARROW_EOS)
  return { schema, messages, bytes: concatBytes(...messages), rows, rowCounts }
}

function randomStyle(prng: Prng): PlainArrowStyle {
  return {
    isCompressed: prng.chance(0.3),
    keepsBitmaps: prng.chance(0.3),
    alignment: prng.pick([1, 8, 64]),
    viewBufferBytes: prng.pick([13, 60, 1000]),
    garbage: prng.pick([0, 0xff, 0x7e]),
  }
}

function randomColumn(prng: Prng, column: Column, id: bigint): SentColumn {
  const type = randomArrowType(prng, column)
  const field = { name: column.name, type }
  if (!prng.chance(0.3)) return { column, field, values: [] }
  const bits = prng.pick([8, 16, 32, 64])
  const sized = { name: 'Int', bits, isSigned: prng.chance(0.5) } as const
  const index = prng.chance(0.2) ? null : sized
  return { column, field: { ...field, dictionary: { id, index } }, values: [] }
}

/** Takes values into a dictionary and returns the message that says so. */
function randomDictionary(prng: Prng, it: SentColumn, style: PlainArrowStyle): Uint8Array {
  const { type, dictionary } = it.field
  const values = Array.from({ length: prng.below(12) }, () => randomValue(prng, it))
  const isDelta = it.values.length + values.length < 100 && prng.chance(0.5)
  if (!isDelta) it.values.length = 0
  it.values.push(...values)
  return plainDictionary(dictionary?.id ?? 0n, type, values, isDelta, style)
}

function randomValue(prng: Prng, { field, column }: SentColumn): PlainArrowCell {
  if (field.type.name === 'Null') return null
  if (prng.chance(column.isKey ? 0.02 : 0.15)) return null
  return randomArrowCell(prng, field.type, column)
}

function randomCells(prng: Prng, it: SentColumn, rowCount: number): PlainArrowCell[] {
  const { dictionary } = it.field
  const hasNulls = prng.chance(0.7)
  return Array.from({ length: rowCount }, () => {
    if (dictionary === undefined) {
      const value = randomValue(prng, it)
      return value ?? (hasNulls || it.field.type.name === 'Null' ? null : randomValue(prng, it))
    }
    if (it.values.length === 0 || (hasNulls && prng.chance(0.1))) return null
    return BigInt(prng.below(it.values.length))
  })
}

function rowOf(
  schema: Schema,
  columns: readonly SentColumn[],
  cells: readonly (readonly PlainArrowCell[])[],
  row: number,
): PlainArrowRow {
  const plain = new Map<string, Cell | null>()
  for (let i = 0; i < columns.length; i++) {
    const { column, field, values } = columns[i]
    const sent = cells[i][row]
    const value = field.dictionary === undefined || sent === null ? sent : values[Number(sent)]
    const cell = value === null ? null : plainArrowCell(field.type, column, value)
    if (cell === undefined || (cell === null && column.isKey)) return undefined
    plain.set(column.name, cell)
  }
  return schema.columns
    .filter(({ name }) => plain.has(name))
    .map(({ name }) => [name, plain.get(name) ?? null] as const)
}
