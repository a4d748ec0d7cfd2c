/**
 * Rows of JSON by the book: the platform's parser, and values by `plainCell`. Shares no code with
 * the decoders that it judges.
 */

import type { Cell } from '../../src/common/data-type.ts'
import { JSON_DEPTH_MAX } from '../../src/common/limits.ts'
import { NumberLiteral } from '../../src/common/number-literal.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { utf8DecodeStrict } from '../../src/util/bytes.ts'
import { parseJson } from './parse-json.ts'
import { plainCell } from './plain-value.ts'
import { depthOf } from './random-json.ts'

/** Cells of a row in schema order, those of absent members left out; null for a refused row. */
export type PlainCells = readonly (readonly [string, Cell | null])[] | null

const NO_JSON = Symbol('no JSON')

/** The value of a JSON text, or NO_JSON. */
function parsedValue(text: string | undefined): unknown {
  if (text === undefined) return NO_JSON
  try {
    return depthOf(JSON.parse(text)) > JSON_DEPTH_MAX ? NO_JSON : parseJson(text)
  } catch {
    return NO_JSON
  }
}

/** What a parsed value is as a row. */
export function plainRow(schema: Schema, value: unknown): PlainCells {
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value) || value instanceof NumberLiteral) return null
  const cells = new Map<string, Cell | null>()
  for (const name of Object.keys(value)) {
    const column = schema.columns.find((candidate) => candidate.name === name)
    const cell = column && plainMember(column, (value as Record<string, unknown>)[name])
    if (cell === undefined) return null
    cells.set(name, cell)
  }
  if (schema.keyColumns.some(({ name }) => (cells.get(name) ?? null) === null)) return null
  return schema.columns.flatMap(({ name }) => {
    const cell = cells.get(name)
    return cell === undefined ? [] : [[name, cell] as const]
  })
}

/** The cell of a member's value; undefined when the column cannot hold it. */
function plainMember(column: Column, value: unknown): Cell | null | undefined {
  if (value === null) return null
  if (value instanceof NumberLiteral) return plainCell(column, 'number', value.text)
  if (typeof value === 'boolean') return column.type === 'BOOL' ? Number(value) : undefined
  if (typeof value !== 'string' || !value.isWellFormed()) return undefined
  return plainCell(column, 'string', value)
}

/** What a body of NDJSON is: rows in order, and the line (from 1) that is not JSON, if one is. */
export interface PlainLines {
  readonly rows: readonly PlainCells[]
  readonly failedLine: number | null
}

/** Reads NDJSON line by line. */
export function plainLines(schema: Schema, body: Uint8Array): PlainLines {
  const rows: PlainCells[] = []
  const lines: number[][] = [[]]
  for (const byte of body) {
    if (byte === 0x0a) lines.push([])
    else lines[lines.length - 1].push(byte)
  }
  for (const [index, line] of lines.entries()) {
    const text = utf8DecodeStrict(Uint8Array.from(line))
    if (text !== undefined && /^[ \t\r]*$/.test(text)) continue
    const value = parsedValue(text)
    if (value === NO_JSON) return { rows, failedLine: index + 1 }
    rows.push(plainRow(schema, value))
  }
  return { rows, failedLine: null }
}

/** The rows of a JSON body `{ "rows": […] }`; null when it must be refused. */
export function plainBody(schema: Schema, body: Uint8Array): readonly PlainCells[] | null {
  const value = parsedValue(utf8DecodeStrict(body))
  if (typeof value !== 'object' || value === null || value instanceof NumberLiteral) return null
  if (Object.keys(value).join() !== 'rows') return null
  const { rows } = value as { rows: unknown }
  return Array.isArray(rows) ? rows.map((row) => plainRow(schema, row)) : null
}
