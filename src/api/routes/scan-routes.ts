/** Scans of a table: by a body, or by a query string for a browser or curl. */

import { z } from 'zod'
import { PAGE_ROW_COUNT_MAX } from '../../common/limits.ts'
import { invalidArgument } from '../../common/status.ts'
import { explanationSchema, scanPageSchema, scanSchema } from '../../wire/scan-schemas.ts'
import { SCAN_ORDERS } from '../../wire/tablet-protocol.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { encodeNullText } from '../format/null-text.ts'
import { answerFormat } from '../media-type.ts'
import { type QueryParams, READ_PARAMETERS, readQuery, valueOptionsOf } from '../query-params.ts'
import { rawQuery } from '../raw-path.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { type AnswerOptions, answerScan, SCAN_FORMATS } from '../scan-answer.ts'
import {
  SCAN_PARAMETERS,
  type ScanQuery,
  scanQueryOfBody,
  scanQueryOfParams,
} from '../scan-query.ts'
import { accessTable, withReadSession } from '../table-access.ts'
import { rowParams } from './rows-routes.ts'
import { tableParam } from './table-routes.ts'

const LINK_BYTES_MAX = 8 * 1024

/** Query parameters of every request that returns rows in all formats. */
export const readParams = rowParams.extend({
  dictionary: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Arrow: text and bytes as dictionaries where that is shorter' }),
})

const scanParams = readParams.extend({
  columns: z.string().optional().meta({ description: 'a CSV record of column names' }),
  where: z
    .array(z.string())
    .optional()
    .meta({ description: 'each a CSV record: column, operator, values' }),
  order: z.enum(SCAN_ORDERS).optional(),
  limit: z.int().min(0).optional(),
  page_size: z.int().min(1).max(PAGE_ROW_COUNT_MAX).optional(),
  page_token: z.string().optional(),
  snapshot_timestamp: z.string().optional().meta({ description: 'integer micros or RFC 3339' }),
})

/** Contents of answers that are rows and no JSON. */
export const ROW_STREAMS = {
  'application/x-ndjson': { schema: z.string().meta({ description: 'all rows, one a line' }) },
  'text/csv': { schema: z.string().meta({ description: 'a header line, then all rows' }) },
  'application/vnd.apache.arrow.stream': {
    schema: z.string().meta({ format: 'binary', description: 'an Arrow IPC stream of all rows' }),
  },
  'application/vnd.apache.parquet': {
    schema: z.string().meta({ format: 'binary', description: 'a Parquet file of all rows' }),
  },
}

/** Adds the routes of scans. */
export function addScanRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/scan',
      tags: ['rows'],
      summary: 'Scan a table',
      request: {
        params: tableParam,
        query: readParams,
        body: { required: true, content: { 'application/json': { schema: scanSchema } } },
      },
      responses: {
        200: {
          description: 'a page of JSON, or the whole result as a stream',
          content: {
            'application/json': { schema: z.union([scanPageSchema, explanationSchema]) },
            ...ROW_STREAMS,
          },
        },
      },
    },
    (c) => scanByBody(front, c),
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tables/{table}/rows',
      tags: ['rows'],
      summary: 'Scan a table from a browser',
      request: { params: tableParam, query: scanParams },
      responses: {
        200: {
          description: 'a page of JSON, or the whole result as a stream',
          content: { 'application/json': { schema: scanPageSchema }, ...ROW_STREAMS },
        },
      },
    },
    (c) => scanByQuery(front, c),
  )
}

async function scanByBody(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const params = readQuery(request, READ_PARAMETERS)
  const options = answerOptions(c, params, () => null)
  checkJsonBody(request)
  const access = await accessTable(front, c, { all: ['SELECT'] })
  const { tree, value: body } = await readRequestBody(front.memory, request, scanSchema)
  const query = scanQueryOfBody(tree, body, options.values)
  checkPaging(query, options)
  return withReadSession(front, access, (session) => answerScan(front, session, query, options))
}

async function scanByQuery(front: Front, c: AppContext): Promise<Response> {
  const params = readQuery(c.req.raw, [...READ_PARAMETERS, ...SCAN_PARAMETERS], ['where'])
  const options = answerOptions(c, params, (token) => nextLink(c, token))
  const query = scanQueryOfParams(params, options.values)
  checkPaging(query, options)
  const access = await accessTable(front, c, { all: ['SELECT'] })
  return withReadSession(front, access, (session) => answerScan(front, session, query, options))
}

/** How a request wants its rows. Throws: INVALID_ARGUMENT, NOT_ACCEPTABLE. */
export function answerOptions(
  c: AppContext,
  params: QueryParams,
  link: (token: string) => string | null,
): AnswerOptions {
  const nullText = params.text('null') ?? ''
  encodeNullText(nullText)
  return {
    values: { ...valueOptionsOf(params), nullText, hasDictionaries: params.flag('dictionary') },
    format: answerFormat(c.req.raw, params, SCAN_FORMATS),
    isHead: c.req.raw.method === 'HEAD',
    nextLink: link,
  }
}

function checkPaging(query: ScanQuery, { format }: AnswerOptions): void {
  if (format === 'json' || query.isExplained || !query.isPaged) return
  throw invalidArgument(
    `page_size and page_token are for pages of JSON; ${format} streams the whole result`,
  )
}

/**
 * The URL of the next page, or null when it is longer than what headers can be relied on to hold.
 */
function nextLink(c: AppContext, token: string): string | null {
  const pairs = rawQuery(c.req.url)
    .split('&')
    .filter((pair) => pair !== '' && !/^page_token(=|$)/.test(pair))
  const link = `${c.req.path}?${[...pairs, `page_token=${token}`].join('&')}`
  return link.length > LINK_BYTES_MAX ? null : link
}
