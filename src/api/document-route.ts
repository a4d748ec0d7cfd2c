/**
 * What the service's document says of a route beyond what the route says itself: what follows from
 * its path, from the formats that it is answered in, and from the headers that all routes share.
 */

import type { RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { assert } from '../util/assert.ts'
import { problemSchema } from '../wire/problem-schema.ts'
import { FORMATS, type Format, mediaTypesOf } from './media-type.ts'
import { isOpen } from './open-paths.ts'
import { OPERATIONS, RESPONSE_HEADERS, type ResponseHeaderName } from './operations.ts'

type ResponseConfig = Extract<RouteConfig['responses'][number], { content?: unknown }>
type Content = NonNullable<ResponseConfig['content']>
type Parameters = z.ZodObject<z.ZodRawShape>

const requestHeaders = z.object({
  'Nyala-Request-Id': z
    .string()
    .optional()
    .meta({ description: 'names the request in its answer; at most 128 visible ASCII characters' }),
})

const tableRequestHeaders = requestHeaders.extend({
  'Nyala-Propagated-Timestamp': z.int().optional().meta({
    format: 'int64',
    description: 'the greatest Nyala-Timestamp seen: nothing older is shown, and writes come later',
  }),
})

/** The route as the document has it. Requires: `OPERATIONS` has it. */
export function documentRoute(route: RouteConfig): RouteConfig {
  const operation = OPERATIONS[`${route.method.toUpperCase()} ${route.path}`]
  assert(operation !== undefined, 'every route has a name in OPERATIONS')
  const common = isOpen(route.path) ? requestHeaders : tableRequestHeaders
  const headers = (route.request?.headers as Parameters | undefined)?.shape ?? {}
  const responses: RouteConfig['responses'] = {}
  for (const [status, response] of Object.entries(route.responses)) {
    const more = operation.headers?.[Number(status)] ?? []
    responses[status] = { ...response, headers: responseHeaders([...more, 'Nyala-Request-Id']) }
  }
  return {
    ...route,
    operationId: operation.id,
    ...(isOpen(route.path) ? { security: [] } : {}),
    request: { ...documentRequest(route), headers: common.extend(headers) },
    responses: { ...responses, default: problemAnswer(route.path) },
  }
}

function documentRequest(route: RouteConfig): NonNullable<RouteConfig['request']> {
  const { query, body, ...rest } = route.request ?? {}
  const taken = Object.keys(body?.content ?? {})
  return {
    ...rest,
    ...(query === undefined ? {} : { query: documentQuery(query as Parameters, route, taken) }),
    ...(body === undefined ? {} : { body: { ...body, content: withAliases(body.content) } }),
  }
}

/**
 * The parameters that make a difference: `format` where there is a choice, and only what there is
 * to choose from; `null` where CSV comes or goes.
 */
function documentQuery(query: Parameters, route: RouteConfig, taken: string[]): Parameters {
  const given = Object.values(route.responses).flatMap(contentTypes)
  const { format, null: nullText, ...shape } = query.shape
  const offered = FORMATS.filter((name) => given.includes(mediaTypesOf(name)[0]))
  const isCsv = [...given, ...taken].includes(mediaTypesOf('csv')[0])
  return z.object({
    ...(format !== undefined && offered.length > 1 ? { format: formatParameter(offered) } : {}),
    ...shape,
    ...(nullText !== undefined && isCsv ? { null: nullText } : {}),
  })
}

function contentTypes(response: object): string[] {
  return 'content' in response ? Object.keys(response.content ?? {}) : []
}

function formatParameter(offered: readonly Format[]): z.ZodType {
  return z.enum(offered).optional().meta({ description: 'of the answer; beats Accept' })
}

/** The content of a body under every name of its media types. */
function withAliases(content: Content): Content {
  const named: Content = {}
  for (const [name, value] of Object.entries(content)) {
    const format = FORMATS.find((known) => mediaTypesOf(known)[0] === name)
    for (const alias of format === undefined ? [name] : mediaTypesOf(format)) named[alias] = value
  }
  return named
}

function problemAnswer(path: string): RouteConfig['responses'][number] {
  const names: ResponseHeaderName[] = ['Nyala-Request-Id', 'Retry-After']
  if (!isOpen(path)) names.push('WWW-Authenticate')
  return {
    description: 'why the request failed',
    headers: responseHeaders(names),
    content: { 'application/problem+json': { schema: problemSchema } },
  }
}

function responseHeaders(names: readonly ResponseHeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, RESPONSE_HEADERS[name]]))
}
