/** Answers to scans: a page, a stream, or an explanation. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { Column, Schema } from '../common/schema.ts'
import { StatusError } from '../common/status.ts'
import type { OpenTable } from '../router/open-table.ts'
import {
  decodePageToken,
  digestRequest,
  encodePageToken,
  type PageToken,
} from '../router/page-token.ts'
import type { ReadSession } from '../router/read-session.ts'
import type { FeedPosition } from '../router/row-feed.ts'
import { planScan, type ScanPlan } from '../router/scan-plan.ts'
import { type FeedOptions, openFeed } from '../router/scan-session.ts'
import { decodeScanToken } from '../router/scan-token.ts'
import type { Front } from './app-env.ts'
import { diffStart, shownInDiff } from './diff-query.ts'
import { isOurFault, statusErrorOf } from './errors.ts'
import { explainScan } from './explain-scan.ts'
import {
  createRowEncoder,
  createStreamEncoder,
  type StreamEncodeOptions,
  type StreamFormat,
} from './format/row-encoder.ts'
import type { Holding } from './front-memory.ts'
import { contentTypeOf } from './media-type.ts'
import { ScanPage } from './scan-page.ts'
import { queryOfToken, type ScanQuery } from './scan-query.ts'
import { type RowSource, rowStream } from './scan-stream.ts'
import { checkSnapshot } from './snapshot-time.ts'
import { StreamPauses } from './stream-pauses.ts'

/** Formats that scans are answered in. */
export const SCAN_FORMATS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const
/** A format that scans are answered in. */
export type ScanFormat = (typeof SCAN_FORMATS)[number]

/**
 * About what an encoder keeps of its rows, and of what it made of them, until there is enough of
 * both.
 */
const STREAM_BYTES: Readonly<Record<StreamFormat, number>> = {
  ndjson: 0,
  csv: 0,
  arrow: 3 * 1024 * 1024,
  parquet: 12 * 1024 * 1024,
}

/** How to answer a scan. */
export interface AnswerOptions {
  readonly values: StreamEncodeOptions
  readonly format: ScanFormat
  /** Whether rows are wanted, or only to know that they would come. */
  readonly isHead: boolean
  /** The URL that a token's page is at, or null when it is no URL that tells. */
  readonly nextLink: (token: string) => string | null
}

/** A scan worked out against a table. */
interface PreparedScan {
  /** Those of the rows that are given out. */
  readonly columns: readonly Column[]
  readonly plan: ScanPlan
  readonly feed: FeedOptions
  /** Rows still owed. */
  readonly owed: number
}

/** Answers a scan. Throws: whatever a scan can fail with before its first row is sent. */
export async function answerScan(
  front: Front,
  session: ReadSession,
  asked: ScanQuery,
  options: AnswerOptions,
): Promise<Response> {
  const query = await wholeQuery(session.table, asked)
  if (query.isExplained) {
    // What is explained is the whole scan: the token need only be one of its own.
    await pageTokenOf(session.table, query)
    return explainScan(front, session, query, options.values)
  }
  return options.format === 'json'
    ? answerPage(front, session, query, options)
    : answerStream(front, session, query, options, options.format)
}

/** A query with what its token says, if it has one. Throws: INVALID_ARGUMENT. */
async function wholeQuery({ entry }: OpenTable, query: ScanQuery): Promise<ScanQuery> {
  const { scanToken } = query
  return scanToken === null ? query : queryOfToken(query, await decodeScanToken(entry, scanToken))
}

/** The page that a query asks for, or null: the first. Throws: INVALID_ARGUMENT. */
async function pageTokenOf(
  { entry }: OpenTable,
  { pageToken, canonical }: ScanQuery,
): Promise<PageToken | null> {
  if (pageToken === null) return null
  return decodePageToken(entry, await digestRequest(canonical), pageToken)
}

async function answerPage(
  front: Front,
  session: ReadSession,
  query: ScanQuery,
  options: AnswerOptions,
): Promise<Response> {
  const { entry } = session.table
  const startedAtMs = front.ports.elapsedMs()
  const digest = await digestRequest(query.canonical)
  const token = await pageTokenOf(session.table, query)
  const scan = prepare(front, session.table, query, options, token)
  if (options.isHead) return headAnswer(front, session, scan, options)
  const opened = await openFeed(session, scan.plan, scan.feed)
  const { feed } = opened
  const holding = front.memory.open()
  try {
    const page = new ScanPage({
      holding,
      encoder: createRowEncoder('json', scan.columns, options.values),
      rowCountMax: Math.min(query.pageSize, scan.owed),
      elapsedMs: () => front.ports.elapsedMs(),
      startedAtMs,
    })
    const { rowCount, next } = await page.fill(feed)
    await session.confirm()
    const snapshot = feed.snapshot ?? opened.snapshot ?? front.ports.clock.now()
    const owed = scan.owed - rowCount
    const rest =
      next === null || owed === 0
        ? null
        : await encodePageToken(entry, digest, tokenOf(session.table, scan, next, owed, snapshot))
    const body = page.finish(snapshot, rest)
    return new Response(body, { headers: pageHeaders(snapshot, rest, options) })
  } finally {
    holding.release()
    await feed.close()
  }
}

