/** Names of the operations, and the headers of their answers: what generated clients go by. */

interface HeaderDescription {
  readonly description: string
  readonly schema: { type: 'string' | 'integer'; format?: string; enum?: string[] }
}

/** Headers of responses. */
export const RESPONSE_HEADERS = {
  ETag: {
    description: "the table's entity tag, for If-Match and If-None-Match",
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: 'there when the answer is that of an earlier request with the same key',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: {
    description: 'the next page, rel="next"; left out when its URL is too long',
    schema: { type: 'string' },
  },
  Location: { description: 'where it is', schema: { type: 'string' } },
  'Nyala-Request-Id': { description: 'id of the request', schema: { type: 'string' } },
  'Nyala-Rows-Failed': {
    description: 'how many rows were not applied',
    schema: { type: 'integer' },
  },
  'Nyala-Timestamp': {
    description: 'of the newest op of a write, of the snapshot of a read, in microseconds',
    schema: { type: 'integer', format: 'int64' },
  },
  'Retry-After': {
    description: 'seconds to wait, where repeating the request can help',
    schema: { type: 'integer' },
  },
  'WWW-Authenticate': { description: 'with 401', schema: { type: 'string' } },
} satisfies Readonly<Record<string, HeaderDescription>>
/** Name of a header of responses. */
export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS

/** An operation. */
export interface Operation {
  readonly id: string
  /** Headers of its answers by status, beside those of every answer. */
  readonly headers?: Readonly<Record<number, readonly ResponseHeaderName[]>>
}

const TABLE = '/api/v1/tables/{table}'
const TABLET = '/api/v1/tablets/{tablet_id}'
const WRITTEN: readonly ResponseHeaderName[] = ['Nyala-Timestamp', 'Idempotency-Replayed']

/** Operations by method and path. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /': { id: 'getRoot', headers: { 302: ['Location'] } },
  'GET /healthz': { id: 'getHealth' },
  'GET /readyz': { id: 'getReadiness' },
  'GET /api/docs': { id: 'getDocs' },
  'GET /api/v1/version': { id: 'getVersion' },
  'GET /api/v1/spec': { id: 'getSpec' },
  'POST /api/v1/tables': { id: 'createTable', headers: { 201: ['Location', 'ETag'] } },
  'GET /api/v1/tables': { id: 'listTables' },
  [`GET ${TABLE}`]: { id: 'getTable', headers: { 200: ['ETag'], 304: ['ETag'] } },
  [`DELETE ${TABLE}`]: { id: 'dropTable' },
  [`GET ${TABLE}/tablets`]: { id: 'listTablets' },
  [`POST ${TABLE}/locate_row`]: { id: 'locateRow' },
  [`GET ${TABLE}/statistics`]: { id: 'getStatistics' },
  [`POST ${TABLE}/maintenance`]: { id: 'maintainTable' },
  [`GET ${TABLET}`]: { id: 'getTablet' },
  [`POST ${TABLET}/maintenance`]: { id: 'maintainTablet' },
  [`POST ${TABLE}/rows`]: {
    id: 'writeRows',
    headers: { 200: [...WRITTEN, 'Nyala-Rows-Failed'] },
  },
  [`GET ${TABLE}/rows`]: { id: 'listRows', headers: { 200: ['Nyala-Timestamp', 'Link'] } },
  [`POST ${TABLE}/rows/get`]: { id: 'getRows', headers: { 200: ['Nyala-Timestamp'] } },
  [`POST ${TABLE}/rows/delete`]: { id: 'deleteRows', headers: { 200: WRITTEN } },
  [`POST ${TABLE}/scan`]: { id: 'scan', headers: { 200: ['Nyala-Timestamp'] } },
  [`POST ${TABLE}/scan_tokens`]: { id: 'makeScanTokens', headers: { 200: ['Nyala-Timestamp'] } },
  [`POST ${TABLE}/aggregate`]: { id: 'aggregate', headers: { 200: ['Nyala-Timestamp'] } },
  ...rowOperations(`${TABLE}/rows/{key}`, ''),
  ...rowOperations(`${TABLE}/row`, 'ByQuery'),
}

/** One row's: the same by a key in the path and by one in the query. */
function rowOperations(path: string, suffix: string): Record<string, Operation> {
  return {
    [`GET ${path}`]: { id: `getRow${suffix}`, headers: { 200: ['Nyala-Timestamp'] } },
    [`PUT ${path}`]: {
      id: `putRow${suffix}`,
      headers: { 200: WRITTEN, 201: ['Location', ...WRITTEN] },
    },
    [`PATCH ${path}`]: { id: `patchRow${suffix}`, headers: { 200: WRITTEN } },
    [`DELETE ${path}`]: { id: `deleteRow${suffix}`, headers: { 204: WRITTEN } },
  }
}
