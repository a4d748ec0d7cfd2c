/** Rows of a table: written in batches and streams, looked up by keys. */

import { z } from 'zod'
import {
  GET_KEY_COUNT_MAX,
  JSON_BODY_BYTES_MAX,
  SHORT_STREAM_BYTES_MAX,
} from '../../common/limits.ts'
import { ROW_OPERATIONS } from '../../common/row-operation.ts'
import { invalidArgument } from '../../common/status.ts'
import { lookupRows } from '../../router/lookup.ts'
import type { ReadSession } from '../../router/read-session.ts'
import type { WriteSession } from '../../router/write-session.ts'
import {
  getRowsSchema,
  rowsAnswerSchema,
  writeResultSchema,
  writeRowsSchema,
} from '../../wire/row-schemas.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { declaredBytes, withWholeBody } from '../body-reader.ts'
import { DecodedRows } from '../format/decoded-rows.ts'
import { JsonBodyDecoder, operationOf } from '../format/json-body-decoder.ts'
import { encodeNullText } from '../format/null-text.ts'
import { encodeFoundRows } from '../found-rows.ts'
import type { Holding } from '../front-memory.ts'
import { jsonResponse } from '../json-text.ts'
import { answerFormat, bodyFormat, FORMATS, isGzipped } from '../media-type.ts'
import { readProjection } from '../projection.ts'
import { type QueryParams, ROW_PARAMETERS, readQuery, valueOptionsOf } from '../query-params.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { idempotencyKey } from '../request-headers.ts'
import { keyCellsFromJson } from '../row-key.ts'
import { feedBytes, feedStream, type RowReading, type StreamFormat } from '../row-write.ts'
import { snapshotTime } from '../snapshot-time.ts'
import { accessTable, type TableAccess, withReadSession } from '../table-access.ts'
import {
  type FinishedWrite,
  mustSucceed,
  openWriteSession,
  privilegesOf,
  WRITE_PRIVILEGES,
  writeAgain,
  writeDecoded,
} from '../write-request.ts'
import { tableParam } from './table-routes.ts'

/** Query parameters of every request that returns or takes rows. */
export const rowParams = z.object({
  format: z.enum(FORMATS).optional().meta({ description: 'of the answer; beats Accept' }),
  int64: z.enum(['number', 'string']).optional(),
  timestamps: z.enum(['rfc3339', 'micros', 'millis']).optional(),
  null: z.string().optional().meta({ description: 'CSV: the unquoted text that is null' }),
})

/** Headers of every write. */
export const writeHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .optional()
    .meta({ description: 'a repeat with the same key and body is answered with the first result' }),
})

const writeParams = rowParams.extend({
  operation: z
    .string()
    .optional()
    .meta({ description: 'streams: the operation of every row; INSERT unless given' }),
})

const ARROW_DESCRIPTION =
  'record batches; a column left out is unset, one that the table does not have fails the request'

/** Adds the routes of rows in numbers. */
export function addRowsRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/rows',
      tags: ['rows'],
      summary: 'Write rows',
      request: {
        params: tableParam,
        query: writeParams,
        headers: writeHeaders,
        body: {
          required: true,
          content: {
            'application/json': { schema: writeRowsSchema },
            'application/x-ndjson': { schema: z.string().meta({ description: 'a row a line' }) },
            'text/csv': { schema: z.string().meta({ description: 'a header line, then rows' }) },
            'application/vnd.apache.arrow.stream': {
              schema: z.string().meta({ format: 'binary', description: ARROW_DESCRIPTION }),
            },
          },
        },
      },
      responses: {
        200: {
          description: 'what became of the rows',
          content: { 'application/json': { schema: writeResultSchema } },
        },
      },
    },
    (c) => writeRows(front, c),
  )
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/rows/get',
      tags: ['rows'],
      summary: 'Look rows up by their keys',
      request: {
        params: tableParam,
        query: rowParams,
        body: { required: true, content: { 'application/json': { schema: getRowsSchema } } },
      },
      responses: {
        200: {
          description: 'the rows, in the order asked',
          content: { 'application/json': { schema: rowsAnswerSchema } },
        },
      },
    },
    (c) => getRows(front, c),
  )
}

async function writeRows(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const query = readQuery(request, [...ROW_PARAMETERS, 'operation'])
  if (request.body === null) throw invalidArgument('request has no body')
  const format = bodyFormat(request, ['json', 'ndjson', 'csv', 'arrow'])
  query.choice('format', FORMATS)
  idempotencyKey(request)
  const write =
    format === 'json'
      ? await writeJsonRows(front, c, query)
      : await writeStream(front, c, query, format)
  return writeResponse(write)
}

