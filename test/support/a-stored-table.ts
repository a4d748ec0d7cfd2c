/** A table in the real catalog object, with its real tablet objects, spoken to as a front does. */

import { env } from 'cloudflare:workers'
import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { decodeRowBlock, encodeRowBlock, type RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import { mustValue } from '../../src/common/status.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { catalogStub, tabletStub } from '../../src/server/stubs.ts'
import { utf8Decode } from '../../src/util/bytes.ts'
import { ScanFrameReader } from '../../src/wire/scan-frame.ts'
import {
  type ResultKey,
  type ScanCall,
  type TabletAnswer,
  type TabletCall,
  type TabletControlStub,
  type TabletCounters,
  WIRE_VERSION,
  type WriteAnswer,
} from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from './a-table.ts'

/** A cell as tests write it: texts for texts. */
export type PlainCell = number | bigint | string | null
/** A row in schema order. */
export type PlainRow = readonly PlainCell[]

/** Frames of a whole scan as rows. Throws what an error frame carries. */
export function rowsOfFrames(schema: Schema, frames: Uint8Array): PlainRow[] {
  const reader = new ScanFrameReader()
  reader.push(frames)
  const rows: PlainRow[] = []
  for (let batch = reader.next(); batch !== null; batch = reader.next()) {
    rows.push(...rowsOfBlock(schema, batch.block))
  }
  reader.finish()
  return rows
}

/** Rows of a stream of frames. Throws what an error frame carries, or when the stream was cut. */
export async function rowsOfStream(
  schema: Schema,
  stream: ReadableStream<Uint8Array>,
): Promise<PlainRow[]> {
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  return rowsOfFrames(schema, bytes)
}

/** Rows of a block. */
export function rowsOfBlock(schema: Schema, block: RowBlock): PlainRow[] {
  return Array.from({ length: block.rowCount }, (_, row) =>
    block.columns.map((column, index) => {
      const cell = column.cell(row)
      const { type } = schema.mustById(block.columnIds[index])
      return cell instanceof Uint8Array ? plainBytes(type, cell) : cell
    }),
  )
}

function plainBytes(type: string, cell: Uint8Array): string {
  return type === 'BINARY' ? String(cell) : utf8Decode(cell)
}

/** The value of an answer. Throws for every other kind. */
export function mustOk<T>(answer: TabletAnswer<T>): T {
  if (answer.kind !== 'ok') throw new Error(`answer is ${JSON.stringify(answer)}`)
  return answer.value
}

/** See the file's header. */
export class StoredTable {
  readonly entry: TableEntry
  readonly schema: Schema

  constructor(entry: TableEntry) {
    this.entry = entry
    this.schema = new Schema(entry.columns)
  }

  /** A fresh stub of a tablet. */
  tablet(index = 0): TabletControlStub {
    return tabletStub(env, this.tabletId(index))
  }

  /** The same as the platform's own stub, for its test helpers. */
  object(index = 0): ReturnType<typeof env.TABLET.getByName> {
    return env.TABLET.getByName(this.tabletId(index))
  }

  tabletId(index = 0): string {
    return this.entry.tablets[index].tabletId
  }

  /** What every call to a tablet carries. */
  call(index = 0): TabletCall {
    return {
      wire: WIRE_VERSION,
      tableId: this.entry.id,
      tabletId: this.tabletId(index),
      tableVersion: this.entry.version,
      clock: 0,
    }
  }

  /** A share of rows that all do the same. */
  block(rows: readonly PlainRow[], operation: RowOperationName = 'INSERT'): Uint8Array {
    const builder = new RowBlockBuilder(this.schema.columns, true, rows.length)
    for (const row of rows) {
      for (const [index, cell] of row.entries()) builder.setCell(index, cellOf(cell))
      builder.endRow(ROW_OPERATIONS[operation])
    }
    return encodeRowBlock(builder.view())
  }

  /** Writes rows to a tablet. */
  write(
    rows: readonly PlainRow[],
    operation: RowOperationName = 'INSERT',
    resultKey: ResultKey | null = null,
    index = 0,
  ): Promise<TabletAnswer<WriteAnswer>> {
    const block = this.block(rows, operation)
    return this.tablet(index).write({ ...this.call(index), block, resultKey })
  }

  /** A scan of all rows and columns, changed in part. */
  scanCall(part: Partial<ScanCall> = {}, index = 0): ScanCall {
    return {
      ...this.call(index),
      columnIds: this.schema.columns.map((column) => column.id),
      predicates: [],
      lowerKey: new Uint8Array(0),
      upperKey: new Uint8Array(0),
      order: 'ORDERED',
      snapshot: null,
      rowCountMax: Number.MAX_SAFE_INTEGER,
      bytesMax: Number.MAX_SAFE_INTEGER,
      withKeys: false,
      ...part,
    }
  }

  /** All rows of a tablet by a bounded read. */
  async readRows(part: Partial<ScanCall> = {}, index = 0): Promise<PlainRow[]> {
    const answer = mustOk(await this.tablet(index).read(this.scanCall(part, index)))
    return rowsOfFrames(this.schema, answer.frames)
  }

  /** All rows of a tablet by a stream. */
  async scanRows(part: Partial<ScanCall> = {}, index = 0): Promise<PlainRow[]> {
    const { stream } = mustOk(await this.tablet(index).scan(this.scanCall(part, index)))
    return rowsOfStream(this.schema, stream)
  }

  /** Rows by their keys, null for a key that is not there. */
  async lookupRows(keys: readonly PlainRow[], index = 0): Promise<(PlainRow | null)[]> {
    const encoded = keys.map((key) => encodeKeyCells(this.schema.keyColumns, key.map(mustCellOf)))
    const keyEnds = new Uint32Array(keys.length)
    let end = 0
    for (const [i, key] of encoded.entries()) {
      end += key.length
      keyEnds[i] = end
    }
    const keyBytes = Uint8Array.from(encoded.flatMap((key) => [...key]))
    const answer = mustOk(
      await this.tablet(index).lookup({
        ...this.call(index),
        columnIds: this.schema.columns.map((column) => column.id),
        keyBytes,
        keyEnds,
        snapshot: null,
      }),
    )
    const found = rowsOfBlock(this.schema, decodeRowBlock(answer.block))
    const rows: (PlainRow | null)[] = keys.map(() => null)
    for (const [i, row] of found.entries()) rows[answer.keyIndexes[i]] = row
    return rows
  }

  /** Counters of a tablet. */
  async counters(index = 0): Promise<TabletCounters> {
    return mustValue(await this.tablet(index).counters())
  }
}

/** Makes a table in the catalog. */
export async function aStoredTable(
  name: string,
  columns?: readonly string[],
  bucketCount?: number,
): Promise<StoredTable> {
  const table = aNewTable(name, columns, bucketCount)
  return new StoredTable(
    mustValue(await catalogStub(env).createTable({ wire: WIRE_VERSION, ...table })),
  )
}

function cellOf(cell: PlainCell): Cell | null {
  return typeof cell === 'string' ? new TextEncoder().encode(cell) : cell
}

function mustCellOf(cell: PlainCell): Cell {
  const value = cellOf(cell)
  if (value === null) throw new Error('a key cell is not null')
  return value
}
