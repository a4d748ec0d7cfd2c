/** How a scan finds its rows: which tablets are asked what, and, when it is run, what they did. */

import { predicatesToJson } from '../common/predicate-request.ts'
import type { ColumnScanStats, ScanStats } from '../common/scan-stats.ts'
import type { Schema } from '../common/schema.ts'
import { analyzeScan } from '../router/analyze-scan.ts'
import type { ReadSession } from '../router/read-session.ts'
import { planScan } from '../router/scan-plan.ts'
import { toHex } from '../util/bytes.ts'
import type { Front } from './app-env.ts'
import { diffStart, shownInDiff } from './diff-query.ts'
import type { StreamEncodeOptions } from './format/row-encoder.ts'
import { jsonResponse, RawJson } from './json-text.ts'
import type { ScanQuery } from './scan-query.ts'
import { partitionBounds } from './table-object.ts'

/** Explains a scan, and runs it if it is to be analyzed. Throws: as a scan. */
export async function explainScan(
  front: Front,
  session: ReadSession,
  query: ScanQuery,
  values: StreamEncodeOptions,
): Promise<Response> {
  const { schema, entry, partitions, tabletCount } = session.table
  const columns = query.columnsFor(schema)
  const columnIds = columns.map(({ id }) => id)
  const spec = query.specFor(schema, values)
  const { order, limit, diff, mode } = query
  const asked = query.snapshotFor(front, entry)
  const diffFrom = diff === null ? null : diffStart(front, entry, diff, asked)
  if (diff !== null) shownInDiff(columns, diff, schema.columns)
  const plan = planScan(session.table, { columnIds, spec, order, limit, diffFrom })
  const { lowerKey, upperKey, predicates } = plan.spec
  const analysis = query.isAnalyzed
    ? await analyzeScan(session, plan, { mode, snapshot: asked })
    : null
  await session.confirm()
  const body = {
    tablets: plan.tablets.map((index) => ({
      tablet_id: session.table.tabletId(index),
      hash_buckets: partitions[index].hashBuckets,
      ...partitionBounds(schema, entry.partitionSchema, partitions[index]),
      ...statsToJson(schema, analysis?.tablets.get(index)),
    })),
    tablets_total: tabletCount,
    tablets_pruned: tabletCount - plan.tablets.length,
    primary_key_lower: lowerKey.length === 0 ? null : toHex(lowerKey),
    primary_key_upper: upperKey.length === 0 ? null : toHex(upperKey),
    predicates: new RawJson(predicatesToJson(schema, predicates, values)),
  }
  if (analysis === null) return jsonResponse(body)
  const { snapshot } = analysis
  const answer = { ...body, snapshot_timestamp: snapshot }
  return jsonResponse(answer, 200, { 'Nyala-Timestamp': String(snapshot) })
}

/** Statistics as src/common/scan-stats.ts shows them. */
function statsToJson(schema: Schema, stats: ScanStats | undefined): object {
  if (stats === undefined) return {}
  return {
    rowsets: {
      total: stats.rowSetsTotal,
      read: stats.rowSetsRead,
      skipped: stats.rowSetsSkipped,
    },
    columns: stats.columns.map((column) => columnToJson(schema, column)),
    key_pages_read: stats.keyPagesRead,
    rows_scanned: stats.rowsScanned,
    rows_returned: stats.rowsReturned,
    bytes_decoded: stats.bytesDecoded,
    billed_rows_read: stats.billedRowsRead,
  }
}

function columnToJson(schema: Schema, stats: ColumnScanStats): object {
  return {
    column: schema.mustById(stats.columnId).name,
    pages: stats.pages,
    pages_read: stats.pagesRead,
    pages_from_cache: stats.pagesFromCache,
    pages_skipped: stats.pagesSkipped,
    bytes_decoded: stats.bytesDecoded,
  }
}
