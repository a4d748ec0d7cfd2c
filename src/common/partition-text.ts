/**
 * Keys, ranges and partitions as people read them, in Kudu's notation:
 *
 *   (string host="web-1", int32 n=7)
 *   HASH (a, b) PARTITIONS 4, HASH (c) PARTITIONS 3 SEED 42, RANGE (c)
 *   HASH (a, b) PARTITION 0, HASH (c) PARTITION 2, RANGE (c) PARTITION 10 <= VALUES < 20
 *
 * Bounds are metadata of the table and may be shown; keys of rows are users' data and may not.
 */

import { fromHex } from '../util/bytes.ts'
import { cellToText, DEFAULT_VALUE_OPTIONS } from './cell-json.ts'
import type { Cell } from './data-type.ts'
import { decodeKeyCells } from './encoded-key.ts'
import type { RangeKeys } from './partition-key.ts'
import type { HashDimension, Partition, PartitionSchema } from './partition-schema.ts'
import type { Column, Schema } from './schema.ts'
import { outcomeOf } from './status.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Bytes shown of a string or binary; what is cut ends in `…`. */
const SHOWN_BYTES_MAX = 128
const WORD_BYTES = 4

/** A cell as text; strings and binaries in quotes, bytes that are not printable ASCII as `\ooo`. */
export function cellText(column: Column, cell: Cell): string {
  if (!(cell instanceof Uint8Array)) return cellToText(column, cell, DEFAULT_VALUE_OPTIONS)
  let text = '"'
  for (const byte of cell.subarray(0, SHOWN_BYTES_MAX)) {
    if (byte === QUOTE || byte === BACKSLASH) text += `\\${String.fromCharCode(byte)}`
    else if (byte >= 0x20 && byte < 0x7f) text += String.fromCharCode(byte)
    else text += `\\${byte.toString(8).padStart(3, '0')}`
  }
  return cell.length > SHOWN_BYTES_MAX ? `${text}"…` : `${text}"`
}

/** Cells as text: one as it is, several in parentheses. */
export function cellsText(columns: readonly Column[], cells: readonly Cell[]): string {
  const texts = cells.map((cell, index) => cellText(columns[index], cell))
  return texts.length === 1 ? texts[0] : `(${texts.join(', ')})`
}

/**
 * An encoded key as text, with types and names.
 *
 * Throws: INVALID_ARGUMENT when the bytes are no key of these columns.
 */
export function keyText(columns: readonly Column[], key: Uint8Array): string {
  const texts = decodeKeyCells(columns, key).map((cell, index) => {
    const column = columns[index]
    return `${column.type.toLowerCase()} ${column.name}=${cellText(column, cell)}`
  })
  return `(${texts.join(', ')})`
}

/** How a table is partitioned, without its ranges. */
export function partitionSchemaText(schema: Schema, partitionSchema: PartitionSchema): string {
  const parts = partitionSchema.hashSchema.map((dimension) => {
    const seed = dimension.seed === 0 ? '' : ` SEED ${dimension.seed}`
    return `${dimensionText(schema, dimension)} PARTITIONS ${dimension.bucketCount}${seed}`
  })
  const columns = rangeColumnsOf(schema, partitionSchema)
  if (columns.length > 0) parts.push(`RANGE (${namesOf(columns)})`)
  return parts.join(', ')
}

/** A range as text, `RANGE (a) PARTITION 10 <= VALUES < 20`. Requires: its keys are range keys. */
export function rangeText(columns: readonly Column[], range: RangeKeys): string {
  const bound = (key: string) => cellsText(columns, decodeKeyCells(columns, fromHex(key)))
  const lower = range.lowerKey === '' ? '' : `${bound(range.lowerKey)} <= `
  const upper = range.upperKey === '' ? '' : ` < ${bound(range.upperKey)}`
  const values = lower === '' && upper === '' ? 'UNBOUNDED' : `${lower}VALUES${upper}`
  return `RANGE (${namesOf(columns)}) PARTITION ${values}`
}

/**
 * A partition as text; '' for the only one of a table without hash and range.
 *
 * Requires: the hash dimensions are those of its range.
 */
export function partitionText(
  schema: Schema,
  partitionSchema: PartitionSchema,
  hashSchema: readonly HashDimension[],
  partition: Partition,
): string {
  const parts = hashSchema.map((dimension, index) => {
    return `${dimensionText(schema, dimension)} PARTITION ${partition.hashBuckets[index]}`
  })
  const columns = rangeColumnsOf(schema, partitionSchema)
  if (columns.length > 0) {
    const { rangeKeyStart: lowerKey, rangeKeyEnd: upperKey } = partition
    parts.push(rangeText(columns, { lowerKey, upperKey }))
  }
  return parts.join(', ')
}

/**
 * A partition key as text: `HASH (a, b): 0, HASH (c): 20, RANGE (a, b, c): (0, "", "")`. A part
 * that cannot be read says so.
 */
export function partitionKeyText(
  schema: Schema,
  partitionSchema: PartitionSchema,
  hashSchema: readonly HashDimension[],
  key: Uint8Array,
): string {
  const rangeStart = hashSchema.length * WORD_BYTES
  if (key.length < rangeStart) return '<hash-decode-error>'
  const view = new DataView(key.buffer, key.byteOffset, key.length)
  const parts = hashSchema.map((dimension, index) => {
    return `${dimensionText(schema, dimension)}: ${view.getUint32(index * WORD_BYTES)}`
  })
  const columns = rangeColumnsOf(schema, partitionSchema)
  if (columns.length > 0) {
    const cells = outcomeOf(() => decodeKeyCells(columns, key.subarray(rangeStart)))
    const text = cells.ok
      ? cellsText(columns, cells.value)
      : `<range-key-decode-error: ${cells.message}>`
    parts.push(`RANGE (${namesOf(columns)}): ${text}`)
  }
  return parts.join(', ')
}

function rangeColumnsOf(schema: Schema, partitionSchema: PartitionSchema): Column[] {
  return partitionSchema.rangeColumnIds.map((id) => schema.mustById(id))
}

function dimensionText(schema: Schema, dimension: HashDimension): string {
  return `HASH (${namesOf(dimension.columnIds.map((id) => schema.mustById(id)))})`
}

function namesOf(columns: readonly Column[]): string {
  return columns.map((column) => column.name).join(', ')
}