async function writeJsonRows(
  front: Front,
  c: AppContext,
  query: QueryParams,
): Promise<FinishedWrite> {
  if (query.has('operation')) {
    throw invalidArgument(
      'query parameter "operation" is for streams; a JSON body has a member "operation"',
    )
  }
  const values = valueOptionsOf(query)
  const access = await accessTable(front, c, { any: WRITE_PRIVILEGES })
  return withWholeBody(front.memory, c.req.raw, JSON_BODY_BYTES_MAX, ({ bytes, end }) => {
    return writeDecoded(front, c, access, (schema) => {
      const decoder = new JsonBodyDecoder(schema, values, new DecodedRows(schema))
      decoder.start(bytes, end)
      return decoder
    })
  })
}

async function writeStream(
  front: Front,
  c: AppContext,
  query: QueryParams,
  format: StreamFormat,
): Promise<FinishedWrite> {
  const name = query.text('operation')
  const operation = name === null ? ROW_OPERATIONS.INSERT : operationOf(name)
  const values = valueOptionsOf(query)
  const nullText = query.text('null') ?? ''
  encodeNullText(nullText)
  const all = privilegesOf(operation)
  const request = c.req.raw
  const feedTo = async (
    access: TableAccess,
    feed: (reading: RowReading, session: WriteSession) => Promise<void>,
  ): Promise<FinishedWrite> => {
    const session = openWriteSession(front, c, access)
    const { schema } = access.table
    await front.memory.lend((holding) => {
      return feed({ schema, values, nullText, operation, holding }, session)
    })
    return { session, summary: await session.finish() }
  }
  if (isGzipped(request) || declaredBytes(request) > SHORT_STREAM_BYTES_MAX) {
    // A stream cannot be decoded again, so its columns had better be those that there are.
    const access = await accessTable(front, c, { all, isFresh: true })
    return mustSucceed(
      await feedTo(access, (reading, session) => feedStream(request, format, reading, session)),
    )
  }
  const access = await accessTable(front, c, { all })
  return withWholeBody(front.memory, request, SHORT_STREAM_BYTES_MAX, ({ bytes, end }) => {
    const body = bytes.subarray(0, end)
    return writeAgain(front, access, (current) =>
      feedTo(current, (reading, session) => feedBytes(body, format, reading, session)),
    )
  })
}

function writeResponse({ session, summary }: FinishedWrite): Response {
  const { timestamp, failed } = summary
  const { errors } = session
  return jsonResponse(
    {
      ...summary,
      row_errors: errors.errors(),
      row_errors_truncated: errors.isTruncated ? true : undefined,
    },
    200,
    { 'Nyala-Rows-Failed': String(failed), ...writeHeadersOf(timestamp, session.isReplayed) },
  )
}

/** Headers of a write's answer: when it was made, and whether it was made before. */
export function writeHeadersOf(
  timestamp: number | null,
  isReplayed: boolean,
): Record<string, string> {
  return {
    ...(timestamp === null ? {} : { 'Nyala-Timestamp': String(timestamp) }),
    ...(isReplayed ? { 'Idempotency-Replayed': 'true' } : {}),
  }
}

async function getRows(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const query = readQuery(request, ROW_PARAMETERS)
  const values = valueOptionsOf(query)
  answerFormat(request, query, ['json'])
  checkJsonBody(request)
  const access = await accessTable(front, c, { all: ['SELECT'] })
  const { value: body } = await readRequestBody(front.memory, request, getRowsSchema)
  if (body.keys.length > GET_KEY_COUNT_MAX) {
    const detail = `${body.keys.length} keys are asked for, limit is ${GET_KEY_COUNT_MAX}`
    throw invalidArgument(detail, { limit: GET_KEY_COUNT_MAX })
  }
  const answer = async (session: ReadSession, holding: Holding) => {
    const { schema, entry } = session.table
    const columns = readProjection(schema, body.columns)
    const found = await lookupRows(session, {
      columnIds: columns.map(({ id }) => id),
      keys: body.keys.map((key, i) => keyCellsFromJson(schema, key, `keys[${i}]`, values)),
      snapshot:
        body.snapshot_timestamp === undefined
          ? null
          : snapshotTime(body.snapshot_timestamp, front.ports.clock, entry),
      onBytes: (bytes) => holding.grow(bytes),
    })
    const rows = encodeFoundRows(found.rows, columns, values)
    return jsonResponse({ rows, snapshot_timestamp: found.snapshot }, 200, {
      'Nyala-Timestamp': String(found.snapshot),
    })
  }
  return front.memory.lend((holding) => {
    return withReadSession(front, access, (session) => answer(session, holding))
  })
}
