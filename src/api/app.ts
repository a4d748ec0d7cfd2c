/**
 * The HTTP side of the front. A request passes, in this order:
 *
 *   names and headers   its id; what every response carries
 *   limits              the length of its URL
 *   OPTIONS             answered from the routes
 *   authentication      everything below /api/v1 but what is open to all
 *   routes              routes/*; a path that has none is NOT_FOUND, one that has others lists them
 */

import { OpenAPIHono } from '@hono/zod-openapi'
import type { Next } from 'hono'
import { routePath } from 'hono/route'
import { URL_BYTES_MAX } from '../common/limits.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import { TableCache } from '../router/table-cache.ts'
import { utf8Encode } from '../util/bytes.ts'
import type { App, AppContext, AppEnv, Front } from './app-env.ts'
import { authenticate } from './auth.ts'
import { addCorsHeaders } from './cors-headers.ts'
import { errorResponse, problemResponse } from './errors.ts'
import { FrontMemory } from './front-memory.ts'
import { isOpen, isUnderApi } from './open-paths.ts'
import type { AppPorts } from './ports.ts'
import { rawPath } from './raw-path.ts'
import { clientRequestId } from './request-headers.ts'
import { addAggregateRoutes } from './routes/aggregate-routes.ts'
import { addDeleteRoutes } from './routes/delete-routes.ts'
import { addDocRoutes } from './routes/doc-routes.ts'
import { addHealthRoutes } from './routes/health-routes.ts'
import { addRowRoutes } from './routes/row-routes.ts'
import { addRowsRoutes } from './routes/rows-routes.ts'
import { addScanRoutes } from './routes/scan-routes.ts'
import { addScanTokenRoutes } from './routes/scan-token-routes.ts'
import { addTableRoutes } from './routes/table-routes.ts'
import { addTabletRoutes } from './routes/tablet-routes.ts'
import { Arrivals } from './stream-pauses.ts'

const METHODS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'] as const

/** The app over its surroundings. */
export function createApp(ports: AppPorts): App {
  const app: App = new OpenAPIHono<AppEnv>({ getPath: (request) => rawPath(request.url) })
  const front: Front = {
    ports,
    cache: new TableCache(ports),
    memory: new FrontMemory(),
    arrivals: new Arrivals(),
  }

  app.use('*', (c, next) => finishResponse(front, c, next))
  app.use('*', (c, next) => enter(app, front, c, next))
  app.onError((error, c) => errorResponse(error, failedRequest(c), ports.log))
  app.notFound((c) => answerUnrouted(app, c))

  addHealthRoutes(app, front)
  addDocRoutes(app)
  addTableRoutes(app, front)
  addRowsRoutes(app, front)
  addDeleteRoutes(app, front)
  addRowRoutes(app, front)
  addScanRoutes(app, front)
  addScanTokenRoutes(app, front)
  addAggregateRoutes(app, front)
  addTabletRoutes(app, front)
  return app
}

/** Names the request, and gives its response, whatever it is, what every response carries. */
async function finishResponse(front: Front, c: AppContext, next: Next): Promise<void> {
  const { ports, arrivals } = front
  const request = c.req.raw
  arrivals.add()
  c.set('requestId', clientRequestId(request) ?? ports.randomId())
  await next()
  const { headers } = c.res
  headers.set('Nyala-Request-Id', c.get('requestId'))
  headers.set('Accept-Ranges', 'none')
  headers.set('X-Content-Type-Options', 'nosniff')
  if (isUnderApi(c.req.path)) {
    headers.set('Cache-Control', 'no-store')
    headers.set('Vary', 'Accept, Authorization')
  }
  addCorsHeaders(headers, request, ports.settings.corsOrigins)
}

/** Lets a request in, or answers or refuses it before it is routed. */
async function enter(
  app: App,
  front: Front,
  c: AppContext,
  next: Next,
): Promise<Response | undefined> {
  const request = c.req.raw
  const { path } = c.req
  checkUrl(request.url)
  if (request.method === 'OPTIONS') return answerOptions(app, c)
  if (!isOpen(path)) {
    c.set('caller', await authenticate(request, front.ports.settings))
  }
  await next()
  return undefined
}

function checkUrl(url: string): void {
  if (url.length * 3 <= URL_BYTES_MAX) return
  const bytes = utf8Encode(url).length
  if (bytes <= URL_BYTES_MAX) return
  throw invalidArgument(`URL is ${bytes} bytes, limit is ${URL_BYTES_MAX}`, {
    limit: URL_BYTES_MAX,
  })
}

function answerOptions(app: App, c: AppContext): Response {
  const allowed = methodsAt(app, c.req.path)
  if (allowed.length === 0) throw pathNotFound()
  return new Response(null, { status: 204, headers: { Allow: allowed.join(', ') } })
}

/** A request that no route took: its path is unknown, or it is known with other methods. */
function answerUnrouted(app: App, c: AppContext): Response {
  const allowed = methodsAt(app, c.req.path)
  if (allowed.length === 0) return problemResponse(pathNotFound(), c.get('requestId'))
  const detail = `${c.req.method} is not a method of this path, which has ${allowed.join(', ')}`
  return problemResponse(new StatusError('METHOD_NOT_ALLOWED', detail), c.get('requestId'), {
    Allow: allowed.join(', '),
  })
}

function pathNotFound(): StatusError {
  return new StatusError('NOT_FOUND', 'there is nothing at this path')
}

/** The methods that the routes give a path, those that follow from them included. */
function methodsAt(app: App, path: string): string[] {
  const routed = METHODS.filter((method) => hasRoute(app, method, path))
  if (routed.length === 0) return []
  const implied = routed.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
  return [...routed, ...implied].sort()
}

function hasRoute(app: App, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path)
  return handlers.some(([[, route]]) => route.method === method)
}

function failedRequest(c: AppContext) {
  return { requestId: c.get('requestId'), method: c.req.method, route: routePath(c, -1) }
}
