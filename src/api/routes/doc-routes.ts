/** The document of the interface, made from the routes, and a page that shows it: open to all. */

import { z } from 'zod'
import { VERSION } from '../../common/version.ts'
import { type App, type AppContext, addRoute } from '../app-env.ts'
import { DOCS_CSS, DOCS_HTML, DOCS_POLICY } from '../docs-page.ts'
import { DOCS_SCRIPT } from '../docs-script.ts'
import { readQuery } from '../query-params.ts'

const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Nyala',
    version: VERSION,
    description: 'Tables with primary keys: rows in and out, scans at a timestamp.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ bearer: [] }, { basic: [] }],
}

/** Adds `spec`, `docs`, and the way to them. */
export function addDocRoutes(app: App): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'basic', {
    type: 'http',
    scheme: 'basic',
    description: 'the token as password, any user',
  })
  addSpecRoute(app)
  addPageRoutes(app)
}

function addSpecRoute(app: App): void {
  let text: string | null = null
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/v1/spec',
      tags: ['documentation'],
      summary: 'Show the OpenAPI 3.1 document of this interface',
      responses: {
        200: answer('this document', 'application/json', z.record(z.string(), z.unknown())),
      },
    },
    (c) => {
      readQuery(c.req.raw, [])
      text ??= JSON.stringify(app.getOpenAPI31Document(DOCUMENT))
      return new Response(text, { headers: { 'Content-Type': 'application/json' } })
    },
  )
}

function addPageRoutes(app: App): void {
  addRoute(
    app,
    {
      method: 'get',
      path: '/',
      tags: ['documentation'],
      summary: 'Go to the documentation',
      responses: { 302: { description: 'it is at /api/docs' } },
    },
    (c) => {
      readQuery(c.req.raw, [])
      return new Response(null, { status: 302, headers: { Location: '/api/docs' } })
    },
  )
  addRoute(
    app,
    {
      method: 'get',
      path: '/api/docs',
      tags: ['documentation'],
      summary: 'Show a page about this interface',
      responses: { 200: answer('the page', 'text/html', z.string()) },
    },
    (c) => page(c, DOCS_HTML, 'text/html; charset=utf-8'),
  )
  app.get('/api/docs/docs.css', (c) => page(c, DOCS_CSS, 'text/css; charset=utf-8'))
  app.get('/api/docs/docs.js', (c) => page(c, DOCS_SCRIPT, 'text/javascript; charset=utf-8'))
}

function page(c: AppContext, text: string, contentType: string): Response {
  readQuery(c.req.raw, [])
  return new Response(text, {
    headers: {
      'Content-Type': contentType,
      'Content-Security-Policy': DOCS_POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
  })
}

function answer(description: string, mediaType: string, schema: z.ZodType) {
  return { description, content: { [mediaType]: { schema } } }
}
