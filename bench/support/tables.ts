/** What operators ask of a table, for benchmarks. */

import { ask } from './rest.ts'

/** The part of a tablet's page that is looked at. */
export interface TabletPage {
  readonly tablet_id: string
  readonly average_rowset_height: number
  readonly rowsets: readonly {
    readonly id: number
    readonly rows: number
    readonly bytes: number
  }[]
  readonly wal: { readonly rows: number }
  readonly billed_rows_read: number
  readonly billed_rows_written: number
  readonly maintenance: {
    readonly running: readonly { readonly op: string }[]
    readonly last_runs: readonly { readonly op: string; readonly failure: object | null }[]
    readonly ops: readonly { readonly op: string; readonly due_at: number | null }[]
  }
}

/** A table's statistics. */
export interface Statistics {
  readonly live_row_count: number
  readonly on_disk_size: number
}

/** Asks for the statistics of a table. */
export function statisticsOf(address: string, table: string): Promise<Statistics> {
  return ask(address, 'GET', `/tables/${table}/statistics`)
}

/** The pages of all tablets of a table. */
export async function tabletPages(address: string, table: string): Promise<TabletPage[]> {
  const { tablets } = await ask<{ tablets: { tablet_id: string }[] }>(
    address,
    'GET',
    `/tables/${table}/tablets`,
  )
  return Promise.all(
    tablets.map(({ tablet_id }) => ask<TabletPage>(address, 'GET', `/tablets/${tablet_id}`)),
  )
}

const REST_MS_MAX = 600_000
const ASK_EVERY_MS = 500
/** A tablet that is left alone merges its rowsets for good a few seconds later. */
const SOON_MICROS = 10_000_000

/** Flushes what is in memory, then waits until no tablet has anything left to do. */
export async function maintainTable(address: string, table: string): Promise<void> {
  for (const op of ['FLUSH_MRS', 'FLUSH_DMS']) {
    await ask(address, 'POST', `/tables/${table}/maintenance`, { op })
  }
  await untilAtRest(address, table)
}

/** Waits until no tablet has anything left to do now, or soon. */
export async function untilAtRest(address: string, table: string): Promise<void> {
  const deadline = performance.now() + REST_MS_MAX
  for (;;) {
    const pages = await tabletPages(address, table)
    if (!pages.some(isBusy)) return
    if (performance.now() > deadline) throw new Error('maintenance does not come to rest')
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}

function isBusy({ maintenance }: TabletPage): boolean {
  const soon = Date.now() * 1000 + SOON_MICROS
  const isDue = maintenance.ops.some(({ due_at }) => due_at !== null && due_at <= soon)
  return isDue || maintenance.running.length > 0
}
