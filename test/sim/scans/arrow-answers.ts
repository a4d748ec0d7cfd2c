/** Arrow streams as model rows, read by Apache's own library from its buffers. */

import { type Data, type DataType, tableFromIPC, type Vector } from 'apache-arrow'
import type { ModelColumn, Value } from './model-value.ts'

/** Arrow's names of the types, as its library prints them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  BOOL: 'Bool',
  INT8: 'Int8',
  INT16: 'Int16',
  INT32: 'Int32',
  INT64: 'Int64',
  FLOAT: 'Float32',
  DOUBLE: 'Float64',
  STRING: 'Utf8',
  VARCHAR: 'Utf8',
  BINARY: 'Binary',
  UNIXTIME_MICROS: 'Timestamp<MICROSECOND, UTC>',
  DATE: 'Date32<DAY>',
}

/** The rows of a stream. Throws when its columns are not these. */
export function arrowRows(bytes: Uint8Array, columns: readonly ModelColumn[]): Value[][] {
  const table = tableFromIPC(bytes)
  const fields = table.schema.fields.map(({ name, type, nullable }) => [name, `${type}`, nullable])
  const expected = columns.map((column) => [column.name, typeName(column), column.isNullable])
  const plain = JSON.stringify(
    fields.map(([name, type, nullable]) => [name, valueType(type), nullable]),
  )
  if (plain !== JSON.stringify(expected)) {
    throw new Error(`Arrow schema is ${JSON.stringify(fields)}, not ${JSON.stringify(expected)}`)
  }
  const cells = columns.map((column, i) => vectorCells(column, table.getChildAt(i), table.numRows))
  return Array.from({ length: table.numRows }, (_, row) => cells.map((column) => column[row]))
}

function typeName({ type, precision, scale }: ModelColumn): string {
  if (type === 'DECIMAL') return `Decimal[${precision}e${scale > 0 ? '+' : ''}${scale}]`
  return TYPE_NAMES[type]
}

/** The type of the values of a dictionary, or the type itself. */
function valueType(type: unknown): string {
  return /^Dictionary<[^,]*, (.*)>$/.exec(String(type))?.[1] ?? String(type)
}

function vectorCells(column: ModelColumn, vector: Vector | null, rowCount: number): Value[] {
  if (vector === null) throw new Error(`column ${column.name} is missing`)
  const cells: Value[] = []
  for (const data of vector.data as readonly Data<DataType>[]) {
    for (let row = 0; row < data.length; row++) {
      cells.push(data.getValid(row) ? cellOf(column, vector, data, row, cells.length) : null)
    }
  }
  if (cells.length !== rowCount) throw new Error(`column ${column.name} has ${cells.length} rows`)
  return cells
}

function cellOf(
  { type }: ModelColumn,
  vector: Vector,
  data: Data<DataType>,
  row: number,
  index: number,
): Value {
  const values = data.values as unknown as ArrayLike<number | bigint>
  switch (type) {
    case 'BOOL':
    case 'STRING':
    case 'VARCHAR':
      return vector.get(index) as Value
    case 'BINARY':
      return Buffer.from(vector.get(index) as Uint8Array).toString('hex')
    case 'FLOAT':
    case 'DOUBLE':
      return Number(values[row])
    case 'DECIMAL': {
      let value = 0n
      for (let word = 3; word >= 0; word--) {
        value = (value << 32n) | BigInt(Number(values[row * 4 + word]) >>> 0)
      }
      return BigInt.asIntN(128, value)
    }
    default:
      return BigInt(values[row])
  }
}
