/** TPC-H's LINEITEM as a table of the service, of D1 and of DuckDB, with the same rows. */

import { dateText, type LineItem, LineItemGenerator } from './lineitem.ts'
import { ask, send } from './rest.ts'

/** Columns with the types of the specification. */
export const TYPES = {
  l_orderkey: 'INT64',
  l_linenumber: 'INT32',
  l_partkey: 'INT32',
  l_suppkey: 'INT32',
  l_quantity: 'DECIMAL',
  l_extendedprice: 'DECIMAL',
  l_discount: 'DECIMAL',
  l_tax: 'DECIMAL',
  l_returnflag: 'STRING',
  l_linestatus: 'STRING',
  l_shipdate: 'DATE',
  l_commitdate: 'DATE',
  l_receiptdate: 'DATE',
  l_shipinstruct: 'STRING',
  l_shipmode: 'STRING',
  l_comment: 'STRING',
} as const
/** Name of a column. */
export type LineItemColumn = keyof typeof TYPES
/** In the order of the specification. */
export const NAMES = Object.keys(TYPES) as LineItemColumn[]
/** Types of SQLite for those of the service. */
export const SQL_TYPES = {
  INT64: 'INTEGER',
  INT32: 'INTEGER',
  DECIMAL: 'REAL',
  STRING: 'TEXT',
  DATE: 'TEXT',
}
const DUCKDB_TYPES = {
  INT64: 'BIGINT',
  INT32: 'INTEGER',
  DECIMAL: 'DECIMAL(15,2)',
  STRING: 'VARCHAR',
  DATE: 'DATE',
}

const SEED = 5
const REQUEST_ROWS = 20_000
const INSERT_ROWS = 2_000

/** Cells of a row in the order of the columns, dates as text. */
function cellsOf(item: LineItem): (string | number)[] {
  return NAMES.map((name) => {
    const value = item[name]
    return TYPES[name] === 'DATE' ? dateText(value as number) : value
  })
}

/** Draws the rows, in the order of (l_orderkey, l_linenumber), some at a time. */
export function* lineItems(rowCount: number, batch: number): Generator<(string | number)[][]> {
  const generator = new LineItemGenerator(SEED, rowCount / 6_000_000)
  for (let done = 0; done < rowCount; done += batch) {
    const count = Math.min(batch, rowCount - done)
    yield Array.from({ length: count }, () => cellsOf(generator.next()))
  }
}

/** The place of a column among a row's cells. */
export function cellIndex(name: LineItemColumn): number {
  return NAMES.indexOf(name)
}

/** The rows as CSV with a header. */
export function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  const records = rows.map((cells) => cells.map(csvField).join(','))
  return `${NAMES.join(',')}\n${records.join('\n')}\n`
}

function csvField(cell: string | number): string {
  return typeof cell === 'number' ? String(cell) : `"${cell.replaceAll('"', '""')}"`
}

/** Makes the table in the service, its key these columns, and writes all rows. */
export async function loadService(
  address: string,
  table: string,
  key: readonly LineItemColumn[],
  rowCount: number,
): Promise<void> {
  await createTable(address, table, key)
  const headers = { 'content-type': 'text/csv' }
  for (const rows of lineItems(rowCount, REQUEST_ROWS)) {
    await sendUntilTaken(address, `/tables/${table}/rows`, csvOf(rows), headers)
  }
}

/** Makes the table in the service, its key these columns, hashed into buckets by the first. */
export async function createTable(
  address: string,
  table: string,
  key: readonly LineItemColumn[],
  bucketCount = 1,
): Promise<void> {
  const names = [...key, ...NAMES.filter((name) => !key.includes(name))]
  const columns = names.map((name) => ({
    name,
    type: TYPES[name],
    is_key: key.includes(name),
    ...(TYPES[name] === 'DECIMAL' ? { type_attributes: { precision: 15, scale: 2 } } : {}),
  }))
  const hash = { hash_schema: [{ columns: [key[0]], num_buckets: bucketCount }] }
  await ask(address, 'POST', '/tables', {
    name: table,
    schema: { columns },
    ...(bucketCount > 1 ? { partition_schema: hash } : {}),
  })
}

/** Sends rows again for as long as memory is short. */
async function sendUntilTaken(
  address: string,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const response = await send(address, 'POST', `${path}?operation=UPSERT`, body, headers)
  const { failed } = (await response.json()) as { failed: number }
  if (failed > 0) throw new Error(`${failed} rows were refused`)
}

/** Makes the table in D1, with the same key, and writes all rows. */
export async function loadRival(
  address: string,
  table: string,
  key: readonly LineItemColumn[],
  rowCount: number,
): Promise<void> {
  const columns = NAMES.map((name) => `${name} ${SQL_TYPES[TYPES[name]]} NOT NULL`)
  await rivalQuery(
    address,
    `CREATE TABLE ${table} (${columns.join(', ')}, PRIMARY KEY (${key.join(', ')}))`,
  )
  const cells = NAMES.map((_, i) => `value->>${i}`).join(', ')
  const sql = `INSERT INTO ${table} SELECT ${cells} FROM json_each(?)`
  for (const rows of lineItems(rowCount, INSERT_ROWS)) {
    const response = await fetch(`${address}/insert`, {
      method: 'POST',
      body: JSON.stringify({ sql, rows }),
    })
    if (!response.ok) throw new Error(`D1 refused rows: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

/** Runs SQL on D1. */
export async function rivalQuery(address: string, sql: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${address}/query`, { method: 'POST', body: sql })
  if (!response.ok) throw new Error(`D1 refused ${sql}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>[]
}

/** The columns of the table for DuckDB's `read_csv`. */
export function duckDbColumns(): string {
  return `{${NAMES.map((name) => `'${name}': '${DUCKDB_TYPES[TYPES[name]]}'`).join(', ')}}`
}
