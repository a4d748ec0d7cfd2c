/**
 * Bytes that rows of TPC-H's LINEITEM take on disk, column by column, against the same rows in a
 * table of SQLite with the same primary key: prices as 64-bit floats, dates as text there and as
 * DATE here, and, to see what that is worth, as text in both.
 */

import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { rowSetBytes } from '../src/tablet/disk/row-set-meta.ts'
import { utf8Encode } from '../src/util/bytes.ts'
import { type BenchColumn, benchSchema, InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { dateText, type LineItem, LineItemGenerator } from './support/lineitem.ts'
import { Report } from './support/report.ts'
import type { Size } from './support/size.ts'
import { openSqliteStore } from './support/sqlite-store.ts'

const SEED = 3
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const BLOCK_ROWS = 1000
const RATIO_MAX = 0.35

const COLUMNS: readonly (BenchColumn & { readonly name: keyof LineItem })[] = [
  { name: 'l_orderkey', type: 'INT64', isKey: true },
  { name: 'l_linenumber', type: 'INT32', isKey: true },
  { name: 'l_partkey', type: 'INT32' },
  { name: 'l_suppkey', type: 'INT32' },
  { name: 'l_quantity', type: 'DOUBLE' },
  { name: 'l_extendedprice', type: 'DOUBLE' },
  { name: 'l_discount', type: 'DOUBLE' },
  { name: 'l_tax', type: 'DOUBLE' },
  { name: 'l_returnflag', type: 'STRING' },
  { name: 'l_linestatus', type: 'STRING' },
  { name: 'l_shipdate', type: 'DATE' },
  { name: 'l_commitdate', type: 'DATE' },
  { name: 'l_receiptdate', type: 'DATE' },
  { name: 'l_shipinstruct', type: 'STRING' },
  { name: 'l_shipmode', type: 'STRING' },
  { name: 'l_comment', type: 'STRING' },
]

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const rowCount = ROW_COUNTS[size]
  const sqlite = sqliteBytes(rowCount)
  const report = new Report('stored-bytes', size)
  process.stdout.write(`  SQLite: ${sqlite} bytes, ${(sqlite / rowCount).toFixed(1)} a row\n`)
  for (const dates of ['DATE', 'STRING'] as const) measure(report, rowCount, dates, sqlite)
  report.close()
}

function isDate(name: string): boolean {
  return name.endsWith('date')
}

function measure(report: Report, rowCount: number, dates: 'DATE' | 'STRING', sqlite: number): void {
  const columns = COLUMNS.map((column) =>
    column.type === 'DATE' ? { ...column, type: dates } : column,
  )
  const { store, database } = openSqliteStore(':memory:')
  const bench = new BenchTablet(store, benchSchema(columns))
  load(bench, columns, rowCount)
  bench.rest()
  const rowSets = bench.tablet.parts?.rowSets ?? []
  const bytes = rowSets.reduce((sum, { meta }) => sum + rowSetBytes(meta), 0)
  process.stdout.write(`  with dates as ${dates}, ${rowSets.length} rowsets:\n`)
  printColumns(rowSets, columns, rowCount)
  report.add({
    name: `bytes of LINEITEM with dates as ${dates}, ${(bytes / rowCount).toFixed(1)} a row`,
    rows: rowCount,
    value: { amount: bytes / sqlite, unit: '× SQLite' },
    bar: { atMost: RATIO_MAX },
  })
  database.close()
}

function load(bench: BenchTablet, columns: readonly BenchColumn[], rowCount: number): void {
  const generator = new LineItemGenerator(SEED, rowCount / 6_000_000)
  const blocks = new InsertBlocks(benchSchema(columns))
  for (let done = 0; done < rowCount; done += BLOCK_ROWS) {
    for (let row = 0; row < BLOCK_ROWS; row++) append(blocks, columns, generator.next())
    bench.write(blocks.take())
    blocks.clear()
    bench.maintain()
  }
}

function append(blocks: InsertBlocks, columns: readonly BenchColumn[], item: LineItem): void {
  for (let index = 0; index < columns.length; index++) {
    const { name, type } = columns[index]
    const value = item[name as keyof LineItem]
    const column = blocks.builder.columns[index]
    if (typeof value === 'string') column.appendCell(utf8Encode(value))
    else if (type === 'STRING') column.appendCell(utf8Encode(dateText(value)))
    else column.appendCell(type === 'INT64' ? BigInt(value) : value)
  }
}

function sqliteBytes(rowCount: number): number {
  const path = join(tmpdir(), `nyala-bench-${process.pid}.sqlite`)
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    const types = { INT64: 'INTEGER', INT32: 'INTEGER', DOUBLE: 'REAL' } as Record<string, string>
    const definitions = COLUMNS.map(({ name, type }) => `${name} ${types[type] ?? 'TEXT'} NOT NULL`)
    database.exec(
      `CREATE TABLE lineitem (${definitions.join(', ')}, PRIMARY KEY (l_orderkey, l_linenumber))`,
    )
    const insert = database.prepare(
      `INSERT INTO lineitem VALUES (${COLUMNS.map(() => '?').join(', ')})`,
    )
    const generator = new LineItemGenerator(SEED, rowCount / 6_000_000)
    database.exec('BEGIN')
    for (let row = 0; row < rowCount; row++) {
      const item = generator.next()
      const values = COLUMNS.map(({ name }) => {
        const value = item[name]
        return isDate(name) ? dateText(value as number) : value
      })
      insert.run(...values)
    }
    database.exec('COMMIT')
    return statSync(path).size
  } finally {
    database.close()
    rmSync(path, { force: true })
  }
}

function printColumns(
  rowSets: NonNullable<BenchTablet['tablet']['parts']>['rowSets'],
  columns: readonly BenchColumn[],
  rowCount: number,
): void {
  const reports = rowSets.map(({ base }) => base.describe())
  const line = (name: string, bytes: number, forms: string): void => {
    const each = (bytes / rowCount).toFixed(2).padStart(7)
    process.stdout.write(`    ${name.padEnd(18)}${each} bytes a row   ${forms}\n`)
  }
  columns.forEach(({ name }, index) => {
    const parts = reports.map((report) => report.columns[index])
    const forms = new Map<string, number>()
    for (const part of parts) {
      for (const { encoding, compression, pageCount } of part.forms) {
        const form = compression === 'NO_COMPRESSION' ? encoding : `${encoding} ${compression}`
        forms.set(form, (forms.get(form) ?? 0) + pageCount)
      }
    }
    const text = [...forms].map(([form, count]) => `${form} (${count} pages)`).join(', ')
    line(name, sum(parts.map(({ bytes }) => bytes)), text)
  })
  line('keys', sum(reports.map(({ keyBytes }) => keyBytes)), '')
  line('Bloom filters', sum(reports.map(({ bloomBytes }) => bloomBytes)), '')
  line('directories', sum(reports.map(({ directoryBytes }) => directoryBytes)), '')
  const deltas = rowSets.flatMap(({ meta }) => [...meta.undos, ...meta.redos])
  line('UNDO and REDO', sum(deltas.map(({ bytes }) => bytes)), '')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
