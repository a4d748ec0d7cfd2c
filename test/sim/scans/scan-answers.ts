/** Answers to scans taken apart into rows, each as a text, and the same texts of model rows. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import { arrowRows } from './arrow-answers.ts'
import { jsonText, type ModelColumn, plainText } from './model-value.ts'
import { parquetRows } from './parquet-answers.ts'
import type { ScanQuery } from './scan-script.ts'
import type { ModelRow } from './version-model.ts'

/** How rows are written. */
export type RowForm = Pick<ScanQuery, 'format' | 'options' | 'nullText'>

/** A row of a JSON text: an object of plain values. */
const OBJECT = /\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}/gy
/** A member of such an object. */
const MEMBER = /("(?:[^"\\]|\\.)*"):("(?:[^"\\]|\\.)*"|[^,}]*)/g
/** A field of CSV, in quotes or not, and what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/gy
const OPENING = '{"rows":['

/** Rows of JSON, and what stands behind them. */
export interface JsonRows {
  readonly rows: readonly string[]
  readonly rest: Readonly<Record<string, unknown>>
}

/** Takes an answer of JSON apart. Throws when it has not the shape of one. */
export function jsonRows(text: string): JsonRows {
  if (!text.startsWith(OPENING)) throw new Error(`answer is ${text.slice(0, 300)}`)
  const rows: string[] = []
  let at = OPENING.length
  while (text[at] !== ']') {
    if (rows.length > 0) {
      if (text[at] !== ',') throw new Error(`a row is followed by ${text.slice(at, at + 100)}`)
      at++
    }
    OBJECT.lastIndex = at
    const match = OBJECT.exec(text)
    if (match === null) throw new Error(`no row is ${text.slice(at, at + 300)}`)
    rows.push(match[0])
    at = OBJECT.lastIndex
  }
  return { rows, rest: restOf(text.slice(at)) }
}

function restOf(tail: string): Record<string, unknown> {
  if (!tail.startsWith('],')) throw new Error(`rows are followed by ${tail.slice(0, 100)}`)
  return JSON.parse(`{${tail.slice(2)}`) as Record<string, unknown>
}

/** Rows of an answer that is no page. Throws when it does not end with a row's end. */
export async function streamRows(
  bytes: Uint8Array,
  columns: readonly ModelColumn[],
  form: RowForm,
): Promise<string[]> {
  switch (form.format) {
    case 'arrow':
      return arrowRows(bytes, columns).map((row) => expectedRow(columns, row, form))
    case 'parquet':
      return (await parquetRows(bytes, columns)).map((row) => expectedRow(columns, row, form))
    default: {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
      if (form.format === 'csv') return csvRows(text, columns)
      if (text === '') return []
      if (!text.endsWith('\n')) throw new Error('the last line does not end')
      return text.slice(0, -1).split('\n')
    }
  }
}

function csvRows(text: string, columns: readonly ModelColumn[]): string[] {
  const records: string[] = []
  let fields: string[] = []
  let end = 0
  FIELD.lastIndex = 0
  for (let match = FIELD.exec(text); match !== null; match = FIELD.exec(text)) {
    fields.push(match[1] === undefined ? `:${match[2]}` : `=${match[1].replaceAll('""', '"')}`)
    end = FIELD.lastIndex
    if (match[3] === ',') continue
    records.push(JSON.stringify(fields))
    fields = []
    if (end === text.length) break
  }
  if (end !== text.length) throw new Error(`CSV breaks off: ${text.slice(end, end + 100)}`)
  const names = JSON.parse(records.shift() ?? '[]') as string[]
  const found = names.map((field) => field.slice(1))
  const expected = columns.length === 0 ? [''] : columns.map(({ name }) => name)
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`CSV header is ${JSON.stringify(found)}`)
  }
  return records.map((record) => {
    const cells = JSON.parse(record) as string[]
    return JSON.stringify(cells)
  })
}

/** The cells of a row as JSON values, or as the texts of CSV. Throws for other names. */
export function cellTexts(
  row: string,
  columns: readonly ModelColumn[],
  { format }: RowForm,
): string[] {
  if (format === 'csv') return (JSON.parse(row) as string[]).map((field) => field.slice(1))
  const members = [...row.matchAll(MEMBER)]
  const names = members.map(([, name]) => JSON.parse(name) as string)
  if (names.length === columns.length && columns.every(({ name }, i) => name === names[i])) {
    return members.map(([, , text]) => text)
  }
  throw new Error(`row has other columns: ${row.slice(0, 300)}`)
}

/** A row of the model as the answer would have it. */
export function expectedRow(columns: readonly ModelColumn[], row: ModelRow, form: RowForm): string {
  if (form.format === 'csv') return csvRow(columns, row, form)
  const { options } = form
  const members = columns.map((column, i) => {
    return `${JSON.stringify(column.name)}:${jsonText(column, row[i], options)}`
  })
  return `{${members.join(',')}}`
}

function csvRow(columns: readonly ModelColumn[], row: ModelRow, form: RowForm): string {
  if (columns.length === 0) return JSON.stringify([':'])
  const fields = columns.map((column, i) => {
    const value = row[i]
    if (value === null) return `:${form.nullText}`
    return fieldText(column, plainText(column, value, form.options), form.nullText)
  })
  return JSON.stringify(fields)
}

/** A field that is not null, in quotes where it must be, and nowhere else. */
function fieldText({ type }: ModelColumn, text: string, nullText: string): string {
  const isText = type === 'STRING' || type === 'VARCHAR'
  const mustQuote = text === nullText || (isText && (text === '' || /[",\r\n]/.test(text)))
  return `${mustQuote ? '=' : ':'}${text}`
}

/** Options that show every cell exactly. */
export const EXACT_OPTIONS: ValueOptions = { int64: 'number', timestamps: 'micros' }
