/** One row of a table, by its key in the path or, for keys that no path can hold, in the query. */

import { z } from 'zod'
import { cellFromJson } from '../../common/cell-json.ts'
import type { Cell } from '../../common/data-type.ts'
import { compareCells } from '../../common/encoded-key.ts'
import { isJsonObject } from '../../common/json-object.ts'
import { describeRowError, ROW_ERRORS } from '../../common/row-error.ts'
import { ROW_OPERATIONS, type RowOperation } from '../../common/row-operation.ts'
import type { Schema } from '../../common/schema.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { lookupRows } from '../../router/lookup.ts'
import type { RequestRowError } from '../../router/row-error-collector.ts'
import { utf8Encode } from '../../util/bytes.ts'
import { rowObjectSchema, rowWriteAnswerSchema } from '../../wire/row-schemas.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import type { Privilege } from '../auth.ts'
import { csvRecord } from '../csv-record.ts'
import { conditionOf } from '../etag.ts'
import { DecodedRows } from '../format/decoded-rows.ts'
import { encodeFoundRows } from '../found-rows.ts'
import { jsonResponse } from '../json-text.ts'
import { readJsonTree, shownName } from '../json-tree.ts'
import { answerFormat, FORMATS } from '../media-type.ts'
import { readProjection } from '../projection.ts'
import { type QueryParams, ROW_PARAMETERS, readQuery, valueOptionsOf } from '../query-params.ts'
import { pathSegments } from '../raw-path.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { idempotencyKey } from '../request-headers.ts'
import { keyCellsFromArray, keyCellsFromSegments } from '../row-key.ts'
import { snapshotTimeOfText } from '../snapshot-time.ts'
import { accessTable, withReadSession } from '../table-access.ts'
import { type FinishedWrite, type RowBatches, writeDecoded } from '../write-request.ts'
import { rowParams, writeHeaders, writeHeadersOf } from './rows-routes.ts'
import { tableParam } from './table-routes.ts'

/** Where the key begins in the paths `/api/v1/tables/{table}/rows/{key}…`. */
const KEY_SEGMENT = 5

const BY_PATH = {
  path: '/api/v1/tables/{table}/rows/{key}',
  routingPath: '/api/v1/tables/:table/rows/:key{.*[^/]}',
  params: tableParam.extend({
    key: z.string().meta({
      description: 'key columns in order, each a segment, percent-encoded; %2F is data',
    }),
  }),
  query: rowParams,
}
const BY_QUERY = {
  path: '/api/v1/tables/{table}/row',
  routingPath: '/api/v1/tables/:table/row',
  params: tableParam,
  query: rowParams.extend({ key: z.string().meta({ description: 'a JSON array in key order' }) }),
}

const readParams = {
  columns: z.string().optional().meta({ description: 'a CSV record of column names' }),
  snapshot_timestamp: z.string().optional().meta({ description: 'integer micros or RFC 3339' }),
}

/** Adds the routes of single rows. */
export function addRowRoutes(app: App, front: Front): void {
  for (const place of [BY_PATH, BY_QUERY]) {
    addReadRoute(app, front, place)
    addWriteRoutes(app, front, place)
  }
}

type Place = typeof BY_PATH | typeof BY_QUERY

function addReadRoute(app: App, front: Front, { path, routingPath, params, query }: Place): void {
  addRoute(
    app,
    {
      method: 'get',
      path,
      routingPath,
      tags: ['rows'],
      summary: 'Show a row',
      request: { params, query: query.extend(readParams) },
      responses: { 200: answer('the row', rowObjectSchema) },
    },
    (c) => getRow(front, c),
  )
}

function addWriteRoutes(app: App, front: Front, place: Place): void {
  const { path, routingPath, params, query } = place
  const common = { path, routingPath, tags: ['rows'] }
  const request = { params, query, headers: writeHeaders }
  const body = {
    required: true,
    content: { 'application/json': { schema: rowObjectSchema } },
  }
  addRoute(
    app,
    {
      ...common,
      method: 'put',
      summary: 'Upsert a row; insert or update it under a condition',
      request: {
        ...request,
        body,
        headers: writeHeaders.extend({
          'If-None-Match': z.literal('*').optional().meta({ description: 'insert or 412' }),
          'If-Match': z.literal('*').optional().meta({ description: 'update or 412' }),
        }),
      },
      responses: {
        200: answer('it was changed', rowWriteAnswerSchema),
        201: answer('it was inserted', rowWriteAnswerSchema),
      },
    },
    (c) => putRow(front, c),
  )
  addRoute(
    app,
    {
      ...common,
      method: 'patch',
      summary: 'Update a row',
      request: { ...request, body },
      responses: { 200: answer('it was changed', rowWriteAnswerSchema) },
    },
    (c) => patchRow(front, c),
  )
  addRoute(
    app,
    {
      ...common,
      method: 'delete',
      summary: 'Delete a row',
      request,
      responses: { 204: { description: 'it is gone' } },
    },
    (c) => deleteRow(front, c),
  )
}

