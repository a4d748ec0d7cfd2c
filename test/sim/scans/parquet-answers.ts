/** Parquet files as model rows, read by DuckDB. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { ModelColumn, Value } from './model-value.ts'

const TYPE_NAMES: Readonly<Record<string, string>> = {
  BOOL: 'BOOLEAN',
  INT8: 'TINYINT',
  INT16: 'SMALLINT',
  INT32: 'INTEGER',
  INT64: 'BIGINT',
  FLOAT: 'FLOAT',
  DOUBLE: 'DOUBLE',
  STRING: 'VARCHAR',
  VARCHAR: 'VARCHAR',
  BINARY: 'BLOB',
  UNIXTIME_MICROS: 'TIMESTAMP WITH TIME ZONE',
  DATE: 'DATE',
}

let connection: Promise<DuckDBConnection> | null = null

/** The rows of a file. Throws when its columns are not these. */
export async function parquetRows(
  bytes: Uint8Array,
  columns: readonly ModelColumn[],
): Promise<Value[][]> {
  connection ??= DuckDBInstance.create(':memory:').then((instance) => instance.connect())
  const folder = mkdtempSync(join(tmpdir(), 'nyala-parquet-'))
  try {
    const path = join(folder, 'rows.parquet')
    writeFileSync(path, bytes)
    const result = await (await connection).runAndReadAll(`SELECT * FROM read_parquet('${path}')`)
    const types = result.columnTypes().map(String)
    const found = JSON.stringify(result.columnNames().map((name, i) => [name, types[i]]))
    const expected = JSON.stringify(columns.map((column) => [column.name, typeName(column)]))
    if (found !== expected) throw new Error(`Parquet schema is ${found}, not ${expected}`)
    return result.getRows().map((row) => row.map((cell, i) => modelValueOf(columns[i], cell)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function typeName({ type, precision, scale }: ModelColumn): string {
  return type === 'DECIMAL' ? `DECIMAL(${precision},${scale})` : TYPE_NAMES[type]
}

function modelValueOf({ type }: ModelColumn, cell: DuckDBValue): Value {
  if (cell === null) return null
  if (cell instanceof DuckDBDecimalValue) return cell.value
  if (cell instanceof DuckDBDateValue) return BigInt(cell.days)
  if (cell instanceof DuckDBTimestampValue || cell instanceof DuckDBTimestampTZValue) {
    return cell.micros
  }
  if (cell instanceof DuckDBBlobValue) return Buffer.from(cell.bytes).toString('hex')
  if (typeof cell === 'number' && type !== 'FLOAT' && type !== 'DOUBLE') return BigInt(cell)
  if (typeof cell === 'object') throw new Error(`${String(cell)} is no cell`)
  return cell
}
