import type { RowBlock } from '../../src/common/row-block.ts'
import type { Schema } from '../../src/common/schema.ts'
import { MemRowSet } from '../../src/tablet/memory/mem-row-set.ts'
import type { PlainRow } from './a-write-block.ts'
import { blockOf, hashesOf, KEY_HASH_SEED, keysOf } from './row-data.ts'

/** Writes plain rows to a MemRowSet, one op at a time. */
export class MemRowWriter {
  readonly schema: Schema
  readonly rowSet: MemRowSet

  constructor(schema: Schema, id = 1) {
    this.schema = schema
    this.rowSet = new MemRowSet({ id, schema, keyHashSeed: KEY_HASH_SEED })
  }

  /** Inserts rows as one op. Returns the first slot. */
  insert(at: number, ...rows: PlainRow[]): number {
    const block = blockOf(this.schema, rows)
    const keys = keysOf(this.schema, block)
    const order = Uint32Array.from(rows, (_, row) => row)
    return this.rowSet.insertRows(keys, hashesOf(keys), block, order, 0, rows.length, at)
  }

  /** Changes the cells that a row names, by this schema or a younger one. Returns how many. */
  update(at: number, row: PlainRow, skipImmutable = false, schema = this.schema): number {
    const block = besideNulls(schema, row)
    return this.rowSet.update(this.slot(row), block, 1, at, skipImmutable, schema)
  }

  /** Deletes the row with a row's key. */
  delete(at: number, row: PlainRow): void {
    this.rowSet.delete(this.slot(row), at)
  }

  /** Brings the ghost with a row's key back. */
  reinsert(at: number, row: PlainRow): void {
    this.rowSet.reinsert(this.slot(row), besideNulls(this.schema, row), 1, at)
  }

  /** Slot of the key of a row, or ABSENT. */
  slot(row: PlainRow): number {
    return this.slots([row])[0]
  }

  /** Slots of the keys of rows. */
  slots(rows: readonly PlainRow[]): number[] {
    const { keyColumns } = this.schema
    const keyRows = rows.map((row) =>
      Object.fromEntries(keyColumns.map(({ name }) => [name, row[name]])),
    )
    const keys = keysOf(this.schema, blockOf(this.schema, keyRows))
    const out = new Int32Array(rows.length)
    this.rowSet.findSlots(keys, hashesOf(keys), rows.length, out)
    return [...out]
  }
}

/** A block with a row as its second; the first sets every column to null. */
function besideNulls(schema: Schema, row: PlainRow): RowBlock {
  const nulls = Object.fromEntries(schema.columns.map(({ name }) => [name, null]))
  return blockOf(schema, [nulls, row])
}