async function getRow(front: Front, c: AppContext): Promise<Response> {
  const query = readRowQuery(c, ['columns', 'snapshot_timestamp'])
  const values = valueOptionsOf(query)
  answerFormat(c.req.raw, query, ['json'])
  const access = await accessTable(front, c, { all: ['SELECT'] })
  return withReadSession(front, access, async (session) => {
    const { schema, entry } = session.table
    const names = query.text('columns')
    const columns = readProjection(schema, names === null ? undefined : csvRecord(names, 'columns'))
    const time = query.text('snapshot_timestamp')
    const found = await lookupRows(session, {
      columnIds: columns.map(({ id }) => id),
      keys: [keyOf(c, query, schema, values)],
      snapshot: time === null ? null : snapshotTimeOfText(time, front.ports.clock, entry),
    })
    const [row] = encodeFoundRows(found.rows, columns, values)
    const { snapshot } = found
    if (row === null) {
      throw new StatusError('NOT_FOUND', 'key not found', { resource: 'row', snapshot })
    }
    return jsonResponse(row, 200, { 'Nyala-Timestamp': String(snapshot) })
  })
}

async function putRow(front: Front, c: AppContext): Promise<Response> {
  const operation = putOperation(c.req.raw)
  const write = await writeRow(front, c, operation, ['INSERT', 'UPDATE'])
  const failed = failedRow(write)
  if (failed !== null) {
    const isUnmet =
      (operation === ROW_OPERATIONS.INSERT && failed.code === 'ALREADY_PRESENT') ||
      (operation === ROW_OPERATIONS.UPDATE && failed.code === 'NOT_FOUND')
    const { isReplayed } = write.session
    if (!isUnmet) throw rowFailure(failed, isReplayed)
    const details = { resource: 'row', isReplayed } as const
    throw new StatusError('PRECONDITION_FAILED', failed.message, details)
  }
  if (write.session.createdCount === 0) return writtenResponse(write, 200)
  return writtenResponse(write, 201, { Location: rowLocation(c) })
}

async function patchRow(front: Front, c: AppContext): Promise<Response> {
  checkMayBeThere(c.req.raw)
  const write = await writeRow(front, c, ROW_OPERATIONS.UPDATE, ['UPDATE'])
  mustBeWritten(write)
  return writtenResponse(write, 200)
}

async function deleteRow(front: Front, c: AppContext): Promise<Response> {
  checkMayBeThere(c.req.raw)
  const query = readRowQuery(c, [])
  const values = valueOptionsOf(query)
  const access = await accessTable(front, c, { all: ['DELETE'] })
  const write = await writeDecoded(front, c, access, (schema) => {
    return oneRow(schema, keyOf(c, query, schema, values), {}, ROW_OPERATIONS.DELETE, values)
  })
  mustBeWritten(write)
  const headers = writeHeadersOf(write.summary.timestamp, write.session.isReplayed)
  return new Response(null, { status: 204, headers })
}

async function writeRow(
  front: Front,
  c: AppContext,
  operation: RowOperation,
  privileges: readonly Privilege[],
): Promise<FinishedWrite> {
  const query = readRowQuery(c, [])
  const values = valueOptionsOf(query)
  checkJsonBody(c.req.raw)
  idempotencyKey(c.req.raw)
  const access = await accessTable(front, c, { all: privileges })
  const { value: row } = await readRequestBody(front.memory, c.req.raw, z.unknown())
  return writeDecoded(front, c, access, (schema) => {
    return oneRow(schema, keyOf(c, query, schema, values), row, operation, values)
  })
}

function readRowQuery(c: AppContext, more: readonly string[]): QueryParams {
  const key = isByQuery(c) ? ['key'] : []
  const query = readQuery(c.req.raw, [...ROW_PARAMETERS, ...key, ...more])
  query.choice('format', FORMATS)
  return query
}

function isByQuery(c: AppContext): boolean {
  return pathSegments(c.req.path)[KEY_SEGMENT - 1] === 'row'
}

