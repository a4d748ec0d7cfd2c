/** Three kinds of rows to be paid for, as a table of the service and of D1, with the same cells. */

import { Prng } from '../../src/util/prng.ts'
import { type LineItemColumn, lineItems, NAMES, TYPES } from './lineitem-table.ts'
import { LOADGEN_COLUMNS, loadgenJson } from './loadgen-bodies.ts'
import { YCSB_COLUMNS, YcsbRecords } from './ycsb-records.ts'

const SEED = 31
const LINEITEM_KEY: readonly LineItemColumn[] = ['l_orderkey', 'l_linenumber']

/** A column, as `POST /tables` takes it. */
interface CostColumn {
  readonly name: string
  readonly type: string
  readonly is_key?: boolean
  readonly type_attributes?: object
}

/** Rows of one kind. */
export interface CostRows {
  readonly name: string
  readonly columns: readonly CostColumn[]
  /** What is summed up: numbers, or the lengths of texts. */
  readonly summed: string
  /** Rows, `batch` at a time. Cells stand in the order of the columns. */
  readonly batches: (rowCount: number, batch: number) => Iterable<readonly Cells[]>
  /** The key of a row, as the end of an address and as SQL. */
  readonly keyOf: (cells: Cells) => { readonly path: string; readonly sql: string }
}
type Cells = readonly (string | number)[]

function* generated(
  rowCount: number,
  batch: number,
  textOf: (row: number) => string,
): Generator<Cells[]> {
  for (let start = 0; start < rowCount; start += batch) {
    const count = Math.min(batch, rowCount - start)
    yield Array.from({ length: count }, (_, i) => Object.values(JSON.parse(textOf(start + i))))
  }
}

/** Of Kudu's load generator. */
export const LOADGEN_ROWS: CostRows = {
  name: 'loadgen',
  columns: LOADGEN_COLUMNS,
  summed: 'int_val',
  batches: (rowCount, batch) => generated(rowCount, batch, loadgenJson),
  keyOf: ([key]) => ({ path: String(key), sql: `key = ${key}` }),
}

/** Of TPC-H, prices as DECIMAL(15, 2) in the service and as REAL in D1. */
export const LINEITEM_ROWS: CostRows = {
  name: 'lineitem',
  columns: NAMES.map((name) => ({
    name,
    type: TYPES[name],
    is_key: LINEITEM_KEY.includes(name),
    ...(TYPES[name] === 'DECIMAL' ? { type_attributes: { precision: 15, scale: 2 } } : {}),
  })),
  summed: 'l_extendedprice',
  batches: lineItems,
  keyOf: ([order, line]) => ({
    path: `${order}/${line}`,
    sql: `l_orderkey = ${order} AND l_linenumber = ${line}`,
  }),
}

/** Of YCSB: a key and ten texts of a hundred characters. */
export const YCSB_ROWS: CostRows = {
  name: 'ycsb',
  columns: YCSB_COLUMNS,
  summed: 'field0',
  batches: (rowCount, batch) => {
    const records = new YcsbRecords(new Prng(SEED))
    return generated(rowCount, batch, (row) => records.record(row))
  },
  keyOf: ([key]) => ({ path: String(key), sql: `key = '${key}'` }),
}
