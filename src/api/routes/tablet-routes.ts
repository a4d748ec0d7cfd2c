/** Tablets, for operators: what they hold and do, maintenance by hand, and statistics of tables. */

import { z } from 'zod'
import type { MaintenanceOp } from '../../common/maintenance-op.ts'
import { Schema } from '../../common/schema.ts'
import { invalidArgument, StatusError } from '../../common/status.ts'
import { callCatalog } from '../../router/catalog-caller.ts'
import { maintainTablet, tabletCounters, tabletStatus } from '../../router/tablet-care.ts'
import type { GetTableAnswer } from '../../wire/catalog-protocol.ts'
import {
  maintenanceSchema,
  tableMaintenanceSchema,
  tableStatisticsSchema,
  tabletMaintenanceSchema,
  tabletStatusSchema,
} from '../../wire/maintenance-schemas.ts'
import type { MaintainAnswer } from '../../wire/tablet-protocol.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { jsonResponse } from '../json-text.ts'
import { readQuery } from '../query-params.ts'
import { decodeSegment, pathSegments } from '../raw-path.ts'
import { readRequestBody } from '../request-body.ts'
import { raiseToClientTime } from '../request-headers.ts'
import { accessTable, newCallContext } from '../table-access.ts'
import { partitionObject } from '../table-object.ts'
import { tableParam } from './table-routes.ts'

/** Where `{tablet_id}` is in the paths `/api/v1/tablets/{tablet_id}…`. */
const TABLET_SEGMENT = 3
const TABLET_ID = /^[0-9a-f]{32}$/i

const tabletParam = z.object({ tablet_id: z.string().meta({ description: '32 hex digits' }) })

const MAINTENANCE_TEXT =
  'The op runs until there is none of it left to do. COMPACT runs also where the extra config ' +
  'kudu.table.disable_compaction is set: that only keeps tablets from compacting by themselves.'

/** Adds the routes of tablets. */
export function addTabletRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tablets/{tablet_id}',
      tags: ['operations'],
      summary: 'Show a tablet: what it holds, and what is done to it',
      request: { params: tabletParam },
      responses: { 200: answer('the tablet', tabletStatusSchema) },
    },
    (c) => showTablet(front, c),
  )
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tablets/{tablet_id}/maintenance',
      tags: ['operations'],
      summary: 'Run a maintenance op on a tablet',
      description: MAINTENANCE_TEXT,
      request: { params: tabletParam, body: jsonContent(maintenanceSchema) },
      responses: { 200: answer('what it did, when it is done', tabletMaintenanceSchema) },
    },
    (c) => maintainOne(front, c),
  )
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/maintenance',
      tags: ['operations'],
      summary: 'Run a maintenance op on every tablet of a table',
      description: MAINTENANCE_TEXT,
      request: { params: tableParam, body: jsonContent(maintenanceSchema) },
      responses: { 200: answer('what it did, when it is done', tableMaintenanceSchema) },
    },
    (c) => maintainAll(front, c),
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/tables/{table}/statistics',
      tags: ['tables'],
      summary: 'Show how much a table holds',
      request: { params: tableParam },
      responses: { 200: answer('exact counts of now', tableStatisticsSchema) },
    },
    (c) => showStatistics(front, c),
  )
}

async function showTablet(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const tabletId = operatorsTablet(front, c)
  const status = await tabletStatus(newCallContext(front), tabletId)
  if (status === null) throw neverWritten(tabletId)
  const { tableId, tableVersion, columns, partitionSchema, partition, report } = status
  return jsonResponse({
    tablet_id: tabletId,
    table_id: tableId,
    version: tableVersion,
    partition: partitionObject(new Schema(columns), partitionSchema, partition),
    ...report,
  })
}

async function maintainOne(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const tabletId = operatorsTablet(front, c)
  const { value: body } = await readRequestBody(front.memory, c.req.raw, maintenanceSchema)
  const done = await maintainTablet(newCallContext(front), tabletId, body.op)
  if (done === null) throw neverWritten(tabletId)
  return jsonResponse(maintenanceObject(tabletId, body.op, done))
}

async function maintainAll(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  c.get('caller').checkSuperuser()
  const { table, initialized } = await knownTablets(front, c)
  const { value: body } = await readRequestBody(front.memory, c.req.raw, maintenanceSchema)
  const context = newCallContext(front)
  context.budget.coverTablets(initialized.size)
  const tablets = await Promise.all(
    table.tablets.map(async ({ tabletId }) => {
      const isThere = initialized.has(tabletId)
      const done = isThere ? await maintainTablet(context, tabletId, body.op) : null
      return maintenanceObject(tabletId, body.op, done)
    }),
  )
  return jsonResponse({ op: body.op, tablets })
}

async function showStatistics(front: Front, c: AppContext): Promise<Response> {
  readQuery(c.req.raw, [])
  const { table, initialized } = await knownTablets(front, c)
  const context = newCallContext(front)
  context.budget.coverTablets(initialized.size)
  const tablets = await Promise.all(
    table.tablets.map(async ({ tabletId }) => {
      const counters = initialized.has(tabletId) ? await tabletCounters(context, tabletId) : null
      return {
        tablet_id: tabletId,
        live_row_count: counters?.liveRowCount ?? 0,
        on_disk_size: counters?.onDiskBytes ?? 0,
        wal_size: counters?.walBytes ?? 0,
        memory_size: counters?.memoryBytes ?? 0,
        rowset_count: counters?.rowSetCount ?? 0,
      }
    }),
  )
  return jsonResponse({
    live_row_count: tablets.reduce((sum, tablet) => sum + tablet.live_row_count, 0),
    on_disk_size: tablets.reduce((sum, tablet) => sum + tablet.on_disk_size, 0),
    tablets,
  })
}

/** A table and the tablets of it that were ever written to: the others need not be woken. */
async function knownTablets(
  front: Front,
  c: AppContext,
): Promise<{ table: GetTableAnswer['table']; initialized: ReadonlySet<string> }> {
  const { ref } = await accessTable(front, c, { all: ['SELECT'] })
  const known = await callCatalog(front.ports, (catalog) => catalog.getTable(ref))
  return { table: known.table, initialized: new Set(known.initializedTabletIds) }
}

/** The tablet of a request's path, once its caller is known to be an operator. */
function operatorsTablet(front: Front, c: AppContext): string {
  c.get('caller').checkSuperuser()
  raiseToClientTime(c.req.raw, front.ports.clock)
  const segment = decodeSegment(pathSegments(c.req.path)[TABLET_SEGMENT])
  if (TABLET_ID.test(segment)) return segment.toLowerCase()
  throw invalidArgument('id of a tablet is not 32 hexadecimal digits')
}

function neverWritten(tabletId: string): StatusError {
  const detail = `there is no tablet ${tabletId}, or nothing was ever written to it`
  return new StatusError('NOT_FOUND', detail, { tablet_id: tabletId })
}

function maintenanceObject(
  tabletId: string,
  op: MaintenanceOp,
  done: MaintainAnswer | null,
): object {
  return {
    tablet_id: tabletId,
    op,
    runs: done?.runCount ?? 0,
    rowsets_in: done?.rowSetsIn ?? 0,
    rowsets_out: done?.rowSetsOut ?? 0,
    rows_in: done?.rowsIn ?? 0,
    rows_out: done?.rowsOut ?? 0,
    bytes_in: done?.bytesIn ?? 0,
    bytes_out: done?.bytesOut ?? 0,
  }
}

function jsonContent(schema: z.ZodType) {
  return { content: { 'application/json': { schema } }, required: true }
}

function answer(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema } } }
}
