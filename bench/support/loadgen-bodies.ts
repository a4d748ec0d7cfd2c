/**
 * Rows of Kudu's load generator as bodies of requests: an INT64 key, an INT32 and a string of 32
 * characters, all made of one sequence of numbers, of which a row takes three.
 */

import { int32, int64, tableFromArrays, tableToIPC, utf8 } from '@uwdata/flechette'

/** The columns, as `POST /tables` takes them. */
export const LOADGEN_COLUMNS = [
  { name: 'key', type: 'INT64', is_key: true },
  { name: 'int_val', type: 'INT32' },
  { name: 'string_val', type: 'STRING' },
] as const

/** The same for SQLite. */
export const LOADGEN_SQL =
  'CREATE TABLE loadgen (key INTEGER PRIMARY KEY, int_val INTEGER NOT NULL, ' +
  'string_val TEXT NOT NULL) STRICT'

const NUMBERS_A_ROW = 3
const STRING_LENGTH = 32

/** The key of the row with a number. */
export function loadgenKey(row: number): number {
  return row * NUMBERS_A_ROW
}

/** The row with a number, as its JSON text. */
export function loadgenJson(row: number): string {
  const key = loadgenKey(row)
  return `{"key":${key},"int_val":${key + 1},"string_val":"${stringValue(key + 2)}"}`
}

function stringValue(number: number): string {
  return `${number}.`.repeat(STRING_LENGTH).slice(0, STRING_LENGTH)
}

/** In which format rows are sent, and under which name. */
export const LOADGEN_FORMATS = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
} as const
/** One of the formats. */
export type LoadgenFormat = keyof typeof LOADGEN_FORMATS

/** Rows `[start, start + count)` as a body. */
export function loadgenBody(
  format: LoadgenFormat,
  start: number,
  count: number,
): string | Uint8Array {
  const numbers = Array.from({ length: count }, (_, i) => start + i)
  switch (format) {
    case 'json':
      return `{"rows":[${numbers.map(loadgenJson).join(',')}]}`
    case 'ndjson':
      return `${numbers.map(loadgenJson).join('\n')}\n`
    case 'arrow':
      return arrowOf(numbers)
  }
}

function arrowOf(numbers: readonly number[]): Uint8Array {
  const keys = numbers.map(loadgenKey)
  const columns = {
    key: keys,
    int_val: keys.map((key) => key + 1),
    string_val: keys.map((key) => stringValue(key + 2)),
  }
  const types = { key: int64(), int_val: int32(), string_val: utf8() }
  const bytes = tableToIPC(tableFromArrays(columns, { types }), { format: 'stream' })
  if (bytes === null) throw new Error('the rows could not be encoded')
  return bytes
}
