/** What a client asks of a scan, the same for a body and for a query string. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { PAGE_ROW_COUNT_DEFAULT, PAGE_ROW_COUNT_MAX } from '../common/limits.ts'
import { predicatesFromText } from '../common/predicate-request.ts'
import type { ReadMode } from '../common/read-mode.ts'
import { scanSpecFromJson } from '../common/scan-request.ts'
import type { ScanSpec } from '../common/scan-spec.ts'
import type { Column, Schema } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { ScanToken } from '../router/scan-token.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { LIMIT_MAX, type ScanBody } from '../wire/scan-schemas.ts'
import { SCAN_ORDERS, type ScanOrder } from '../wire/tablet-protocol.ts'
import type { Front } from './app-env.ts'
import { csvRecord } from './csv-record.ts'
import { type DiffQuery, diffQueryOf } from './diff-query.ts'
import { canonicalJson } from './json-tree.ts'
import { readProjection } from './projection.ts'
import type { QueryParams } from './query-params.ts'
import { checkSnapshot, snapshotTime, snapshotTimeOfText } from './snapshot-time.ts'

/** A scan as it was asked for; what depends on the table is read once that is known. */
export interface ScanQuery {
  /** The columns of the rows. Throws: INVALID_ARGUMENT, ILLEGAL_STATE. */
  readonly columnsFor: (schema: Schema) => readonly Column[]
  /** Which rows. Throws: INVALID_ARGUMENT. */
  readonly specFor: (schema: Schema, values: ValueOptions) => ScanSpec
  readonly order: ScanOrder
  /** Rows in all; infinity without a limit. */
  readonly limit: number
  readonly mode: ReadMode
  /** The snapshot asked for, or null. Throws: INVALID_ARGUMENT, INVALID_SNAPSHOT. */
  readonly snapshotFor: (front: Front, table: TableEntry) => Timestamp | null
  readonly pageSize: number
  readonly pageToken: string | null
  /** Whether it asked for a page by size or token. */
  readonly isPaged: boolean
  /** Whether it is told how rows are found, and not the rows. */
  readonly isExplained: boolean
  /** Whether, for that, the scan is run. */
  readonly isAnalyzed: boolean
  /** Rows that changed, or null: rows as they are. */
  readonly diff: DiffQuery | null
  /** The token that the scan is asked for by, or null: it is as it stands here. */
  readonly scanToken: string | null
  /** The tablet that alone is scanned, or null. */
  readonly tabletId: string | null
  /** Equal for requests that are equal but for PAGE_MEMBERS. */
  readonly canonical: string
}

/** Members that go with a token. */
const TOKEN_MEMBERS: readonly string[] = ['scan_token', 'page_size', 'page_token']

/** Members in which requests of the same rows may differ. */
const PAGE_MEMBERS: readonly string[] = ['page_size', 'page_token', 'explain', 'analyze']

/** The scan of a body. Throws: INVALID_ARGUMENT. */
export function scanQueryOfBody(tree: unknown, body: ScanBody, values: ValueOptions): ScanQuery {
  if (body.scan_token !== undefined) return tokenQueryOfBody(body, body.scan_token)
  const { snapshot_timestamp: time } = body
  const rest = Object.fromEntries(
    Object.entries(tree as object).filter(([name]) => !PAGE_MEMBERS.includes(name)),
  )
  const diff = diffQueryOf(body)
  const order = diff === null ? (body.order ?? 'UNORDERED') : 'ORDERED'
  const mode = readModeOf(body.read_mode, time !== undefined || diff !== null)
  const members = { ...rest, order, read_mode: mode, predicates: upperCaseOps(rest.predicates) }
  return {
    columnsFor: (schema) => readProjection(schema, body.columns),
    specFor: (schema, options) => scanSpecFromJson(schema, body, options),
    order,
    limit: body.limit ?? Number.POSITIVE_INFINITY,
    mode,
    snapshotFor: ({ ports }, table) => {
      return time === undefined ? null : snapshotTime(time, ports.clock, table)
    },
    pageSize: body.page_size ?? PAGE_ROW_COUNT_DEFAULT,
    pageToken: body.page_token ?? null,
    isPaged: body.page_size !== undefined || body.page_token !== undefined,
    isExplained: body.explain === true || body.analyze === true,
    isAnalyzed: body.analyze ?? false,
    diff,
    scanToken: null,
    tabletId: null,
    canonical: canonicalJson({ ...members, ' timestamps': values.timestamps }),
  }
}

/** Parameters of a scan in a query string; `where` may be repeated. */
export const SCAN_PARAMETERS = [
  'columns',
  'order',
  'limit',
  'page_size',
  'page_token',
  'snapshot_timestamp',
  'scan_token',
] as const

