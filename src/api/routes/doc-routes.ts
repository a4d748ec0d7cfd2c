/** The document of the interface, made from the routes, and a page that shows it: open to all. */

import { VERSION } from '../../common/version.ts'
import type { App, AppContext } from '../app-env.ts'
import { DOCS_CSS, DOCS_HTML, DOCS_JS, DOCS_POLICY } from '../docs-page.ts'
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

/** Adds `spec` and `docs`. */
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
  let text: string | null = null
  app.get('/api/v1/spec', (c) => {
    readQuery(c.req.raw, [])
    text ??= JSON.stringify(app.getOpenAPI31Document(DOCUMENT))
    return new Response(text, { headers: { 'Content-Type': 'application/json' } })
  })
  app.get('/api/docs', (c) => page(c, DOCS_HTML, 'text/html; charset=utf-8'))
  app.get('/api/docs/docs.css', (c) => page(c, DOCS_CSS, 'text/css; charset=utf-8'))
  app.get('/api/docs/docs.js', (c) => page(c, DOCS_JS, 'text/javascript; charset=utf-8'))
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
