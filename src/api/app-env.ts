/** What one request carries through the app. */

import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import { createRoute } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { TableCache } from '../router/table-cache.ts'
import type { Caller } from './auth.ts'
import { documentRoute } from './document-route.ts'
import type { FrontMemory } from './front-memory.ts'
import type { AppPorts } from './ports.ts'
import type { Arrivals } from './stream-pauses.ts'

/** Types of the app's variables. */
export interface AppEnv {
  Variables: {
    requestId: string
    /** There under `/api/v1`, but for what is open to all. */
    caller: Caller
  }
}

/** The app. */
export type App = OpenAPIHono<AppEnv>
/** One request in it. */
export type AppContext = Context<AppEnv>

/** What all requests of an isolate share. */
export interface Front {
  readonly ports: AppPorts
  readonly cache: TableCache
  readonly memory: FrontMemory
  readonly arrivals: Arrivals
}

/** A route: what the document says of it, and where it is if the document's path cannot say. */
export interface RouteOptions extends RouteConfig {
  /** Pattern of the router; that of `path` unless given. */
  readonly routingPath?: string
}

/**
 * Adds a route. It is documented and nothing more: handlers read queries and bodies themselves,
 * since the validators of the framework would round integers and hold whole streams.
 */
export function addRoute(
  app: App,
  options: RouteOptions,
  handler: (c: AppContext) => Response | Promise<Response>,
): void {
  const { routingPath, ...config } = options
  const route = createRoute(documentRoute(config))
  app.openAPIRegistry.registerPath(route)
  app.on(route.method.toUpperCase(), routingPath ?? route.getRoutingPath(), handler)
}