/** The scan of a query string. Throws: INVALID_ARGUMENT. */
export function scanQueryOfParams(params: QueryParams, values: ValueOptions): ScanQuery {
  const scanToken = params.text('scan_token')
  if (scanToken !== null) return tokenQueryOfParams(params, scanToken)
  const columns = params.text('columns')
  const names = columns === null ? undefined : csvRecord(columns, 'columns')
  const records = params.all('where').map((text, i) => csvRecord(text, `where[${i}]`))
  const time = params.text('snapshot_timestamp')
  const members = {
    columns,
    where: params.all('where'),
    order: params.choice('order', SCAN_ORDERS) ?? 'UNORDERED',
    limit: params.text('limit'),
    snapshot_timestamp: time,
    ' timestamps': values.timestamps,
  }
  return {
    columnsFor: (schema) => readProjection(schema, names),
    specFor: (schema, options) => {
      const predicates = predicatesFromText(schema, records, options)
      return { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }
    },
    order: params.choice('order', SCAN_ORDERS) ?? 'UNORDERED',
    limit: params.integer('limit', 0, LIMIT_MAX) ?? Number.POSITIVE_INFINITY,
    mode: readModeOf(undefined, time !== null),
    snapshotFor: ({ ports }, table) => {
      return time === null ? null : snapshotTimeOfText(time, ports.clock, table)
    },
    pageSize: params.integer('page_size', 1, PAGE_ROW_COUNT_MAX) ?? PAGE_ROW_COUNT_DEFAULT,
    pageToken: params.text('page_token'),
    isPaged: params.has('page_size') || params.has('page_token'),
    isExplained: false,
    isAnalyzed: false,
    diff: null,
    scanToken: null,
    tabletId: null,
    canonical: canonicalJson(members),
  }
}

/** The query of a body that has a token. Throws: INVALID_ARGUMENT for what does not go with it. */
function tokenQueryOfBody(body: ScanBody, scanToken: string): ScanQuery {
  for (const [member, value] of Object.entries(body)) {
    if (value === undefined || value === false || TOKEN_MEMBERS.includes(member)) continue
    throw invalidArgument(`member "${member}" does not go with scan_token`)
  }
  return tokenQuery(scanToken, body.page_size ?? null, body.page_token ?? null)
}

/** The same of a query string. */
function tokenQueryOfParams(params: QueryParams, scanToken: string): ScanQuery {
  for (const name of [...SCAN_PARAMETERS, 'where']) {
    if (!params.has(name) || TOKEN_MEMBERS.includes(name)) continue
    throw invalidArgument(`query parameter "${name}" does not go with scan_token`)
  }
  const pageSize = params.integer('page_size', 1, PAGE_ROW_COUNT_MAX)
  return tokenQuery(scanToken, pageSize, params.text('page_token'))
}

/** All that is not in the token; `queryOfToken` says the rest. */
function tokenQuery(
  scanToken: string,
  pageSize: number | null,
  pageToken: string | null,
): ScanQuery {
  return {
    columnsFor: () => [],
    specFor: () => ({ predicates: [], lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }),
    order: 'UNORDERED',
    limit: 0,
    mode: 'READ_AT_SNAPSHOT',
    snapshotFor: () => null,
    pageSize: pageSize ?? PAGE_ROW_COUNT_DEFAULT,
    pageToken,
    isPaged: pageSize !== null || pageToken !== null,
    isExplained: false,
    isAnalyzed: false,
    diff: null,
    scanToken,
    tabletId: null,
    canonical: canonicalJson({ scan_token: scanToken }),
  }
}

/** A query by a token, once that is known. */
export function queryOfToken(query: ScanQuery, token: ScanToken): ScanQuery {
  const { columnIds, spec, order, limit, snapshot, tabletId, diff } = token
  const keptTime = (time: Timestamp) => (front: Front, table: TableEntry) => {
    checkSnapshot(time, front.ports.clock, table)
    return time
  }
  return {
    ...query,
    columnsFor: (schema) => columnIds.map((id) => keptColumn(schema, id)),
    specFor: (schema) => {
      for (const { columnId } of spec.predicates) keptColumn(schema, columnId)
      return spec
    },
    order,
    limit,
    snapshotFor: keptTime(snapshot),
    diff:
      diff === null ? null : { isDeletedName: diff.isDeletedName, fromFor: keptTime(diff.from) },
    tabletId,
  }
}

/** A column of a token. Throws: ILLEGAL_STATE when it was dropped since the token was made. */
function keptColumn(schema: Schema, id: number): Column {
  const column = schema.byId(id)
  if (column !== undefined) return column
  throw new StatusError('ILLEGAL_STATE', 'a column of the scan was dropped since its token')
}

/** Predicates whose operators are written in one way, since requests may use any case. */
export function upperCaseOps(predicates: unknown): unknown {
  if (!Array.isArray(predicates)) return predicates
  return predicates.map((predicate: unknown) => {
    const { op } = (predicate ?? {}) as { readonly op?: unknown }
    return typeof op === 'string' ? { ...(predicate as object), op: op.toUpperCase() } : predicate
  })
}

/**
 * The mode of a read: a time alone means that it is read at.
 *
 * Throws: INVALID_ARGUMENT for a time with any other mode.
 */
export function readModeOf(mode: ReadMode | undefined, hasTime: boolean): ReadMode {
  if (!hasTime) return mode ?? 'READ_LATEST'
  if (mode === undefined || mode === 'READ_AT_SNAPSHOT') return 'READ_AT_SNAPSHOT'
  throw invalidArgument(`snapshot_timestamp goes with READ_AT_SNAPSHOT, not with ${mode}`)
}
