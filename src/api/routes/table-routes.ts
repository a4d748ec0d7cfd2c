/** Tables: make, list, show, drop; their tablets, and where a row lies. */

import { z } from 'zod'
import { PAGE_ROW_COUNT_DEFAULT, PAGE_ROW_COUNT_MAX } from '../../common/limits.ts'
import { Schema } from '../../common/schema.ts'
import { StatusError } from '../../common/status.ts'
import type { TableEntry } from '../../common/table.ts'
import { callCatalog, callCatalogOnce } from '../../router/catalog-caller.ts'
import { toHex } from '../../util/bytes.ts'
import {
  createTableSchema,
  locateRowSchema,
  rowLocationSchema,
  tableListSchema,
  tableObjectSchema,
  tabletListSchema,
} from '../../wire/table-schemas.ts'
import { WIRE_VERSION } from '../../wire/tablet-protocol.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { createTableCall } from '../create-table-call.ts'
import { conditionOf, namesEtag, tableEtag } from '../etag.ts'
import { jsonResponse } from '../json-text.ts'
import { decodeListToken, encodeListToken } from '../list-token.ts'
import { readQuery } from '../query-params.ts'
import { readRequestBody } from '../request-body.ts'
import { raiseToClientTime } from '../request-headers.ts'
import { encodedKey, keyCellsFromJson } from '../row-key.ts'
import { accessTable } from '../table-access.ts'
import { partitionObject, tableObject } from '../table-object.ts'

const RESERVE_SECONDS_MAX = 2 ** 31 - 1

/** Path parameter of everything under a table. */
export const tableParam = z.object({
  table: z.string().meta({ description: "a table's id or its name, percent-encoded" }),
})

const listParams = z.object({
  name_prefix: z.string().optional(),
  page_size: z.int().min(1).max(PAGE_ROW_COUNT_MAX).default(PAGE_ROW_COUNT_DEFAULT),
  page_token: z.string().optional(),
  soft_deleted: z.boolean().optional().meta({ description: 'only those' }),
})

/** Adds the routes of tables. */
export function addTableRoutes(app: App, front: Front): void {
  addCollectionRoutes(app, front)
  addItemRoutes(app, front)
  addPlaceRoutes(app, front)
}

function addCollectionRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables',
      tags: ['tables'],
      summary: 'Make a table',
      request: { body: jsonContent(createTableSchema) },
      responses: { 201: answer('the table', tableObjectSchema) },
    },
    (c) => createTable(front, c),
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tables',
      tags: ['tables'],
      summary: 'List tables by name',
      request: { query: listParams },
      responses: { 200: answer('a page of the list', tableListSchema) },
    },
    (c) => listTables(front, c),
  )
}

function addItemRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tables/{table}',
      tags: ['tables'],
      summary: 'Show a table',
      request: { params: tableParam, headers: z.object({ 'If-None-Match': etags('304') }) },
      responses: {
        200: answer('the table', tableObjectSchema),
        304: { description: 'it is still the one named by If-None-Match' },
      },
    },
    (c) => getTable(front, c),
  )
  addRoute(
    app,
    {
      method: 'delete',
      path: '/api/v1/tables/{table}',
      tags: ['tables'],
      summary: 'Drop a table',
      request: {
        params: tableParam,
        query: z.object({ reserve_seconds: z.int().min(0).optional() }),
        headers: z.object({
          'If-Match': z
            .string()
            .optional()
            .meta({ description: 'entity tags, or *: any other table is kept, with 412' }),
          'If-None-Match': etags('412'),
        }),
      },
      responses: { 204: { description: 'it is gone' } },
    },
    (c) => dropTable(front, c),
  )
}

function addPlaceRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tables/{table}/tablets',
      tags: ['tables'],
      summary: "List a table's tablets",
      request: { params: tableParam },
      responses: { 200: answer('its tablets in partition-key order', tabletListSchema) },
    },
    (c) => listTablets(front, c),
  )
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/locate_row',
      tags: ['tables'],
      summary: 'Find the tablet of a row',
      request: { params: tableParam, body: jsonContent(locateRowSchema) },
      responses: { 200: answer('where it lies', rowLocationSchema) },
    },
    (c) => locateRow(front, c),
  )
}

async function createTable(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const caller = c.get('caller')
  readQuery(request, [])
  const { value: body } = await readRequestBody(front.memory, request, createTableSchema)
  caller.check('CREATE', body.name)
  raiseToClientTime(request, front.ports.clock)
  const call = createTableCall(body, caller.name)
  const table = await callCatalogOnce(front.ports, (catalog) => catalog.createTable(call))
  front.cache.forget({ name: table.name })
  return jsonResponse(tableObject(table), 201, {
    Location: `/api/v1/tables/${table.id}`,
    ETag: tableEtag(table),
  })
}

