/**
 * Counts the rows that the platform bills, as the tablets' pages tell them: writing a million rows
 * of ten columns into one tablet until maintenance rests, scanning them all, reading one by its key
 * cold, and a few single writes to an idle tablet. The counts include WAL, flushes, compactions,
 * superblocks and alarms.
 */

import { MIXED_COLUMNS, mixedRow, shuffled } from './support/mixed-rows.ts'
import { Report } from './support/report.ts'
import { ask, countLines, send } from './support/rest.ts'
import { startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable, type TabletPage, tabletPages, untilAtRest } from './support/tables.ts'

const SEED = 7
/** Of the row that makes a tablet: below all others, so that those can come in key order. */
const FIRST_NUMBER = -1
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 10_000, full: 1_000_000 }
const REQUEST_ROWS = 1000
const CONCURRENCY = 4
const HEIGHT_MAX = 1.5

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const rowCount = ROW_COUNTS[size]
  const figures = new Report('billing', size)
  const service = await startService()
  const { address } = service
  try {
    for (const order of ['random', 'ascending'] as const) {
      const table = `billing_${order}`
      const tabletId = await createTable(address, table)
      const start = await billed(address, tabletId)
      await load(address, table, order === 'random' ? shuffled(SEED, rowCount) : rowCount)
      const loaded = await billed(address, tabletId)
      await untilAtRest(address, table)
      await maintainTable(address, table)
      const rested = await billed(address, tabletId)
      const perMillion = ((rested.written - start.written) / rowCount) * 1_000_000
      report(figures, `${order} order, loading`, loaded.written - start.written, 'written')
      report(figures, `${order} order, until rest`, rested.written - start.written, 'written')
      report(figures, `${order} order, a million rows`, perMillion, 'written', 2500)
      const [{ rowsets, average_rowset_height: height }] = await tabletPages(address, table)
      figures.add({
        name: `${order} order, average height of ${rowsets.length} rowsets at rest`,
        value: { amount: height, unit: 'rowsets' },
        bar: { atMost: HEIGHT_MAX },
      })

      const scan = await send(
        address,
        'POST',
        `/tables/${table}/scan`,
        {},
        { accept: 'application/x-ndjson' },
      )
      const lines = await countLines(scan)
      if (lines !== rowCount + 1) throw new Error(`the scan has ${lines} rows, not ${rowCount + 1}`)
      const scanned = await billed(address, tabletId)
      const perScan = ((scanned.read - rested.read) / rowCount) * 1_000_000
      report(figures, `${order} order, full scan, a million rows`, perScan, 'read', 1500)
    }
    await coldPointRead(figures, address, rowCount)
    await idleWrites(figures, address)
    figures.close()
  } finally {
    await service.close()
  }
}

async function createTable(address: string, name: string): Promise<string> {
  await ask(address, 'POST', '/tables', { name, schema: { columns: MIXED_COLUMNS } })
  const { tablets } = await ask<{ tablets: { tablet_id: string }[] }>(
    address,
    'GET',
    `/tables/${name}/tablets`,
  )
  // The first write makes the tablet; what that bills is none of what is measured.
  await send(address, 'POST', `/tables/${name}/rows`, { rows: [mixedRow(SEED, FIRST_NUMBER)] })
  return tablets[0].tablet_id
}

async function load(address: string, table: string, order: Uint32Array | number): Promise<void> {
  const count = typeof order === 'number' ? order : order.length
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const start = next
      const end = Math.min(count, start + REQUEST_ROWS)
      next = end
      const rows: object[] = []
      for (let i = start; i < end; i++) {
        rows.push(mixedRow(SEED, typeof order === 'number' ? i : order[i]))
      }
      await send(address, 'POST', `/tables/${table}/rows`, { rows })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

/** Reads one row by its key from a tablet that has nothing in memory. */
async function coldPointRead(figures: Report, address: string, rowCount: number): Promise<void> {
  const table = 'billing_random'
  const { tablets } = await ask<{ tablets: { tablet_id: string }[] }>(
    address,
    'GET',
    `/tables/${table}/tablets`,
  )
  const tabletId = tablets[0].tablet_id
  // A tablet that nobody called for ten seconds leaves memory.
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  await ask(address, 'GET', `/tables/${table}/rows/${Math.floor(rowCount / 3)}?columns=note,value`)
  const page = await billed(address, tabletId)
  report(figures, 'cold point read of 2 columns', page.read, 'read', 5 + 2)
}

async function idleWrites(figures: Report, address: string): Promise<void> {
  const table = 'billing_idle'
  const tabletId = await createTable(address, table)
  await untilAtRest(address, table)
  const start = await billed(address, tabletId)
  for (let number = 1; number <= 10; number++) {
    await send(address, 'POST', `/tables/${table}/rows`, { rows: [mixedRow(SEED, number)] })
  }
  await untilAtRest(address, table)
  const end = await billed(address, tabletId)
  report(figures, 'ten single writes to an idle tablet', end.written - start.written, 'written', 12)
}

async function billed(
  address: string,
  tabletId: string,
): Promise<{ readonly read: number; readonly written: number }> {
  const page = await ask<TabletPage>(address, 'GET', `/tablets/${tabletId}`)
  return { read: page.billed_rows_read, written: page.billed_rows_written }
}

function report(
  figures: Report,
  name: string,
  count: number,
  kind: 'read' | 'written',
  most?: number,
): void {
  figures.add({
    name,
    value: { amount: Math.round(count), unit: `billed rows ${kind}` },
    ...(most === undefined ? {} : { bar: { atMost: most } }),
  })
}