async function answerStream(
  front: Front,
  session: ReadSession,
  query: ScanQuery,
  options: AnswerOptions,
  format: StreamFormat,
): Promise<Response> {
  const scan = prepare(front, session.table, query, options, null)
  const encoder = createStreamEncoder(format, scan.columns, options.values)
  if (options.isHead) return headAnswer(front, session, scan, options)
  const opened = await openFeed(session, scan.plan, scan.feed)
  const { feed } = opened
  let holding: Holding
  try {
    // What fails before the first row still has a status.
    if (!(await feed.more())) await session.confirm()
    holding = front.memory.holdFor(encoder, STREAM_BYTES[format])
  } catch (error) {
    await feed.close()
    throw error
  }
  const snapshot = feed.snapshot ?? opened.snapshot ?? front.ports.clock.now()
  const tableId = session.table.entry.id
  const onFailure = (error: unknown) => {
    const { code, message } = statusErrorOf(error)
    const fields = { table_id: tableId, code, detail: message }
    if (isOurFault(code)) front.ports.log.error('scan broke off', fields, error)
    else front.ports.log.info('scan broke off', fields)
  }
  const source: RowSource = {
    take: () => feed.take(),
    more: () => feed.more(),
    recycle: () => feed.recycle(),
    close: () => {
      holding.release()
      return feed.close()
    },
  }
  const pauses = new StreamPauses(front.ports, front.arrivals)
  const stream = rowStream({ feed: source, encoder, rowCountMax: scan.owed, pauses, onFailure })
  return new Response(stream, { headers: scanHeaders(snapshot, format) })
}

function prepare(
  front: Front,
  table: OpenTable,
  query: ScanQuery,
  { values, format }: AnswerOptions,
  token: PageToken | null,
): PreparedScan {
  const { schema, entry } = table
  const columns = token === null ? query.columnsFor(schema) : keptColumns(schema, token)
  const asked = query.snapshotFor(front, entry)
  if (token !== null) checkSnapshot(token.snapshot, front.ports.clock, entry)
  const { diff } = query
  const snapshot = token?.snapshot ?? asked
  const diffFrom = diff === null ? null : diffStart(front, entry, diff, snapshot)
  const owed = token?.owed ?? query.limit
  const spec = query.specFor(schema, values)
  const columnIds = columns.map(({ id }) => id)
  const request = { columnIds, spec, order: query.order, limit: owed, diffFrom }
  const plan = planScan(table, request, query.tabletId)
  const isPage = format === 'json'
  const isFirst = token === null && query.scanToken === null
  const taken = isFirst ? schema.columns : columns
  return {
    columns: diff === null ? columns : shownInDiff(columns, diff, taken),
    plan,
    owed,
    feed: {
      mode: query.mode,
      snapshot,
      // One more than fits, which tells whether this page is the last.
      rowCountMax: isPage ? Math.min(query.pageSize + 1, owed) : Number.POSITIVE_INFINITY,
      firstTablet: token === null ? 0 : tabletOf(table, token),
      afterKey: token?.afterKey ?? null,
      withKeys: isPage,
    },
  }
}

/** The columns with which a walk began. Throws: ILLEGAL_STATE when one was dropped since. */
function keptColumns(schema: Schema, token: PageToken): Column[] {
  return token.columnIds.map((id) => {
    const column = schema.byId(id)
    if (column !== undefined) return column
    throw new StatusError('ILLEGAL_STATE', 'a column of the scan was dropped since its first page')
  })
}

/**
 * Index of the tablet that a token goes on in. Throws: ILLEGAL_STATE when its range was dropped.
 */
function tabletOf({ partitions }: OpenTable, { partitionKeyStart }: PageToken): number {
  if (partitionKeyStart === null) return 0
  const index = partitions.findIndex((known) => known.partitionKeyStart === partitionKeyStart)
  if (index >= 0) return index
  throw new StatusError('ILLEGAL_STATE', 'a range of the scan was dropped since its first page', {
    resource: 'range',
  })
}

function tokenOf(
  { partitions }: OpenTable,
  { plan }: PreparedScan,
  { tablet, afterKey }: FeedPosition,
  owed: number,
  snapshot: Timestamp,
): PageToken {
  const isMerged = plan.request.order !== 'UNORDERED'
  return {
    snapshot,
    columnIds: plan.request.columnIds,
    owed,
    partitionKeyStart: isMerged ? null : partitions[tablet].partitionKeyStart,
    afterKey,
  }
}

/** What a scan would be answered with, without its rows. */
async function headAnswer(
  front: Front,
  session: ReadSession,
  { feed }: PreparedScan,
  { format }: AnswerOptions,
): Promise<Response> {
  await session.confirm()
  const snapshot = feed.snapshot ?? front.ports.clock.now()
  return new Response(null, { headers: scanHeaders(snapshot, format) })
}

function pageHeaders(
  snapshot: Timestamp,
  token: string | null,
  { nextLink }: AnswerOptions,
): Record<string, string> {
  const link = token === null ? null : nextLink(token)
  const headers = scanHeaders(snapshot, 'json')
  return link === null ? headers : { ...headers, Link: `<${link}>; rel="next"` }
}

/** Headers of rows that were read at a snapshot. */
export function scanHeaders(snapshot: Timestamp, format: ScanFormat): Record<string, string> {
  return { 'Content-Type': contentTypeOf(format), 'Nyala-Timestamp': String(snapshot) }
}
