/** Analyses of scans: what they tell must add up, and come to the rows that were found. */

import { mayBeForgotten } from './read-moments.ts'
import { analyzeRequest, type ScanTimes } from './scan-requests.ts'
import type { ScanQuery } from './scan-script.ts'
import type { ScanWorld } from './scan-world.ts'
import type { FoundRows } from './walk-pages.ts'

type Counts = Readonly<Record<string, number>>

interface ColumnAnalysis {
  readonly column: string
  readonly pages: number
  readonly pages_read: number
  readonly pages_from_cache: number
  readonly pages_skipped: Counts
}

interface TabletAnalysis {
  readonly rowsets?: { readonly total: number; readonly read: number; readonly skipped: Counts }
  readonly columns?: readonly ColumnAnalysis[]
  readonly rows_scanned?: number
  readonly rows_returned?: number
}

/** What a scan does in each tablet. */
export type ScanAnalysis = readonly TabletAnalysis[]

/** Analyzes a scan at the time that it was read at; null when that is not sure to be there. */
export async function analyze(
  world: ScanWorld,
  query: ScanQuery,
  { diffFrom }: ScanTimes,
  { snapshot }: FoundRows,
): Promise<ScanAnalysis | null> {
  if (mayBeForgotten(world, snapshot)) return null
  const at = { kind: 'now', mode: 'READ_AT_SNAPSHOT' } as const
  const times = { time: snapshot, diffFrom }
  const { text } = await world.must(analyzeRequest(world.columns, { ...query, at }, times))
  world.count('analysis')
  return (JSON.parse(text) as { readonly tablets: ScanAnalysis }).tablets
}

/** Throws when an analysis does not add up. */
export function checkAnalysis(query: ScanQuery, tablets: ScanAnalysis, { rows }: FoundRows): void {
  let returned = 0
  // A scan that ends with its limit looks no further, one that finds nothing by itself nowhere, and
  // a diff scan does not tell of all that it passes over.
  const isPartial = query.limit !== null || query.diff !== null
  const addsUp = (read: number, skipped: Counts, total: number) => {
    const known = read + sum(skipped)
    return known === total || (known < total && (isPartial || known === 0))
  }
  for (const tablet of tablets) {
    returned += tablet.rows_returned ?? 0
    const { rowsets, columns = [] } = tablet
    if (rowsets !== undefined && !addsUp(rowsets.read, rowsets.skipped, rowsets.total)) {
      throw new Error(`rowsets do not add up: ${JSON.stringify(rowsets)}`)
    }
    if ((tablet.rows_scanned ?? 0) < (tablet.rows_returned ?? 0)) {
      throw new Error(`rows do not add up: ${JSON.stringify(tablet)}`)
    }
    for (const column of columns) {
      const isWhole = addsUp(column.pages_read, column.pages_skipped, column.pages)
      if (!isWhole || column.pages_from_cache > column.pages_read) {
        throw new Error(`pages do not add up: ${JSON.stringify(column)}`)
      }
    }
  }
  // A token's limit is its own.
  if (query.tokens !== null && query.limit !== null) return
  const isRight = query.limit === null ? returned === rows.length : returned >= rows.length
  if (!isRight) throw new Error(`an analysis returns ${returned} rows, not ${rows.length}`)
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
