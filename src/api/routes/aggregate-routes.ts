/** Aggregations over the rows of a table. */

import { aggregateAnswerSchema, aggregateSchema } from '../../wire/aggregate-schemas.ts'
import { answerAggregate } from '../answer-aggregate.ts'
import { type App, type AppContext, addRoute, type Front } from '../app-env.ts'
import { READ_PARAMETERS, readQuery } from '../query-params.ts'
import { checkJsonBody, readRequestBody } from '../request-body.ts'
import { accessTable, withReadSession } from '../table-access.ts'
import { answerOptions, ROW_STREAMS, readParams } from './scan-routes.ts'
import { tableParam } from './table-routes.ts'

/** Adds the route of aggregations. */
export function addAggregateRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'post',
      path: '/api/v1/tables/{table}/aggregate',
      tags: ['rows'],
      summary: 'Aggregate rows',
      request: {
        params: tableParam,
        query: readParams,
        body: { required: true, content: { 'application/json': { schema: aggregateSchema } } },
      },
      responses: {
        200: {
          description: 'a row for each group',
          content: { 'application/json': { schema: aggregateAnswerSchema }, ...ROW_STREAMS },
        },
      },
    },
    (c) => aggregate(front, c),
  )
}

async function aggregate(front: Front, c: AppContext): Promise<Response> {
  const request = c.req.raw
  const options = answerOptions(c, readQuery(request, READ_PARAMETERS), () => null)
  checkJsonBody(request)
  const access = await accessTable(front, c, { all: ['SELECT'] })
  const { value: body } = await readRequestBody(front.memory, request, aggregateSchema)
  return withReadSession(front, access, (session) => answerAggregate(front, session, body, options))
}
