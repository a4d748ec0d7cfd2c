/** Parquet files, read by DuckDB and shown as plain cells. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/** A file that queries can name as `file`. */
export class ParquetFile {
  readonly #connection: DuckDBConnection
  readonly #folder: string

  private constructor(connection: DuckDBConnection, folder: string) {
    this.#connection = connection
    this.#folder = folder
  }

  /** Opens the file that these bytes are. */
  static async open(bytes: Uint8Array): Promise<ParquetFile> {
    const folder = await mkdtemp(join(tmpdir(), 'nyala-parquet-'))
    const path = join(folder, 'rows.parquet')
    await writeFile(path, bytes)
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const file = new ParquetFile(connection, folder)
    await connection.run(`SET TimeZone = 'UTC'`)
    return file
  }

  /** The rows of a query, in which `file` is the file. */
  async query(sql: string): Promise<DuckDBValue[][]> {
    const path = join(this.#folder, 'rows.parquet')
    const reader = await this.#connection.runAndReadAll(sql.replaceAll('file', `'${path}'`))
    return reader.getRows()
  }

  /** All rows as cells of these columns. */
  async cells(columns: readonly Column[]): Promise<(Cell | null)[][]> {
    const rows = await this.query('SELECT * FROM file')
    return rows.map((row) => row.map((value, index) => cellOf(columns[index], value)))
  }

  /** Names and types of the columns. */
  async types(): Promise<[string, string][]> {
    const rows = await this.query('DESCRIBE SELECT * FROM file')
    return rows.map(([name, type]) => [String(name), String(type)])
  }

  /** Gives up the file. */
  async close(): Promise<void> {
    this.#connection.closeSync()
    await rm(this.#folder, { recursive: true })
  }
}

function cellOf(column: Column, value: DuckDBValue): Cell | null {
  if (value === null) return null
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (typeof value === 'string') return utf8Encode(value)
  if (value instanceof DuckDBBlobValue) return value.bytes
  if (value instanceof DuckDBTimestampTZValue) return value.micros
  if (value instanceof DuckDBDateValue) return value.days
  if (value instanceof DuckDBDecimalValue) {
    return column.physical === PHYSICAL.int32 ? Number(value.value) : value.value
  }
  throw new TypeError(`no cell of ${column.type} is a ${typeof value}`)
}
