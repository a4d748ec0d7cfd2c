/** Deletes the rows of a table that predicates select. */

import { scanSpecFromJson } from '../../common/scan-request.ts'
import { invalidArgument } from '../../common/status.ts'
import { deleteRows } from '../../router/delete-rows.ts'
import { digestRequest } from '../../router/page-token.ts'
import type { ReadSession } from '../../router/read-session.ts'
import { planScan } from '../../router/scan-plan.ts'
import { toHex } from '../../util/bytes.ts'
import { deleteRowsAnswerSchema, deleteRowsSchema } from '../../wire/scan-schemas.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { jsonResponse } from '../json-text.ts'
import { canonicalJson } from '../json-tree.ts'
import { FORMATS } from '../media-type.ts'
import { ROW_PARAMETERS, readQuery, valueOptionsOf } from '../query-params.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { idempotencyKey } from '../request-headers.ts'
import { upperCaseOps } from '../scan-query.ts'
import { accessTable, withReadSession } from '../table-access.ts'
import { scopedKey } from '../write-request.ts'
import { rowParams, writeHeaders, writeHeadersOf } from './rows-routes.ts'
import { tableParam } from './table-routes.ts'

/** Adds the route of deletions by predicates. */
export function addDeleteRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/rows/delete',
      tags: ['rows'],
      summary: 'Delete the rows that one snapshot of predicates selects',
      request: {
        params: tableParam,
        query: rowParams,
        headers: writeHeaders,
        body: { required: true, content: { 'application/json': { schema: deleteRowsSchema } } },
      },
      responses: {
        200: {
          description: 'how many rows were deleted, and when',
          content: { 'application/json': { schema: deleteRowsAnswerSchema } },
        },
      },
    },
    (c) => deleteByPredicates(front, c),
  )
}

async function deleteByPredicates(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const params = readQuery(request, ROW_PARAMETERS)
  params.choice('format', FORMATS)
  const values = valueOptionsOf(params)
  idempotencyKey(request)
  checkJsonBody(request)
  const access = await accessTable(front, c, { all: ['SELECT', 'DELETE'] })
  const { tree, value: body } = await readRequestBody(front.memory, request, deleteRowsSchema)
  checkMeansIt(body)
  const digest = toHex(await digestRequest(canonicalOf(tree, values.timestamps)))
  const work = (session: ReadSession) => {
    const { schema, entry } = session.table
    const spec = scanSpecFromJson(schema, body, values)
    const plan = planScan(session.table, {
      columnIds: [],
      spec,
      order: 'UNORDERED',
      limit: Number.POSITIVE_INFINITY,
    })
    return deleteRows(session, plan, { clientKey: scopedKey(c, entry.id), digest })
  }
  const { deletedCount, timestamp, isReplayed, failure } = await withReadSession(
    front,
    access,
    work,
  )
  if (failure !== null) throw failure
  return jsonResponse(
    { deleted: deletedCount, timestamp },
    200,
    writeHeadersOf(timestamp, isReplayed),
  )
}

/** Throws INVALID_ARGUMENT when every row would be deleted and nothing says that this is meant. */
function checkMeansIt(body: {
  readonly predicates?: unknown
  readonly primary_key_lower?: unknown
  readonly primary_key_upper?: unknown
  readonly all?: boolean | undefined
}): void {
  const { predicates, primary_key_lower: lower, primary_key_upper: upper, all } = body
  const isEmpty = predicates === undefined || (Array.isArray(predicates) && predicates.length === 0)
  if (!isEmpty || lower !== undefined || upper !== undefined || all === true) return
  throw invalidArgument('without predicates every row is deleted: member "all" must be true')
}

/** Equal for requests that are equal. */
function canonicalOf(tree: unknown, timestamps: string): string {
  const { predicates, ...rest } = tree as Readonly<Record<string, unknown>>
  const members = { ...rest, predicates: upperCaseOps(predicates), ' timestamps': timestamps }
  return `delete ${canonicalJson(members)}`
}