function keyOf(c: AppContext, query: QueryParams, schema: Schema, values: ValueOptions): Cell[] {
  if (!isByQuery(c)) {
    return keyCellsFromSegments(schema, pathSegments(c.req.path).slice(KEY_SEGMENT), values)
  }
  const text = query.text('key')
  if (text === null) throw invalidArgument('query parameter "key" is missing')
  const bytes = utf8Encode(`${text}\n`)
  const what = 'query parameter "key"'
  return keyCellsFromArray(schema, readJsonTree(bytes, bytes.length - 1, what), values)
}

/** PUT is an upsert, an insert if the row must not be there, an update if it must. */
function putOperation(request: Request): RowOperation {
  const { mustBeThere, mustBeAbsent } = rowConditions(request)
  if (mustBeThere && mustBeAbsent) {
    throw invalidArgument('If-Match: * and If-None-Match: * contradict each other')
  }
  if (mustBeThere) return ROW_OPERATIONS.UPDATE
  return mustBeAbsent ? ROW_OPERATIONS.INSERT : ROW_OPERATIONS.UPSERT
}

/** Throws: PRECONDITION_FAILED when a row that is to be changed or deleted must not be there. */
function checkMayBeThere(request: Request): void {
  if (!rowConditions(request).mustBeAbsent) return
  const detail = 'If-None-Match: * is for rows that are put, not for rows that are there'
  throw new StatusError('PRECONDITION_FAILED', detail, { resource: 'row' })
}

/** What the headers ask of a row. Throws: INVALID_ARGUMENT when they name an entity tag. */
function rowConditions(request: Request): { mustBeThere: boolean; mustBeAbsent: boolean } {
  const ifMatch = conditionOf(request, 'If-Match')
  const ifNoneMatch = conditionOf(request, 'If-None-Match')
  for (const condition of [ifMatch, ifNoneMatch]) {
    if (condition === null || condition.trim() === '*') continue
    throw invalidArgument('a row has no entity tag: If-Match and If-None-Match must be *')
  }
  return { mustBeThere: ifMatch !== null, mustBeAbsent: ifNoneMatch !== null }
}

/** A row of a body with the key of its path. */
function oneRow(
  schema: Schema,
  key: readonly Cell[],
  row: unknown,
  operation: RowOperation,
  values: ValueOptions,
): RowBatches {
  if (!isJsonObject(row)) throw invalidArgument('body must be an object')
  const rows = new DecodedRows(schema)
  for (const [index, cell] of key.entries()) rows.builder.setCell(index, cell)
  for (const [name, value] of Object.entries(row)) {
    const column = schema.byName(name)
    if (column === undefined) {
      const shown = name.slice(0, 64).toWellFormed()
      throw invalidArgument(`unknown column ${shownName(name)}`, { column: shown })
    }
    const cell = cellFromJson(column, value, values)
    if (!column.isKey) rows.builder.setCell(column.index, cell)
    else if (cell === null || compareCells(column.physical, cell, key[column.index]) !== 0) {
      throw invalidArgument(`column "${name}" is not what it is in the path`, { column: name })
    }
  }
  rows.endRow(operation)
  return { rows, operations: new Set([operation]), next: () => false }
}

function failedRow(write: FinishedWrite): RequestRowError | null {
  return write.session.errors.errors()[0] ?? null
}

function mustBeWritten(write: FinishedWrite): void {
  const failed = failedRow(write)
  if (failed !== null) throw rowFailure(failed, write.session.isReplayed)
}

function rowFailure({ code, message, column }: RequestRowError, isReplayed: boolean): StatusError {
  const named = column === undefined ? {} : { column }
  if (code !== 'NOT_FOUND') return new StatusError(code, message, { ...named, isReplayed })
  const isInNoRange = message === describeRowError(ROW_ERRORS.NOT_IN_RANGE, undefined).message
  return new StatusError(code, message, { resource: isInNoRange ? 'range' : 'row', isReplayed })
}

function writtenResponse(
  { summary, session }: FinishedWrite,
  status: number,
  headers: Record<string, string> = {},
): Response {
  const { timestamp } = summary
  return jsonResponse({ timestamp }, status, {
    ...headers,
    ...writeHeadersOf(timestamp, session.isReplayed),
  })
}

function rowLocation(c: AppContext): string {
  if (!isByQuery(c)) return c.req.path
  return `${c.req.path}?key=${encodeURIComponent(readRowQuery(c, []).text('key') ?? '')}`
}

function answer(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema } } }
}
