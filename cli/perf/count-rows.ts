/** Counts the rows of a table in two ways: by reading them all, and by asking for their number. */

import { CliError } from '../cli-error.ts'
import { orCliError, type RestService, tablePath } from '../rest/rest-service.ts'
import { unheard } from '../rest/service-error.ts'
import type { TransportAnswer } from '../rest/transport.ts'

const LINE_FEED = 0x0a

/**
 * The rows that a table has now: objects of a scan of no columns, in NDJSON, which passes through
 * all that a scan passes through. An aggregate COUNT at the scan's snapshot must agree.
 *
 * Throws: CliError when it fails, or does not agree.
 */
export async function countRows(service: RestService, table: string): Promise<number> {
  return orCliError('rows could not be counted', async () => {
    const { count, snapshot } = await service.repeat(() => scanCount(service, table))
    const counted = await service.repeat(() => aggregateCount(service, table, snapshot))
    if (count === counted) return count
    throw new CliError(`row count mismatch: a scan has ${count} rows, COUNT is ${counted}`)
  })
}

interface ScanCount {
  readonly count: number
  readonly snapshot: number
}

async function scanCount(service: RestService, table: string): Promise<ScanCount> {
  const answer = await service.open({
    method: 'POST',
    path: `${tablePath(table)}/scan`,
    headers: { accept: 'application/x-ndjson' },
    body: { columns: [] },
  })
  return { count: await countLines(answer), snapshot: Number(answer.header('nyala-timestamp')) }
}

async function aggregateCount(
  service: RestService,
  table: string,
  snapshot: number,
): Promise<number> {
  const { rows } = await service.ask<{ rows: [{ n: number }] }>({
    method: 'POST',
    path: `${tablePath(table)}/aggregate`,
    body: { aggregates: [{ op: 'COUNT', as: 'n' }], snapshot_timestamp: snapshot },
  })
  return rows[0].n
}

async function countLines({ body }: TransportAnswer): Promise<number> {
  let lines = 0
  try {
    for await (const chunk of body) {
      for (let i = 0; i < chunk.length; i++) if (chunk[i] === LINE_FEED) lines++
    }
  } catch (cause) {
    throw unheard(cause)
  }
  return lines
}
