/** What a client asks of a scan, the same for a body and for a query string. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { PAGE_ROW_COUNT_DEFAULT, PAGE_ROW_COUNT_MAX } from '../common/limits.ts'
import { predicatesFromText } from '../common/predicate-request.ts'
import type { ReadMode } from '../common/read-mode.ts'
import { scanSpecFromJson } from '../common/scan-request.ts'
import type { ScanSpec } from '../common/scan-spec.ts'
import type { Schema } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import type { ValueOptions } from '../common/value-options.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { LIMIT_MAX, type ScanBody } from '../wire/scan-schemas.ts'
import { SCAN_ORDERS, type ScanOrder } from '../wire/tablet-protocol.ts'
import type { Front } from './app-env.ts'
import { csvRecord } from './csv-record.ts'
import { type DiffQuery, diffQueryOf } from './diff-query.ts'
import { canonicalJson } from './json-tree.ts'
import type { QueryParams } from './query-params.ts'
import { snapshotTime, snapshotTimeOfText } from './snapshot-time.ts'

/** A scan as it was asked for; what depends on the table is read once that is known. */
export interface ScanQuery {
  readonly columnNames: readonly string[] | undefined
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
  readonly isExplained: boolean
  /** Rows that changed, or null: rows as they are. */
  readonly diff: DiffQuery | null
  /** Equal for requests that are equal but for page size and token. */
  readonly canonical: string
}

/** Members of a scan that are not there yet; false or missing is no use of them. */
const UNSUPPORTED_MEMBERS = ['analyze', 'scan_token'] as const

/** The scan of a body. Throws: INVALID_ARGUMENT, NOT_SUPPORTED. */
export function scanQueryOfBody(tree: unknown, body: ScanBody, values: ValueOptions): ScanQuery {
  for (const member of UNSUPPORTED_MEMBERS) {
    if (body[member] === undefined || body[member] === false) continue
    throw new StatusError('NOT_SUPPORTED', `member "${member}" of a scan is not supported yet`)
  }
  const { snapshot_timestamp: time } = body
  const { page_size: _, page_token: __, ...rest } = tree as Readonly<Record<string, unknown>>
  const diff = diffQueryOf(body)
  const order = diff === null ? (body.order ?? 'UNORDERED') : 'ORDERED'
  const mode = readModeOf(body.read_mode, time !== undefined || diff !== null)
  const members = { ...rest, order, read_mode: mode, predicates: upperCaseOps(rest.predicates) }
  return {
    columnNames: body.columns,
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
    isExplained: body.explain ?? false,
    diff,
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

/** The scan of a query string. Throws: INVALID_ARGUMENT, NOT_SUPPORTED. */
export function scanQueryOfParams(params: QueryParams, values: ValueOptions): ScanQuery {
  if (params.has('scan_token')) {
    throw new StatusError('NOT_SUPPORTED', 'query parameter "scan_token" is not supported yet')
  }
  const columns = params.text('columns')
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
    columnNames: columns === null ? undefined : csvRecord(columns, 'columns'),
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
    diff: null,
    canonical: canonicalJson(members),
  }
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
