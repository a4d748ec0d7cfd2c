/** A front as tests use it: rows as plain objects in, rows as plain objects out. */

import type { Cell } from '../../src/common/data-type.ts'
import type { decodeRowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import type { OpenTable } from '../../src/router/open-table.ts'
import type { RouterPorts } from '../../src/router/ports.ts'
import { ReadSession } from '../../src/router/read-session.ts'
import type { RowFeed } from '../../src/router/row-feed.ts'
import { planScan, type ScanRequest } from '../../src/router/scan-plan.ts'
import { type FeedOptions, openFeed } from '../../src/router/scan-session.ts'
import { TableCache } from '../../src/router/table-cache.ts'
import { callContext } from '../../src/router/tablet-caller.ts'
import { WriteSession, type WriteSummary } from '../../src/router/write-session.ts'
import { utf8Decode, utf8Encode } from '../../src/util/bytes.ts'

/** Cells by column name: texts for STRING, numbers and bigints for the rest. */
export type PlainRow = Readonly<Record<string, number | bigint | string | null>>

/** What a scan gave. */
export interface PlainScan {
  readonly rows: readonly PlainRow[]
  readonly snapshot: number
}

/** One front and one table. */
export class RouterClient {
  readonly ports: RouterPorts
  readonly cache: TableCache
  readonly #name: string

  constructor(ports: RouterPorts, name: string) {
    this.ports = ports
    this.cache = new TableCache(ports)
    this.#name = name
  }

  /** Opens a session for one request. */
  async session(clientKey: string | null = null): Promise<WriteSession> {
    const ref = { name: this.#name }
    const { table, isConfirmed } = await this.cache.open(ref)
    const context = callContext(this.ports, new CallBudget())
    return new WriteSession(context, this.cache, table, { ref, clientKey, isConfirmed })
  }

  /** Writes rows in one request. Throws what made it fail. */
  async write(
    operation: RowOperationName,
    rows: readonly PlainRow[],
    clientKey: string | null = null,
  ): Promise<WriteSummary> {
    const session = await this.session(clientKey)
    await session.add(await this.source(operation, rows))
    const summary = await session.finish()
    if (session.failure !== null) throw session.failure
    return summary
  }

  /** Rows as a decoder gives them. */
  async source(
    operation: RowOperationName,
    rows: readonly PlainRow[],
    firstIndex = 0,
  ): Promise<{ block: ReturnType<RowBlockBuilder['view']>; rowIndexes: Uint32Array }> {
    const { schema } = (await this.cache.open({ name: this.#name })).table
    const builder = new RowBlockBuilder([...schema.columns], true)
    for (const row of rows) {
      for (const [name, value] of Object.entries(row)) {
        const column = schema.byName(name)
        if (column === undefined) throw new Error(`no column ${name}`)
        builder.setCell(column.index, typeof value === 'string' ? utf8Encode(value) : value)
      }
      builder.endRow(ROW_OPERATIONS[operation])
    }
    const rowIndexes = Uint32Array.from(rows, (_, index) => firstIndex + index)
    return { block: builder.view(), rowIndexes }
  }

  /** A session for one read. */
  async reader(): Promise<ReadSession> {
    const ref = { name: this.#name }
    const { table, isConfirmed } = await this.cache.open(ref)
    const context = callContext(this.ports, new CallBudget())
    return new ReadSession(context, this.cache, ref, table, isConfirmed)
  }

  /** Scans the table. */
  async scan(
    request: Partial<ScanRequest> = {},
    options: Partial<FeedOptions> = {},
  ): Promise<PlainScan> {
    const session = await this.reader()
    const { table } = session
    const plan = planScan(table, {
      columnIds: table.schema.columns.map((column) => column.id),
      spec: { predicates: [], lowerKey: new Uint8Array(0), upperKey: new Uint8Array(0) },
      order: 'UNORDERED',
      limit: Number.POSITIVE_INFINITY,
      ...request,
    })
    const opened = await openFeed(session, plan, {
      mode: 'READ_LATEST',
      snapshot: null,
      rowCountMax: Number.POSITIVE_INFINITY,
      firstTablet: 0,
      afterKey: null,
      withKeys: false,
      ...options,
    })
    const rows = await drain(opened.feed, table)
    await session.confirm()
    return { rows, snapshot: opened.snapshot ?? opened.feed.snapshot ?? -1 }
  }
}

async function drain(feed: RowFeed, table: OpenTable): Promise<PlainRow[]> {
  const rows: PlainRow[] = []
  for (;;) {
    const run = feed.take()
    if (run !== null) {
      for (let row = run.start; row < run.end; row++)
        rows.push(plainRow(table, run.batch.block, row))
    } else if (!(await feed.more())) {
      return rows
    }
  }
}

function plainRow(
  table: OpenTable,
  block: ReturnType<typeof decodeRowBlock>,
  row: number,
): PlainRow {
  const cells = block.columns.map((column, index) => {
    const { name } = table.schema.mustById(block.columnIds[index])
    return [name, plainCell(column.cell(row))] as const
  })
  return Object.fromEntries(cells)
}

function plainCell(cell: Cell | null): number | bigint | string | null {
  return cell instanceof Uint8Array ? utf8Decode(cell) : cell
}
