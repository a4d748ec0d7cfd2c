/** Arrow streams, read by another implementation and shown as plain cells. */

import { type Data, DataType, tableFromIPC, type Vector } from 'apache-arrow'
import { joinPair, joinQuad } from '../../src/common/column-vector.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

/** What a stream holds. */
export interface PlainTable {
  readonly names: readonly string[]
  /** Types as `Utf8` or `Int64`; of dictionaries, the whole. */
  readonly types: readonly string[]
  readonly nullable: readonly boolean[]
  readonly rowCount: number
  readonly batchRowCounts: readonly number[]
  /** Cells by row, in the order of the columns. */
  readonly rows: readonly (readonly (Cell | null)[])[]
}

/** Reads a whole stream. */
export function readArrow(bytes: Uint8Array): PlainTable {
  const table = tableFromIPC(bytes)
  const { fields } = table.schema
  const columns = fields.map((_, index) => cellsOf(table.getChildAt(index)))
  return {
    names: fields.map(({ name }) => name),
    types: fields.map(({ type }) => String(type)),
    nullable: fields.map(({ nullable }) => nullable),
    rowCount: table.numRows,
    batchRowCounts: table.batches.map(({ numRows }) => numRows),
    rows: Array.from({ length: table.numRows }, (_, row) => columns.map((cells) => cells[row])),
  }
}

function cellsOf(vector: Vector | null): (Cell | null)[] {
  return (vector?.data ?? []).flatMap((chunk: Data) => {
    return Array.from({ length: chunk.length }, (_, row) => {
      return chunk.getValid(row) ? cellAt(chunk, row) : null
    })
  })
}

/** A cell from the buffers themselves: the library's own values are not exact for all types. */
function cellAt(chunk: Data, row: number): Cell {
  const { type, values, valueOffsets } = chunk
  if (DataType.isDictionary(type)) {
    const value: string | Uint8Array = chunk.dictionary?.get(values[row])
    return typeof value === 'string' ? utf8Encode(value) : value.slice()
  }
  if (DataType.isBool(type)) return (values[row >> 3] >> (row & 7)) & 1
  if (DataType.isUtf8(type) || DataType.isBinary(type)) {
    return values.slice(valueOffsets[row], valueOffsets[row + 1])
  }
  if (DataType.isDecimal(type)) {
    const unscaled = joinQuad(values, row * 4)
    return type.precision <= 9 ? Number(unscaled) : unscaled
  }
  if (DataType.isTimestamp(type)) {
    const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
    return joinPair(words[row * 2], words[row * 2 + 1])
  }
  return values[row]
}
