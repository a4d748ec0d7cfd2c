/** The front as the Worker's entry makes it, in a test's own isolate, with authentication off. */

import { env } from 'cloudflare:workers'
import { createApp } from '../../src/api/app.ts'
import { FrontSurroundings } from '../../src/server/front-surroundings.ts'

/** An answer, read to its end. */
export interface FrontAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  readonly json: any
}

/** Sends requests below `/api/v1`. */
export class Front {
  readonly #app = createApp({
    ...new FrontSurroundings(env),
    settings: { adminToken: '', isAuthDisabled: true, corsOrigins: [] },
  })

  async send(method: string, path: string, body?: object): Promise<FrontAnswer> {
    const request = new Request(`http://127.0.0.1/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const response = await this.#app.fetch(request, env)
    const text = await response.text()
    return { status: response.status, json: text === '' ? null : JSON.parse(text) }
  }

  /** Sends a request and returns its body. Throws when the status is no success. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  async must(method: string, path: string, body?: object): Promise<any> {
    const { status, json } = await this.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
}
