/** Rows of a write as an Arrow stream, made by Apache's own library. */

import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import type { ModelColumn, Value } from './model-value.ts'
import type { SetCells } from './version-model.ts'

/** A stream of rows that set the same columns, in batches of `batchRows`. */
export function arrowBody(
  columns: readonly ModelColumn[],
  rows: readonly SetCells[],
  batchRows: number,
): Uint8Array {
  const set = columns.filter(({ name }) => Object.hasOwn(rows[0], name))
  const batches: RecordBatch[] = []
  let schema = new Schema([])
  for (let start = 0; start < rows.length; start += batchRows) {
    const part = rows.slice(start, start + batchRows)
    const children = set.map((column) => {
      return dataOf(
        column,
        part.map((cells) => cells[column.name]),
      )
    })
    if (batches.length === 0) schema = new Schema(children.map((data, i) => fieldOf(set[i], data)))
    const struct = makeData({
      type: new Struct(schema.fields),
      length: part.length,
      nullCount: 0,
      children,
    })
    batches.push(new RecordBatch(schema, struct))
  }
  return tableToIPC(new Table(schema, batches), 'stream')
}

function fieldOf({ name }: ModelColumn, { type }: Data): Field {
  return new Field(name, type as DataType, true)
}

function dataOf(column: ModelColumn, cells: readonly Value[]): Data {
  const { type, precision, scale, name } = column
  switch (type) {
    case 'BOOL':
      return vectorFromArray(cells, new Bool()).data[0]
    case 'STRING': {
      const isLarge = name.length % 2 === 1
      return vectorFromArray(cells, isLarge ? new LargeUtf8() : new Utf8()).data[0]
    }
    case 'VARCHAR':
      return vectorFromArray(cells, new Dictionary(new Utf8(), new Int32())).data[0]
    case 'BINARY': {
      const bytes = cells.map((cell) => (cell === null ? null : Buffer.from(String(cell), 'hex')))
      return vectorFromArray(bytes, new Binary()).data[0]
    }
    case 'FLOAT':
      return numbers(new Float32(), Float32Array.from(cells, Number), cells)
    case 'DOUBLE':
      return numbers(new Float64(), Float64Array.from(cells, Number), cells)
    case 'INT8':
      return numbers(new Int8(), Int8Array.from(cells, Number), cells)
    case 'INT16':
      return numbers(new Int16(), Int16Array.from(cells, Number), cells)
    case 'INT32':
      return numbers(new Int32(), Int32Array.from(cells, Number), cells)
    case 'DATE':
      return numbers(new DateDay(), Int32Array.from(cells, Number), cells)
    case 'INT64':
      return numbers(new Int64(), BigInt64Array.from(cells, integerOf), cells)
    case 'UNIXTIME_MICROS':
      return numbers(new TimestampMicrosecond('UTC'), BigInt64Array.from(cells, integerOf), cells)
    case 'DECIMAL':
      return numbers(new Decimal(scale, precision), decimalWords(cells), cells)
  }
}

function integerOf(cell: Value): bigint {
  return cell === null ? 0n : (cell as bigint)
}

function decimalWords(cells: readonly Value[]): Uint32Array {
  const words = new Uint32Array(cells.length * 4)
  for (const [i, cell] of cells.entries()) {
    for (let word = 0; word < 4; word++) {
      words[i * 4 + word] = Number(BigInt.asUintN(32, integerOf(cell) >> BigInt(word * 32)))
    }
  }
  return words
}

/** Typed arrays as they are, with a bitmap of what is not null. */
function numbers(type: DataType, data: ArrayBufferView, cells: readonly Value[]): Data {
  const nullBitmap = new Uint8Array((cells.length + 7) >> 3)
  let nullCount = 0
  for (const [i, cell] of cells.entries()) {
    if (cell === null) nullCount++
    else nullBitmap[i >> 3] |= 1 << (i & 7)
  }
  const props = { type, length: cells.length, nullCount, data, nullBitmap }
  return makeData(props as unknown as Parameters<typeof makeData>[0]) as Data
}
