/**
 * Reads the rows of a share and checks that they fit the table.
 */

import { SHARE_ROW_COUNT_MAX, WRITE_BLOCK_BYTES_MAX } from '../common/limits.ts'
import { decodeRowBlock, type RowBlock } from '../common/row-block.ts'
import type { Schema } from '../common/schema.ts'
import { CorruptionError, invalidArgument } from '../common/status.ts'

/**
 * The write block in a share's bytes: views of them.
 *
 * Throws: INVALID_ARGUMENT when the bytes are no write block, or one of another table or version.
 */
export function readShareBlock(bytes: Uint8Array, schema: Schema): RowBlock {
  if (bytes.length > WRITE_BLOCK_BYTES_MAX) {
    throw invalidArgument(`row block is ${bytes.length} bytes, limit is ${WRITE_BLOCK_BYTES_MAX}`, {
      limit: WRITE_BLOCK_BYTES_MAX,
    })
  }
  const block = decode(bytes)
  if (block.operations === null) throw invalidArgument('row block has no operations')
  if (block.rowCount > SHARE_ROW_COUNT_MAX) {
    throw invalidArgument(`row block has ${block.rowCount} rows, limit is ${SHARE_ROW_COUNT_MAX}`, {
      limit: SHARE_ROW_COUNT_MAX,
    })
  }
  const mismatch = mismatchOf(block, schema)
  if (mismatch !== null) throw invalidArgument(mismatch)
  return block
}

function decode(bytes: Uint8Array): RowBlock {
  try {
    return decodeRowBlock(bytes)
  } catch (error) {
    // These bytes come from a caller, not from storage.
    if (error instanceof CorruptionError) throw invalidArgument(error.message)
    throw error
  }
}

/**
 * What of a block does not fit a schema, or null: every column is known, has its type, and is there
 * once.
 */
export function mismatchOf(block: RowBlock, schema: Schema): string | null {
  const ids = block.columnIds
  for (let index = 0; index < ids.length; index++) {
    const column = schema.byId(ids[index])
    if (column === undefined) return 'row block has a column that the table has not'
    if (column.physical !== block.columns[index].physical) {
      return `row block has another type for column "${column.name}"`
    }
    if (ids.indexOf(ids[index]) !== index) return `row block has column "${column.name}" twice`
  }
  return null
}
