/** Tokens by which a scan is shared out. */

import { scanTokensAnswerSchema, scanTokensSchema } from '../../wire/scan-schemas.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { answerFormat } from '../media-type.ts'
import { ROW_PARAMETERS, readQuery, valueOptionsOf } from '../query-params.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { scanQueryOfBody } from '../scan-query.ts'
import { answerScanTokens } from '../scan-tokens.ts'
import { accessTable, withReadSession } from '../table-access.ts'
import { rowParams } from './rows-routes.ts'
import { tableParam } from './table-routes.ts'

/** Adds the route of scan tokens. */
export function addScanTokenRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/scan_tokens',
      tags: ['rows'],
      summary: 'Cut a scan into parts',
      description:
        'All tokens read one snapshot, and together give each row of the scan once. Each is ' +
        'taken by scan as `{ "scan_token": "…" }`, with page_size and page_token only.',
      request: {
        params: tableParam,
        query: rowParams,
        body: { required: true, content: { 'application/json': { schema: scanTokensSchema } } },
      },
      responses: {
        200: {
          description: 'one token or more for each tablet that is left',
          content: { 'application/json': { schema: scanTokensAnswerSchema } },
        },
      },
    },
    (c) => makeScanTokens(front, c),
  )
}

async function makeScanTokens(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const params = readQuery(request, ROW_PARAMETERS)
  const values = valueOptionsOf(params)
  answerFormat(request, params, ['json'])
  checkJsonBody(request)
  const access = await accessTable(front, c, { all: ['SELECT'] })
  const { tree, value: body } = await readRequestBody(front.memory, request, scanTokensSchema)
  const query = scanQueryOfBody(tree, body, values)
  const options = { values, targetBytes: body.target_bytes ?? null }
  return front.memory.lend((holding) => {
    return withReadSession(front, access, (session) => {
      return answerScanTokens(front, session, query, options, holding)
    })
  })
}
