/** Whether the service lives, and which it is: open to all. */

import { z } from 'zod'
import { StatusError } from '../../common/status.ts'
import { VERSION } from '../../common/version.ts'
import { callCatalog } from '../../router/catalog-caller.ts'
import { type App, addRoute, type Front } from '../app-env.ts'
import { jsonResponse } from '../json-text.ts'
import { readQuery } from '../query-params.ts'

const healthSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })
const versionSchema = z
  .object({ name: z.literal('nyala'), version: z.string(), api_version: z.literal('v1') })
  .meta({ id: 'Version' })

const HEALTHY = {
  200: { description: 'it is', content: { 'application/json': { schema: healthSchema } } },
}

/** Adds `healthz`, `readyz` and `version`. */
export function addHealthRoutes(app: App, front: Front): void {
  addRoute(
    app,
    {
      method: 'get',
      path: '/healthz',
      tags: ['operations'],
      summary: 'Whether the front answers',
      responses: HEALTHY,
    },
    (c) => {
      readQuery(c.req.raw, [])
      return jsonResponse({ status: 'ok' })
    },
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/readyz',
      tags: ['operations'],
      summary: 'Whether the catalog can be reached',
      responses: HEALTHY,
    },
    async (c) => {
      readQuery(c.req.raw, [])
      await checkCatalog(front)
      return jsonResponse({ status: 'ok' })
    },
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/version',
      tags: ['operations'],
      summary: 'Which service this is',
      responses: {
        200: {
          description: 'its version',
          content: { 'application/json': { schema: versionSchema } },
        },
      },
    },
    (c) => {
      readQuery(c.req.raw, [])
      return jsonResponse({ name: 'nyala', version: VERSION, api_version: 'v1' })
    },
  )
}

/** Throws SERVICE_UNAVAILABLE unless the catalog answers. */
async function checkCatalog({ ports }: Front): Promise<void> {
  try {
    await callCatalog(ports, (catalog) => catalog.ping())
  } catch (error) {
    throw new StatusError('SERVICE_UNAVAILABLE', 'catalog cannot be reached', {}, error)
  }
}
