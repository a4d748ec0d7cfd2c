/**
 * Live memory of the isolate while tablets are written without pause and scanned at the same time:
 * JavaScript heap and array buffers after a forced collection, as the isolate's inspector tells
 * them, above what they were before the first row. Front and tablets share the isolate, so the
 * requests under way are in it too.
 */

import { MIXED_COLUMNS, mixedRow, shuffled } from './support/mixed-rows.ts'
import { Report } from './support/report.ts'
import { ask, countLines, send } from './support/rest.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'

const SEED = 11
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const REQUEST_ROWS = 1000
const MIB = 1024 * 1024

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('memory', size)
  await measure(report, 1, ROW_COUNTS[size], 48)
  await measure(report, 12, ROW_COUNTS[size], 80)
  report.close()
}

async function measure(
  report: Report,
  tabletCount: number,
  rowCount: number,
  mostMib: number,
): Promise<void> {
  const service = await startService()
  try {
    const table = 'memory'
    const partition = { hash_schema: [{ columns: ['id'], num_buckets: tabletCount }] }
    await ask(service.address, 'POST', '/tables', {
      name: table,
      schema: { columns: MIXED_COLUMNS },
      ...(tabletCount > 1 ? { partition_schema: partition } : {}),
    })
    const idle = await service.heapBytes()
    const peak = await loadAndScan(service, table, rowCount)
    report.add({
      name: `${tabletCount} tablets, live heap above idle`,
      rows: rowCount,
      value: { amount: (peak - idle) / MIB, unit: 'MiB' },
      bar: { atMost: mostMib },
    })
  } finally {
    await service.close()
  }
}

async function loadAndScan(
  service: BenchService,
  table: string,
  rowCount: number,
): Promise<number> {
  const order = shuffled(SEED, rowCount)
  let peak = 0
  let isLoading = true
  let next = 0
  const write = async (): Promise<void> => {
    while (next < rowCount) {
      const batch = order.subarray(next, Math.min(rowCount, next + REQUEST_ROWS))
      next += batch.length
      const rows = Array.from(batch, (number) => mixedRow(SEED, number))
      await send(service.address, 'POST', `/tables/${table}/rows`, { rows })
    }
  }
  const scan = async (): Promise<void> => {
    const accept = { accept: 'application/x-ndjson' }
    while (isLoading) {
      await countLines(await send(service.address, 'POST', `/tables/${table}/scan`, {}, accept))
    }
  }
  const sample = async (): Promise<void> => {
    while (isLoading) {
      peak = Math.max(peak, await service.heapBytes())
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  }
  const others = Promise.all([scan(), sample()])
  await Promise.all([write(), write()]).finally(() => {
    isLoading = false
  })
  await others
  return peak
}