async function listTables(front: Front, c: AppContext): Promise<Response> {
  const query = readQuery(c.req.raw, ['name_prefix', 'page_size', 'page_token', 'soft_deleted'])
  const filter = {
    namePrefix: query.text('name_prefix') ?? '',
    isSoftDeleted: query.flag('soft_deleted'),
  }
  const pageSize = query.integer('page_size', 1, PAGE_ROW_COUNT_MAX) ?? PAGE_ROW_COUNT_DEFAULT
  const token = query.text('page_token')
  const afterName = token === null ? '' : decodeListToken(filter, token)
  raiseToClientTime(c.req.raw, front.ports.clock)
  // No table is ever in that state yet.
  if (filter.isSoftDeleted) return jsonResponse({ tables: [] })
  const { tables, hasMore } = await callCatalog(front.ports, (catalog) => {
    const { namePrefix } = filter
    return catalog.listTables({ wire: WIRE_VERSION, namePrefix, afterName, pageSize })
  })
  const last = tables.at(-1)
  return jsonResponse({
    tables: tables.map(({ id, name }) => ({ table_id: id, table_name: name })),
    next_page_token: hasMore && last ? encodeListToken(filter, last.name) : undefined,
  })
}

async function getTable(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const condition = conditionOf(c.req.raw, 'If-None-Match')
  const { table } = await accessTable(front, c, { all: ['METADATA'], isFresh: true })
  const etag = tableEtag(table.entry)
  if (condition !== null && namesEtag(condition, etag, true)) {
    return new Response(null, { status: 304, headers: { ETag: etag } })
  }
  return jsonResponse(tableObject(table.entry), 200, { ETag: etag })
}

async function dropTable(front: Front, c: AppContext): Promise<Response> {
  const query = readQuery(c.req.raw, ['reserve_seconds'])
  const reserveSeconds = query.integer('reserve_seconds', 0, RESERVE_SECONDS_MAX) ?? 0
  if (reserveSeconds > 0) {
    const detail = 'soft deletion is not supported yet; drop without reserve_seconds'
    throw new StatusError('NOT_SUPPORTED', detail)
  }
  const ifMatch = conditionOf(c.req.raw, 'If-Match')
  const ifNoneMatch = conditionOf(c.req.raw, 'If-None-Match')
  const { ref, table } = await accessTable(front, c, { all: ['DROP'], isFresh: true })
  const { entry } = table
  const etag = tableEtag(entry)
  if (ifMatch !== null && !namesEtag(ifMatch, etag, false)) {
    throw preconditionFailed(entry, 'which If-Match does not name')
  }
  if (ifNoneMatch !== null && namesEtag(ifNoneMatch, etag, true)) {
    throw preconditionFailed(entry, 'which If-None-Match names')
  }
  const isConditional = (ifMatch ?? '*').trim() !== '*' || ifNoneMatch !== null
  const ifVersion = isConditional ? entry.version : null
  await callCatalogOnce(front.ports, (catalog) => catalog.dropTable({ id: entry.id }, ifVersion))
  for (const known of [ref, { id: entry.id }, { name: entry.name }]) front.cache.forget(known)
  return new Response(null, { status: 204 })
}

function preconditionFailed({ name, version }: TableEntry, why: string): StatusError {
  const detail = `table "${name}" has version ${version}, ${why}`
  return new StatusError('PRECONDITION_FAILED', detail, { resource: 'table' })
}

async function listTablets(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const { ref } = await accessTable(front, c, { all: ['METADATA'] })
  const { table, initializedTabletIds } = await callCatalog(front.ports, (catalog) =>
    catalog.getTable(ref),
  )
  const schema = new Schema(table.columns)
  const initialized = new Set(initializedTabletIds)
  return jsonResponse({
    tablets: table.tablets.map(({ tabletId, partition }) => ({
      tablet_id: tabletId,
      partition: partitionObject(schema, table.partitionSchema, partition),
      state: initialized.has(tabletId) ? 'RUNNING' : 'NOT_CREATED',
    })),
  })
}

async function locateRow(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const { table } = await accessTable(front, c, { all: ['METADATA'], isFresh: true })
  const { value: body } = await readRequestBody(front.memory, c.req.raw, locateRowSchema)
  const cells = keyCellsFromJson(table.schema, body.row, 'member "row"')
  const place = table.partitioner.partitionKey(cells)
  if (place.index < 0) {
    throw new StatusError('NOT_FOUND', 'row lies in no range partition', { resource: 'range' })
  }
  return jsonResponse({
    tablet_id: table.tabletId(place.index),
    encoded_key: toHex(encodedKey(table.schema, cells)),
    partition_key: toHex(place.key),
    hash_buckets: place.hashBuckets,
  })
}

function jsonContent(schema: z.ZodType) {
  return { content: { 'application/json': { schema } }, required: true }
}

function etags(status: string) {
  const description = `entity tags, or *: the table that they name is answered with ${status}`
  return z.string().optional().meta({ description })
}

function answer(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema } } }
}
